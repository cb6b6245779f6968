"""Learning: train an agent across many subjects, in one process, in several, or on a Ray cluster.

`fitgym.commands` calls `training`; the other files provide its vector environments.
"""
