"""Studies: many runs that answer one question, on a laptop or a cluster, and the statistics of the answer.

Commands call it; `statistics` and `comparison` also serve the headroom ladder.
"""
