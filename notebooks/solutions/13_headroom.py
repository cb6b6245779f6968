"""Answers to the exercises of lesson 13, and tempting ones that are wrong."""

import numpy as np


def _honest(values):
    half = values.shape[2] // 2
    first, second = values[:, :, :half], values[:, :, half:]
    tasks = np.arange(values.shape[1])
    both = [
        judged[chosen.mean(axis=2).argmax(axis=0), tasks].mean()
        for chosen, judged in ((first, second), (second, first))
    ]
    return float(np.mean(both))


def _one_way(values):
    half = values.shape[2] // 2
    chosen = values[:, :, :half].mean(axis=2).argmax(axis=0)
    return values[chosen, np.arange(values.shape[1]), half:].mean()


def _worth_it(differences):
    rng = np.random.default_rng(0)
    return {
        name
        for name, values in differences.items()
        if np.percentile(rng.choice(values, size=(2000, len(values))).mean(axis=1), 2.5) > 0
    }


SOLUTIONS = {
    "gap_of": lambda constant, informed: (informed - constant).mean(),
    "honest": _honest,
    "worth_it": _worth_it,
}

TEMPTING = {
    "gap_of": [
        lambda constant, informed: (constant - informed).mean(),
        lambda constant, informed: informed.max() - constant.max(),
    ],
    "honest": [lambda values: values.mean(axis=2).max(axis=0).mean(), _one_way],
    "worth_it": [
        lambda differences: {name for name, values in differences.items() if values.mean() > 0}
    ],
}
