"""Coverage compared with Pynguin: rows, and the table made from them."""

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
    for name in ("peer_coverage", "suite_quality"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("peer_coverage")


def _row(script: Any, module: str, tool: str, covered: int, branches: str = "10", problem: str = "") -> dict[str, str]:
    return dict(zip(script.COLUMNS, ("mio", module, "1", "5s", tool, str(covered), branches, problem), strict=True))


def test_every_algorithm_is_one_of_ours(script: Any) -> None:
    from fitgym.engine import parse_search

    for name in script.ALGORITHMS:
        parse_search(name)


@nightly
def test_a_suite_of_ours_is_measured_and_the_same_run_is_not_made_again(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "subjects"
    folder.mkdir()
    (folder / "signs.py").write_text(
        "def sign(x: int) -> str:\n    if x < 0:\n        return 'below'\n    return 'not'\n"
    )
    monkeypatch.setattr(script, "install_peers", lambda *_: ({"pynguin": sys.executable}, {}))  # which has no Pynguin
    monkeypatch.setattr(script, "subjects", lambda *_: [script.Subject("core", "", "", "signs")])
    arguments = ["--subjects", str(folder), "--algorithms", "mosa", "--budget", "300x", "--folder", str(tmp_path)]
    assert script.main(arguments) == 0
    text = (tmp_path / "runs.csv").read_text("utf-8")
    ours, theirs = text.splitlines()[1:]
    assert ours == "mosa,signs,1,300x,fitgym,2,2,"
    assert theirs.startswith("mosa,signs,1,300x,pynguin,0,,") and "no suite, exit code 1" in theirs
    monkeypatch.setattr(script, "measured", None)
    assert script.main(arguments) == 0
    assert (tmp_path / "runs.csv").read_text("utf-8") == text


def test_a_module_without_a_suite_counts_as_not_covered(script: Any) -> None:
    rows = [_row(script, "a", "fitgym", 9), _row(script, "a", "pynguin", 0, "", "no suite")]
    rows += [_row(script, "b", "fitgym", 5), _row(script, "b", "pynguin", 6)]
    (line,) = list(script.table(rows))[2:]
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    assert cells[:4] == ["mio", "2", "0.700", "0.300"] and cells[4].startswith("0.50 [")
    assert cells[5:] == ["1", "1", "-", "one seed: no verdict", "0, 1"]


def test_several_seeds_of_a_module_are_averaged_first(script: Any) -> None:
    rows = [_row(script, "a", "fitgym", covered) | {"seed": str(seed)} for seed, covered in enumerate((4, 8))]
    rows += [_row(script, "a", "pynguin", 5) | {"seed": str(seed)} for seed in range(2)]
    (line,) = list(script.table(rows))[2:]
    assert [cell.strip() for cell in line.strip("| ").split("|")][2:4] == ["0.600", "0.500"]


def test_a_tool_is_better_by_the_rule_only(script: Any) -> None:
    """Eight modules, all ahead: 2/2^8."""
    rows = [
        _row(script, module, tool, covered + seed) | {"seed": str(seed)}
        for module in "abcdefgh"
        for tool, covered in (("fitgym", 6), ("pynguin", 2))
        for seed in range(3)
    ]
    (line,) = list(script.table(rows))[2:]
    assert "| 1.00 [1.00, 1.00] | 8 | 0 | 0.0078 | better |" in line
