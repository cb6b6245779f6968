"""Executors: each file defines one place where the runs of a study are made.

`fitgym.study.campaign` loads them by name.
"""
