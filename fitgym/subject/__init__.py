"""The subject (the module or class under test) as plain data, read from its source and its examples.

Any package of fitgym may import this one. Its files never import the code under test.
"""
