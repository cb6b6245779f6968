"""Trials: each file defines one kind of run that a study can be made of.

`fitgym.study.plan` and `fitgym.study.cell` load them by name.
"""
