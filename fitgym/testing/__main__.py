"""The process in which an episode is repeated, see `fitgym.testing.environments`."""

import sys

from fitgym.testing.environments import elsewhere

if __name__ == "__main__":
    elsewhere(*sys.argv[1:])
