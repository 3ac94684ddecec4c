"""Entry point of `python -m gpu_platform`."""

from gpu_platform.cli import app

if __name__ == "__main__":
    app(prog_name="python -m gpu_platform")
