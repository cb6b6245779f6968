"""Test cases as data: expressions and statements, and their random generation and variation.

The engine and the search algorithms use `factory`; any package above this one may import the data classes.
"""
