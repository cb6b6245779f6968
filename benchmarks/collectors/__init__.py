"""Collectors of runtime data, one per file; a file runs in the Python of its tool and imports no other tool.

Each has `collect(module, options)`, which returns a `Collected`, and `version()`.
"""
