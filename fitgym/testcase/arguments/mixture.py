"""A mixture: the distribution over kinds of value for a parameter without annotation."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from fitgym.chance import Chance
from fitgym.testcase.rates import Rates

__all__ = ["ANY_KINDS", "KIND_INDEX", "Mixture"]

ANY_KINDS = {
    "str": 0.20,
    "int": 0.20,
    "list": 0.11,
    "object": 0.10,
    "result": 0.08,
    "dict": 0.06,
    "tuple": 0.06,
    "none": 0.05,
    "bool": 0.05,
    "float": 0.05,
    "callable": 0.05,
    "bytes": 0.02,
    "set": 0.02,
    "iter": 0.02,
    "class": 0.02,
    "complex": 0.01,
}
"""The kinds of value for a parameter of unknown type, and their initial weights.

"object" builds an object of one of the subject's own classes, "result" refers to an earlier statement.
"""

KIND_INDEX = {kind: index for index, kind in enumerate(ANY_KINDS)}
"""The index of each kind in `ANY_KINDS`."""

_KINDS = tuple(ANY_KINDS)
_LAST = len(_KINDS) - 1

_NAMED = {
    "int": "n num number count size length len width height depth index idx i j k x y start stop step end limit max min "
    "digits precision level offset position pos times",
    "str": "s string text name key word label title prefix suffix sep separator path filename message msg pattern regex "
    "fmt format encoding char line url source src content data value",
    "list": "seq seqs sequence iterable iterables items values elements lst list array rows args it coll collection",
    "callable": "f fn func function callback predicate pred key keyfunc binop op on_error default_factory",
    "dict": "d dct dict mapping map kwargs options config headers params attrs env",
    "bool": "flag reverse strict verbose force recursive ignore_case inclusive",
    "float": "ratio rate factor scale threshold tolerance timeout seconds delay weight alpha beta",
    "bytes": "b buf buffer raw payload",
    "class": "cls klass type typ",
}
_SUGGESTED = {name: kind for kind, names in reversed(_NAMED.items()) for name in names.split()}
_SUGGESTION = 4.0  # factor for a kind that the parameter's name suggests

SAMPLE = 200
"""Counts are halved beyond this number, so that late observations can outweigh early ones."""


class Mixture:
    """The kinds of value for one parameter, weighted by their numbers of returns and failures.

    The weight of a kind is its weight in `ANY_KINDS`, times 4 if the parameter's name suggests it, times max(`floor`, 4
    s^2). Here s is the share of successes, with one success and one failure added.

    Args:
        name: of the parameter.
        rates: `floor` is the smallest factor that failures leave.
    """

    __slots__ = ("_base", "_counted", "_counts", "_rates", "_sums", "_weights")

    def __init__(self, name: str, rates: Rates) -> None:
        suggested = _SUGGESTED.get(name.rstrip("s0123456789_")) or _SUGGESTED.get(name)
        self._rates = rates
        self._base = [weight * (_SUGGESTION if kind == suggested else 1.0) for kind, weight in ANY_KINDS.items()]
        self._weights = self._base.copy()
        self._sums = list(accumulate(self._weights))
        self._counts = [[0.0, 0.0] for _ in _KINDS]
        self._counted: dict[int, None] = {}  # kinds whose weight must be recomputed

    def count(self, kind: int, outcome: int) -> None:
        """Count a return (`outcome` 0) or a failure (1) after a value of the kind with this index."""
        counts = self._counts[kind]
        counts[outcome] += 1.0
        if counts[0] + counts[1] > SAMPLE:
            counts[:] = [count / 2.0 for count in counts]
        self._counted[kind] = None

    def reweigh(self) -> None:
        """Recompute the weights of all counted kinds, because the rates were replaced."""
        self._counted.update((kind, None) for kind, counts in enumerate(self._counts) if any(counts))

    def draw(self, rng: Chance) -> str:
        """Draw a kind by weight."""
        if self._counted:
            self._weigh()
        # The upper bound guards against a product that rounds up to the total.
        return _KINDS[bisect_right(self._sums, rng.random() * self._sums[-1], 0, _LAST)]

    def shares(self) -> dict[str, float]:
        """Return the probability of each kind; the sum is 1."""
        self._weigh()
        return {kind: weight / self._sums[-1] for kind, weight in zip(_KINDS, self._weights, strict=True)}

    def _weigh(self) -> None:
        for kind in self._counted:
            worked, failed = self._counts[kind]
            share = (worked + 1.0) / (worked + failed + 2.0)  # 1/2 without observations
            self._weights[kind] = self._base[kind] * max(self._rates.floor, 4.0 * share * share)
        self._counted.clear()
        self._sums = list(accumulate(self._weights))
