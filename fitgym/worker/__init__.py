"""The worker process: imports the subject, forks children, and runs test cases in them.

`fitgym.execution` starts it by module name, and the measurement of existing tests uses its parts. The worker imports
only the standard library and worker code.
"""
