"""Actions: typed changes to the engine, the spaces they are chosen from, and their JSON form.

Each environment of `fitgym.envs` picks one of them.
"""
