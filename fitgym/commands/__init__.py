"""Commands of the command line: each file defines one command, or code that several commands share.

Only `fitgym.cli` and `fitgym.__main__` import this package.
"""
