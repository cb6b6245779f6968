"""Pruning: generated tests that the code has outgrown are taken out of their files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from fitgym.project.check import Check, Failure
from fitgym.suite.text.export import write
from fitgym.suite.text.suite_file import SuiteFile

__all__ = ["Pruned", "prune"]


MISSING = "cannot import name"
"""What Python says of a name that a module has no more; other errors of an import may be over tomorrow."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was taken out, and what is left to a person.

    Attributes:
        removed: tests that fitgym made and that fail.
        deleted: files without a test that is left, or whose module is gone.
        left: tests that fail and stay: a person wrote or edited them, or their file cannot be imported for a reason that
            has nothing to do with what it tests.
    """

    removed: tuple[Failure, ...] = ()
    deleted: tuple[Path, ...] = ()
    left: tuple[Failure, ...] = ()


def prune(found: Check, obsolete: Iterable[Path] = ()) -> Pruned:
    """Take the failing tests that nobody edited out of their files, and forget what these files were made for.

    A file in which no test is left is deleted, unless a person wrote something else in it that is a statement.

    Args:
        found: of the files.
        obsolete: files whose module is gone; their unedited tests go whether they fail or not.
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
        assert suite is not None, "it was run a moment ago"
        broken = [failure for failure in failures if not failure.name]
        outgrown = file in gone or all(any(MISSING in line for line in failure.lines) for failure in broken)
        if broken and (suite.edited or not outgrown):
            left += failures
            continue
        names = {failure.name for failure in failures}
        tests = [test for test in suite.own if broken or file in gone or test.name in names]
        rest = replace(suite.without(tests), made_for="")
        removed += failures
        if rest.tests:
            write(rest.text, file)
        else:
            file.unlink()
            deleted.append(file)
    return Pruned(tuple(removed), tuple(deleted), tuple(left))
