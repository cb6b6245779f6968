"""Answers to the exercises of lesson 15, and tempting ones that are wrong."""

import numpy as np


def _a12(ours, theirs):
    pairs = [(x, y) for x in ours for y in theirs]
    return sum(1.0 if x > y else 0.5 if x == y else 0.0 for x, y in pairs) / len(pairs)


def _holm(p):
    p = np.asarray(p)
    order = np.argsort(p)
    factors = np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return found


SOLUTIONS = {"effect": _a12, "seeds": 70, "corrected_p": _holm}
"""From some 60 seeds on; a large effect (0.71) takes some 27, a small one (0.56) more than 300."""

TEMPTING = {
    "effect": [
        lambda ours, theirs: np.mean([x > y for x in ours for y in theirs]),
        lambda ours, theirs: np.mean(ours) / (np.mean(ours) + np.mean(theirs)),
    ],
    "seeds": [30, 3, 300],
    "corrected_p": [
        lambda p: [min(1.0, len(p) * value) for value in p],
        lambda p: [
            min(1.0, value * (len(p) - place))
            for value, place in zip(p, np.argsort(np.argsort(p)), strict=True)
        ],
    ],
}
