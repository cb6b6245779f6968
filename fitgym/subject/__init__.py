"""The subject: the module or class under test as plain data, and what is known from its source and its examples.

All rooms may import it; files here never import the code under test.
"""
