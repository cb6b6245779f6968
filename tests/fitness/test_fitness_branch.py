"""Branch, direct branch and line fitness: numbers by hand on a function with three nested conditions.

1  def f(a, b, c):
2      if a < 10:
3          if b == 5:
4              if c:
5                  hit()
6                  more()
7      return 0
"""

import pickle
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_by_hand import counted, dense, trace_by_hand

from fitgym.fitness._approach import Approach
from fitgym.fitness._outcomes import outcome_slots
from fitgym.fitness.base import Fitness, Target, nu, pad
from fitgym.fitness.branch import Branch
from fitgym.fitness.direct_branch import DirectBranch
from fitgym.fitness.line import Line
from fitgym.instrument.trace import Stop, Trace
from fitgym.subject import subject as data

ENTRY, A, THEN_A, B, THEN_B, C, THEN_C, END = range(1, 9)

SITES = (
    data.Site(0, "block", 0, 1, lines=(1,)),
    data.Site(ENTRY, "block", 1, 2, lines=(2,)),
    data.Site(A, "comparison", 1, 2, operator="<", slot=0),
    data.Site(THEN_A, "block", 1, 3, lines=(3,)),
    data.Site(B, "comparison", 1, 3, operator="==", slot=3),
    data.Site(THEN_B, "block", 1, 4, lines=(4,)),
    data.Site(C, "truth", 1, 4, slot=6),
    data.Site(THEN_C, "block", 1, 5, lines=(5, 6)),
    data.Site(END, "block", 1, 7, lines=(7,)),
)

NESTED = data.Subject(
    reference=data.Reference("m:f", "m", "m.py"),
    source="",
    sites=SITES,
    functions=(data.Function(0, "<module>", 1, 7, 0), data.Function(1, "f", 1, 7, ENTRY)),
    branches=(
        data.Branch(ENTRY, True, root=True),
        *(data.Branch(site, outcome) for site in (A, B, C) for outcome in (True, False)),
    ),
    dependences=(
        (),
        (),
        ((ENTRY, True),),
        ((A, True),),
        ((A, True),),
        ((B, True),),
        ((B, True),),
        ((C, True),),
        ((ENTRY, True),),
    ),
    operations=(data.Operation(0, "function", "m", "f", function=1),),
    classes={},
)


def trace(counts=None, distances=None, direct=True, **fields):
    """A trace from {site: count} and {site: distances of its slots}."""
    all_counts = [(counts or {}).get(site.id, 0) for site in SITES]
    all_distances = [inf] * NESTED.n_slots
    for site, values in (distances or {}).items():
        slot = SITES[site].slot
        all_distances[slot : slot + len(values)] = values
    return trace_by_hand(all_counts, all_distances, SITES, direct=direct, **fields)


NOTHING = trace()
# f(15, ...): 15 < 10 misses by 6, 15 == 10 by 5, 15 > 10 holds.
OUTSIDE = trace({ENTRY: 1, A: 1, END: 1}, {A: (6, 5, 0)})
# f(3, 7, ...): 3 < 10; 7 < 5 misses by 3, 7 == 5 by 2, 7 > 5 holds.
SECOND = trace({ENTRY: 1, A: 1, THEN_A: 1, B: 1, END: 1}, {A: (0, 7, 8), B: (3, 2, 0)})
# f(3, 5, 0): the third condition is false, by 1.
THIRD = trace({ENTRY: 1, A: 1, THEN_A: 1, B: 1, THEN_B: 1, C: 1, END: 1}, {A: (0, 7, 8), B: (1, 0, 1), C: (1, 0)})
# f(3, 5, 1)
INSIDE = trace(
    {ENTRY: 1, A: 1, THEN_A: 1, B: 1, THEN_B: 1, C: 1, THEN_C: 1, END: 1}, {A: (0, 7, 8), B: (1, 0, 1), C: (0, 1)}
)
FAILED = replace(INSIDE, failure="timeout")


def fractions(row):
    return [Fraction(value).limit_denominator(1000) for value in row]


# ------------------------------------------------------------------ nu and slots


def test_nu_normalises_elementwise():
    assert nu([0.0, 1.0, 3.0, inf, np.nan]).tolist() == [0.0, 0.5, 0.75, 1.0, 1.0]


