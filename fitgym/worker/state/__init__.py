"""State of the subject and of the process: how changes made by a test case are found and undone.

Only `fitgym.worker` calls it.
"""
