"""Rewriting: one pass over the syntax tree of a module plans the sites and inserts the probes.

The worker and the measurement of existing tests call `transformer` and `loader`; the other files are their parts.
"""