@given(st.floats(min_value=0, allow_nan=False))
def test_nu_is_zero_only_for_zero_and_never_above_one(x):
    value = float(nu(x))
    assert 0.0 <= value <= 1.0
    assert (value == 0.0) == (x == 0.0)


@pytest.mark.parametrize(
    ("operator", "true", "false"),
    [
        ("<", (0,), (1, 2)),
        ("<=", (0, 1), (2,)),
        ("==", (1,), (0, 2)),
        ("!=", (0, 2), (1,)),
        (">=", (1, 2), (0,)),
        (">", (2,), (0, 1)),
    ],
)
def test_outcomes_of_a_comparison_share_three_slots(operator, true, false):
    site = data.Site(0, "comparison", 0, 1, operator=operator, slot=7)
    assert outcome_slots(site, True) == true
    assert outcome_slots(site, False) == false


def test_other_decisions_have_a_slot_for_each_outcome():
    site = data.Site(0, "loop", 0, 1, slot=4)
    assert (outcome_slots(site, True), outcome_slots(site, False)) == ((0,), (1,))


# ------------------------------------------------------------------ single test case

# Columns: f entered, a < 10 true, false, b == 5 true, false, c true, false.
ROWS = [
    # Nothing ran: the entry is 1 away, each nested condition 1 more.
    (NOTHING, [1, 2, 2, 3, 3, 4, 4]),
    # Turned away at a < 10 with distance 6: nu = 6/7; b is 1 level further, c is 2.
    (OUTSIDE, [0, "6/7", 0, "13/7", "13/7", "20/7", "20/7"]),
    # a < 10 false: min(7, 8) = 7, nu = 7/8. Turned away at b == 5 with distance 2: nu = 2/3.
    (SECOND, [0, 0, "7/8", "2/3", 0, "5/3", "5/3"]),
    # b == 5 false: min(1, 1) = 1, nu = 1/2. c true: 1, nu = 1/2.
    (THIRD, [0, 0, "7/8", 0, "1/2", "1/2", 0]),
    (INSIDE, [0, 0, "7/8", 0, "1/2", 0, "1/2"]),
    (FAILED, [1, 2, 2, 3, 3, 4, 4]),
]


@pytest.mark.parametrize(("executed", "expected"), ROWS)
def test_branch_distance_is_approach_level_plus_normalised_distance(executed, expected):
    assert fractions(Branch(NESTED).distances([executed])[0]) == [Fraction(value) for value in expected]


def test_rows_do_not_depend_on_the_batch():
    branch = Branch(NESTED)
    together = branch.distances([executed for executed, _ in ROWS])
    alone = np.concatenate([branch.distances([executed]) for executed, _ in ROWS])
    assert together.tolist() == alone.tolist()
    assert branch.distances([]).shape == (0, 7)


def test_direct_branch_measures_what_was_recorded_for_direct_calls():
    # f ran up to its third condition, but the test case itself called it only with a = 15.
    executed = replace(THIRD, direct=OUTSIDE.reached)
    assert DirectBranch(NESTED).distances([executed]).tolist() == Branch(NESTED).distances([OUTSIDE]).tolist()


def test_direct_branch_says_that_its_probes_were_off():
    with pytest.raises(ValueError, match='without "direct"'):
        DirectBranch(NESTED).distances([trace(direct=False)])


def test_only_functions_that_a_test_case_can_call_have_direct_branches():
    unreachable = replace(NESTED, operations=())
    assert DirectBranch(unreachable).targets == []
    assert DirectBranch(unreachable).of_suite(np.empty((3, 0)), np.empty((3, 0), dtype=int)) == 0.0
    assert len(DirectBranch(NESTED).targets) == 7


def test_targets_are_distinct_and_readable():
    targets = Branch(NESTED).targets
    assert targets[0] == Target("branch", ("f", 2, ENTRY, "entered"))
    assert targets[1] == Target("branch", ("f", 2, A, True))
    assert len(set(targets)) == 7


