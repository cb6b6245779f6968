"""Finishing a suite: minimise it, add assertions, check that it is stable, export it.

`fitgym.run.generation` calls `finishing`; projects, reports and studies use single parts.
"""
