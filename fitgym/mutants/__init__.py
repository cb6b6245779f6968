"""Mutants: small changes of the code under test, found in its source text without running it.

The description of the subject, the probes and the worker call `generation`; most other files are its parts.
"""
