"""Strong mutation: distances by hand, trials, the goal, and a record that agrees with the exported suite."""

import ast
import json
import math
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import nightly
from random_programs import random_program

from fitgym.engine import Engine
from fitgym.evolution.trials import minimal, tried
from fitgym.execution.executor import Executor
from fitgym.fitness.strong_mutation import StrongMutation
from fitgym.fitness.weak_mutation import WeakMutation
from fitgym.goals.strong_mutation import StrongMutation as Goal
from fitgym.messages.limits import Limits
from fitgym.mutants.generation import mutants as mutants_of
from fitgym.mutants.mutation import mutated_text
from fitgym.run.generation import generate
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable

PROGRAM = '''
def grade(points: int) -> str:
    """The grade for a number of points."""
    if points < 0:
        raise ValueError("negative")
    best = 10
    while best > points:
        best -= 1
    return "pass" if best >= 5 else "fail"


class Account:
    def __init__(self, balance: int = 0) -> None:
        self.balance = balance

    def withdraw(self, amount: int) -> int:
        if amount > self.balance:
            raise OverflowError("too much")
        self.balance -= amount
        return self.balance
'''
NEEDS = StrongMutation.needs


@pytest.fixture(scope="module")
def executor(tmp_path_factory):
    path = tmp_path_factory.mktemp("subject") / "grading.py"
    path.write_text(PROGRAM)
    with Executor(locate(str(path)), Limits(seconds=0.5)) as running:
        running.require(NEEDS)
        yield running


def grades(executor, table, *points):
    (grade,) = (o.id for o in executor.subject.operations if o.name == "grade")
    return [table.testcase([Statement(grade, args=(Literal(str(n)),))]) for n in points]


def test_a_distance_says_how_far_the_change_has_come(executor):
    table = StatementTable()
    fitness = StrongMutation(executor.subject)
    weak = WeakMutation(executor.subject)
    tests = grades(executor, table, 7, -1)
    traces = executor.run(tests, table, NEEDS)
    rows, infection = fitness.distances(traces), weak.distances(traces)
    assert rows == pytest.approx((1 + infection) / 3)  # infected or not, it was run on no mutant yet
    number = int(fitness.numbers[np.flatnonzero(infection[0] == 0)[0]])
    column = fitness.numbers.tolist().index(number)
    assert fitness.distances([replace(traces[0], effects=((number, 0.0),))])[0, column] == pytest.approx(1 / 3)
    assert fitness.distances([replace(traces[0], effects=((number, 3.0),))])[0, column] == pytest.approx(1 / 12)
    assert fitness.distances([replace(traces[0], effects=((number, math.inf),))])[0, column] == 0.0


def test_a_suite_is_worth_at_most_one_and_raw_three_times_the_sum(executor):
    fitness = StrongMutation(executor.subject)
    n = len(fitness.targets)
    assert fitness.of_suites(np.ones((1, n))).tolist() == [1.0]
    assert fitness.of_suites(np.ones((1, n)), raw=True).tolist() == [3.0 * n]


def test_killed_implies_infected_and_infected_implies_reached(executor):
    table = StatementTable()
    fitness = StrongMutation(executor.subject)
    weak = WeakMutation(executor.subject)
    tests = grades(executor, table, *range(-2, 12))
    traces = executor.run(tests, table, NEEDS)
    shown = dict(zip(tests, executor.expect(tests, traces, table), strict=True))
    trials = [(test, number) for test in tests for number in range(len(executor.subject.mutants))]
    effects = executor.kill(trials, shown, table, exhaustive=True)
    killed = np.array([bool(effect.killed) for effect in effects]).reshape(len(tests), -1)[:, fitness.numbers]
    infected = fitness.infected(traces)
    assert killed.any() and not (killed & ~infected).any()
    assert not (infected & (weak.distances(traces) >= 1.0)).any()
    assert (infected & ~killed).any()


