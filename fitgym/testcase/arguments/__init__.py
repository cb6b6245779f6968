"""Arguments: how random values are drawn for the parameters of an operation.

Only `fitgym.testcase` calls it.
"""
