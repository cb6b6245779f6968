"""Focus: only the targets and operations of one part guide the search; the archive keeps everything."""

import copy
from pathlib import Path

import numpy as np
import pytest

from fitgym.engine import Engine
from fitgym.evolution.budget import Budget
from fitgym.evolution.groups import groups
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

SEARCHES = ("mio", "mosa", "dynamosa", "whole_suite", "random_search")


VAULT = str(Path(__file__).parents[1] / "programs" / "vault.py")


@pytest.fixture(scope="module")
def executor():
    with Executor(locate(VAULT)) as running:
        yield running


def part_of(engine, name):
    return next(group for group in groups(engine.subject) if group.name == name)


def started(executor, search="mio", **options):
    engine = Engine(executor, search=search, seed=1, population=8, budget=Budget.parse("400x"), **options)
    engine.step()
    return engine


def called(engine, testcases):
    return {engine.subject.operations[s.operation].name for t in testcases for s in engine.table.statements(t)}


@pytest.mark.parametrize("search", SEARCHES)
def test_only_open_targets_inside_the_focus_guide_the_search(executor, search):
    engine = started(executor, search)
    part = part_of(engine, "slope")
    engine.focus(part)
    engine.step()
    columns = [column for name, column in engine.targets() if name == "branch"]
    assert columns and part.branches[columns].all()


def test_new_test_cases_call_what_the_focus_is_on(executor):
    engine = started(executor, "random_search")
    part = part_of(engine, "word")
    engine.focus(part)
    proposed = [one.testcases[0] for _ in range(5) for one in engine.search.ask()]
    assert called(engine, proposed) == {"word"}


def test_from_the_first_generation_on_a_search_proposes_test_cases_of_the_focus(executor):
    engine = started(executor)
    proposed = strayed = 0
    for part in groups(engine.subject):
        own = {engine.subject.operations[number].name for number in part.operations}
        engine.focus(part)
        for _ in range(3):
            found = [called(engine, one.testcases) for one in engine.search.ask()]
            proposed, strayed = proposed + len(found), strayed + sum(not names & own for names in found)
            engine.step()
    assert strayed < 0.05 * proposed  # a deletion can still remove the last call of the part


@pytest.mark.parametrize("search", SEARCHES)
def test_a_change_of_focus_executes_nothing_and_loses_nothing(executor, search):
    engine = started(executor, search)
    for part in (*groups(engine.subject), None):
        before, covered = engine.executions, engine.covered("branch")
        engine.focus(part)
        assert engine.executions == before
        engine.step()
        assert (engine.covered("branch") | ~covered).all()


def test_what_is_covered_elsewhere_while_focused_is_kept(executor):
    engine = started(executor)
    first, second = groups(engine.subject)[:2]
    engine.focus(first)
    for _ in range(6):
        engine.step()
    inside = engine.covered("branch")[first.branches].sum()
    engine.focus(second)
    for _ in range(6):
        engine.step()
    assert engine.covered("branch")[first.branches].sum() >= inside


@pytest.mark.parametrize("search", ["mio", "whole_suite", "random_search"])  # MOSA sorts its population again
def test_without_a_focus_the_search_is_what_it_was(executor, search):
    def run(changes):
        engine = started(executor, search)
        for number in range(10):
            if changes:
                engine.focus(groups(engine.subject)[number % 5])
                engine.focus(None)
            engine.step()
        suites = engine.suite_fitness(engine.population)
        return engine.covered("branch").tolist(), engine.executions, suites.tolist()

    assert run(False) == run(True)


def test_a_finished_part_can_still_be_focused_on(executor):
    engine = started(executor)
    part = part_of(engine, "plain")
    engine.focus(part)
    for _ in range(30):
        engine.step()
    assert engine.covered("branch")[part.branches].all() and engine.generation == 31


def test_the_least_distances_are_zero_exactly_where_a_kept_test_case_covers(executor):
    engine = started(executor)
    for _ in range(5):
        engine.step()
    least, covered = engine.least_distances("branch"), engine.covered("branch")
    assert (least[covered] == 0.0).all() and (least[~covered] > 0.0).all() and np.isfinite(least).all()


def test_a_fork_has_a_focus_of_its_own(executor):
    engine = started(executor)
    slope, dead = part_of(engine, "slope"), part_of(engine, "dead")
    engine.focus(slope)
    twin = copy.deepcopy(engine, {id(executor): executor})
    twin.focus(dead)
    assert slope.branches[[column for _, column in engine.targets()]].all()
    assert dead.branches[[column for _, column in twin.targets()]].all()


@pytest.mark.parametrize("search", SEARCHES)
def test_the_same_new_seed_gives_the_same_future_and_another_one_gives_another(executor, search):
    def future(seed):
        engine = started(executor, search)
        engine.reseed(seed)
        for _ in range(6):
            engine.step()
        return [engine.table.statements(t) for one in engine.population for t in one.testcases]

    assert future(5) == future(5)
    assert future(5) != future(6)
