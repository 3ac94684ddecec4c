"""Real engines on loopback: build, start, look at, stop. Imports nothing from gpu_platform."""
