"""Landscapes: formulas that imitate a search on a generated program, for many episodes at once.

A landscape has the parts of a program of `fitgym.programs` (locks with levels, treasures, decoys, and features that
give weak hints), but no code and no search. A slice of n test cases on a part reduces its gap, opens levels, and covers
the branches behind them. Observations and actions are the same as in `fitgym.envs.programs`, but thousands of times as
fast, so a policy trained here can act there.

The model of a part with the gap g, the levels w_1 > ... > w_d, and r uncovered branches of its treasure, for n test
cases:

    ln g falls by 0.055 n e,  e exponential with mean 1
    a level opens when g + s < w_l; s is 0, except for a dead lock, where s is so large that some level never opens
    floor(r (1 - 0.95^n) + u) branches of an open treasure are covered, u uniform in [0, 1)

`whole` divides two slices in proportion to the open branches that a search can see, including those that can never be
covered. It gets two slices because, when the whole subject is searched, a test case for one part also approaches
others.

Every random number is a hash of task or seed, decision, part and purpose. An episode is therefore the same whether it
runs alone or among a thousand others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACTIONS", "FEATURES", "OFFERS", "PARTS", "SLICES", "Landscapes"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]

PARTS: Final = 12
"""The number of parts in a landscape."""

SLICES: Final = 30
"""The number of decisions in an episode."""

OFFERS: Final = 3
"""The number of parts that are offered at a time."""

ACTIONS: Final = ("stay", "first", "second", "third", "nearest", "promising", "whole")
"""The names of the actions, as in `fitgym.envs.rules.POINTERS`."""

FEATURES: Final = ("covered", "distance", "gain", "approach", "spent", "idle", "size", "nesting", "ahead")
"""The features of the part that each action points to, as in `fitgym.envs.features.parts`."""

_TESTS = 20.0  # test cases in a slice
_SHARED = 2.0  # slices that `whole` is worth, because its test cases approach several parts
_NEARER = 0.055  # mean fall of the logarithm of a gap per test case
_COVERS = 0.95  # probability that a test case misses a particular branch of an open treasure
_SCALE = 250.0
_MOST_DEPTH = 4
_FAR = np.log1p(1e6)
_DEAD_SHARE = 8.0 / 12.0
_TELLING = 0.8
_OPEN_SHARE = 0.05
_HALVES = {"gain": 0.1, "approach": 0.05, "spent": 2.0, "idle": 1.0, "size": 20.0, "nesting": 4.0, "ahead": 1.0}


@dataclass(slots=True)
class _Layout:
    """The constants of an episode; arrays `(n, PARTS)`."""

    dead: Mask
    depth: Whole
    levels: Floats  # (n, PARTS, _MOST_DEPTH); -1 for missing levels
    shift: Floats
    treasure: Whole  # number of branches
    decoys: Whole
    ahead: Whole
    start: Floats  # the gap at the start, without luck
    size: Whole
    possible: Whole


class Landscapes:
    """A batch of n episodes.

    Args:
        n: number of episodes.

    Attributes:
        tasks: the number of each episode's landscape, `(n,)`.
        seeds: the seed of each episode, `(n,)`.
        step: the number of decisions made in each episode, `(n,)`.
        covered: the number of covered branches, `(n, PARTS)`.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.tasks = np.zeros(n, dtype=np.uint64)
        self.seeds = np.zeros(n, dtype=np.uint64)
        self.step = np.zeros(n, dtype=np.int64)
        shape = (n, PARTS)
        self._layout = _layout(self.tasks)
        self._gap = np.zeros(shape)
        self._level = np.zeros(shape, dtype=np.int64)
        self._found = np.zeros(shape, dtype=np.int64)  # covered branches of the treasure
        self.covered = np.zeros(shape, dtype=np.int64)
        self._distance = np.zeros(shape)
        self._seen = {name: np.zeros((n, PARTS + 1)) for name in ("gain", "approach", "spent", "idle")}
        self._offered = np.zeros(shape, dtype=np.int64)
        self.last = np.full(n, -1, dtype=np.int64)
        self._first = np.zeros(n, dtype=np.int64)
        self._rows = np.arange(n)

    def reset(self, which: Mask, tasks: Whole, seeds: Whole) -> None:
        """Restart some of the episodes.

        Args:
            which: the mask of these episodes, `(n,)`.
            tasks, seeds: the tasks and seeds of these episodes, in order.
        """
        self.tasks[which], self.seeds[which] = tasks.astype(np.uint64), seeds.astype(np.uint64)
        layout = _layout(self.tasks[which])
        for name in _Layout.__slots__:
            getattr(self._layout, name)[which] = getattr(layout, name)
        self.step[which] = 0
        self.last[which] = -1
        self._offered[which] = 0
        self._found[which] = self._level[which] = 0
        for values in self._seen.values():
            values[which] = 0.0
        luck = self._luck(0)[which]
        self._gap[which] = layout.start * (0.5 + luck)
        self._open(which)
        self._count(which)
        self._first[which] = self.covered[which].sum(axis=1)

    @property
    def open(self) -> Mask:
        """The mask of parts with uncovered branches, `(n, PARTS)`; an agent cannot see whether they can be covered."""
        return self.covered < self._layout.size

    @property
    def score(self) -> Floats:
        """The branches covered since `reset`, as a share of the coverable ones, `(n,)`."""
        found: Floats = (self.covered.sum(axis=1) - self._first) / self._left
        return found

    @property
    def over(self) -> Mask:
        """Whether all decisions are made or all coverable branches are covered, `(n,)`."""
        return (self.step >= SLICES) | (self.covered >= self._layout.possible).all(axis=1)

    @property
    def dead(self) -> Mask:
        """The mask of parts with a lock that never opens, `(n, PARTS)`; agents do not see it."""
        return self._layout.dead

    def idle_of_last(self) -> Floats:
        """Return the idle slices of the last slice's part, `(n,)`; infinity if it has no open branch."""
        inside = (self.last >= 0) & (self.last < PARTS)
        place = np.where(inside, self.last, 0)
        stays = inside & self.open[self._rows, place]
        return np.where(stays, self._seen["idle"][self._rows, place], np.inf)

    def act(self, actions: Whole) -> Floats:
        """Spend a slice on the part that each action points to; return the rewards, `(n,)`.

        Args:
            actions: numbers in `ACTIONS`, `(n,)`.
        """
        return self.spend(self.pointers()[self._rows, actions])

    def act_where(self, actions: Whole, moves: Mask) -> Floats:
        """Act in some of the episodes only; the others stay unchanged and get reward 0."""
        if moves.all():
            return self.act(actions)
        # `act` works on all rows, so the other episodes are saved before it and restored after it.
        kept = self._saved(~moves)
        rewards = self.act(actions)
        self._restore(~moves, kept)
        return np.where(moves, rewards, 0.0)

    def spend(self, parts: Whole) -> Floats:
        """Spend a slice on a part of each episode, `PARTS` for the whole; return the rewards, `(n,)`."""
        offers = self.pointers()[:, 1 : 1 + OFFERS]
        before, covered, distance = self.score, self.covered.copy(), self._distance.copy()
        whole = parts == PARTS
        shares = np.zeros((self.n, PARTS))
        shares[self._rows[~whole], parts[~whole]] = 1.0
        if whole.any():
            visible = self._visible()[whole].astype(float)
            shares[whole] = visible / np.maximum(1.0, visible.sum(axis=1, keepdims=True))
        tests = np.minimum(_TESTS, np.where(whole[:, None], _SHARED, 1.0) * _TESTS * shares)
        self.step += 1
        # -ln(u) of a uniform u is exponential with mean 1; the maximum avoids ln(0).
        self._gap *= np.exp(_NEARER * tests * np.log(np.maximum(1e-12, self._luck(1))))
        everyone = np.ones(self.n, dtype=bool)
        self._open(everyone)
        rest = np.where(self._unlocked(), self._layout.treasure - self._found, 0)
        self._found += np.minimum(rest, np.floor(rest * (1.0 - _COVERS**tests) + self._luck(2))).astype(np.int64)
        self._count(everyone)
        self._note(parts, offers, covered, distance)
        return self.score - before

    def pointers(self) -> Whole:
        """Return the part that each action points to, `PARTS` for the whole, `(n, len(ACTIONS))`."""
        open_ = self.open
        last = np.zeros_like(open_)
        inside = (self.last >= 0) & (self.last < PARTS)
        last[self._rows[inside], self.last[inside]] = True
        stays = (open_ & last).any(axis=1)
        others = open_ & ~last
        others = np.where(others.any(axis=1, keepdims=True), others, open_)
        none = ~open_.any(axis=1)
        spent, idle, approach = (self._seen[name][:, :PARTS] for name in ("spent", "idle", "approach"))
        numbers = np.arange(PARTS)
        # Each sum below packs a lexicographic order into one number: for offers slices, then offers so far, then number.
        offers = np.argsort(
            np.where(others, spent * 1e6 + self._offered * 1e3 + numbers, np.inf), axis=1, kind="stable"
        )
        amount = np.maximum(1, others.sum(axis=1))
        nearest = np.where(others, idle * 1e3 + self._distance + numbers * 1e-9, np.inf).argmin(axis=1)
        keys = -approach * 1e9 + idle * 1e4 + spent * 1e1 + numbers * 1e-3
        promising = np.where(others, keys, np.inf).argmin(axis=1)
        offered = [offers[self._rows, place % amount] for place in range(OFFERS)]
        stay = np.where(stays, self.last, offered[0])
        found = np.stack([stay, *offered, nearest, promising, np.full(self.n, PARTS)], axis=1)
        found[none] = PARTS
        return found.astype(np.int64)

    def observe(self, last_actions: Whole) -> NDArray[np.float32]:
        """Return the observation of each episode, `(n, 71)`, in the order of `fitgym.envs.programs`.

        Args:
            last_actions: the last action, -1 before the first, `(n,)`.
        """
        layout, seen = self._layout, self._seen
        size = np.concatenate([layout.size, layout.size.sum(axis=1, keepdims=True)], axis=1).astype(float)
        covered = np.concatenate([self.covered, self.covered.sum(axis=1, keepdims=True)], axis=1) / size
        least = np.where(self.open, self._distance, np.inf).min(axis=1, keepdims=True)
        distance = np.concatenate([self._distance, np.where(np.isfinite(least), least, 0.0)], axis=1)
        zero = np.zeros((self.n, 1))
        nesting = np.concatenate([layout.depth + 1.0, zero], axis=1)
        ahead = np.concatenate([np.maximum(0.0, layout.ahead - 1.0), zero], axis=1)
        values = {"size": size, "nesting": nesting, "ahead": ahead, **seen}
        squashed = {name: value / (value + _HALVES[name]) for name, value in values.items()}
        squashed |= {"covered": covered, "distance": distance}
        stacked = np.stack([squashed[name] for name in FEATURES], axis=2)  # (n, PARTS + 1, 9)
        pointed = stacked[self._rows[:, None], self.pointers()].reshape(self.n, -1)
        choice = np.zeros((self.n, len(ACTIONS)))
        known = last_actions >= 0
        choice[self._rows[known], last_actions[known]] = 1.0
        remaining = 1.0 - self.step[:, None] / SLICES
        return np.concatenate([pointed, choice, remaining], axis=1).astype(np.float32)

    # ------------------------------------------------------------------ private

    def _saved(self, which: Mask) -> list[NDArray[np.generic]]:
        return [values[which].copy() for values in self._changing()]

    def _restore(self, which: Mask, saved: list[NDArray[np.generic]]) -> None:
        for values, kept in zip(self._changing(), saved, strict=True):
            values[which] = kept

    def _changing(self) -> list[NDArray[np.generic]]:
        """The arrays that a slice changes."""
        own = (self.step, self.covered, self._gap, self._level, self._found, self._distance, self._offered, self.last)
        return [*own, *self._seen.values()]

    @property
    def _left(self) -> Whole:
        found: Whole = np.maximum(1, self._layout.possible.sum(axis=1) - self._first)
        return found

    def _luck(self, purpose: int) -> Floats:
        """Return a uniform number for each part, `(n, PARTS)`."""
        return _uniform(self.seeds, self.step.astype(np.uint64), purpose)

    def _unlocked(self) -> Mask:
        return self._level >= self._layout.depth

    def _open(self, which: Mask) -> None:
        """Open the levels that the gaps allow."""
        layout = self._layout
        gap = (self._gap + layout.shift)[which]
        passed = (gap[:, :, None] < layout.levels[which]).sum(axis=2)
        self._level[which] = np.maximum(self._level[which], passed)

    def _count(self, which: Mask) -> None:
        """Update the covered branches and the distances to the next open branch."""
        layout, level = self._layout, self._level
        locks = level + np.minimum(level + 1, layout.depth)
        covered = np.minimum(1 + locks + layout.decoys + self._found, layout.size)
        self.covered[which] = covered[which]
        place = np.minimum(level, _MOST_DEPTH - 1)
        following = np.take_along_axis(layout.levels, place[:, :, None], axis=2)[:, :, 0]
        lock = np.log1p(np.maximum(0.0, self._gap + layout.shift - following + 1.0)) / _FAR
        decoy = np.where(layout.decoys > 0, np.log1p(1.0) / _FAR, np.inf)
        treasure = np.log1p(1.0) / _FAR
        distance = np.minimum(np.where(self._unlocked(), treasure, lock), decoy)
        self._distance[which] = np.where(covered < layout.size, distance, 0.0)[which]

    def _visible(self) -> Whole:
        """The number of open branches whose decision a test case reaches, `(n, PARTS)`."""
        layout = self._layout
        locked = (~self._unlocked()).astype(np.int64)
        rest = np.where(self._unlocked(), layout.treasure - self._found, 0)
        found: Whole = locked + rest + layout.decoys
        return found

    def _note(self, parts: Whole, offers: Whole, covered: Whole, distance: Floats) -> None:
        """Record the results of the slice."""
        seen, rows = self._seen, self._rows
        size = np.concatenate([self._layout.size, self._layout.size.sum(axis=1, keepdims=True)], axis=1)

        def with_whole(values: Whole) -> Whole:
            return np.concatenate([values, values.sum(axis=1, keepdims=True)], axis=1)

        gain = ((with_whole(self.covered) - with_whole(covered)) / size)[rows, parts]
        nearest = (
            np.where(self.open, distance, np.inf).min(axis=1),
            np.where(self.open, self._distance, np.inf).min(axis=1),
        )
        inside = np.minimum(parts, PARTS - 1)
        nearer = np.where(
            parts == PARTS, nearest[0] - nearest[1], distance[rows, inside] - self._distance[rows, inside]
        )
        nearer = np.where(np.isfinite(nearer), nearer, 0.0)
        approach = np.where(gain > 0.0, 1.0, np.maximum(0.0, nearer))
        idle = np.where((gain > 0.0) | (approach > 0.0), 0.0, seen["idle"][rows, parts] + 1.0)
        for place in range(OFFERS):
            other = offers[:, place]
            passed_over = (other != parts) & (other < PARTS)
            self._offered[rows[passed_over], other[passed_over]] += 1
        seen["gain"][rows, parts], seen["approach"][rows, parts], seen["idle"][rows, parts] = gain, approach, idle
        seen["spent"][rows, parts] += 1.0
        self.last = parts.copy()


