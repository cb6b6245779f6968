"""Seeding: examples that people wrote become test cases of the first population.

The engine calls `seeds`; the other files are its parts.
"""
