"""The rule for killed mutants, case by case, and the isolation of mutants from each other."""

import textwrap
from array import array

import pytest

from fitgym.errors import OutOfBudget
from fitgym.execution.child import Broken
from fitgym.execution.executor import Executor
from fitgym.execution.killing import Care, Killing
from fitgym.messages.effect import Effect, Expectation
from fitgym.messages.journal import IDLE
from fitgym.messages.limits import Limits
from fitgym.messages.observation import Observation
from fitgym.mutants.generation import mutants
from fitgym.mutants.text import Text
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal, Name, Ref
from fitgym.testcase.statement import Statement, StatementTable

LIMITS = Limits(seconds=0.4, fuel=20_000, memory_mb=256)


class Subject:
    """A small program with a worker, and test cases by the names of its operations."""

    def __init__(self, text, folder):
        path = folder / "program.py"
        path.write_text(textwrap.dedent(text))
        self.executor = Executor(locate(str(path)), LIMITS)
        self.operations = {o.name: o.id for o in self.executor.subject.operations}
        self.mutants = mutants(self.executor.subject.source).made
        text = Text(self.executor.subject.source)
        self.names = [f"{m.function}: {text.at(m.span)} -> {m.text}" for m in self.mutants]
        self.table = StatementTable()

    def test(self, *calls):
        """A test case of calls `(operation, receiver or -1, literal ...)`."""
        return self.table.testcase(
            Statement(
                self.operations[name], receiver, tuple(Literal(a) if isinstance(a, str) else Ref(a) for a in arguments)
            )
            for name, receiver, *arguments in calls
        )

    def expect(self, *tests, once=False):
        traces = self.executor.run(tests, self.table)
        found = self.executor.expect(tests, traces, self.table, once=once)
        return {test: one for test, one in zip(tests, found, strict=True) if one is not None}

    def kill(self, *tests, exhaustive=False):
        """Effects of all mutants on all test cases, by test case and number."""
        expected = self.expect(*tests)
        trials = [(test, number) for test in expected for number in range(len(self.mutants))]
        effects = self.executor.kill(trials, expected, self.table, exhaustive=exhaustive)
        return dict(zip(trials, effects, strict=True))


@pytest.fixture
def subject(tmp_path):
    made = []

    def make(text):
        made.append(Subject(text, tmp_path))
        return made[-1]

    yield make
    for one in made:
        one.executor.close()


def killed(it, effects, test):
    """How a test case kills mutants, by what they change into what; of several that do the same the last."""
    return {it.names[number]: effect.killed for (t, number), effect in effects.items() if t == test and effect}


def test_what_a_test_case_shows_every_time_is_expected(subject):
    it = subject(
        """
        import random
        def pair(n: int):
            return [n, random.random()], n + 1
        def fail(n: int):
            raise KeyError(n)
        """
    )
    good, bad = it.test(("pair", -1, "4")), it.test(("fail", -1, "1"))
    expected = it.expect(good, bad)
    facts = {(fact.path, fact.kind, getattr(fact.expression, "text", "")) for fact in expected[good].facts}
    assert facts == {("", "length", "2"), ("[1]", "equal", "5")}  # the list depends on chance
    assert expected[good].raises is None and expected[good].position == -1
    assert expected[bad].raises == Name("builtins", "KeyError") and expected[bad].position == 0


def test_of_a_test_case_that_ends_its_process_now_and_then_nothing_is_expected(subject):
    it = subject(
        """
        import os, time
        def maybe(n: int):
            if time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 100 % 3 == 0:
                os._exit(1)
            return n
        """
    )
    tests = [it.test(("maybe", -1, str(n))) for n in range(30)]
    traces = it.executor.run(tests, it.table)
    survived = {test for test, trace in zip(tests, traces, strict=True) if not trace.failure}
    expected = dict(zip(tests, it.executor.expect(tests, traces, it.table), strict=True))
    always = {test for test, one in expected.items() if one is not None}
    assert always < survived


