"""Kills: which mutants an assertion tells from the code as it is, and the fewest assertions that tell most."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set

from fitgym.execution.observation import Observation, Observed
from fitgym.testcase.expression import Collection, Expression, Literal

__all__ = ["Kills", "fewest", "kills"]

Kills = Mapping[Observation, Set[Hashable]]
"""For each candidate assertion of one test the mutants that it kills and that the test without it would let live."""


def kills(candidates: Iterable[Observation], seen: Observed, mutated: Mapping[Hashable, Observed]) -> Kills:
    """The kill matrix of one test.

    An assertion kills a mutant if the fact that it states is none of those observed when the test ran on the mutant.
    Mutants on which the test ends in another way (raises or not, another class of exception, another statement, a
    failure such as time being up) die without any assertion and are left out.

    Args:
        candidates: the facts that the test may assert.
        seen: what the test shows on the code as it is.
        mutated: what it shows on each mutant that it was run on.
    """
    ending = (seen.raises[:1], seen.position, seen.failure)
    living = {
        mutant: frozenset(other.observations)
        for mutant, other in mutated.items()
        if (other.raises[:1], other.position, other.failure) == ending
    }
    return {fact: frozenset(mutant for mutant, facts in living.items() if fact not in facts) for fact in candidates}


def fewest(candidates: Sequence[Observation], matrix: Kills) -> list[Observation]:
    """The fewest candidates that kill every mutant that all of them kill together, in their order.

    A greedy set cover: again and again the candidate that kills the most mutants which are still alive, of equally
    deadly ones the plainest, of these the first; in the end every one goes without which the others kill as many. It is
    empty if no candidate kills anything.
    """
    deadly = {fact: set(matrix.get(fact, ())) for fact in dict.fromkeys(candidates)}
    alive: set[Hashable] = set().union(*deadly.values())
    taken: list[Observation] = []
    while alive:
        best = max(deadly, key=lambda fact: (len(deadly[fact] & alive), -plainness(fact)))
        taken.append(best)
        alive -= deadly[best]
    for fact in sorted(taken, key=plainness, reverse=True):
        others = set().union(*(deadly[other] for other in taken if other != fact))
        if deadly[fact] <= others:
            taken.remove(fact)
    return [fact for fact in deadly if fact in taken]


def plainness(fact: Observation) -> int:
    """About how many characters the assertion takes; the less, the plainer."""
    around = {"equal": 0, "is": 0, "approx": 15, "nan": 10, "text": 5, "list": 6, "length": 5}.get(fact.kind, 30)
    return around + len(fact.path) + _size(fact.expression)


def _size(expression: Expression) -> int:
    if isinstance(expression, Collection):
        return 2 + sum(_size(item) + 2 for item in expression.items)
    return len(expression.text) if isinstance(expression, Literal) else 12
