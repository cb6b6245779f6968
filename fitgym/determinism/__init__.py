"""Determinism: clock, random generators, addresses and process ids give the same values in every test case.

`fitgym.worker` applies the patches; `fitgym.messages` and `fitgym.sandbox` ask which values may differ in the next run.
"""
