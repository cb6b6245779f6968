"""Secondary objectives: each file defines one tie-breaker between test cases equally close to their targets.

The engine loads them by name.
"""
