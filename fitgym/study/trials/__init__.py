"""Trials: each file defines one kind of run for studies.

`fitgym.study.plan` and `fitgym.study.cell` load them by name.
"""
