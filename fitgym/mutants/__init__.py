"""Mutants: small changes of the code under test, found in its source text without execution.

The description of the subject, the probes and the worker use `generation`; most other modules are parts of it.
"""
