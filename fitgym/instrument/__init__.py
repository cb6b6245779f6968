"""Probes: one pass over the syntax tree puts sites into the subject, and a trace is what they recorded."""
