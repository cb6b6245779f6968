"""The player: an episode as one HTML page to watch, and a game in which a person chooses the fitness functions."""
