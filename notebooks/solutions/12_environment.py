"""Answers to the exercises of lesson 12, and tempting ones that are wrong."""

from math import comb


def _win_stay(names, last, reward):
    if last is None:
        return 0
    return last if reward > 0 else (last + 1) % len(names)


SOLUTIONS = {
    "decisions": (61 - 1) // 3,
    "n_actions": lambda functions, largest: sum(comb(functions - 1, k) for k in range(largest)),
    "win_stay": _win_stay,
}

TEMPTING = {
    "decisions": [-(-61 // 3), 61],
    "n_actions": [
        lambda functions, largest: 2 ** (functions - 1),
        lambda functions, largest: sum(comb(functions, k) for k in range(1, largest + 1)),
    ],
    "win_stay": [
        lambda names, last, reward: 0 if last is None else (last if reward > 0 else last + 1),
        lambda names, last, reward: 0 if last is None else (last + 1) % len(names),
    ],
}
