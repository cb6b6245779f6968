"""Approach level: the number of decisions between the executed code and a place that a trace did not reach.

For an outcome o of a site s, with d the least recorded distance to that outcome,

    f(s, o) = nu(d(s, o))     if the trace executed s
            = 1 + h(s)        if it did not

    h(s)    = 0               if the trace executed s
            = 1               if s is the entry of a function that was not entered
            = min f(s', o')   over the decisions (s', o') that s is control dependent on

So f is the approach level plus the normalised branch distance at the decision where execution took another way, and
f(entry, true) = h(entry). The whole part of f is the approach level: nu stays below 1, and is 1 only for infinite d.

References:
    Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
    Generation, section 3.1, equation 1.

Differs from EvoSuite: the minimum is over the whole trace, not over the recorded calls of the target's function. A
function that was not entered is one level away from its entry; in EvoSuite, it is the diameter of its control flow
graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from fitgym.fitness._outcomes import outcome_slots
from fitgym.fitness.base import Counts, Floats, Index, nu
from fitgym.subject.subject import Subject

__all__ = ["Approach"]


@dataclass(frozen=True, slots=True)
class _Stage:
    """A range of sites whose dependences are all computed by earlier stages. Their positions are consecutive.

    Attributes:
        first: the first position.
        end: one more than the last position.
        dependences: rows of positions of outcomes, shape `(end - first, longest)`. Short rows repeat their last
            position.
        circular: the sites form a loop and depend on each other, so that their values need several rounds.
    """

    first: int
    end: int
    dependences: Index
    circular: bool


class Approach:
    """Computes f and h of many traces at once, for given sites and all sites that they depend on.

    The constructor splits the dependence graph into stages. A measurement then takes a few array operations per stage,
    however many sites and traces there are.

    Args:
        subject: the code under test.
        sites: ids of the sites to measure.
    """

    def __init__(self, subject: Subject, sites: Iterable[int]) -> None:
        entries = {function.entry for function in subject.functions}
        dependences = _closure(subject, sites, entries)
        stages = list(_levels(dependences, entries))
        # Entries come first: h of an entry depends on no other site.
        ordered = [site for site in dependences if site in entries]
        self._n_entries = len(ordered)
        ordered += [site for stage, _ in stages for site in stage]
        self._position = {site: position for position, site in enumerate(ordered)}
        self._sites = np.array(ordered, dtype=np.intp)
        decisions = [
            (2 * self._position[site] + outcome, subject.sites[site].slot, outcome_slots(subject.sites[site], outcome))
            for site in ordered
            if subject.sites[site].width
            for outcome in (False, True)
        ]
        self._decisions = np.array([position for position, _, _ in decisions], dtype=np.intp)
        self._first_slots = np.array([slot + slots[0] for _, slot, slots in decisions], dtype=np.intp)
        self._last_slots = np.array([slot + slots[-1] for _, slot, slots in decisions], dtype=np.intp)
        self._stages: list[_Stage] = []
        first = self._n_entries
        for stage, circular in stages:
            rows = [[2 * self._position[other] + outcome for other, outcome in dependences[site]] for site in stage]
            longest = max(map(len, rows))
            filled = np.array([row + row[-1:] * (longest - len(row)) for row in rows], dtype=np.intp)
            self._stages.append(_Stage(first, first + len(stage), filled, circular))
            first += len(stage)

    def outcomes(self, pairs: Iterable[tuple[int, bool]]) -> Index:
        """Return the rows for these (site, outcome) pairs in the first result of `measure`."""
        return np.array([2 * self._position[site] + outcome for site, outcome in pairs], dtype=np.intp)

    def places(self, sites: Iterable[int]) -> Index:
        """Return the rows for these sites in the second result of `measure`."""
        return np.array([self._position[site] for site in sites], dtype=np.intp)

    def measure(self, counts: Counts, distances: Floats) -> tuple[Floats, Floats]:
        """Return f and h, each finite and at least 0.

        Args:
            counts: of the traces, shape `(n_traces, n_sites)`.
            distances: of the same traces, shape `(n_traces, n_slots)`.

        Returns:
            f, shape `(2 * n, n_traces)`, and h, shape `(n, n_traces)`; n is the number of sites to measure and their
            dependences. Traces are the last axis because every stage gathers whole sites.
        """
        n, n_traces = len(self._sites), len(counts)
        executed = counts.T.take(self._sites, axis=0) > 0
        missed = ~executed
        slots = distances.T
        flat = np.zeros((2 * n, n_traces))
        flat[self._decisions] = nu(
            np.minimum(slots.take(self._first_slots, axis=0), slots.take(self._last_slots, axis=0))
        )
        f = flat.reshape(n, 2, n_traces)  # a view of `flat`, by site: writing to one changes the other
        h = np.empty((n, n_traces))
        h[: self._n_entries] = missed[: self._n_entries]
        f[: self._n_entries] = h[: self._n_entries, None]
        for stage in self._stages:
            here, way = slice(stage.first, stage.end), missed[stage.first : stage.end, None]
            if stage.circular:
                # Start from infinity: the minimum then decreases to the values of the shortest ways.
                np.copyto(f[here], np.inf, where=way)
                h[here] = np.inf
            # A shortest way visits each site of a loop at most once, so this number of rounds is enough.
            for _ in range(len(stage.dependences) if stage.circular else 1):
                reach = np.minimum.reduce(flat.take(stage.dependences, axis=0), axis=1)
                if stage.circular and np.array_equal(reach, h[here]):
                    break
                h[here] = reach
                np.copyto(f[here], (1.0 + reach)[:, None], where=way)
        np.copyto(h, 0.0, where=executed)
        return flat, h


def _levels(dependences: dict[int, list[tuple[int, bool]]], entries: set[int]) -> Iterator[tuple[list[int], bool]]:
    """Yield the sites except entries in an order in which they can be measured, one level at a time.

    Each level comes with a flag: whether its sites depend on each other.
    """
    position = {site: index for index, site in enumerate(dependences)}
    sites = list(dependences)
    graph = [[position[other] for other, _ in pairs] for pairs in dependences.values()]
    level = [0] * len(graph)
    members: dict[tuple[int, bool], list[int]] = {}
    for component in _components(graph):
        inside = set(component)
        outside = [level[other] for node in component for other in graph[node] if other not in inside]
        height = 1 + max(outside, default=-1)
        for node in component:
            level[node] = height
        if sites[component[0]] not in entries:
            members.setdefault((height, len(component) > 1), []).extend(sites[node] for node in component)
    for (_, circular), found in sorted(members.items()):
        yield found, circular


def _closure(subject: Subject, sites: Iterable[int], entries: set[int]) -> dict[int, list[tuple[int, bool]]]:
    """Return the dependences of the sites and of everything that they depend on, by site.

    The dependence of a site on itself (the condition of a loop) is left out: if the site was not executed, the way
    through it is never the shortest. A site without dependences (code after a `return`) depends on the entry of its
    function. So does any other site that no chain of dependences connects with an entry.
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
    """Return the sites that a chain of dependences connects with an entry."""
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
    """Yield strongly connected components, each after all components that it has edges to (Tarjan's algorithm)."""
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
