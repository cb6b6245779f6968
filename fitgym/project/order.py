"""Order: remove generated tests that make tests of other files fail.

A test may have side effects, such as a language that it sets or a registry that it fills. They break no test of its own
file, because that was checked in several orders before export. But pytest runs all files in one process, so tests of
another file may fail. The test with the side effect is removed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from fitgym.project.check import Failure, check
from fitgym.project.layout import Project
from fitgym.suite.text.export import write
from fitgym.suite.text.suite_file import FileTest, SuiteFile

__all__ = ["LIMIT_S", "untangle"]

LIMIT_S = 60.0
"""Time limit in seconds; after it, no further test is removed."""


def untangle(project: Project, files: Sequence[Path], limit_s: float = LIMIT_S) -> list[str]:
    """Remove tests that make tests of other files fail, until all generated tests pass together.

    Tests that a user wrote or edited are kept. Tests that fail on their own are kept too; `fitgym check` reports them.

    Args:
        project: the project of the tests.
        files: generated test files, in the order in which pytest runs them.
        limit_s: time limit in seconds; after it, no further test is removed.

    Returns:
        The removed tests, as `test_x (file)`.

    Raises:
        InputError: pytest cannot run the files.
    """
    end = time.monotonic() + limit_s
    removed: list[str] = []
    alone: set[tuple[Path, str]] = set()  # tests that fail on their own: the code has changed since they were generated
    while time.monotonic() < end:
        failing = [one for one in check(project, files).failures if one.name and not one.edited]
        victim = next((one for one in failing if (one.file, one.name) not in alone), None)
        if victim is None:
            break
        if _fails_behind(project, victim.file, (), victim):
            alone.add((victim.file, victim.name))
            continue
        file, tests = _guilty(project, files, victim, end)
        suite = SuiteFile.read(file)
        assert suite is not None, "the file was run a moment ago"
        write(suite.without(tests).text, file)
        removed += [f"{test.name} ({file.name})" for test in tests]
    return removed


def _guilty(project: Project, files: Sequence[Path], victim: Failure, end: float) -> tuple[Path, list[FileTest]]:
    """Return the file and its tests that make a test fail; the failing test itself if no single file does."""
    for file in files[: files.index(victim.file)]:
        tests = list(_own(file))
        if time.monotonic() < end and tests and _fails_behind(project, file, tests, victim):
            return file, _fewest(project, file, tests, victim)
    return victim.file, [test for test in _own(victim.file) if test.name == victim.name]


def _fewest(project: Project, file: Path, tests: list[FileTest], victim: Failure) -> list[FileTest]:
    """Return a small part of the tests that still makes the other test fail, found by halving."""
    while len(tests) > 1:
        half = len(tests) // 2
        part = next((one for one in (tests[:half], tests[half:]) if _fails_behind(project, file, one, victim)), None)
        if part is None:
            break
        tests = part
    return tests


def _fails_behind(project: Project, file: Path, tests: Sequence[FileTest], victim: Failure) -> bool:
    """Return whether a test fails when it runs after some tests of another file."""
    chosen = [*(_id(file, test.name) for test in tests), _id(victim.file, victim.name)]
    found = check(project, [file, victim.file], chosen=chosen)
    return any(one.file == victim.file and one.name == victim.name for one in found.failures)


def _own(file: Path) -> Sequence[FileTest]:
    suite = SuiteFile.read(file)
    return () if suite is None else suite.own


def _id(file: Path, name: str) -> str:
    return f"{file}::{name.replace('.', '::')}"
