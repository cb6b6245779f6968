"""Finishing of suites: minimisation, assertions, stability checks and export.

`fitgym.run.generation` calls `finishing`; projects, reports and studies use single modules.
"""
