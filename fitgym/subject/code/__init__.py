"""Source code as syntax trees: constants, patterns, definitions and control flow.

Any package that reads source code may use it.
"""
