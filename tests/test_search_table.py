"""The comparison of searches: its rows, its resumption and its tables."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "search_table", raising=False)
    return importlib.import_module("search_table")


def test_every_contestant_is_a_search_that_there_is(script: Any) -> None:
    from fitgym.engine import FITNESS, parse_search

    for question in script.QUESTIONS.values():
        names = [one.name for one in question.contestants]
        assert len(set(names)) == len(names) > 1 and question.paper
        for one in question.contestants:
            parse_search(one.search)
        assert set(question.functions) <= set(FITNESS.names())


def test_a_run_is_worth_what_its_suite_covers_and_the_same_again(script: Any) -> None:
    key = ("branch", "whole", "colorsys", "1", "80x", "6")
    row = script.played(key, str(BENCHMARKS))
    assert row == script.played(key, str(BENCHMARKS))
    assert 0.0 < float(row["share"]) <= 1.0 and int(row["tests"]) >= 1 and not row["error"]
    assert float(script.played(("branch", "archive", *key[2:]), str(BENCHMARKS))["share"]) >= float(row["share"]) - 0.3


def test_a_subject_that_cannot_be_used_is_a_row_with_the_reason(script: Any) -> None:
    row = script.played(("branch", "whole", "no_such_module", "1", "80x", "6"), str(BENCHMARKS))
    assert row["share"] == "" and "no_such_module" in row["error"]


def test_rows_that_are_there_are_not_made_again(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Pool:
        def __init__(self, jobs: int, initializer: Any = None) -> None: ...

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None: ...

        def submit(self, function: Any, key: Any, path: str) -> Any:
            made.append(key)
            row = {**dict(zip(script.COLUMNS[:6], key, strict=True)), "share": "0.5", "tests": "1", "statements": "2"}

            class Future:
                def result(self) -> Any:
                    return {**row, "error": ""}

            return Future()

    monkeypatch.setattr(script, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(script, "as_completed", list)
    keys = [("branch", name, "m", "0", "80x", "6") for name in ("one_goal", "whole")]
    file = script.RunsFile(tmp_path / "runs.csv", script.COLUMNS, 6)
    script.make(keys[:1], file, "", 1)
    script.make(keys, file, "", 1)
    assert made == keys and set(file.rows()) == set(keys)


def test_the_table_puts_everybody_beside_the_first(script: Any) -> None:
    def row(contestant: str, seed: int, share: float) -> dict[str, str]:
        cells = ("branch", contestant, "m", str(seed), "80x", "6", repr(share), "2", "5", "")
        return dict(zip(script.COLUMNS, cells, strict=True))

    rows = [row("whole", seed, 0.9) for seed in range(3)] + [row("one_goal", seed, 0.5) for seed in range(3)]
    lines = list(script.table("branch", rows))
    assert lines[-3].startswith("| one_goal | 3 | 0.500 | 2.0 | 5.0 | - |")
    assert lines[-2].startswith("| whole | 3 | 0.900 | 2.0 | 5.0 | 1.00 [1.00, 1.00] | 1 | 0 |")
    assert "A12 0.67" in lines[2]


def test_the_numeric_subjects_are_bundled_and_told_one_by_one(script: Any) -> None:
    key = ("numeric as published", "MIO", "triangle", "0", "40x", "6")
    made = script.played(key, "nowhere")
    assert 0.0 < float(made["share"]) < 1.0 and not made["error"]

    def row(contestant: str, subject: str, seed: int, share: float) -> dict[str, str]:
        cells = ("numeric", contestant, subject, str(seed), "80x", "6", repr(share), "2", "5", "")
        return dict(zip(script.COLUMNS, cells, strict=True))

    rows = [row("MIO", "expint", seed, 0.8 + 0.01 * seed) for seed in range(3)]
    rows += [row("Random", "expint", seed, 0.5 + 0.01 * seed) for seed in range(3)]
    rows += [row("MIO", "gammq", 0, 0.7)]
    lines = list(script.table("numeric", rows))
    assert "| expint | MIO | 3 | 0.8100 | 2.0 | - | - |" in lines
    assert (
        "| expint | Random | 3 | 0.5100 | 2.0 | 1.00 | 0.1 |" in lines
    )  # exact: 2 of the 20 orders of three and three
    assert "| gammq | MIO | 1 | 0.7000 | 2.0 | - | - |" in lines