def test_a_paper_example_prefers_the_lower_approach_level():
    # Rojas et al. 2017, equations 2 and 3: z > 0, z > 100 and z > 200 nested; 1 + nu(51) for z = 50, nu(100) for 101.
    sites = (
        data.Site(0, "block", 0, 1),
        *(data.Site(i, "comparison", 0, i, operator=">", slot=3 * i - 3) for i in (1, 2, 3)),
    )
    chain = replace(
        NESTED,
        sites=sites,
        functions=(data.Function(0, "g", 1, 4, 0),),
        branches=(data.Branch(3, True),),
        dependences=((), ((0, True),), ((1, True),), ((2, True),)),
    )
    at_50 = trace_by_hand([1, 1, 1, 0], [51, 50, 0, 0, 50, 51, inf, inf, inf], sites)
    at_101 = trace_by_hand([1, 1, 1, 1], [102, 101, 0, 2, 1, 0, 0, 99, 100], sites)
    assert Branch(chain).distances([at_50, at_101])[:, 0].tolist() == [1 + 51 / 52, 100 / 101]


# ------------------------------------------------------------------ circular dependences


def test_a_loop_that_can_be_left_in_its_middle_has_finite_distances():
    # while p (1): if q (2): break;  then r (3) after the loop. p also depends on q being false, q on p being true.
    sites = (data.Site(0, "block", 0, 1), *(data.Site(i, "truth", 0, i, slot=2 * i - 2) for i in (1, 2, 3)))
    loop = replace(
        NESTED,
        sites=sites,
        functions=(data.Function(0, "g", 1, 4, 0),),
        branches=tuple(data.Branch(i, o) for i in (1, 2, 3) for o in (True, False)),
        dependences=((), ((0, True), (1, True), (2, False)), ((1, True),), ((0, True),)),
    )
    # Not entered: p is 1 + 1 away, q behind it 1 + 2, r 1 + 1. Entered and p false (distance to true 3): q 1 + 3/4.
    idle = Trace()
    skipped = trace_by_hand([1, 1, 0, 1], [3, 0, inf, inf, 0, 1], sites)
    assert Branch(loop).distances([idle, skipped]).tolist() == [[2, 2, 3, 3, 2, 2], [0.75, 0, 1.75, 1.75, 0, 0.5]]


@st.composite
def graphs(draw):
    """A subject of random dependences among decisions, circular ones and dead code included, and traces of it."""
    n = draw(st.integers(1, 8))
    pair = st.tuples(st.integers(0, n), st.booleans()).map(lambda p: (p[0], p[1] or p[0] == 0))
    dependences = ((), *(tuple(draw(st.lists(pair, max_size=3, unique=True))) for _ in range(n)))
    subject = replace(
        NESTED,
        sites=(data.Site(0, "block", 0, 1), *(data.Site(i, "truth", 0, i, slot=2 * i - 2) for i in range(1, n + 1))),
        functions=(data.Function(0, "g", 1, 9, 0),),
        branches=tuple(data.Branch(i, o) for i in range(1, n + 1) for o in (True, False)),
        dependences=dependences,
    )
    executed = draw(st.lists(st.lists(st.booleans(), min_size=n + 1, max_size=n + 1), min_size=1, max_size=4))
    slots = draw(st.lists(st.sampled_from([0.0, 1.0, 3.0]), min_size=2 * n, max_size=2 * n))
    traces = [trace_by_hand(ran, slots, subject.sites) for ran in executed]
    return subject, traces


def by_definition(subject, executed):
    """f of every branch, by relaxing its definition until nothing changes, without stages or arrays."""
    entries = {function.entry for function in subject.functions}
    counts, distances = dense(executed, subject)
    n = len(subject.sites)
    f = {}
    for site in range(n):
        for outcome in (True, False):
            slot = subject.sites[site].slot + (not outcome)
            distance = distances[slot] if site not in entries else 0.0
            f[site, outcome] = float(nu(distance)) if counts[site] else 1.0 if site in entries else inf

    def relax(dependences):
        for _ in range(n):
            for site in range(n):
                if not counts[site] and site not in entries:
                    reach = min((f[pair] for pair in dependences[site]), default=inf)
                    f[site, True] = f[site, False] = 1 + reach

    # A site that depends on nothing but itself depends on the entry, and then what is still not connected with it.
    dependences = [tuple(pair for pair in pairs if pair[0] != s) for s, pairs in enumerate(subject.dependences)]
    dependences = [pairs or ((0, True),) for pairs in dependences]
    connected = set(entries)
    for _ in range(n):
        connected |= {s for s in range(n) if any(other in connected for other, _ in dependences[s])}
    relax([pairs if s in connected else (*pairs, (0, True)) for s, pairs in enumerate(dependences)])
    return [f[branch.site, branch.outcome] for branch in subject.branches]


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_stages_agree_with_the_definition_on_every_graph(example):
    subject, traces = example
    rows = Branch(subject).distances(traces)
    assert np.isfinite(rows).all()
    assert rows.tolist() == [by_definition(subject, executed) for executed in traces]


