"""Budget allocation: how the executions or seconds of a project are divided among its modules.

The modules are independent searches, so a project is a set of curves: covered branches by executions of test cases.
"""
