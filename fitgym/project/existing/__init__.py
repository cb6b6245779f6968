"""Existing tests: run once under probes, for what they cover and which mutants they kill.

`fitgym.run.generation` and the commands for projects call `measurement`; the other files are its parts.
"""
