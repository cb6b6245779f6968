"""Budget allocation: the division of a project's executions or seconds among its modules.

The modules are independent searches, so a project is a set of curves: covered branches by executions of test cases.
"""
