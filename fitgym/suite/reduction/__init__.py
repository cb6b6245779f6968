"""Reduction: fewer and shorter test cases with simpler arguments that still cover every target.

`fitgym.suite.finishing` calls `minimize`; the other files are its parts.
"""
