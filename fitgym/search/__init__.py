"""Search algorithms: each file defines one algorithm, which proposes test cases and receives their evaluation.

The engine loads them by name.
"""