def test_what_ran_is_reached_whatever_it_depends_on():
    # An `except` body that ran: no decision that it depends on was executed, and yet it is 0 away.
    approach = Approach(NESTED, [THEN_C])
    ran = trace({THEN_C: 1})
    counts, distances = (np.array([part]) for part in dense(ran, NESTED))
    _, h = approach.measure(counts, distances)
    assert h[approach.places([THEN_C, C])].tolist() == [[0.0], [3.0]]


def test_a_long_chain_of_guards_needs_no_recursion():
    n = 3000
    subject = replace(
        NESTED,
        sites=(data.Site(0, "block", 0, 1), *(data.Site(i, "truth", 0, i, slot=2 * i - 2) for i in range(1, n + 1))),
        functions=(data.Function(0, "g", 1, n, 0),),
        branches=(data.Branch(n, True),),
        dependences=((), ((0, True),), *(((i, False),) for i in range(1, n))),
    )
    approach = Approach(subject, [n])
    f, h = approach.measure(np.zeros((1, n + 1), dtype=np.int64), np.full((1, 2 * n), inf))
    assert f[approach.outcomes([(n, True)])].tolist() == [[n + 1.0]]
    assert h[approach.places([n])].tolist() == [[n]]


# ------------------------------------------------------------------ suites


def value(fitness, traces, **options):
    return fitness.of_suite(fitness.distances(traces), fitness.visits(traces), **options)


def test_the_empty_suite_and_nothing_but_failures_are_worst():
    for fitness in (Branch(NESTED), DirectBranch(NESTED)):
        assert value(fitness, []) == 1.0
        assert value(fitness, [FAILED, FAILED]) == 1.0


def test_a_decision_executed_once_counts_as_far_away():
    # OUTSIDE: entered 0, a < 10: true 1 (executed once), false 0; b and c: 4 times 1.
    branch = Branch(NESTED)
    assert value(branch, [OUTSIDE], raw=True) == 5.0
    # Twice: nu(6) = 6/7 for the missing outcome.
    assert value(branch, [OUTSIDE, OUTSIDE], raw=True) == pytest.approx(4 + 6 / 7)
    assert value(branch, [OUTSIDE, OUTSIDE]) == pytest.approx((4 + 6 / 7) / 7)


def test_without_visits_the_rule_is_off():
    branch = Branch(NESTED)
    assert branch.of_suite(branch.distances([OUTSIDE]), raw=True) == pytest.approx(4 + 6 / 7)


def test_the_two_executions_may_be_in_one_test_case():
    looped = trace({ENTRY: 1, A: 2, END: 1}, {A: (6, 5, 0)})
    assert value(Branch(NESTED), [looped], raw=True) == pytest.approx(4 + 6 / 7)


def test_the_minimum_is_taken_over_test_cases():
    # a false covered by OUTSIDE, a true by SECOND; b executed twice by SECOND twice: true nu(2) = 2/3, false 0; c: 2.
    assert value(Branch(NESTED), [OUTSIDE, SECOND, SECOND], raw=True) == pytest.approx(2 + 2 / 3)


def test_covered_targets_leave_the_sum_and_an_archived_outcome_counts_as_an_execution():
    branch = Branch(NESTED)
    open_targets = np.array([False, True, False, True, True, True, True])
    # a < 10 was executed once by the suite and once by the archive: nu(6) counts.
    assert value(branch, [OUTSIDE], open_targets=open_targets, raw=True) == pytest.approx(4 + 6 / 7)
    assert value(branch, [OUTSIDE], open_targets=open_targets) == pytest.approx((4 + 6 / 7) / 7)
    # A target may be closed without being archived, because others stand for it.
    nothing = np.zeros(7, dtype=bool)
    assert value(branch, [OUTSIDE], open_targets=open_targets, archived=nothing, raw=True) == 5.0


