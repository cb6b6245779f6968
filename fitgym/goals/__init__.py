"""Goals: each file defines a testing goal for the finished suite, and the reward for progress towards it.

The environments load the goals by name.
"""
