"""An operation is exhausted when everything it was seen to reach is covered."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_traces import SUBJECT as SMALL
from random_traces import traces
from trace_by_hand import counted, trace_by_hand

from fitgym.evolution.reach import Reach
from fitgym.instrument.trace import Call
from fitgym.subject.subject import Branch, Function, Operation, Reference, Site, Subject

# Two public functions f and g (operations 0 and 1) and a private p that f calls. Sites: an entry block for each, then
# one predicate in p, then a handler of exceptions in g.
SUBJECT = Subject(
    Reference("m", "m", "m.py"),
    "",
    sites=(
        Site(0, "block", 0, 1),
        Site(1, "block", 1, 3),
        Site(2, "block", 2, 5),
        Site(3, "block", 3, 7),
        Site(4, "truth", 3, 8, slot=0),
        Site(5, "block", 2, 6),
    ),
    functions=(
        Function(0, "<module>", 1, 9, 0),
        Function(1, "f", 3, 4, 1),
        Function(2, "g", 5, 6, 2),
        Function(3, "p", 7, 8, 3),
    ),
    branches=(
        Branch(1, True, root=True),
        Branch(2, True, root=True),
        Branch(3, True, root=True),
        Branch(4, True),
        Branch(4, False),
    ),
    dependences=((), (), (), (), ((3, True),), ((2, True),)),
    operations=(Operation(0, "function", "m", "f", function=1), Operation(1, "function", "m", "g", function=2)),
    classes={},
)


def trace(operation, *counts, failure=""):
    """An execution of one operation with these counts of the six sites."""
    calls = (Call(operation, True),)
    return trace_by_hand(counts, [0.0, 0.0], SUBJECT.sites, calls=calls, failure=failure)


@pytest.fixture
def reach():
    made = Reach(SUBJECT)
    # f enters p and its predicate; g does not run its handler.
    made.note([trace(0, 1, 1, 0, 1, 1, 0), trace(1, 1, 0, 1, 0, 0, 0)])
    return made


def test_what_a_private_function_leaves_open_keeps_its_caller(reach):
    assert 0 not in reach.exhausted([True, True, True, True, False])


def test_with_everything_covered_the_caller_is_exhausted(reach):
    assert reach.exhausted([True] * 5) == {0}


def test_a_handler_that_never_ran_keeps_its_function(reach):
    assert 1 not in reach.exhausted([True] * 5)
    reach.note([trace(1, 1, 0, 1, 0, 0, 1)])
    assert reach.exhausted([True] * 5) == {0, 1}


def test_an_operation_that_was_never_called_is_not_exhausted():
    fresh = Reach(SUBJECT)
    fresh.note([trace(1, 1, 0, 1, 0, 0, 1)])
    assert fresh.exhausted([False, True, False, False, False]) == {1}


def test_a_failed_execution_teaches_nothing(reach):
    reach.note([trace(1, 1, 0, 1, 0, 0, 1, failure="timeout")])
    assert 1 not in reach.exhausted([True] * 5)


def test_what_another_call_of_the_test_case_reached_does_not_keep_an_operation():
    source = "\n\ndef f():\n    return 1\ndef g():\n    return p()\ndef p():\n    return 3"
    made = Reach(replace(SUBJECT, source=source))
    both = (Call(0, True), Call(1, True))
    made.note([trace_by_hand((1, 1, 1, 1, 1, 1), [0.0, 0.0], SUBJECT.sites, calls=both)])
    # Only g mentions p, whose predicate is open; f was in the same test case.
    assert made.exhausted([True, True, True, True, False]) == {0}


@given(st.lists(traces(), max_size=5), st.integers(0, 5))
def test_traces_teach_the_same_together_as_one_by_one(executed, cut):
    together, alone = Reach(SMALL), Reach(SMALL)
    together.note(executed[:cut])
    together.note(executed[cut:])
    together.exhausted([False] * len(SMALL.branches))
    reached = np.zeros_like(alone._reached)
    for operation in SMALL.under_test:
        reached[operation.id, operation.function] = True
    for one in executed:
        alone.note([one])
        alone.exhausted([False] * len(SMALL.branches))
        for call in one.calls if not one.failure else ():
            for function in SMALL.functions:
                reached[call.operation, function.id] |= function.entry in counted(one)
    assert together._reached.tolist() == alone._reached.tolist() == reached.tolist()
    visited = {site.id for site in SMALL.sites if site.kind in ("arithmetic", "value")}  # these need no visit
    visited |= {site for one in executed if one.calls and not one.failure for site in counted(one)}
    assert np.flatnonzero(together._visited).tolist() == np.flatnonzero(alone._visited).tolist() == sorted(visited)