def test_test_cases_are_run_on_what_they_infect_and_on_nothing_that_is_dead(executor):
    table = StatementTable()
    fitness = StrongMutation(executor.subject)
    tests = grades(executor, table, 7, 3, 7)
    traces = executor.run(tests, table, NEEDS)
    infected = np.zeros((3, len(executor.subject.mutants)), dtype=bool)
    infected[:, fitness.numbers] = fitness.infected(traces)
    found = tried(tests[:2], traces[:2], infected[:2], executor, table)
    for trace, plain in zip(found, traces, strict=False):
        assert trace.plain is plain and replace(trace, effects=(), plain=None).reached == plain.reached
    quick, slow = sorted(found, key=lambda trace: trace.fuel)
    dead = {number for number, impact in quick.effects if impact == math.inf}
    assert dead and dead.isdisjoint(number for number, _ in slow.effects)
    assert tried(tests, traces, np.zeros_like(infected), executor, table) == list(traces)
    both = tried(tests[:2], traces[:2], infected[:2], executor, table, exhaustive=True)
    assert [len(trace.effects) for trace in both] == infected[:2].sum(axis=1).tolist()


@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=6).map(np.array))
@settings(deadline=None)
def test_whoever_kills_the_minimal_mutants_kills_all(kills):
    chosen = minimal(kills)
    killed = kills.any(axis=0)
    assert not (chosen & ~killed).any()
    columns = [tuple(column) for column in kills[:, chosen].T]
    assert len(set(columns)) == len(columns)
    for column in np.flatnonzero(killed):  # some chosen one is killed only by test cases that kill this one too
        assert any((kills[:, one] <= kills[:, column]).all() for one in np.flatnonzero(chosen))


def test_of_mutants_that_imply_each_other_the_first_is_minimal():
    kills = np.array(
        [
            [1, 1, 0, 1, 0, 1],
            [1, 0, 0, 1, 0, 0],
            [0, 0, 0, 0, 1, 1],
        ],
        dtype=bool,
    )
    # 1 is killed by the first test alone, 4 by the last; 0, 3 and 5 die wherever one of these does, 2 never.
    assert np.flatnonzero(minimal(kills)).tolist() == [1, 4]
    assert minimal(np.zeros((0, 3), dtype=bool)).tolist() == [False] * 3


def engine(executor, seed=0):
    running = Engine(
        executor,
        fitness=("strong_mutation",),
        tracked=("strong_mutation", "weak_mutation"),
        usable=Goal.functions,
        seed=seed,
        population=8,
    )
    for _ in range(4):
        running.step()
    return running


def test_a_search_is_the_same_each_time(executor):
    first, second = engine(executor), engine(executor)
    assert first.archive.best("strong_mutation") == second.archive.best("strong_mutation")
    assert first.archive.covered("strong_mutation").sum() > 20
    assert first.executions == second.executions


def test_what_the_archive_kills_it_infects(executor):
    running = engine(executor)
    strong, weak = running.archive.covered("strong_mutation"), running.archive.covered("weak_mutation")
    assert not (strong & ~weak).any()


def test_a_search_that_spares_mutants_runs_new_test_cases_without_them(executor):
    running = engine(executor)
    running.spare_mutants()
    fresh = [running.table.testcase(running.table.statements(t) * 2) for t in running.best_suite(["strong_mutation"])]
    running.execute(fresh)
    assert not running.measurements.covers("strong_mutation", fresh).any()


def test_rewards_take_turns_between_strong_and_weak(executor):
    goal, running = Goal("paper"), engine(executor)
    goal.begin(running)
    scores = [100 * running.archive.covered(name).mean() for name in ("strong_mutation", "weak_mutation")]
    for turn in (0, 1, 0, 1):
        running.step()
        now = 100 * running.archive.covered(("strong_mutation", "weak_mutation")[turn]).mean()
        assert goal.reward(running) == pytest.approx(now - scores[turn])
        scores[turn] = now


# Its mutants do what they do when the module is imported.
IMPORTED = """

def _next(number):
    return number + 1


LIMIT = _next(3)


def limit() -> int:
    return LIMIT
"""


def test_a_mutant_that_only_the_import_reaches_is_not_run(tmp_path):
    (tmp_path / "limits.py").write_text(IMPORTED)
    table = StatementTable()
    with Executor(locate(str(tmp_path / "limits.py"))) as running:
        running.require(NEEDS)
        subject = running.subject
        fitness = StrongMutation(subject)
        calls = {operation.name: operation.id for operation in subject.operations}
        alone = table.testcase([Statement(calls["limit"])])
        both = table.testcase([Statement(calls["limit"]), Statement(calls["_next"], args=(Literal("1"),))])
        imported, *traces = running.run([(), alone, both], table, NEEDS)
    rows = fitness.infected(traces, imported)
    seen = [{subject.mutants[number].function for number in fitness.numbers[row]} for row in rows]
    assert seen == [{"limit"}, {"limit", "_next"}]
    assert (fitness.infected(traces)[0] & ~rows[0]).sum() == sum(one.function == "_next" for one in subject.mutants)


