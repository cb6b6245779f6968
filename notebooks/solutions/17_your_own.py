"""Answers to the exercises of lesson 17, and tempting ones that are wrong."""

import numpy as np

SOLUTIONS = {
    "three_rounds": lambda rounds: 1 - min(rounds, 3) / 3,
    "lengths": lambda strings: 1 - min(max(map(len, strings), default=0), 20) / 20,
    "value": lambda distances: 1 - float(np.mean(distances)) if len(distances) else 1.0,
}

TEMPTING = {
    "three_rounds": [
        lambda rounds: 0.0 if rounds >= 3 else 1.0,
        lambda rounds: 1 - rounds / 3,
    ],
    "lengths": [
        lambda strings: 1 - min(sum(map(len, strings)), 20) / 20,
        lambda strings: 0.0 if any(len(text) >= 20 for text in strings) else 1.0,
    ],
    "value": [
        lambda distances: float(np.mean(np.array(distances) == 0)),
        lambda distances: 1 - float(np.mean(distances)) if len(distances) else 0.0,
    ],
}
