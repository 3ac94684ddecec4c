"""Figures of speed, measured side by side in one run and printed as a table: `python -m bench [NAME...]`."""
