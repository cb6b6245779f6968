"""Candidates: test cases that reach changed functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.project.diff.candidates import MOST, Candidate, candidates, focus
from fitgym.subject.source import locate

CODE = """
def _tax(price: int) -> int:
    return price // 5 if price > 10 else 0

def total(price: int) -> int:
    return price + _tax(price)

def label(name: str) -> str:
    return name.title()

class Till:
    limit = 3

    def __init__(self, cash: int) -> None:
        self.cash = cash

    def add(self, price: int) -> int:
        self.cash += total(price)
        return self.cash
"""


@contextmanager
def running(folder: Path) -> Iterator[Executor]:
    """The executor of a module with some functions."""
    (folder / "m.py").write_text(CODE)
    with Executor(locate("m", folder)) as executor:
        executor.require(frozenset({"infection"}))
        yield executor


def search(executor: Executor, *changed: str, executions: int = 400, seed: int = 0) -> list[Candidate]:
    """Candidates that a few executions find."""
    return candidates(executor, changed, budget=Budget(executions, "x"), deadline=None, seed=seed)


def called(executor: Executor, found: list[Candidate]) -> set[str]:
    """The operations that test cases end with."""
    return {executor.subject.operations[one.statements[-1].operation].name for one in found}


def test_a_private_function_is_reached_through_public_ones(tmp_path: Path) -> None:
    with running(tmp_path) as executor:
        found = search(executor, "_tax")
        assert found and all(one.reached == ("_tax",) for one in found)
        assert {"total"} <= called(executor, found)
        operations = executor.subject.operations
        assert not any(operations[s.operation].name == "_tax" for one in found for s in one.statements)


def test_only_test_cases_that_reach_a_changed_function_are_kept(tmp_path: Path) -> None:
    with running(tmp_path) as executor:
        found = search(executor, "label")
        assert found and {one.reached for one in found} == {("label",)}


def test_a_changed_class_is_reached_by_any_of_its_methods(tmp_path: Path) -> None:
    with running(tmp_path) as executor:
        found = search(executor, "Till")
        assert {"Till", "Till.add"} & called(executor, found)


def test_the_focus_leads_to_the_changed_functions_only(tmp_path: Path) -> None:
    with running(tmp_path) as executor:
        subject = executor.subject
        group = focus(subject, ["_tax"])
        assert group is not None
        names = {subject.operations[number].name for number in group.operations}
        assert {"total", "Till.add"} <= names and "label" not in names
        assert {subject.functions[number].name for number in group.functions} >= {"_tax", "total", "Till.add"}
        assert focus(subject, ["nowhere"]) is None


def test_the_same_seed_finds_the_same_candidates(tmp_path: Path) -> None:
    with running(tmp_path) as one, running(tmp_path) as other:
        assert search(one, "total", seed=3) == search(other, "total", seed=3)


def test_no_more_candidates_are_kept_than_can_be_compared(tmp_path: Path) -> None:
    with running(tmp_path) as executor:
        found = search(executor, "total", "label", "Till", executions=3000)
        assert len(found) <= MOST and len(set(found)) == len(found)


def test_a_deadline_that_has_passed_gives_no_candidates(tmp_path: Path) -> None:
    with running(tmp_path) as executor:
        assert candidates(executor, ["total"], budget=None, deadline=0.0, seed=0) == []
