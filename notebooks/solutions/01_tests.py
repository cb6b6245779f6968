"""Answers to the exercises of lesson 01."""

SOLUTIONS = {
    "border": (1, 2, 3),
    "calls": [(1, 1, 1), (1, 2, 2), (2, 2, 3), (2, 3, 5), (2, 4, 7)],
    "wrong_name": (3, 4, 4),
}

TEMPTING = {
    "border": [(3, 4, 5), (1, 1, 9), (3, 1, 2)],
    "calls": [
        [(1, 1, 9), (4, 4, 4), (4, 4, 5), (3, 4, 5)],  # the four of the lesson
        [(a, b, 5) for a in range(1, 6) for b in range(a, 6)],  # more than six
    ],
    "wrong_name": [(3, 4, 5), (5, 5, 6), (1, 2, 2.5)],
}
