"""The player: HTML pages of episodes, which replay a recorded run or let a person choose the fitness functions.

The commands `fitgym replay` and `fitgym play` use it.
"""
