"""Idle tests: a suite that is to check something has no accidents and no tests without a check."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from fitgym.run.generation import Run, generate
from fitgym.suite.idle import ACCIDENT, IDLE

DOUBLE = """
    def double(number: int) -> int:
        return 2 * number
"""

CASES = {
    "the attribute of a None": (
        """
        class Writer:
            def __init__(self):
                self._file = None
            def write(self, text: str) -> None:
                self._file.write(text)
        """,
        [],
        [ACCIDENT],
    ),
    "a type that the code refuses": (
        """
        def name(value):
            if not isinstance(value, str):
                raise TypeError("a name is a text")
            return value.title()
        """,
        ['pytest.raises(TypeError, match="a name is a text")'],
        [],
    ),
    "an operand that an operator refuses": (
        """
        class Length:
            def __init__(self, metres: int):
                self.metres = metres
            def __add__(self, other):
                if not isinstance(other, Length):
                    return NotImplemented
                return Length(self.metres + other.metres)
        """,
        ["pytest.raises(TypeError)"],
        [],
    ),
    "an accident that alone takes a branch": (
        """
        class Lamp:
            def __init__(self):
                self._bulb = None
            def light(self, bright: bool):
                if bright:
                    return self._bulb.lumen
                return 0
        """,
        ["pytest.raises(AttributeError)", "== 0"],
        [],
    ),
    "a change that nothing shows": (
        """
        class Bell:
            def ring(self) -> None:
                self._rung = True
        """,
        [],
        [IDLE],
    ),
    "the class of a result": (
        """
        class Bell:
            pass
        def cast():
            return Bell()
        """,
        ["assert isinstance(cast(), Bell)"],
        [],
    ),
    "a branch that nothing shows": (
        """
        class Door:
            def knock(self, loud: bool) -> None:
                if loud:
                    self._loud = True
        """,
        ["door.knock(True)"],
        [],
    ),
}


def made(source: str, folder: Path) -> Run:
    """A run for a module."""
    (folder / "subject_module.py").write_text(textwrap.dedent(source))
    return generate(str(folder / "subject_module.py"), budget="300x", seed=1, goal="tests")


@pytest.mark.parametrize("case", CASES)
def test_what_a_maintainer_would_delete_is_left_out(case: str, tmp_path: Path) -> None:
    source, kept, reasons = CASES[case]
    run = made(textwrap.dedent(source) + textwrap.dedent(DOUBLE), tmp_path)
    assert "double" in run.source
    for text in kept:
        assert text in run.source, run.source
    assert sorted({one["reason"] for one in run.record["dropped"]}) == sorted(reasons)


def test_a_poor_suite_is_better_than_none(tmp_path: Path) -> None:
    source, _, _ = CASES["the attribute of a None"]
    run = made(source, tmp_path)
    assert "pytest.raises(AttributeError)" in run.source


def test_the_goal_of_coverage_keeps_them(tmp_path: Path) -> None:
    source, _, _ = CASES["a change that nothing shows"]
    (tmp_path / "subject_module.py").write_text(textwrap.dedent(source) + textwrap.dedent(DOUBLE))
    run = generate(str(tmp_path / "subject_module.py"), budget="300x", seed=1, goal="coverage")
    assert "bell.ring()" in run.source
