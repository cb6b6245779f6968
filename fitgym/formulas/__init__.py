"""Formulas: artificial problems and generated landscapes for the same searches and agents, without code under test.

The environments `Artificial-v0` and `Landscapes-v0` and the artificial trials of studies use them.
"""
