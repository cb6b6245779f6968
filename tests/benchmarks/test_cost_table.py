"""The cost of suites: the table of aDynaMOSA compared with DynaMOSA."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "cost_table", raising=False)
    return importlib.import_module("cost_table")


def _row(
    script: Any, search: str, subject: str, seed: int, covered: int, seconds: float, peak: int, lines: int = 100
) -> dict[str, str]:
    values = (search, subject, str(seed), "80x", str(covered), "10", "4", repr(seconds), str(peak), str(lines), "0", "")
    return dict(zip(script.COLUMNS, values, strict=True))


def test_the_searches_and_functions_are_ones_that_there_are(script: Any) -> None:
    from fitgym.engine import parse_search
    from fitgym.goals.coverage import Coverage

    for search in script.SEARCHES:
        parse_search(search)
    assert set(script.FUNCTIONS.split("+")) <= set(Coverage.functions)


def test_costs_are_compared_where_the_coverage_is_the_same(script: Any) -> None:
    rows = [_row(script, "dynamosa", subject, 0, 9, 0.004, 1000) for subject in ("a", "b", "c")]
    rows += [_row(script, "adynamosa", "a", 0, 9, 0.002, 1000, 80)]
    rows += [_row(script, "adynamosa", "b", 0, 9, 0.005, 900, 70)]
    rows += [_row(script, "adynamosa", "c", 0, 8, 0.001, 10)]  # covers less: not compared
    line = list(script.table(rows))[-1]
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    assert cells[:9] == ["adynamosa", "3", "0.867", "0.900", "0", "1", "4.0", "4.0", "2"]
    assert cells[9:15] == ["1", "1", "-12.5%", "1", "0", "-5.0%"]  # medians of -50 and +25 %, of 0 and -10 %
    assert cells[15:] == ["2", "0", "-25.0%"]  # of -20 and -30 %


def test_costs_have_verdicts_by_the_rule_and_less_is_better(script: Any) -> None:
    """Ten subjects with two seeds, all faster and longer: p = 2/2^10, for the four comparisons of the table."""
    rows = []
    for subject in "abcdefghij":
        for seed in range(2):
            rows.append(_row(script, "dynamosa", subject, seed, 9, 0.004, 1000))
            rows.append(_row(script, "adynamosa", subject, seed, 9, 0.002, 1000, 120))
    cells = {line.split(" | ")[1]: line.strip("| ").split(" | ")[-2:] for line in list(script.judged_table(rows))[2:]}
    assert cells["speed"] == ["0.0078", "better"] and cells["fewness of lines"] == ["0.0078", "worse"]
    assert cells["branches covered"] == cells["thrift of memory"] == ["1", "no difference shown"]
    one = [row for row in rows if row["seed"] == "0"]
    assert all(line.endswith("| - | one seed: no verdict |") for line in list(script.judged_table(one))[2:])


def test_of_several_seeds_the_median_counts(script: Any) -> None:
    rows = [_row(script, "dynamosa", "a", seed, covered, 0.001 * covered, 1) for seed, covered in enumerate((2, 9, 7))]
    assert script.medians(rows, "dynamosa") == {
        "a": {"coverage": 0.7, "seconds": 0.007, "peak": 1.0, "lines": 100.0, "tests": 4.0}
    }


@nightly
def test_a_run_is_measured_from_outside(script: Any, tmp_path: Path) -> None:
    folder = tmp_path / "subjects"
    folder.mkdir()
    (folder / "signs.py").write_text(
        "def sign(x: int) -> str:\n    if x < 0:\n        return 'below'\n    return 'not'\n"
    )
    options = script.argparse.Namespace(subjects=folder, folder=tmp_path, runs=1)
    row = script.measured(("adynamosa", "signs", "0", "200x"), options)
    assert not row["problem"], row
    assert (row["covered"], row["branches"], row["failed"]) == ("2", "2", "0")
    assert int(row["tests"]) >= 2 and float(row["seconds"]) > 0.0
    assert int(row["lines"]) == 2 * int(row["tests"])
    gone = script.measured(("adynamosa", "no_such_module", "0", "200x"), options)
    assert "no_such_module" in gone["problem"] and gone["covered"] == ""
