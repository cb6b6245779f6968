"""Agents: each file defines one agent, which decides which fitness functions guide the search.

`fitgym.run`, `fitgym.learning` and the commands load agents by name.
"""
