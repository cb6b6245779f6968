"""Finishing a suite: minimise, assert, check stability, export."""
