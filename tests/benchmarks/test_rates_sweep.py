"""The sweep of rates: two halves of the development modules, and a table that follows the rule for verdicts."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("rates_sweep")
    for name in ("rates_sweep", "runs_file"):
        sys.modules.pop(name, None)


def rows(sweep: Any, seeds: int, more: float) -> list[dict[str, str]]:
    found = []
    for setting, extra in (("default", 0.0), ("long", more)):
        for number in range(12):
            for seed in range(seeds):
                values = ("tune", setting, f"m{number}", str(seed), str(50 + extra + number / 10), "100", "1", "")
                found.append(dict(zip(sweep.COLUMNS, values, strict=True)))
    return found


def test_no_module_is_in_both_halves_and_none_is_hostile(sweep: Any) -> None:
    halves = sweep.halves()
    assert len(halves["tune"]) == 34 and len(halves["judge"]) == 33
    assert not set(halves["tune"]) & set(halves["judge"])


def test_a_setting_that_is_ahead_everywhere_is_better_and_one_that_is_level_is_not(sweep: Any) -> None:
    assert "| long | 2 | +5.00 | [+5.00, +5.00] | 0.000 | better |" in sweep.table(rows(sweep, 2, 5.0))
    assert "no difference shown" in sweep.table(rows(sweep, 2, 0.0))


def test_one_seed_gives_no_verdict(sweep: Any) -> None:
    assert "|  | one seed: no verdict |" in sweep.table(rows(sweep, 1, 5.0))


def test_a_row_that_failed_does_not_count(sweep: Any) -> None:
    failed = dict(zip(sweep.COLUMNS, ("tune", "long", "m0", "0", "0", "0", "0", "no such module"), strict=True))
    assert sweep.table([*rows(sweep, 2, 5.0), failed]) == sweep.table(rows(sweep, 2, 5.0))
