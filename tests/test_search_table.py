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


def test_rows_of_another_version_are_refused(script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "runs.csv").write_text("question,contestant\n")
    with pytest.raises(SystemExit) as ended:
        script.RunsFile(tmp_path / "runs.csv", ("question", "contestant", "share"), 2).rows()
    assert ended.value.code == 2
    assert "has no column 'share'" in capsys.readouterr().err


def test_the_table_puts_everybody_beside_the_first(script: Any) -> None:
    def row(contestant: str, seed: int, share: float) -> dict[str, str]:
        cells = ("branch", contestant, "m", str(seed), "80x", "6", repr(share), "2", "5", "")
        return dict(zip(script.COLUMNS, cells, strict=True))

    rows = [row("whole", seed, 0.9) for seed in range(3)] + [row("one_goal", seed, 0.5) for seed in range(3)]
    lines = list(script.table("branch", rows))
    assert "| one_goal | 3 | 0.500 | 2.0 | 5.0 | - | - | - |" in lines
    assert "| whole | 3 | 0.900 | 2.0 | 5.0 | 1.00 [1.00, 1.00] | 1 | 0 |" in lines
    assert "A12 0.67" in lines[2]


SHARES = {  # of two subjects of the core set and one of the large one, by contestant
    "semver.version:Version": {"one_goal": 0.5, "whole": 0.7, "archive": 0.7},
    "toolz.dicttoolz": {"one_goal": 0.6, "whole": 0.5, "archive": 0.6},
    "LARGE": {"whole": 0.2, "archive": 0.5},
}


@pytest.fixture
def shares(script: Any) -> list[dict[str, str]]:
    """Rows of these."""
    large = script.subjects("large", [])[0].text
    return [
        dict(
            zip(
                script.COLUMNS,
                ("branch", name, subject.replace("LARGE", large), "0", "80x", "6", repr(share), "2", "5", ""),
                strict=False,
            )
        )
        for subject, found in SHARES.items()
        for name, share in found.items()
    ]


def test_a_claim_is_judged_by_the_mean_over_the_subjects_that_both_have(script: Any, shares: Any) -> None:
    def said(*claim: Any, **options: Any) -> str:
        return str(script.Claim("it is so", *claim, **options).judged(shares))

    assert said("whole", "one_goal").startswith("✓ it is so: +5.00 points, A12 0.50")
    assert said("whole", "one_goal", least=0.06).startswith("✗ it is so: +5.00 points")
    assert said("whole", "archive", least=-0.2).startswith("✓ it is so: -13.33 points, A12 0.17")
    assert said("archive", "whole", on="large").startswith("✓ it is so: +30.00 points, A12 1.00")
    grows = said("archive", "whole", on="large", than="core")
    assert grows.startswith("✓") and grows.endswith("; on core +5.00, A12 0.75")
    assert said("archive", "whole", on="core", than="large").startswith("✗")
    assert said("one_goal", "whole", on="large") == "- it is so: no runs"


def test_every_claim_is_about_contestants_and_sets_that_there_are(script: Any) -> None:
    for question in script.QUESTIONS.values():
        names = {one.name for one in question.contestants}
        for claim in question.claims:
            assert {claim.ours, claim.theirs} <= names and {claim.on, claim.than} <= {"", "core", "large"}


def test_each_set_of_subjects_has_a_table(script: Any, shares: Any) -> None:
    text = "\n".join(script.table("branch", shares))
    assert text.startswith("## branch, 80x: branch\n") and "no runs" not in text
    assert "On 2 core subjects:" in text and "On 1 large subjects:" in text
    assert "| archive | 2 | 0.650 |" in text and "| archive | 1 | 0.500 |" in text


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
