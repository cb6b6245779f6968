"""Source code as syntax trees: constants, patterns, definitions and control flow.

Every room that reads source code may call it.
"""
