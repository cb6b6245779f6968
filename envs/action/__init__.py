"""Actions: typed changes to the engine, the spaces from which agents choose them, and their JSON form.

Each environment of `fitgym.envs` uses one of these spaces.
"""
