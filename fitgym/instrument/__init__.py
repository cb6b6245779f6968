"""Instrumentation: probes in the code of the subject record a trace of each execution.

The worker runs the probes; everything that reads a trace imports `trace`.
"""
