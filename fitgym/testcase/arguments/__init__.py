"""Arguments: random values for the parameters of an operation.

Only `fitgym.testcase` uses it.
"""
