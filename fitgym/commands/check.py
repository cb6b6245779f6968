"""The command `fitgym check`: run the generated tests of a project and report failures."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from fitgym.commands.codes import DONE, FINDING
from fitgym.errors import InputError

if TYPE_CHECKING:
    from fitgym.project.check import Failure

__all__ = ["CHECK_EXAMPLES", "check", "described"]

CHECK_EXAMPLES = """Examples:
  fitgym check
  fitgym check shop --junit outcomes.xml
"""


def check(
    subject: str = ".", /, *, path: Path | None = None, output: Path | None = None, junit: Path | None = None
) -> int:
    """Run the generated tests of a project, and show for each failure what has changed.

    A failing test means that the code behaves differently than when the test was generated. The exit code is 1 if a
    test fails.

    Parameters
    ----------
    subject
        A package, or the folder of a project.
    path
        Folder to search first for the package.
    output
        Folder of the generated tests (default: the folder generated inside the project's test folder).
    junit
        File for the outcomes, JUnit XML.
    """
    from fitgym.project.check import check as checked
    from fitgym.project.layout import find
    from fitgym.suite.text.generated import generated_files

    project = find(subject, path)
    folder = output or project.generated
    files = generated_files(folder)
    if not files:
        raise InputError(
            f"'{folder}' has no generated tests; run `fitgym generate`, or give their folder with --output"
        )
    found = checked(project, [file.resolve() for file in files], junit)
    sys.stdout.write("".join(f"{line}\n" for line in described(found.failures, project.root)))
    edited = f", {found.edited} of them yours" if found.edited else ""
    total = found.passed + len(found.failures)
    sys.stdout.write(f"{found.passed} of {total} tests pass{edited}\n")
    if found.failures:
        sys.stdout.write("if the new behaviour is right, `fitgym update` replaces the tests that fitgym made\n")
    return FINDING if found.failures else DONE


def described(failures: Iterable[Failure], root: Path) -> Iterable[str]:
    """Yield the lines that describe failing tests."""
    for failure in failures:
        file = failure.file.relative_to(root) if failure.file.is_relative_to(root) else failure.file
        whose = " (yours)" if failure.edited else ""
        yield f"{file}::{failure.name.replace('.', '::')}{whose}" if failure.name else f"{file}: cannot be imported"
        yield from (f"    {line}" for line in failure.lines)
        yield ""
