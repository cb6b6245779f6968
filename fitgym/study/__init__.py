"""Studies: experiments of many runs that answer one question, on a laptop or a cluster, with their statistics.

Commands call this package; the headroom ladder also uses `statistics` and `comparison`.
"""
