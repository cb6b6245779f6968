"""DynaMOSA: the targets that it pursues over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fitgym.engine import FITNESS, Engine
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

NESTED = """\
def f(x: int) -> int:
    if x > 5:
        if x > 50:
            return 1
        x += 1
    while x < 3:
        x += 2
    return x


def g(x: int) -> int:
    return f(x) - 1
"""


class Covered:
    """An archive that covers these branches."""

    def __init__(self, archive: Any, *branches: tuple[Any, ...]) -> None:
        self.archive = archive
        self.branches = branches

    def covered(self, name: str) -> Any:
        done = self.archive.covered(name)
        if name == "branch":
            targets = self.archive._measurements.fitness["branch"].targets
            for column, target in enumerate(targets):
                function, line, _, outcome = target.key
                done[column] = (function, line, outcome) in self.branches
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self.archive, name)


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    (tmp_path / "nested.py").write_text(NESTED, "utf-8")
    with Executor(locate(str(tmp_path / "nested.py"))) as executor:
        yield Engine(executor, fitness=("branch", "line", "method"), search="dynamosa", population=8)


def released(engine: Any, *covered: tuple[Any, ...]) -> set[tuple[Any, ...]]:
    """The branches that count when these are covered, as function, line and outcome."""
    engine._state.archive = Covered(engine.archive, *covered)
    targets = engine.measurements.fitness["branch"].targets
    names = {(t.key[0], t.key[1], t.key[3]) for t, ok in zip(targets, engine.released("branch"), strict=True) if ok}
    engine._state.archive = engine.archive.archive
    return {name for name in names if name[0] in "fg"}


ENTRIES = {("f", 1, "entered"), ("g", 11, "entered")}
OUTER = {("f", 2, True), ("f", 2, False), ("f", 6, True), ("f", 6, False)}
INNER = {("f", 3, True), ("f", 3, False)}


def test_at_first_functions_are_to_be_entered(engine: Any) -> None:
    assert released(engine) == ENTRIES


def test_an_entered_function_releases_what_runs_whenever_it_runs(engine: Any) -> None:
    assert released(engine, ("f", 1, "entered")) >= ENTRIES | {("f", 2, True), ("f", 2, False)}
    assert not released(engine, ("f", 1, "entered")) & INNER


def test_an_outcome_releases_what_stands_behind_it_and_the_other_does_not(engine: Any) -> None:
    entered = ("f", 1, "entered")
    assert released(engine, entered, ("f", 2, True)) >= INNER
    assert not released(engine, entered, ("f", 2, False)) & INNER


def test_everything_covered_releases_everything(engine: Any) -> None:
    assert released(engine, *ENTRIES, *OUTER, *INNER) == ENTRIES | OUTER | INNER


def test_lines_wait_for_their_block_and_methods_for_nothing(engine: Any) -> None:
    lines = {
        t.key[0]
        for t, ok in zip(engine.measurements.fitness["line"].targets, engine.released("line"), strict=True)
        if ok
    }
    assert not lines & {4, 5, 7} and engine.released("method").all()


def test_the_search_pursues_released_and_open_targets_only(engine: Any) -> None:
    seen = []
    for _ in range(25):
        engine.step()
        testcases = [i.testcases[0] for i in engine.search.population]
        pursued = engine.objectives(testcases, released=True).shape[1]
        whole = engine.objectives(testcases).shape[1]
        expected = sum(
            int((engine.released(name) & ~engine.archive.covered(name)).sum()) for name in ("branch", "line", "method")
        )
        assert pursued == expected <= whole
        seen.append(pursued)
    covered, total = engine.coverage()["branch"]
    assert covered == total and seen[-1] == 0


def test_branches_are_archived_whatever_guides(engine: Any) -> None:
    engine.activate(["exception"])
    engine.step()
    assert engine.archive.covered("branch").any() and "branch" in engine.tracked


@pytest.mark.parametrize("name", FITNESS.names())
def test_a_target_with_a_place_is_covered_only_by_tests_that_come_there(name: str) -> None:
    program = Path(__file__).parents[1] / "programs" / "triangle.py"
    with Executor(locate(str(program))) as executor:
        running = Engine(executor, fitness=(name,), search="random_search", population=30)
        running.step()
        fitness = running.measurements.fitness[name]
        if fitness.sites is None:
            return
        assert len(fitness.sites) == len(fitness.targets) and all(fitness.sites)
        testcases = [i.testcases[0] for i in running.search._asked]
        for testcase, covers in zip(testcases, running.measurements.covers(name, testcases), strict=True):
            visited = set(np.frombuffer(running.measurements.trace(testcase).reached[0], np.uint32).tolist())
            for column in np.flatnonzero(covers).tolist():
                assert visited & set(fitness.sites[column])
