"""Learning: an agent is trained across many subjects, in one process, in several, or on a Ray cluster.

`fitgym.commands` calls `training`; the other files hold vectors of environments for it.
"""
