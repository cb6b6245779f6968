"""The worker process: imports the subject, forks children, and runs test cases in them.

`fitgym.execution` starts it by name, and the measurement of existing tests uses its parts; only the standard library
and worker code are imported here.
"""
