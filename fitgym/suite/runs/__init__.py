"""Runs of exported suites in fresh interpreters: stability, coverage, cost and mutants of import-time code.

Finishing, replay, projects and studies use this package; its pytest plugins run inside those interpreters.
"""
