"""Fitness of tiny programs that really ran, with numbers by hand."""

from fractions import Fraction
from textwrap import dedent

import pytest
from trace_by_hand import dense

from fitgym.fitness.branch import Branch
from fitgym.fitness.direct_branch import DirectBranch
from fitgym.fitness.line import Line
from fitgym.instrument.lines import covered_lines
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.instrument.trace import Trace
from fitgym.subject import subject as data
from fitgym.subject.dependence import branches, dependences


class Program:
    """A module with probes, loaded; its first function is the operation under test."""

    def __init__(self, source):
        instrumented = instrument(dedent(source), "tiny.py")
        plan = instrumented.plan
        self.recorder = Recorder(plan.sites)
        self.module = {"__name__": "tiny"}
        exec(instrumented.code(self.recorder.probe), self.module)
        self.recorder.runner_codes.add(self._called.__func__.__code__)
        self.subject = data.Subject(
            reference=data.Reference("tiny", "tiny", "tiny.py"),
            source=source,
            sites=plan.sites,
            functions=plan.functions,
            branches=tuple(b for b in branches(plan.sites, plan.functions) if plan.sites[b.site].function),
            dependences=dependences(instrumented.tree, plan.at, plan.blocks, plan.entries, plan.sites, plan.functions),
            operations=(data.Operation(0, "function", "tiny", plan.functions[1].name, function=1),),
            classes={},
        )

    def trace(self, name, *arguments):
        """What one call records."""
        self.recorder.begin(frozenset({"direct"}))
        try:
            self._called(self.module[name], arguments)
        except Exception as error:
            self.recorder.stopped(error.__traceback__)
        return Trace(*self.recorder.snapshot(), stops=self.recorder.stops())

    def _called(self, function, arguments):
        result = function(*arguments)
        return list(result) if hasattr(result, "__next__") else result


SEARCH = """\
def f(a, b, c):
    if a < 10 and b == 5:
        while c:
            c -= 1
            if c == 3:
                break
        return int("x") if b < 0 else "ok"
    return None

def g(a):
    return f(a, 5, 0)
"""


@pytest.fixture(scope="module")
def search():
    return Program(SEARCH)


# Columns: f and g entered, then true and false of a < 10, b == 5, while c, c == 3, b < 0.
CALLS = [
    # 15 < 10 misses by 5 + 1: nu = 6/7. b 1 level further, c and b < 0 behind it 2, c == 3 is 3.
    (("f", 15, 0, 0), [0, 1, "6/7", 0, *["13/7"] * 2, *["20/7"] * 2, *["27/7"] * 2, *["20/7"] * 2]),
    # 3 < 10: false needs min(7, 8) more, nu = 7/8. 7 == 5 misses by 2: nu = 2/3.
    (("f", 3, 7, 0), [0, 1, 0, "7/8", "2/3", 0, *["5/3"] * 2, *["8/3"] * 2, *["5/3"] * 2]),
    # b == 5: any change makes it false, 1/2. The loop goes round for c = 2 and 1 and ends at 0; c == 3 is missed by 2
    # after the first round: 2/3. 5 < 0 misses by 5 + 1: 6/7.
    (("f", 3, 5, 2), [0, 1, 0, "7/8", 0, "1/2", 0, 0, "2/3", 0, "6/7", 0]),
    # Left by `break`: c was 4 away from false, 4/5; c == 3 held, any change makes it false.
    (("f", 3, 5, 4), [0, 1, 0, "7/8", 0, "1/2", 0, "4/5", 0, "1/2", "6/7", 0]),
    # Through g. `while c` is false at once, 1 away from true; c == 3 is 1 level behind it.
    (("g", 3), [0, 0, 0, "7/8", 0, "1/2", "1/2", 0, "3/2", "3/2", "6/7", 0]),
]


@pytest.mark.parametrize(("call", "expected"), CALLS)
def test_branch_distances_of_real_runs(search, call, expected):
    row = Branch(search.subject).distances([search.trace(*call)])[0]
    assert [Fraction(x).limit_denominator(1000) for x in row] == [Fraction(x) for x in expected]