def test_a_mutant_is_made_once_for_all_children_to_come(subject):
    it = subject(
        """
        import os
        def leave(n: int):
            os.environ["LEFT"] = str(n)
            return n * 2
        """
    )
    tests = [it.test(("leave", -1, str(n))) for n in range(4)]
    first = it.kill(*tests, exhaustive=True)
    zygote = it.executor._zygote
    zygote.retire()  # the next child is one to which nothing has happened
    assert it.kill(*tests, exhaustive=True) == first
    assert zygote._made == set(range(len(it.mutants)))


def test_no_hash_is_expected(subject):
    it = subject(
        """
        class Name:
            def __init__(self, text: str):
                self.text = text
            def __hash__(self):
                return hash(self.text)
        """
    )
    test = it.test(("Name", -1, "'a'"), ("Name.__hash__", 0))
    assert {fact.position for fact in it.expect(test)[test].facts} == {0}


def test_what_chance_decides_shows_in_two_runs(subject):
    it = subject(
        """
        import random
        def draw():
            return random.random()
        def sides(n):
            return n + 1
        """
    )
    draw, sides = it.test(("draw", -1)), it.test(("sides", -1, "5"))
    assert [len(one.facts) for one in it.expect(draw, sides, once=True).values()] == [1, 1]
    assert [len(one.facts) for one in it.expect(draw, sides).values()] == [0, 1]
    assert [len(one.facts) for one in it.expect(draw, sides, once=True).values()] == [0, 1]  # what is known stays known


def test_each_way_to_be_killed(subject):
    it = subject(
        """
        def grade(n):
            if n < 0:
                raise ValueError("negative")
            total = 0
            while n > 0:
                n -= 1
                total += 2
            return total
        def pick(items, index):
            if index >= 5:
                raise LookupError("far")
            return items[index]
        """
    )
    two = it.test(("grade", -1, "2"))
    negative = it.test(("grade", -1, "-1"))
    far = it.test(("pick", -1, "'ab'", "7"))
    effects = it.kill(two, negative, far, exhaustive=True)
    assert killed(it, effects, two)["grade: n < 0 -> n != 0"] == "raises"
    assert killed(it, effects, two)["grade: n -= 1 -> pass"] == "timeout"
    assert killed(it, effects, two)["grade: return total -> pass"] == "value"
    assert killed(it, effects, negative)['grade: raise ValueError("negative") -> pass'] == "returns"
    # pytest.raises(LookupError) takes the IndexError of 'ab'[7] as well.
    assert killed(it, effects, far)['pick: raise LookupError("far") -> pass'] == ""
    assert killed(it, effects, negative)["grade: return total -> pass"] == ""


def test_another_class_of_exception_kills_and_one_derived_from_it_does_not(subject):
    it = subject(
        """
        def pick(items, index):
            if index > 5:
                raise IndexError("far")
            return items[index + 0 * len(items)]
        """
    )
    far = it.test(("pick", -1, "{}", "7"))
    effects = it.kill(far)
    assert killed(it, effects, far)['pick: raise IndexError("far") -> pass'] == "exception"  # KeyError


def test_a_mutant_without_effect_has_no_impact_and_one_that_takes_another_way_has(subject):
    it = subject(
        """
        def parity(n):
            text = "even"
            if n % 2 == 1:
                text = "odd"
            return len(text) * 0
        """
    )
    odd = it.test(("parity", -1, "1"))
    effects = {it.names[number]: effect for (_, number), effect in it.kill(odd).items()}
    assert effects['parity: text = "even" -> pass'] == Effect()  # it is assigned again
    other_way = effects["parity: n % 2 == 1 -> n % 2 == 1 and False"]
    assert not other_way.killed and other_way.impact > 0.0


