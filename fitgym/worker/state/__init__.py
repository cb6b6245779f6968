"""State of the subject and of the process: finds and undoes the changes made by a test case.

Only `fitgym.worker` uses it.
"""
