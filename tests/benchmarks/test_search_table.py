"""The comparison of searches: its rows, its resumption and its tables."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


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
    assert "| one_goal | 3 | 0.500 | 2.0 | 5.0 | - | - | - | - | - |" in lines
    # three runs beside three: p = 0.1, once in the table and once for the claim
    assert "| whole | 3 | 0.900 | 2.0 | 5.0 | 1.00 [1.00, 1.00] | 1 | 0 | 0.2 | no difference shown |" in lines
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


def many(script: Any, seeds: int = 3, **gains: float) -> list[dict[str, str]]:
    """Runs on eight subjects of the core set; the shares of a contestant are higher by its gain."""
    subjects = [one.text for one in script.subjects("core", [])][:8]
    return [
        dict(
            zip(
                script.COLUMNS,
                (
                    "branch",
                    name,
                    text,
                    str(seed),
                    "80x",
                    "6",
                    repr(0.3 + 0.01 * at + 0.001 * seed + gain),
                    "2",
                    "5",
                    "",
                ),
                strict=True,
            )
        )
        for name, gain in gains.items()
        for at, text in enumerate(subjects)
        for seed in range(seeds)
    ]


def test_a_claim_has_a_tick_or_a_cross_only_by_the_rule(script: Any) -> None:
    """Eight subjects that all differ the same way: p = 2/2^8."""
    rows = many(script, whole=0.05, one_goal=0.0)

    def said(*claim: Any, of: Any = rows, **options: Any) -> str:
        one = script.Claim("it is so", *claim, **options)
        (judged,) = script.judge([one.evidence(of)])
        return str(one.told(judged))

    assert said("whole", "one_goal") == "✓ it is so: +5.00 points [+5.00, +5.00], Holm-adjusted p = 0.0078"
    assert said("one_goal", "whole").startswith("✗ it is so: -5.00 points")
    assert said("whole", "one_goal", least=0.06).startswith("✗ it is so: +5.00 points")
    assert said("one_goal", "whole", least=-0.06).startswith("✓ it is so: -5.00 points")
    alike = many(script, whole=0.0, one_goal=0.0)
    assert said("whole", "one_goal", of=alike).startswith("no difference shown: it is so: +0.00 points")
    one_seed = said("whole", "one_goal", of=many(script, 1, whole=0.05, one_goal=0.0))
    assert one_seed == "one seed: no verdict: it is so: +5.00 points [+5.00, +5.00]"


def test_a_claim_is_about_the_subjects_that_both_have_and_about_its_set(script: Any, shares: Any) -> None:
    def found(*claim: Any, **options: Any) -> Any:
        return script.Claim("it is so", *claim, **options).evidence(shares)

    assert found("whole", "one_goal").value == pytest.approx(0.05)
    assert found("archive", "whole", on="large").value == pytest.approx(0.3)
    grown = found("archive", "whole", on="large", than="core")
    assert grown.value == pytest.approx(0.25) and grown.seeds == 1
    assert found("one_goal", "whole", on="large") is None


def test_everything_under_a_heading_is_judged_together(script: Any) -> None:
    """Two rows and two claims, one of which is about subjects without runs: the smallest p of three, 2/2^8 * 4."""
    lines = list(script.table("branch", many(script, whole=0.05, one_goal=0.0, archive=0.1)))
    (whole,) = [line for line in lines if line.startswith("| whole |")]
    assert whole.endswith("| 1.00 [1.00, 1.00] | 8 | 0 | 0.031 | better |")
    assert sum(line.startswith("✓ ") for line in lines) == 2


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
    assert "| expint | MIO | 3 | 0.8100 | 2.0 | - | - | - |" in lines
    # exact: 2 of the 20 orders of three and three
    assert "| expint | Random | 3 | 0.5100 | 2.0 | 1.00 [1.00, 1.00] | 0.1 | no difference shown |" in lines
    assert "| gammq | MIO | 1 | 0.7000 | 2.0 | - | - | - |" in lines
