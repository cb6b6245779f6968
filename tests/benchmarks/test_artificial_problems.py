"""The table of the artificial problems: means, and verdicts on the paper's claims."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from benchmarks.artificial_problems import SEARCHES, Shares, covered, expected, judged, main, sentences


def test_runs_have_optima_of_their_own() -> None:
    assert covered("gradient", 1, "mio:population=1", 5, 400) == [100.0] * 5
    assert 0 < sum(covered("gradient", 1, "random_search", 20, 300)) < 70.0 * 20
    assert covered("infeasible", 0, "mio:population=1", 2, 1500) == [100.0] * 2


def test_random_search_covers_what_is_to_be_expected() -> None:
    assert expected("deceptive", 1, 1) == pytest.approx(100 / 1001)
    assert expected("plateau", 5, 1000) == pytest.approx(18.1, abs=0.05)  # 1 - exp(-0.2)
    assert expected("infeasible", 90, 1000) == expected("gradient", 100, 1000)
    found = covered("deceptive", 2, "random_search", 400, 200)
    assert statistics.fmean(found) == pytest.approx(expected("deceptive", 2, 200), abs=4.0)  # three standard errors


def test_the_table_has_a_row_for_each_size_and_a_verdict_for_each_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--runs", "2", "--budget", "60", "--sizes", "2", "30", "--kinds", "gradient", "deceptive"]
    assert main([*arguments, "--output", str(tmp_path / "table.md")]) == 0
    text = capsys.readouterr().out
    assert text == (tmp_path / "table.md").read_text("utf-8")
    assert text.count("\n| 2 |") == 2 and text.count("\n| 30 |") == 2
    (_, _, said) = text.partition("| holds |")
    assert said.count("\n| ") == 4 and "Holm-adjusted p" in text
    assert text.startswith("2 runs of 60 evaluations") and "| Random | Random, expected |" in text


def test_some_algorithms_can_be_asked_for_by_the_name_in_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--runs", "2", "--budget", "60", "--sizes", "2", "--kinds", "deceptive"]
    assert main([*arguments, "--searches", "MIO", "Random"]) == 0
    assert "| targets | MIO | Random | Random, expected |" in (text := capsys.readouterr().out)
    assert "| deceptive: up to 10 targets" in text
    assert main([*arguments, "--searches", "MIO", "mio:population=1"]) == 0
    assert "| targets | MIO | mio:population=1 |" in (text := capsys.readouterr().out)
    assert "| holds |" not in text


def runs(kind: str, sizes: tuple[int, ...] = (1, 2, 3, 4, 5, 10, 20, 30), n: int = 4, **means: float) -> Shares:
    """A few runs of every algorithm, around its mean or else around 50."""
    name_of = {"MIO without feedback": "without"}
    return {
        (kind, z, name): [means.get(name_of.get(name, name), 50.0) + run - (n - 1) / 2 for run in range(n)]
        for z in sizes
        for name in SEARCHES
    }


SMALL = (1, 2, 3, 4, 5, 8, 9, 10)
LARGE = tuple(range(30, 101, 10))
NONE, OPEN = "one seed: no verdict", "no difference shown"


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        (runs("gradient", MIO=80.0, MOSA=76.0), ["yes", "yes"]),
        (runs("gradient", MIO=80.0, MOSA=70.0), ["no", "yes"]),
        (runs("gradient"), ["yes", OPEN]),
        (runs("gradient", MIO=40.0, MOSA=40.0), ["yes", "no"]),
        (runs("gradient", n=1), [NONE, NONE]),
        (runs("plateau", LARGE, 12, MIO=22.0, MOSA=4.0, WTS=4.0, Random=4.0), ["yes", "yes"]),
        (runs("plateau", LARGE, 12, MIO=22.0, MOSA=10.0, WTS=4.0, Random=4.0), ["yes", "no"]),
        (runs("plateau", LARGE, 12, MIO=50.0, MOSA=4.0, WTS=4.0, Random=4.0), ["no", "yes"]),
        (runs("plateau", LARGE, 12, MIO=15.5, MOSA=4.0, WTS=4.0, Random=4.0), [OPEN, "yes"]),
        (runs("deceptive", SMALL), [OPEN]),
        (runs("deceptive", SMALL, MIO=50.1), ["no"]),
        (runs("deceptive", SMALL, MIO=49.9), ["yes"]),
        (runs("deceptive", (5, 10), MIO=49.9), [OPEN]),  # two sizes are too few for the test
        (runs("infeasible", (100,), 20, MIO=40.0, without=20.0, MOSA=0.0, WTS=0.0, Random=0.0), ["yes"] * 3),
        (runs("infeasible", (100,), 20, MIO=40.0, without=35.0, MOSA=0.0, WTS=0.0, Random=0.0), ["yes", "no", "yes"]),
        ({("gradient", 10, "mio"): [1.0]}, []),  # other algorithms: nothing to say
    ],
)
def test_sentences_hold_or_not_by_interval_and_test(shares: Shares, expected: list[str]) -> None:
    assert [holds for *_, holds in judged(list(sentences(shares)))] == expected