def test_everything_covered_is_zero():
    suite = [OUTSIDE, SECOND, THIRD, INSIDE]
    assert value(Branch(NESTED), suite) == 0.0
    assert value(DirectBranch(NESTED), suite) == 0.0
    assert value(Line(NESTED), suite) == 0.0


def test_the_paper_example_of_the_archive():
    # Rojas et al. 2017, section 3.3: with both branches T1 = 0.7 beats T2 = 1.1; with b1 archived T2 = 0.1 wins.
    class Two(Fitness):
        def __init__(self, subject):
            super().__init__(subject)
            self.targets = [Target("two", (1,)), Target("two", (2,))]

        def distances(self, traces):
            return np.ones((len(traces), 2))

    two = Two(NESTED)
    first, second = np.array([[0.0, 0.7]]), np.array([[1.0, 0.1]])
    assert [two.of_suite(rows, raw=True) for rows in (first, second)] == [0.7, 1.1]
    only_b2 = np.array([False, True])
    assert [two.of_suite(rows, open_targets=only_b2, raw=True) for rows in (first, second)] == [0.7, 0.1]


def test_a_direct_decision_executed_once_counts_half():
    direct = DirectBranch(NESTED)
    # OUTSIDE: a < 10 true 0.5, b and c never executed 4.
    assert value(direct, [OUTSIDE], raw=True) == 4.5
    # Once in each of two test cases is still once; twice in one test case shows the distance.
    assert value(direct, [OUTSIDE, OUTSIDE], raw=True) == 4.5
    looped = trace({ENTRY: 1, A: 2, END: 1}, {A: (6, 5, 0)})
    assert value(direct, [looped], raw=True) == pytest.approx(4 + 6 / 7)
    assert not direct.monotone


def test_masks_that_are_too_short_leave_later_targets_open():
    branch = Branch(NESTED)
    assert value(branch, [NOTHING], open_targets=np.array([False]), raw=True) == 6.0


def test_padding_adds_targets_that_were_not_seen():
    assert pad(np.zeros((2, 1)), 3).tolist() == [[0, 1, 1], [0, 1, 1]]
    assert pad(np.zeros(1), 2).tolist() == [0, 1]


# ------------------------------------------------------------------ lines

# Columns: lines 2 to 7, then the guiding branches in order of first need:
# the entry (lines 2, 7), a true (line 3), b true (line 4), c true (lines 5, 6).
LINES = [
    # The entry is 1 away, so its lines are 2 away; line 3 depends on a: 1 + 2, and so on.
    (NOTHING, [2, 3, 4, 5, 5, 2], [1, 2, 3, 4]),
    # Line 3: 1 + 6/7; line 4: 1 + (1 + 6/7); lines 5, 6: 1 + (2 + 6/7).
    (OUTSIDE, [0, "13/7", "20/7", "27/7", "27/7", 0], [0, "6/7", "13/7", "20/7"]),
    (SECOND, [0, 0, "5/3", "8/3", "8/3", 0], [0, 0, "2/3", "5/3"]),
    (THIRD, [0, 0, 0, "3/2", "3/2", 0], [0, 0, 0, "1/2"]),
    (INSIDE, [0, 0, 0, 0, 0, 0], [0, 0, 0, 0]),
    (FAILED, [2, 3, 4, 5, 5, 2], [1, 2, 3, 4]),
]


@pytest.mark.parametrize(("executed", "lines", "guidance"), LINES)
def test_line_distance_is_one_level_behind_the_branches_of_its_block(executed, lines, guidance):
    line = Line(NESTED)
    assert [target.key for target in line.targets] == [(2,), (3,), (4,), (5,), (6,), (7,)]
    assert fractions(line.distances([executed])[0]) == [Fraction(x) for x in (*lines, *guidance)]
    assert line.covered(line.distances([executed])).shape == (1, 6)


def test_lines_of_functions_without_branches_do_not_count():
    assert all(target.key != (1,) for target in Line(NESTED).targets)  # the `def` belongs to the module
    assert Line(replace(NESTED, branches=())).targets == []
    assert value(Line(replace(NESTED, branches=())), [INSIDE]) == 0.0


