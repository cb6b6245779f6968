"""One run: its setting, its episode and its record.

Commands, studies and training call this package. Environments and the engine import only `setting` from it.
"""
