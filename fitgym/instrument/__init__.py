"""Instrumentation: probes in the code of the subject record a trace of each execution.

The worker runs the probes. Code that reads traces imports only `trace`.
"""