def test_what_assertions_run_is_recorded(subject):
    it = subject("""
        class Thing:
            def __init__(self, n):
                self.n = n
            def __str__(self):
                return "x" * self.n
    """)
    one = it.test(("Thing", -1, "2"))
    (trace,) = it.executor.run([one], it.table)
    says = Expectation((Observation(0, "", "text", Literal("'xx'")),))
    (checked,) = it.executor.check([one], {one: says}, it.table, frozenset())
    assert set(array("I", trace.reached[0])) < set(array("I", checked.reached[0]))
    assert checked.calls == trace.calls


def test_a_killed_mutant_is_left_out_of_later_test_cases(subject):
    it = subject("def f(n):\n    return n * 3\n")
    one, two = it.test(("f", -1, "1")), it.test(("f", -1, "2"))
    effects = it.kill(one, two)
    alive = {number for (t, number), e in effects.items() if t == one and not e.killed}
    assert {number for (t, number), e in effects.items() if t == two and e is not None} == alive
    assert all(it.kill(one, two, exhaustive=True).values())


HOSTILE = """
import os
import sys

seen = []

def stop(n: int) -> int:
    if n > 100:
        os._exit(3)
    return n

def wait(n: int) -> int:
    while n > 1:
        n = n // 2
    return n

def grow(n: int) -> int:
    x = 3
    for _ in range(n):
        x = x + x
    return x % 7

def deep(n: int) -> int:
    if n == 0:
        return 0
    return deep(n - 1)

def remember(n: int) -> int:
    if n > 100:
        seen.append(n)
        sys.setswitchinterval(0.5)
    return len(seen)

def crash(n: int) -> int:
    if n > 100:
        os.abort()
    return n
"""


def hostile_tests(it):
    return [
        it.test((name, -1, argument))
        for name, argument in (
            ("remember", "5"),
            ("stop", "7"),
            ("wait", "9"),
            ("grow", "40"),
            ("deep", "5"),
            ("crash", "3"),
            ("remember", "6"),
        )
    ]


def test_hostile_mutants_are_killed_and_disturb_nothing(subject):
    it = subject(HOSTILE)
    tests = hostile_tests(it)
    effects = it.kill(*tests, exhaustive=True)
    kills = [killed(it, effects, test) for test in tests]
    assert kills[1]["stop: os._exit(3) -> pass"] == ""
    assert kills[1]["stop: n > 100 -> n != 100"] == "exit"
    assert kills[2]["wait: n // 2 -> n * 2"] == kills[2]["wait: n = n // 2 -> pass"] == "timeout"
    assert kills[3]["grow: x + x -> x * x"] in ("clock", "memory", "value")
    assert kills[4]["deep: n - 1 -> n + 1"] == "raises"
    assert kills[5]["crash: n > 100 -> n != 100"] == "crash"
    # Nothing of it is seen afterwards, not even by the test cases that stood between them.
    assert it.executor.banned == set()
    again = it.executor.run(tests, it.table)
    assert [trace.failure for trace in again] == [""] * len(tests)
    assert it.kill(*tests, exhaustive=True) == effects


def test_a_trial_in_a_fresh_process_gives_what_it_gives_among_others(subject):
    it = subject(HOSTILE)
    tests = [test for test in hostile_tests(it) if it.table[test[0]].operation != it.operations["grow"]]
    together = it.kill(*tests, exhaustive=True)
    expected = it.expect(*tests)
    trials = [(test, number) for test in tests for number in range(0, len(it.mutants), 7)]
    ran = [trial for trial in trials if together[trial] is not None]  # one that hangs is run with one test case only
    assert len(ran) > len(trials) / 2
    for trial in ran:
        it.executor.begin()  # ends the process that worked
        (alone,) = it.executor.kill([trial], expected, it.table)
        assert alone == together[trial]


# ------------------------------------------------------------------------------------------- with children made up

TESTS = [(1,), (2,), (3,)]
EXPECTED = {test: Expectation(()) for test in TESTS}


