"""Search algorithms: each file defines one algorithm that proposes test cases and is told the results.

The engine loads them by name.
"""
