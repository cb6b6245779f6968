"""Approach level: how many decisions lie between what a trace executed and a place that it did not reach.

For an outcome o of a site s, with d the least recorded distance to that outcome,

    f(s, o) = nu(d(s, o))     if the trace executed s
            = 1 + h(s)        if it did not
    h(s)    = 0               if the trace executed s
            = 1               if s is the entry of a function that was not entered
            = min f(s', o')   over the decisions (s', o') that s is control dependent on

so that f is the approach level plus the normalised branch distance at the decision where execution turned away, and
f(entry, true) = h(entry). Whole numbers of f are approach levels: nu stays below 1, or reaches it for infinite d.

References:
    Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
    Generation, section 3.1, equation 1.
Differs from EvoSuite: the minimum is over the whole trace, not over the recorded calls of the target's function, and
a function that was not entered is one level away from its entry instead of the diameter of its control flow graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from fitgym.fitness.base import Counts, Floats, Index, nu
from fitgym.instrument.distance import FALSE_SLOTS, TRUE_SLOTS
from fitgym.subject.subject import Site, Subject

__all__ = ["Approach", "outcome_slots"]


def outcome_slots(site: Site, outcome: bool) -> tuple[int, ...]:
    """The slots of `trace.distances` whose minimum is the distance to an outcome of a decision.

    A comparison records the distances to `<`, `==` and `>` in this order: `a <= b` is true if one of the first two
    occurred, false if the third did. Every other decision records the distance to true, then to false.
    """
    if site.kind != "comparison":
        return (site.slot + (not outcome),)
    relations = TRUE_SLOTS if outcome else FALSE_SLOTS
    return tuple(site.slot + relation for relation in relations[site.operator])


@dataclass(frozen=True, slots=True)
class _Stage:
    """Sites whose dependences are all settled when the earlier stages are.

    Attributes:
        sites: their positions.
        dependences: rows of positions of outcomes, short rows filled up by repetition, shape `(len(sites), longest)`.
        circular: sites of a loop depend on each other; their values settle after several rounds.
    """

    sites: Index
    dependences: Index
    circular: bool


class Approach:
    """f and h of many traces at once, for the sites of one fitness function and what they depend on.

    The dependence graph is cut into stages once; a measurement is then a handful of array operations for each stage,
    whatever the number of sites and traces in it.

    Args:
        subject: the code under test.
        sites: ids of the sites that will be asked for.
    """

    def __init__(self, subject: Subject, sites: Iterable[int]) -> None:
        entries = {function.entry for function in subject.functions}
        dependences = _closure(subject, sites, entries)
        self._position = {site: position for position, site in enumerate(dependences)}
        self._sites = np.array(list(dependences), dtype=np.intp)
        self._entries = np.array([self._position[site] for site in dependences if site in entries], dtype=np.intp)
        decisions = [
            (2 * self._position[site] + outcome, outcome_slots(subject.sites[site], outcome))
            for site in dependences
            if subject.sites[site].width
            for outcome in (False, True)
        ]
        self._decisions = np.array([position for position, _ in decisions], dtype=np.intp)
        self._first_slots = np.array([slots[0] for _, slots in decisions], dtype=np.intp)
        self._last_slots = np.array([slots[-1] for _, slots in decisions], dtype=np.intp)
        self._stages = list(self._plan(dependences))

    def outcomes(self, pairs: Iterable[tuple[int, bool]]) -> Index:
        """Rows of the first result of `measure` that hold these (site, outcome) pairs."""
        return np.array([2 * self._position[site] + outcome for site, outcome in pairs], dtype=np.intp)

    def places(self, sites: Iterable[int]) -> Index:
        """Rows of the second result of `measure` that hold these sites."""
        return np.array([self._position[site] for site in sites], dtype=np.intp)

    def measure(self, counts: Counts, distances: Floats) -> tuple[Floats, Floats]:
        """f and h, each finite and never negative.

        Args:
            counts: of the traces, shape `(n_traces, n_sites)`.
            distances: of the same traces, shape `(n_traces, n_slots)`.

        Returns:
            f, shape `(2 * n, n_traces)`, and h, shape `(n, n_traces)`; n counts the sites asked for and what they
            depend on. Traces are the last axis because whole sites are gathered at every stage.
        """
        executed = counts.T[self._sites] > 0
        h = np.where(executed, 0.0, np.inf)
        h[self._entries] = ~executed[self._entries]
        f = np.zeros((len(self._sites), 2, len(counts)))
        flat = f.reshape(2 * len(self._sites), len(counts))  # the same numbers, by outcome
        slots = distances.T
        flat[self._decisions] = nu(np.minimum(slots[self._first_slots], slots[self._last_slots]))
        np.copyto(f, np.inf, where=~executed[:, None])
        f[self._entries] = h[self._entries, None]
        for stage in self._stages:
            ran = executed[stage.sites]
            for _ in range(len(stage.sites) if stage.circular else 1):
                reach = np.where(ran, 0.0, flat[stage.dependences].min(axis=1))
                if stage.circular and np.array_equal(reach, h[stage.sites]):
                    break
                h[stage.sites] = reach
                # What was executed is at most 1 already, what was not is infinite until now.
                f[stage.sites] = np.minimum(f[stage.sites], 1.0 + reach[:, None])
        return flat, h

    def _plan(self, dependences: dict[int, list[tuple[int, bool]]]) -> Iterator[_Stage]:
        """The stages in the order in which they can be computed, the entries left out."""
        graph = [[self._position[site] for site, _ in pairs] for pairs in dependences.values()]
        pairs_of = list(dependences.values())
        level = [0] * len(graph)
        members: dict[tuple[int, bool], list[int]] = {}
        for component in _components(graph):
            inside = set(component)
            outside = [level[other] for node in component for other in graph[node] if other not in inside]
            height = 1 + max(outside, default=-1)
            for node in component:
                level[node] = height
            if height:
                members.setdefault((height, len(component) > 1), []).extend(component)
        for (_, circular), nodes in sorted(members.items()):
            rows = [[2 * self._position[site] + outcome for site, outcome in pairs_of[node]] for node in nodes]
            longest = max(len(row) for row in rows)
            filled = [row + row[-1:] * (longest - len(row)) for row in rows]
            yield _Stage(np.array(nodes, dtype=np.intp), np.array(filled, dtype=np.intp), circular)


def _closure(subject: Subject, sites: Iterable[int], entries: set[int]) -> dict[int, list[tuple[int, bool]]]:
    """The dependences of the sites and of everything that they depend on, by site.

    A site depending on itself (the condition of a loop) is left out: if it was not executed, the way through it is
    never the shortest. A site that depends on nothing else (code after a `return`), and then any that is still without
    a way from an entry, depends on the entry of its function.
    """
    found: dict[int, list[tuple[int, bool]]] = {}
    waiting = list(dict.fromkeys(sites))
    while waiting:
        site = waiting.pop()
        if site in found:
            continue
        pairs = [] if site in entries else [pair for pair in subject.dependences[site] if pair[0] != site]
        if not pairs and site not in entries:
            pairs = [_entry(subject, site)]
        found[site] = pairs
        waiting += [other for other, _ in pairs]
    reached = _reached(found, entries)
    for site in list(found):
        if site not in reached:
            found[site].append(_entry(subject, site))
            found.setdefault(_entry(subject, site)[0], [])
    return dict(sorted(found.items()))


def _entry(subject: Subject, site: int) -> tuple[int, bool]:
    return subject.functions[subject.sites[site].function].entry, True


def _reached(dependences: dict[int, list[tuple[int, bool]]], entries: set[int]) -> set[int]:
    """The sites that a chain of dependences connects with an entry."""
    dependents: dict[int, list[int]] = {}
    for site, pairs in dependences.items():
        for other, _ in pairs:
            dependents.setdefault(other, []).append(site)
    reached: set[int] = set()
    waiting = [site for site in dependences if site in entries]
    while waiting:
        site = waiting.pop()
        if site not in reached:
            reached.add(site)
            waiting += dependents.get(site, [])
    return reached


def _components(graph: list[list[int]]) -> Iterator[list[int]]:
    """Strongly connected components, each after all components that it has edges to (Tarjan's algorithm)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    open_: list[int] = []
    is_open: set[int] = set()
    for root in range(len(graph)):
        if root in number:
            continue
        number[root] = low[root] = len(number)
        open_.append(root)
        is_open.add(root)
        path: list[tuple[int, Iterator[int]]] = [(root, iter(graph[root]))]
        while path:
            node, successors = path[-1]
            for other in successors:
                if other not in number:
                    number[other] = low[other] = len(number)
                    open_.append(other)
                    is_open.add(other)
                    path.append((other, iter(graph[other])))
                    break
                if other in is_open:
                    low[node] = min(low[node], number[other])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == number[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(open_.pop())
                        is_open.discard(component[-1])
                    yield component
