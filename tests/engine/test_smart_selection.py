"""Smart selection: the representative functions and targets, and a search that uses no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fitgym.engine import FITNESS, Engine
from fitgym.engine.smart_selection import EIGHT, smart_selection
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

PROGRAM = """\
def long(n: int) -> int:
    a = n + 1
    b = a * 2
    c = b - 3
    d = c + 4
    e = d - 5
    f = e + 6
    g = f - 7
    h = g + 8
    return h


def short(a: int, b: int) -> bool:
    if a < b:
        a += 1
        return True
    return a == b
"""

HELPED = """\
def _sign(n: int) -> int:
    return -1 if n < 0 else 1


def absolute(n: int) -> int:
    if n:
        return n * _sign(n)
    return 0
"""


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    path = tmp_path_factory.mktemp("program") / "blocks.py"
    path.write_text(PROGRAM, "utf-8")
    with Executor(locate(str(path))) as running:
        running.require(frozenset({"infection"}))
        yield running


def selected(executor: Executor, *names: str) -> dict[str, set[object] | None]:
    """The keys of the targets that each function keeps, None for all."""
    subject = executor.subject
    fitness = {name: FITNESS.load(name)(subject) for name in names}
    found: dict[str, set[object] | None] = {}
    for name, mask in smart_selection(names, fitness, subject).items():
        targets = fitness[name].targets
        found[name] = None if mask is None else {targets[i].key[0] for i in np.flatnonzero(mask)}
    return found


def test_of_the_eight_functions_four_keep_everything_and_two_something(executor: Executor) -> None:
    found = selected(executor, *EIGHT)
    assert list(found) == ["direct_branch", "line", "weak_mutation", "method_no_exception", "exception", "output"]
    assert [name for name, kept in found.items() if kept is None] == [
        "direct_branch",
        "method_no_exception",
        "exception",
        "output",
    ]


def test_branches_that_no_test_case_can_take_in_a_direct_call_are_kept(tmp_path: Path) -> None:
    (tmp_path / "helped.py").write_text(HELPED, "utf-8")
    with Executor(locate(str(tmp_path / "helped.py"))) as running:
        found = selected(running, "branch", "direct_branch", "line")
        kept = set(found["branch"] or ())
        assert found["direct_branch"] is None and kept == {"_sign"}
        fitness = {name: FITNESS.load(name)(running.subject) for name in ("branch", "direct_branch")}
        mask = smart_selection(("branch", "direct_branch"), fitness, running.subject)["branch"]
        assert mask is not None and mask.sum() == 3  # its entry, and both outcomes of its condition
        # Together they are all branches again, each once, but for the entry of the module.
        assert mask.sum() + len(fitness["direct_branch"].targets) == len(fitness["branch"].targets) - 1


def test_of_lines_the_last_ones_of_long_blocks_are_kept(executor: Executor) -> None:
    assert selected(executor, "branch", "line")["line"] == {10}


def test_of_mutants_those_of_operators_are_kept_that_subsume_the_others(executor: Executor) -> None:
    kept = selected(executor, "branch", "weak_mutation")["weak_mutation"]
    assert kept is not None
    made = {m.id: (m.operator, m.original, m.replacement) for m in executor.subject.mutants}
    assert {made[str(identifier)] for identifier in kept} == {
        ("arithmetic", "+", "*"),
        ("arithmetic", "*", "+"),
        ("arithmetic", "-", "*"),
        ("arithmetic", "+=", "*="),
        ("relational", "<", "<="),
        ("relational", "<", "!="),
        ("relational", "==", ">="),
        ("relational", "==", "<="),
    }


@pytest.mark.parametrize(
    ("names", "kept"),
    [
        (("branch",), {"branch": None}),
        (("line",), {"line": None}),
        (("top_level_method", "exception"), {"top_level_method": None, "exception": None}),
        (("method", "method_no_exception"), {"method_no_exception": None}),
        (("branch", "direct_branch"), {"direct_branch": None}),
    ],
)
def test_who_is_alone_in_its_group_keeps_everything(
    executor: Executor, names: tuple[str, ...], kept: dict[str, None]
) -> None:
    assert selected(executor, *names) == kept


@pytest.mark.parametrize("search", ["whole_suite", "mosa", "dynamosa", "mio", "whole_suite:use_archive=false"])
def test_a_search_sees_no_other_targets(executor: Executor, search: str) -> None:
    engine = Engine(executor, fitness=EIGHT, smart=True, search=search, population=8)
    kept = ("direct_branch", "line", "weak_mutation", "method_no_exception", "exception", "output")
    assert engine.active == (("branch", *kept) if search == "dynamosa" else kept)
    for _ in range(8):
        engine.step()
        lines = {column for name, column in engine.targets() if name == "line"}
        mutants = {column for name, column in engine.targets() if name == "weak_mutation"}
        assert len(lines) <= 1 and len(mutants) < len(executor.subject.mutants) / 2
    fitness = engine.measurements.fitness
    assert [fitness["line"].targets[column].key[0] for column in engine.archive.best("line")] in ([], [10])
    assert engine.archive.best("branch") == {} or "branch" in engine.tracked
    covered = engine.coverage_of(engine.best_suite())
    assert covered["line"][0] > 1 and covered["weak_mutation"][1] == len(fitness["weak_mutation"].targets)


def test_a_search_that_goes_by_branches_keeps_them_all(executor: Executor) -> None:
    engine = Engine(executor, fitness=EIGHT, smart=True, search="dynamosa", population=8)
    assert "branch" in engine.active and "line" in engine.active
    for _ in range(12):
        engine.step()
    branches = engine.measurements.fitness["branch"]
    assert engine.archive.covered("branch").all() and len(branches.targets) > 3


def test_what_is_tracked_for_a_goal_is_archived_whatever_guides_the_search(tmp_path: Path) -> None:
    (tmp_path / "helped.py").write_text(HELPED, "utf-8")
    with Executor(locate(str(tmp_path / "helped.py"))) as running:
        engine = Engine(
            running, fitness=("branch", "direct_branch"), tracked=("branch",), smart=True, search="mio", population=8
        )
        for _ in range(10):
            engine.step()
        assert {t.key[0] for t in engine.measurements.fitness["branch"].targets} == {"<module>", "_sign", "absolute"}
        assert engine.archive.covered("branch").all()
        guiding = {column for name, column in engine.targets() if name == "branch"}
        assert len(guiding) <= 3


def test_what_counts_when_functions_are_exchanged_is_selected_anew(executor: Executor) -> None:
    engine = Engine(executor, fitness=("branch", "line"), smart=True, population=6)
    engine.step()
    engine.activate(("line",))
    assert engine.active == ("line",) and engine.measurements.open("line").size > 1
    engine.activate(("line", "direct_branch"))
    assert set(engine.measurements.open("line").tolist()) <= {
        column for column, target in enumerate(engine.measurements.fitness["line"].targets) if target.key[0] == 10
    }


def test_another_search_has_its_own_targets_selected(executor: Executor) -> None:
    engine = Engine(executor, fitness=EIGHT, smart=True, population=6)
    engine.step()
    assert "branch" not in engine.active and not engine.archive.best("branch")
    engine.use("dynamosa")
    engine.step()
    assert engine.active[0] == "branch" and engine.archive.best("branch")
    engine.use("whole_suite")
    engine.step()
    assert "branch" not in engine.active
