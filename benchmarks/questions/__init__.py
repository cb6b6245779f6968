"""The questions of `speed.py`, one file each."""
