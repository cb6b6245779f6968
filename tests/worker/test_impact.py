"""The impact of a mutant: how much the recorded data of its run differs."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.instrument.trace import Reached
from fitgym.subject.subject import Site, SiteKind
from fitgym.worker.impact import Impact

KINDS: tuple[SiteKind, ...] = ("block", "truth", "comparison", "block", "arithmetic")
SITES = tuple(Site(i, kind, 0, 1) for i, kind in enumerate(KINDS))

Entry = tuple[int, int, tuple[float, ...]]


def reached(*entries: Entry) -> Reached:
    """Sites with counts and distances."""
    return (
        array("I", [site for site, _, _ in entries]).tobytes(),
        array("I", [count for _, count, _ in entries]).tobytes(),
        array("d", [d for _, _, ds in entries for d in ds]).tobytes(),
    )


BEFORE = ((0, 1, ()), (1, 2, (0.0, 3.0)), (3, 1, ()))


@pytest.mark.parametrize(
    ("after", "impact"),
    [
        (BEFORE, 0.0),
        (((0, 1, ()), (1, 2, (0.0, 3.0)), (3, 2, ())), 1 / 2),  # one block was visited again
        (((0, 1, ()), (1, 2, (0.0, 3.0)), (3, 1, ()), (4, 1, ())), 0.0),  # operators of arithmetic are no blocks
        (((0, 1, ()), (1, 2, (0.0, 1.0)), (3, 1, ())), 2 / 3),  # a distance went from 3 to 1
        (((0, 1, ()), (1, 2, (0.0, 3.0))), 1 / 2),  # a block was left out
        (((1, 2, (0.0, 3.0)), (2, 1, (1.0, 0.0, 5.0)), (3, 4, ())), 2 / 3 + 3),  # two blocks; a decision of three slots
    ],
)
def test_blocks_and_distances_are_added_up(after: tuple[Entry, ...], impact: float) -> None:
    assert Impact(SITES).of(reached(*BEFORE), reached(*after), frozenset()) == pytest.approx(impact)


def test_sites_that_the_mutant_does_not_have_are_left_out() -> None:
    after = reached((1, 2, (0.0, 3.0)), (2, 1, (1.0, 0.0, 5.0)), (3, 4, ()))
    assert Impact(SITES).of(reached(*BEFORE), after, frozenset({2})) == pytest.approx(2 / 3)
    assert Impact(SITES).of(reached((1, 1, (0.0, 1.0))), reached((1, 2, (3.0, 0.0))), frozenset({1})) == 0.0


@pytest.mark.parametrize("more", [(), ((3, 1, ()),)])
def test_an_infinite_difference_counts_one(more: tuple[Entry, ...]) -> None:
    before, after = reached((1, 1, (0.0, float("inf")))), reached((1, 1, (0.0, 1.0)), *more)
    assert Impact(SITES).of(before, after, frozenset({3})) == 1.0


def _by_the_formula(before: list[Entry], after: list[Entry], unrecorded: set[int]) -> float:
    """The formula of `Impact`, site by site."""
    old, new = ({site: (count, distances) for site, count, distances in run} for run in (before, after))
    blocks, total = 0, 0.0
    for site, kind in enumerate(KINDS):
        if old.get(site) == new.get(site) or site in unrecorded:
            continue
        if kind == "block":
            blocks += 1
        elif site not in old or site not in new:
            total += SITES[site].width
        else:
            total += sum(abs(a - b) / (abs(a - b) + 1) for a, b in zip(old[site][1], new[site][1], strict=True))
    return blocks / (blocks + 1) + total


def _runs() -> st.SearchStrategy[list[Entry]]:
    numbers = st.integers(0, 3).map(float)
    entries = [
        st.tuples(st.just(site.id), st.integers(1, 2), st.tuples(*([numbers] * site.width))) | st.none()
        for site in SITES
    ]
    return st.tuples(*entries).map(lambda found: [entry for entry in found if entry is not None])


@given(_runs(), st.lists(_runs(), min_size=1, max_size=4), st.sets(st.sampled_from(range(len(SITES)))))
def test_every_pair_of_runs_has_the_impact_of_the_formula(
    before: list[Entry], runs: list[list[Entry]], unrecorded: set[int]
) -> None:
    impact, first = Impact(SITES), reached(*before)
    for after in runs:
        expected = _by_the_formula(before, after, unrecorded)
        assert impact.of(first, reached(*after), frozenset(unrecorded)) == pytest.approx(expected)
