"""The main module of the process that repeats an episode, see `fitgym.testing.environments`."""

import sys

from fitgym.testing.environments import elsewhere

if __name__ == "__main__":
    elsewhere(*sys.argv[1:])
