"""Existing tests: run them once with probes, to measure their coverage and the mutants that they kill.

`fitgym.run.generation` and the commands for projects call `measurement`; the other files are its parts.
"""
