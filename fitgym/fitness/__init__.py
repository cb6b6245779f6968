"""Fitness functions: each file measures the distance from a trace to every target of one kind.

The engine loads them by name; the search algorithms and goals use the results.
"""
