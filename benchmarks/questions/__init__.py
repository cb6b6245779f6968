"""What `speed.py` asks, one file for each question."""
