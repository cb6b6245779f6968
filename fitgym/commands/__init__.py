"""Commands of the command line: each file defines one command, or one part that several commands share.

Only `fitgym.cli` and `fitgym.__main__` import them.
"""
