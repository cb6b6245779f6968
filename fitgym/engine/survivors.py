"""Survivors: fewer and fewer test cases run on a mutant that many of them infect and none kills."""

from __future__ import annotations

import numpy as np

from fitgym.fitness.base import Floats, Mask

__all__ = ["EVERY", "Survivors"]

EVERY = 60
"""Up to this number, every test case that infects a mutant runs on it."""


class Survivors:
    """Decides which test cases run on which of the mutants that they infect.

    Most trials would be spent on mutants that survive hundreds of them. Many of these are equivalent to the original.
    Of the first n test cases that infect a live mutant, all run on it if n is at most `EVERY`. Otherwise

        `EVERY` * (1 + ln(n / `EVERY`))

    of them run: 90 of 100, and 228 of 1,000. The others count as infecting the mutant without an impact.
    """

    def __init__(self) -> None:
        self._infections: Floats = np.zeros(())  # of each mutant, from the first call on

    def due(self, infected: Mask) -> Mask:
        """Return on which mutants the next test cases should run, shape `(n_testcases, n_mutants)`.

        Args:
            infected: the live mutants that each test case infects, of the same shape.
        """
        before = self._infections + np.cumsum(infected, axis=0) - infected
        self._infections = self._infections + infected.sum(axis=0)
        due: Mask = infected & (np.floor(_trials(before + 1.0)) > np.floor(_trials(before)))
        return due


def _trials(infections: Floats) -> Floats:
    """Return the number of trials that so many infections give, before rounding."""
    trials: Floats = np.minimum(infections, EVERY) + EVERY * np.log(np.maximum(infections, EVERY) / EVERY)
    return trials
