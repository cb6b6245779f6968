"""Determinism: clock, random generators, addresses and process ids give the same values in every test case.

`fitgym.worker` applies the patches. `fitgym.messages` and `fitgym.sandbox` use it to find values that may differ in the
next run.
"""
