"""Seeding: hand-written examples become test cases of the first population.

The engine uses `seeds`; the other modules are parts of it.
"""
