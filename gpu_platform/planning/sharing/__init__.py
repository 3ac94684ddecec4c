"""Cards that several pods get at once: by turns (time-slicing) or side by side (MPS)."""
