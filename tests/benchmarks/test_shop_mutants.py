"""The mistakes of the shop exist as listed, and a suite with assertions finds them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("shop_mutants")
    del sys.modules["shop_mutants"]


def test_there_are_fifty_mistakes_and_each_is_one_place_of_valid_code(script: Any) -> None:
    assert sum(map(len, script.MISTAKES.values())) == 50
    for module, mistakes in script.MISTAKES.items():
        text = (ROOT / "examples" / "shop" / "bookshop" / f"{module}.py").read_text("utf-8")
        for mistake in mistakes:
            assert text.count(mistake["old"]) == 1, (module, mistake["old"])
            compile(text.replace(mistake["old"], mistake["new"]), module, "exec")


@nightly
def test_a_suite_finds_what_its_assertions_notice(script: Any, tmp_path: Path) -> None:
    suite = tmp_path / "test_ledger.py"
    suite.write_text(
        "from bookshop.ledger import Ledger, Sale\nfrom bookshop.prices import Price\n\n\n"
        "def test_day():\n    ledger = Ledger()\n    ledger.record(Sale('a', 'today', 3, Price(5)))\n"
        "    assert ledger.takings('today') == Price(15)\n"
    )
    missed = script.missed("ledger", suite)
    assert "SUM(pence)" not in missed  # three copies at five pence
    assert "return 0" in "".join(missed) and "ORDER BY sold, isbn" in missed  # what it does not look at


def test_a_suite_that_does_not_run_is_no_result(script: Any, tmp_path: Path) -> None:
    suite = tmp_path / "test_broken.py"
    suite.write_text("import nothing_like_this\n")
    with pytest.raises(SystemExit, match="does not run"):
        script.missed("ledger", suite)
    assert len(script.missed("ledger", None)) == len(script.MISTAKES["ledger"])
