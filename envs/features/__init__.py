"""Features: each file defines one block of named numbers that an agent observes.

`fitgym.envs.feature_set` loads the blocks by name.
"""
