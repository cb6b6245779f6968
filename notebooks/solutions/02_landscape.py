"""Answers to the exercises of lesson 02."""

SOLUTIONS = {
    "misled": 500,
    "patience": 12,
    "word_distance": lambda word: sum(a != b for a, b in zip(word, "search", strict=True)),
}

TEMPTING = {
    "misled": [300, 200, 1000, 1001],
    "patience": [0, 1, 100],
    "word_distance": [
        lambda word: 0 if word == "search" else 1,  # a plateau
        lambda word: abs(sum(map(ord, word)) - sum(map(ord, "search"))),  # 0 for other words too
    ],
}