def _layout(tasks: NDArray[np.uint64]) -> _Layout:
    """Generate the landscapes of some tasks."""
    # Purposes from 100 on, because `_luck` uses the small ones.
    draws = iter([_uniform(tasks, np.zeros_like(tasks), purpose) for purpose in range(100, 110)])

    def whole(low: int, high: int) -> Whole:
        return low + np.floor(next(draws) * (high - low + 1)).astype(np.int64)

    dead = next(draws) < _DEAD_SHARE
    free = next(draws) < _OPEN_SHARE
    dead &= ~free
    depth = np.where(free, 0, whole(2, _MOST_DEPTH))
    treasure = 2 * whole(2, 8)
    decoys = np.where(dead, whole(0, 8), 0)
    telling = next(draws) < _TELLING
    ahead = np.where(free, 1, np.where(dead == telling, 2, 1))
    places = np.arange(_MOST_DEPTH)
    levels = np.where(places < depth[:, :, None], np.maximum(2.0, np.round(_SCALE / 2 / 3.0**places)), -1.0)
    alive = 1 + np.floor(next(draws) * np.maximum(1, depth - 1)).astype(np.int64)
    at = np.take_along_axis(levels, np.minimum(alive, _MOST_DEPTH - 1)[:, :, None], axis=2)[:, :, 0]
    shift = np.where(dead, 2.0 * np.maximum(at, 2.0), 0.0)
    start = _SCALE * (0.25 + 0.75 * next(draws))
    size = 1 + 2 * depth + treasure + 2 * decoys
    passable = (shift[:, :, None] < levels).sum(axis=2)
    reached = 1 + passable + np.minimum(passable + 1, depth) + decoys
    possible = np.where(dead, np.minimum(reached, size), size)
    return _Layout(dead, depth, levels, shift, treasure, decoys, ahead, start, size, possible)


def _uniform(seeds: NDArray[np.uint64], steps: NDArray[np.uint64], purpose: int) -> Floats:
    """Return numbers in [0, 1) that depend only on seed, step, part and purpose, `(n, PARTS)`.

    The hash is the mixing function of SplitMix64.
    """
    parts = np.arange(1, PARTS + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):  # the products wrap around at 2^64, as intended
        mixed = seeds[:, None] * np.uint64(0x9E3779B97F4A7C15) + steps[:, None] * np.uint64(0xD1B54A32D192ED03)
        mixed = mixed + parts[None, :] * np.uint64(0x8CB92BA72F3D8DD7) + np.uint64(purpose * 0x2545F491 + 1)
        mixed ^= mixed >> np.uint64(30)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
        mixed *= np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    found: Floats = (mixed >> np.uint64(11)).astype(np.float64) / float(1 << 53)
    return found
