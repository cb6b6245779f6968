"""Introspection: operations, parameters and helpers of the subject, read from the imported module.

The worker calls `inspection` and `parameters` after the import; the other files are their parts.
"""
