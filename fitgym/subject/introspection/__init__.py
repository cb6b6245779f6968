"""Introspection: operations, parameters and helpers of the subject, read from the imported module.

The worker calls `inspection` after the import; the other modules are parts of it.
"""
