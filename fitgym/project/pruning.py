"""Pruning: remove generated tests and cases that no longer match the code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path

from fitgym.project.check import Check, Failure
from fitgym.suite.text.export import write
from fitgym.suite.text.suite_file import FileTest, SuiteFile

__all__ = ["Pruned", "prune"]


MISSING = "cannot import name"
"""Python's message for a name that a module no longer defines; other import errors may be temporary."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """The removed tests, and the failing tests that are left for the user.

    Attributes:
        removed: failing tests that fitgym generated.
        deleted: files without remaining tests, or whose module no longer exists.
        left: failing tests that are kept: a user wrote or edited them, or their file cannot be imported for a reason
            that is unrelated to the code under test.
    """

    removed: tuple[Failure, ...] = ()
    deleted: tuple[Path, ...] = ()
    left: tuple[Failure, ...] = ()


def prune(found: Check, obsolete: Iterable[Path] = ()) -> Pruned:
    """Remove failing tests that nobody edited from their files, and clear the hash of the code they were made for.

    Of a test with cases, only the failing cases are removed, unless all fail. A file without remaining tests is deleted,
    unless it has other code, such as a helper function that a person wrote.

    Args:
        found: result of the check of these files.
        obsolete: files whose module no longer exists; their unedited tests are removed even if they pass.
    """
    gone = set(obsolete)
    removed: list[Failure] = []
    deleted: list[Path] = []
    left = [failure for failure in found.failures if failure.edited]
    for file in found.files:
        failures = [failure for failure in found.failures if failure.file == file and not failure.edited]
        if not failures and file not in gone:
            continue
        suite = SuiteFile.read(file)
        assert suite is not None, "the file was run a moment ago"
        broken = [failure for failure in failures if not failure.name]
        outgrown = file in gone or all(any(MISSING in line for line in failure.lines) for failure in broken)
        if broken and (suite.edited or not outgrown):
            left += failures
            continue
        cases = {name: {one.case for one in failures if one.name == name} for name in {one.name for one in failures}}
        whole = broken or file in gone
        some = {} if whole else {test.name: cases[test.name] for test in suite.own if _keeps_cases(test, cases)}
        tests = [test for test in suite.own if whole or (test.name in cases and test.name not in some)]
        rest = replace(suite.without(tests), made_for="")
        for name, failing in some.items():
            rest = rest.without_cases(name, failing)
        removed += failures
        if not rest.is_empty:
            write(rest.text, file)
        else:
            file.unlink()
            deleted.append(file)
    return Pruned(tuple(removed), tuple(deleted), tuple(left))


def _keeps_cases(test: FileTest, failing: Mapping[str, Set[int]]) -> bool:
    """It is known which cases of the test fail, and others pass."""
    cases = failing.get(test.name, frozenset())
    return bool(cases) and -1 not in cases and len(cases) < len(test.cases)
