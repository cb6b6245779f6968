"""The sparse data of traces as matrices over all sites and slots."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_by_hand import trace_by_hand

from fitgym.fitness._recorded import recorded_counts, recorded_distances
from fitgym.instrument.trace import Trace
from fitgym.subject import subject as data

WIDTHS = {"block": 0, "comparison": 3, "truth": 2}


def subject_of(kinds):
    slots = np.cumsum([0, *(WIDTHS[kind] for kind in kinds)]).tolist()
    sites = tuple(
        data.Site(i, kind, 0, i, slot=slots[i] if WIDTHS[kind] else -1, operator="<" if kind == "comparison" else "")
        for i, kind in enumerate(kinds)
    )
    return data.Subject(data.Reference("m", "m", "m.py"), "", sites, (), (), ((),) * len(sites), (), {})


@st.composite
def recordings(draw):
    """A subject, and for some traces the count of each site and the distance of each slot, or that it failed."""
    subject = subject_of(draw(st.lists(st.sampled_from(sorted(WIDTHS)), max_size=6)))
    traces = []
    for _ in range(draw(st.integers(0, 4))):
        counts = draw(st.lists(st.integers(0, 2**32 - 1), min_size=len(subject.sites), max_size=len(subject.sites)))
        reached = [counts[site.id] > 0 for site in subject.sites for _ in range(site.width)]
        distances = [draw(st.floats(0, 1e300)) if ran else inf for ran in reached]
        traces.append((counts, distances, draw(st.booleans())))
    return subject, traces


@given(recordings(), st.booleans())
def test_every_number_comes_back_in_its_row_and_column(example, direct):
    subject, rows = example
    traces = [
        trace_by_hand(counts, distances, subject.sites, direct=direct, failure="fuel" if failed else "")
        for counts, distances, failed in rows
    ]
    blank = ([0] * len(subject.sites), [inf] * subject.n_slots)
    expected = [blank if failed else (counts, distances) for counts, distances, failed in rows]
    counts = recorded_counts(subject, traces, direct=direct)
    distances = recorded_distances(subject, traces, direct=direct)
    assert counts.shape == (len(rows), len(subject.sites))
    assert distances.shape == (len(rows), subject.n_slots)
    assert counts.tolist() == [row for row, _ in expected]
    assert distances.tolist() == [row for _, row in expected]


SUBJECT = subject_of(["block", "comparison", "truth"])


def test_a_trace_of_another_subject_is_refused():
    longer, other = subject_of(["block"] * 4), subject_of(["block"] * 3)
    with pytest.raises(ValueError, match="a trace has site 3 of 3"):
        recorded_counts(SUBJECT, [trace_by_hand([1, 1, 1, 1], (), longer.sites)])
    with pytest.raises(ValueError, match="traces have 0 distances, expected 5"):
        recorded_distances(SUBJECT, [trace_by_hand([1, 1, 1], (), other.sites)])


def test_a_trace_that_failed_needs_no_direct_part():
    whole = trace_by_hand([1, 0, 0], (), SUBJECT.sites, direct=True)
    assert recorded_counts(SUBJECT, [Trace(failure="crash"), whole], direct=True).tolist() == [[0, 0, 0], [1, 0, 0]]
    with pytest.raises(ValueError, match='without "direct"'):
        recorded_distances(SUBJECT, [whole, trace_by_hand([1, 0, 0])], direct=True)
