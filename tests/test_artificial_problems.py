"""The table of the artificial problems: its means, and the sentences it judges."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.artificial_problems import SEARCHES, covered, main, sentences


def test_a_mean_is_over_runs_with_optima_of_their_own() -> None:
    assert covered("gradient", 1, "mio:population=1", 5, 400) == 100.0
    assert 0.0 < covered("gradient", 1, "random_search", 20, 300) < 70.0
    assert covered("infeasible", 0, "mio:population=1", 2, 1500) == pytest.approx(100.0)


def test_the_table_has_a_row_for_each_size_and_a_verdict_for_each_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--runs", "2", "--budget", "60", "--sizes", "2", "30", "--kinds", "gradient", "deceptive"]
    assert main([*arguments, "--output", str(tmp_path / "table.md")]) == 0
    text = capsys.readouterr().out
    assert text == (tmp_path / "table.md").read_text("utf-8")
    assert text.count("\n| 2 |") == 2 and text.count("\n| 30 |") == 2
    assert text.count("| yes |") + text.count("| no |") == 4


def test_sentences_hold_or_not_by_their_figures() -> None:
    def judged(**means: float) -> dict[str, bool]:
        found = {("gradient", 10, name): 50.0 for name in SEARCHES}
        found |= {("gradient", 10, name): mean for name, mean in means.items()}
        return {text: holds for text, _, holds in sentences(found)}

    assert list(judged(MIO=80.0, MOSA=76.0).values()) == [True, True]
    assert list(judged(MIO=80.0, MOSA=70.0).values()) == [False, True]
    assert list(judged(MIO=50.0, MOSA=50.0).values()) == [True, False]
    plateau = {("plateau", size, name): 4.0 for size in (30, 100) for name in SEARCHES} | {("plateau", 30, "MIO"): 20.0}
    assert [holds for *_, holds in sentences(plateau)] == [True, True]
    assert [holds for *_, holds in sentences(plateau | {("plateau", 100, "MOSA"): 10.0})] == [True, False]
    assert [holds for *_, holds in sentences(plateau | {("plateau", 30, "MIO"): 50.0})] == [False, True]
    assert list(sentences({("gradient", 10, "mio"): 1.0})) == []  # other algorithms: nothing to say
