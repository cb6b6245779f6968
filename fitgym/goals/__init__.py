"""Goals: each file defines what a tester wants from the finished suite, and the reward for progress.

The environments load them by name.
"""
