"""Test cases as data: expressions, statements, and how random ones are generated and varied.

The engine and the search algorithms call `factory`; every room above may import the data.
"""
