"""The command `fitgym report`: write a page about the tests of a project, and files for CI."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from fitgym.commands.codes import DONE, FINDING
from fitgym.commands.interruption import held
from fitgym.errors import InputError

if TYPE_CHECKING:
    from fitgym.project.report.report import Growth, Report

__all__ = ["REPORT_EXAMPLES", "report"]

REPORT_EXAMPLES = """Examples:
  fitgym report
  fitgym report shop --path src --output report.html
  fitgym report --only 'shop.stock.*' --cobertura coverage.xml --junit junit.xml
"""

Patterns = Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)]


def report(
    project: str = ".",
    /,
    *,
    path: Path | None = None,
    tests: Path | None = None,
    only: Patterns = (),
    exclude: Patterns = (),
    output: Path = Path("fitgym-report.html"),
    cobertura: Path | None = None,
    lcov: Path | None = None,
    junit: Path | None = None,
    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=())] = False,
) -> int:
    """Write an HTML page: what the tests of a project cover, which mutants survive, and what each test adds.

    The tests run with the project's own pytest configuration: first the existing tests, then the generated ones.
    Mutants are read from the records of `fitgym generate`. The exit code is 1 if a test did not pass.

    Parameters
    ----------
    project
        A package, the folder of a package, or the root folder of a project.
    path
        Folder to search first for the package.
    tests
        Folder of the tests, or one file (default: pytest's testpaths, else tests).
    only
        Modules to show, with * and ? as wildcards; may be repeated.
    exclude
        Modules to leave out, with the same wildcards; may be repeated.
    output
        File for the page.
    cobertura
        Also write the coverage as Cobertura XML to this file.
    lcov
        Also write the coverage as LCOV to this file.
    junit
        Also write the outcomes of the tests as JUnit XML to this file.
    quiet
        Show no progress on stderr.
    """
    with held():
        from fitgym.project.layout import find
        from fitgym.project.report.covered import Files
        from fitgym.project.report.report import report as reported

    try:
        import jinja2  # noqa: F401  (fail here, before the tests run, which takes time)

        from fitgym.project.report.page import write_page
    except ModuleNotFoundError as problem:
        raise InputError(f"a report needs the package {problem.name}; pip install 'fitgym[study]'") from None

    def say(line: str) -> None:
        if not quiet:
            sys.stderr.write(f"{line}\n")

    wanted = [file.absolute() if file else None for file in (cobertura, lcov, junit)]
    found = reported(
        find(project, path, only=only, exclude=exclude),
        tests.absolute() if tests else None,
        files=Files(*wanted),
        say=say,
    )
    write_page(found, output)
    sys.stdout.write(_summary(found))
    for file in (output, cobertura, lcov, junit):
        if file is not None:
            sys.stdout.write(f"{file}\n")
    return FINDING if found.failed or found.broken else DONE


def _summary(found: Report) -> str:
    """Return the totals of a report, one line for each quantity."""
    from fitgym.project.report.page import counted

    generated = sum(test.ran.generated for test in found.tests)
    lines = [
        f"{found.title}: {counted(len(found.modules), 'module')}, "
        f"{counted(len(found.tests) - generated, 'existing test')}, {counted(generated, 'generated test')}"
    ]
    if (branches := found.total("branches")) is not None and (statements := found.total("statements")) is not None:
        lines.append(f"branches {_counts(branches)}, lines {_counts(statements)}")
    if (mutants := found.total("mutants")) is not None:
        lines.append(f"mutants {_counts(mutants)} killed")
    if found.failed or found.broken:
        failed, broken = counted(len(found.failed), "test"), counted(len(found.broken), "file")
        lines.append(f"{failed} did not pass, {broken} could not be collected")
    return "".join(f"{line}\n" for line in lines)


def _counts(growth: Growth) -> str:
    before = "" if growth.before is None else f"{growth.before} -> "
    return f"{before}{growth.after}/{growth.total}"
