"""Differences of behaviour between a commit and the working tree.

`fitgym diff` calls `comparison` and `account`; the other files are their parts.
"""
