"""Probes in pure Python, for machines without the C extension.

Only `fitgym.instrument.factories` and the recorder use them.
"""