def test_an_exception_cuts_the_lines_behind_it():
    # hit() raises on line 5: line 6 did not run, nor line 7, whose branch (f entered) was taken: 1.
    raised = trace(
        {ENTRY: 1, A: 1, THEN_A: 1, B: 1, THEN_B: 1, C: 1, THEN_C: 1},
        {A: (0, 7, 8), B: (1, 0, 1), C: (0, 1)},
        stops=(Stop(THEN_C, 5),),
    )
    assert Line(NESTED).distances([raised])[0, :6].tolist() == [0, 0, 0, 0, 1, 1]


def test_a_line_is_covered_if_its_block_once_got_past_the_line_before():
    counts = {ENTRY: 3, A: 3, THEN_A: 3, B: 3, THEN_B: 3, C: 3, THEN_C: 3}
    distances = {A: (0, 7, 8), B: (1, 0, 1), C: (0, 1)}
    twice = trace(counts, distances, stops=(Stop(THEN_C, 5, 2),))
    always = trace(counts, distances, stops=(Stop(THEN_C, 5, 2), Stop(THEN_C, 5)))
    at_last_line = trace(counts, distances, stops=(Stop(THEN_C, 6, 3),))
    assert Line(NESTED).distances([twice, always, at_last_line])[:, 3:5].tolist() == [[0, 0], [0, 1], [0, 0]]


def test_a_block_that_ran_is_no_further_away_than_its_cut():
    # An `except` body: it ran although no decision that it depends on was executed.
    raised = trace({ENTRY: 1, THEN_C: 1}, stops=(Stop(THEN_C, 5),))
    assert Line(NESTED).distances([raised])[0, 3:5].tolist() == [0, 1]


def test_stops_of_failed_traces_and_of_other_functions_are_ignored():
    elsewhere = replace(INSIDE, stops=(Stop(0, 1),))
    failed = replace(FAILED, stops=(Stop(THEN_C, 5),))
    line = Line(NESTED)
    assert line.distances([elsewhere]).tolist() == line.distances([INSIDE]).tolist()
    assert line.distances([failed]).tolist() == line.distances([NOTHING]).tolist()


def test_a_line_of_two_blocks_is_covered_by_either():
    # Line 3 also belongs to the last block, as in `while x: y` written on one line.
    sites = (*SITES[:END], replace(SITES[END], lines=(3, 7)))
    line = Line(replace(NESTED, sites=sites))
    assert line.distances([OUTSIDE])[0, 1] == 0.0
    assert line.distances([NOTHING])[0, 1] == 2.0  # the nearer of 2 (last block) and 3


def test_a_line_cut_in_one_block_may_run_in_another():
    sites = (*SITES[:END], replace(SITES[END], lines=(6, 7)))
    line = Line(replace(NESTED, sites=sites))
    cut = replace(INSIDE, stops=(Stop(THEN_C, 5),))
    sites, counts, distances = cut.reached
    without_end = replace(cut, reached=(sites[:-4], counts[:-4], distances))
    assert list(counted(cut)) == [*counted(without_end), END]
    assert line.distances([cut, without_end])[:, 4].tolist() == [0.0, 1.0]


def test_line_suite_value_is_missing_lines_plus_guidance():
    line = Line(NESTED)
    # OUTSIDE: 4 lines missing, nu(4) = 4/5; the entry 0, a true 1 (executed once), b and c true 1 each.
    assert value(line, [OUTSIDE], raw=True) == pytest.approx(0.8 + 3)
    # Twice: a true nu(6) = 6/7. Divided by 1 + 4 guiding branches.
    assert value(line, [OUTSIDE, OUTSIDE], raw=True) == pytest.approx(0.8 + 2 + 6 / 7)
    assert value(line, [OUTSIDE, OUTSIDE]) == pytest.approx((0.8 + 2 + 6 / 7) / 5)


def test_the_archive_takes_lines_out_but_leaves_the_guidance():
    open_targets = np.array([False, True, True, False, False, False])
    # Two open lines missing: nu(2) = 2/3, guidance 3 as before.
    assert value(Line(NESTED), [OUTSIDE], open_targets=open_targets, raw=True) == pytest.approx(2 / 3 + 3)


def test_nothing_is_lost_in_a_pickle():
    for fitness in (Branch(NESTED), DirectBranch(NESTED), Line(NESTED)):
        copy = pickle.loads(pickle.dumps(fitness))
        assert copy.targets == fitness.targets
        assert copy.distances([SECOND]).tolist() == fitness.distances([SECOND]).tolist()