RUN_MUTANTS = """
import importlib, json, sys, types
sys.dont_write_bytecode = True
module, suite, folder = sys.argv[1:]
sys.path.insert(0, folder)
import pytest
verdicts = {}
for name, text in json.load(sys.stdin):
    class Loader:
        @staticmethod
        def find_spec(fullname, path=None, target=None):
            if fullname == module:
                return importlib.util.spec_from_loader(fullname, Loader)
        @staticmethod
        def create_module(spec):
            return None
        @staticmethod
        def exec_module(made):
            exec(compile(text, module + ".py", "exec"), vars(made))
    sys.meta_path.insert(0, Loader)
    for known in [k for k in sys.modules if k == module or k.startswith("test_")]:
        del sys.modules[known]
    verdicts[name] = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", suite]))
    sys.meta_path.remove(Loader)
print("\\n" + json.dumps(verdicts))
"""


def verdicts_on_mutated_files(path, suite, step=1):
    """Of every `step`-th mutant of a module the exit code of pytest where the suite imports the mutated source."""
    source = path.read_text()
    done = subprocess.run(
        [sys.executable, "-c", RUN_MUTANTS, path.stem, str(suite), str(path.parent)],
        input=json.dumps([(mutant.id, mutated_text(source, mutant)) for mutant in mutants_of(source).made[::step]]),
        capture_output=True,
        text=True,
        cwd=path.parent,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=nightly)])
@nightly
def test_the_record_says_what_the_suite_of_a_random_program_kills(tmp_path, step):
    path = tmp_path / "random3.py"
    path.write_text(random_program(3) + IMPORTED)  # a program of which no mutant takes more than a moment
    run = generate(str(path), goal="strong_mutation", budget="3g", population=6, output=tmp_path / "out")
    verdicts = verdicts_on_mutated_files(path, run.suite_path, step)
    assert run.record["mutants"]["killed"] > 0 and {code > 0 for code in verdicts.values()} == {True, False}
    survivors = [name for name in run.record["mutants"]["survivors"] if name in verdicts]
    assert survivors == [name for name, code in verdicts.items() if code == 0]


@nightly
def test_the_record_says_what_the_exported_suite_kills(tmp_path):
    path = tmp_path / "shop.py"
    path.write_text(
        textwrap.dedent(
            """
            def price(amount: int, unit: int = 3) -> int:
                if amount < 0:
                    raise ValueError("amount")
                total = amount * unit
                if total > 20 and unit != 1:
                    total = total - 2
                return total


            def label(text: str) -> str:
                return text.strip().upper() or "none"


            def _steps(top):
                return [2 * number + 1 for number in range(top)]


            STEPS = _steps(3)


            def step(index: bool) -> int:
                return STEPS[index + 1]


            class Size:
                def __init__(self, number: int) -> None:
                    self.number = number

                def __lt__(self, other: "Size") -> bool:
                    if self.number > other.number:
                        return False  # without this statement None comes back, which an assertion takes for False
                    return self.number != other.number
            """
        )
    )
    run = generate(str(path), goal="strong_mutation", budget="6g", population=8, seed=3, output=tmp_path / "out")
    mutants = run.record["mutants"]
    assert 0 < run.record["seconds"]["mutants"] < run.record["seconds"]["finish"]
    assert mutants["killed"] == sum(map(len, mutants["by_test"].values()))
    assert mutants["total"] == mutants["killed"] + len(mutants["survivors"])
    assert set(mutants["by_test"]) <= {
        n.name for n in ast.walk(ast.parse(run.source)) if isinstance(n, ast.FunctionDef)
    }
    verdicts = verdicts_on_mutated_files(path, run.suite_path)
    assert mutants["total"] == len(verdicts)
    survivors = [name for name, code in verdicts.items() if code == 0]
    assert survivors == mutants["survivors"]
    at_import = [name for name in verdicts if name.startswith("_steps:")]
    assert at_import and not set(at_import) <= set(survivors)
    assert mutants["killed"] > mutants["total"] / 2
    searched = sum(not name.startswith("_steps:") for names in mutants["by_test"].values() for name in names)
    assert run.record["goal_value"] == pytest.approx(searched / mutants["total"], abs=0.05)
    assert Path(run.suite_path).exists()
