"""One run: its setting, its episode and its record.

Commands, studies and training call this package; environments and the engine know `setting` only.
"""