def test_a_suite_of_real_runs(search):
    branch = Branch(search.subject)
    traces = [search.trace(*call) for call, _ in CALLS]
    # All but b < 0, which was executed three times: 6/7.
    assert branch.of_suite(branch.distances(traces), branch.visits(traces), raw=True) == pytest.approx(6 / 7)
    # The first and the second call: g, b == 5 true 1 (executed once), and 2 for each of the three decisions behind it.
    two = traces[:2]
    assert branch.of_suite(branch.distances(two), branch.visits(two), raw=True) == pytest.approx(2 + 6)


def test_a_call_through_another_function_is_not_direct(search):
    direct = DirectBranch(search.subject)
    nothing, through = search.trace("g", 3), search.trace("f", 3, 5, 0)
    assert direct.distances([nothing])[0].min() == 1.0
    # g is no operation: no column for it.
    assert len(direct.targets) == 11
    assert direct.distances([through])[0].tolist() == pytest.approx(
        [0, 0, 7 / 8, 0, 1 / 2, 1 / 2, 0, 3 / 2, 3 / 2, 6 / 7, 0]
    )


def test_line_distances_of_real_runs(search):
    line = Line(search.subject)
    assert [target.key[0] for target in line.targets] == [2, 3, 4, 5, 6, 7, 8, 11]
    # f(3, 7, 0): line 3 and 7 are 1 + nu(2), lines 4 and 5 one more level, line 6 two more; g not entered.
    row = line.distances([search.trace("f", 3, 7, 0)])[0, :8]
    assert row.tolist() == pytest.approx([0, 5 / 3, 8 / 3, 8 / 3, 11 / 3, 5 / 3, 0, 2])


CUT = """\
def f(text, fallback):
    value = None
    try:
        value = int(text)
        value += 1
    except ValueError:
        value = fallback()
        value += 2
    finally:
        done = True
    for item in range(value):
        if item == 2:
            raise KeyError(item)
        value += item
    return value

def g(items):
    with open(items) as file:
        yield file
    yield from ()
"""


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        (("f", "0", None), [6, 7, 8, 13]),
        (("f", "5", None), [6, 7, 8, 15]),
        (("f", "x", None), [5, 8, 11, 12, 13, 14, 15]),
        (("f", "x", lambda: 0), [5, 13]),
        (("f", None, None), [5, 7, 8, 11, 12, 13, 14, 15]),
        (("g", "/no/such/file"), [19, 20]),
    ],
)
def test_lines_behind_an_exception_are_not_covered(call, missing):
    program = Program(CUT)
    line = Line(program.subject)
    executed = program.trace(*call)
    row = line.distances([executed])[0, : len(line.targets)]
    own = range(2, 16) if call[0] == "f" else range(18, 21)
    uncovered = [target.key[0] for target, value in zip(line.targets, row, strict=True) if value > 0]
    assert [number for number in uncovered if number in own] == missing
    # The instrumentation derives the same from the same trace.
    ran = covered_lines(dense(executed, program.subject)[0], executed.stops, program.subject.sites)
    assert {target.key[0] for target in line.targets} - set(uncovered) == ran


@pytest.mark.parametrize(
    ("comparison", "values", "holds"),
    [
        ("x < y", (float("nan"), 1.0), False),
        ("x == y", (float("nan"), float("nan")), False),
        ("x != y", (float("nan"), 1.0), True),
        ("x <= y", ({1}, {2}), False),
        ("x >= y", ({1, 2}, {2}), True),
        ("x == y", ("", None), False),
        ("x == y", (10**400, 1.0), False),
        ("x > y", (10**400, -(10**400)), True),
        ("x < y", (float("-inf"), float("inf")), True),
        ("x in y", (3, [1, 2]), False),
        ("x not in y", ("b", "abc"), False),
        ("x is y", (None, None), True),
        ("x", ([],), False),
        ("x", (float("nan"),), True),
    ],
)
def test_exactly_the_outcome_that_occurred_is_covered(comparison, values, holds):
    program = Program(f"def f(x, y=None):\n    if {comparison}:\n        return 1\n    return 0\n")
    branch = Branch(program.subject)
    row = branch.distances([program.trace("f", *values)])
    assert branch.covered(row)[0].tolist() == [True, holds, not holds]
    assert (row <= 1.0).all()
