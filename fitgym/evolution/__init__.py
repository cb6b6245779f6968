"""Components of search algorithms: archive, fronts, groups, measurements and budget.

Search algorithms, tie-breakers and the engine use them.
"""
