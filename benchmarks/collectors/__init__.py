"""Ways to collect what tests do, one file for each; a file runs in the Python of its tool and imports no other tool.

Each has `collect(module, options)`, which gives a `Collected`, and `version()`.
"""
