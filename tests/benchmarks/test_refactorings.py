"""The refactorings of the benchmark exist as listed and behave as described."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from nightly import nightly

ROOT = Path(__file__).parents[2]
CALLS = {
    "fare": ("fares", [(zones, age) for zones in (1, 3, 9) for age in (5, 6, 11, 12, 13)]),
    "direction": ("signs", [("4N",), ("s",), ("",), ("4X",)]),
    "shortened": ("signs", [("Old Market Square",), ("Harbour",), (" Old Market Square ", 5)]),
    "ranked": ("roster", [(["b", "a", "cc"],), ([],)]),
    "refund": ("fares", [(price, delay) for price in range(8) for delay in (19, 20, 60)]),
    "split": ("fares", [(total, people) for total in (-5, 0, 7, 100) for people in (0, 1, 3)]),
    "due": ("signs", [(minutes,) for minutes in (-1, 0, 1, 2, 30, 31)]),
    "season": ("fares", [(price, months) for price in (0, 7, 199) for months in (0, 1, 11, 12, 13)]),
}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield importlib.import_module("refactorings")
    del sys.modules["refactorings"]


def loaded(path: Path) -> ModuleType:
    """A module of a depot, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"depot_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    del sys.modules[spec.name]
    return module


def outcomes(package: Path) -> dict[str, list[str]]:
    """What the calls of each function give."""

    def outcome(function: Any, arguments: Any) -> str:
        try:
            return repr(function(*arguments))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    found = {}
    for name, (module, calls) in CALLS.items():
        function = getattr(loaded(package / f"{module}.py"), name)
        found[name] = [outcome(function, arguments) for arguments in calls]
    roster = loaded(package / "roster.py")
    shifts = [roster.Shift("a", 1, start, end) for start in range(24) for end in range(24)]
    found["hours"] = [str(shift.hours()) for shift in shifts]
    return found


def test_five_of_ten_refactorings_change_what_their_function_does(script: Any, tmp_path: Path) -> None:
    original = outcomes(script.HERE / "depot")
    different = []
    for number, refactoring in enumerate(script.REFACTORINGS):
        package = tmp_path / str(number)
        shutil.copytree(script.HERE / "depot", package)
        script.apply(refactoring, package)
        now = outcomes(package)
        assert [name for name in original if original[name] != now[name]] == [
            name for name in [refactoring.get("function")] if name
        ]
        different.append("function" in refactoring)
    assert different == [True] * 5 + [False] * 5


def test_a_result_is_correct_if_it_names_the_function_or_nothing(script: Any) -> None:
    def found(expected: str, *functions: str) -> Any:
        differences = [{"function": function} for function in functions]
        return script.Found(expected, {"modules": [{"differences": differences, "agreeing": 3}]}, 1.0)

    assert [found("f", "f", "f").correct, found("").correct] == [True, True]
    assert [found("f").correct, found("f", "g").correct, found("", "f").correct] == [False, False, False]
    assert found("f", "f", "f").line() == "ok     f; 3 tests agree; 1.0 s"


@nightly
def test_one_refactoring_is_measured_from_commit_to_line(script: Any, capsys: pytest.CaptureFixture[str]) -> None:
    script.main(["--budget", "600x", "--names", "2"])
    assert "seed 0: 1 of 1 changes found, 0 false alarms on 0 others" in capsys.readouterr().out
