"""Rewriting: one pass over the syntax tree of a module plans the sites and inserts the probes.

The worker and the measurement of existing tests use `transformer` and `loader`. The other modules are their parts.
"""
