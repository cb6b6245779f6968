"""The soak test: true findings, and no false ones."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from nightly import nightly

ROOT = Path(__file__).parents[2]


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import soak

    return soak


def test_growth_compares_the_last_quarter_of_the_memory_with_the_second(soak) -> None:  # type: ignore[no-untyped-def]
    assert soak.growth([1.0, 1.0, 100.0, 100.0, 100.0, 100.0, 120.0, 120.0]) == 1.2
    assert soak.growth([1.0, 2.0, 3.0]) == 1.0


def test_modules_that_do_harm_are_modules(soak) -> None:  # type: ignore[no-untyped-def]
    for source in soak.HOSTILE.values():
        assert any(isinstance(node, ast.FunctionDef) for node in ast.parse(source).body)


def test_a_wrong_exit_code_and_a_hanging_command_are_findings(
    soak, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    done = soak.Round(0, "generate", "")
    place = soak.Place(tmp_path, done, random.Random(0))
    assert place.run("generate", "no.such.module") == 2
    monkeypatch.setattr(soak, "LIMIT_S", 0.0)
    place.run("list", "agents")
    assert [finding.split("` ")[1].split(" ")[0] for finding in done.findings] == ["ended", "still"]


def test_a_file_left_among_the_temporary_files_is_a_finding(soak, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = soak.Round(0, "generate", "")
    place = soak.Place(tmp_path, done, random.Random(0))
    (tmp_path / "temporary" / "forgotten").touch()
    place.swept()
    assert done.findings == ["left among the temporary files: forgotten"]


@nightly
@pytest.mark.parametrize("number", range(10))
def test_the_first_rounds_find_nothing(soak, number: int) -> None:  # type: ignore[no-untyped-def]
    assert soak.play(number, seed=0).findings == []