def made_up(answer, exhaustive=False, batch=8):
    """A run of killing with a child that answers a trial by `answer`, or dies of an exception that it raises."""
    asked = []

    def ask(trials, expected, is_exhaustive, care):
        assert set(expected) == {test for test, _ in trials} and is_exhaustive is exhaustive
        asked.append((list(trials), care))
        over, found = set(), []
        for position, trial in enumerate(trials):
            if trial[1] in over:
                found.append(None)
                continue
            try:
                effect = answer(trial, care)
            except Broken as broken:
                raise Broken(broken.failure, position, position) from None
            found.append(effect)
            if effect.killed and not exhaustive:
                over.add(trial[1])
        return found

    trials = [(test, mutant) for test in TESTS for mutant in range(3)]
    return Killing(ask, EXPECTED, exhaustive=exhaustive, batch=batch).run(trials), asked


def test_a_trial_that_breaks_its_process_counts_only_if_it_does_so_alone():
    def falsely(trial, care):
        if trial == ((2,), 1) and care < 3:
            raise Broken("crash")
        return Effect()

    effects, asked = made_up(falsely)
    assert effects == [Effect()] * 9
    assert ([((2,), 1)], 3) in asked

    def truly(trial, care):
        if trial == ((2,), 1):
            raise Broken("exit")
        return Effect()

    effects, _ = made_up(truly)
    assert effects[4] == Effect("exit")
    assert effects[7] is None  # the mutant is dead
    assert effects[:4] == [Effect()] * 4


def test_out_of_time_the_effects_so_far_are_kept():
    def answer(trial, care):
        if trial == ((2,), 1):
            raise OutOfBudget("the deadline has passed")
        return Effect("value") if trial[1] == 2 else Effect()

    with pytest.raises(OutOfBudget) as late:
        made_up(answer, batch=2)
    assert late.value.done == (Effect(), Effect(), Effect("value"), Effect(), *(None,) * 5)


def test_a_kill_by_the_clock_is_doubted_until_it_happens_alone():
    def once(trial, care):
        return Effect("clock") if trial == ((1,), 0) and care < 3 else Effect()

    effects, asked = made_up(once, exhaustive=True)
    assert effects == [Effect()] * 9
    assert ([((1,), 0)], 3) in asked
    effects, _ = made_up(lambda trial, care: Effect("memory"), exhaustive=True)
    assert effects == [Effect("memory")] * 9


def test_it_comes_to_an_end_when_every_trial_breaks_its_process():
    def broken(trial, care):
        raise Broken("timeout")

    effects, _ = made_up(broken, exhaustive=True)
    assert effects == [Effect("clock")] * 3 + [None] * 6


def test_a_child_that_dies_between_trials_is_asked_with_more_care():
    cares = []

    def ask(trials, expected, exhaustive, care):
        cares.append(care)
        if care < 3:
            raise Broken("crash", IDLE, IDLE)
        return [Effect()]

    effects = Killing(ask, EXPECTED, exhaustive=True, batch=8).run([(test, 0) for test in TESTS])
    assert effects == [Effect()] * 3
    assert cares == [0, 1, 2, 3, 3, 2, 3]


def test_what_a_child_asks_to_be_repeated_is_repeated_with_the_care_it_names():
    cares = []

    def ask(trials, expected, exhaustive, care):
        cares.append((len(trials), care))
        if care == 0 and len(trials) > 1:
            return 2
        return [Effect()] * min(2, len(trials))

    trials = [(test, 0) for test in TESTS]
    assert Killing(ask, EXPECTED, exhaustive=True, batch=8).run(trials) == [Effect()] * 3
    assert cares == [(3, 0), (3, 2), (1, 2)]


def test_care_outlasts_a_batch_and_a_call_and_wears_off():
    cares = []

    def ask(trials, expected, exhaustive, care):
        cares.append(care)
        return 1 if len(cares) == 1 else [Effect()] * len(trials)

    care, trials = Care(), [(test, mutant) for test in TESTS for mutant in range(60)]
    for _ in range(4):
        Killing(ask, EXPECTED, exhaustive=True, batch=60, care=care).run(trials)
    assert cares == [0, *[1] * 7, *[0] * 5]
