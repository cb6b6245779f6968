"""Answers to the exercises of lesson 03."""

SOLUTIONS = {
    "sides": (5, 6, 7),
    "distance_of_and": lambda p, q: p + q,
    "hard": "def puzzle(x):\n    return x * 577 % 1009 == 300",
}

TEMPTING = {
    "sides": [(5, 5, 6), (3, 4, 9)],
    "distance_of_and": [max, min, lambda p, q: p * q],
    "hard": [
        "def puzzle(x):\n    return x == 617",
        "def puzzle(x):\n    return x == 2000",
        "def puzzle(x):\n    return True",
    ],
}
