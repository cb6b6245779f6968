"""The page of a report: one HTML file that works offline and without JavaScript."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

from fitgym import __version__
from fitgym.mutants.mutant import Mutant
from fitgym.project.report.report import Addition, Growth, Line, Report, ReportedModule
from fitgym.rendering.highlight import highlighted
from fitgym.rendering.page import page
from fitgym.suite.text.export import write

__all__ = ["html", "write_page"]

NAMED = 8
"""Maximal number of tests, and of killed mutants, named at a line; the others are only counted."""

LONGEST = 72
"""Maximal number of characters shown of the code of a mutant."""


def write_page(report: Report, path: Path) -> None:
    """Write the page, completely or not at all.

    Args:
        report: the data.
        path: the HTML file.

    Raises:
        ModuleNotFoundError: Jinja is not installed.
        OSError: the file cannot be written.
    """
    write(html(report), path)


def html(report: Report) -> str:
    """Return the text of the page; the same report gives the same text.

    Args:
        report: the data. All its texts are escaped.

    Raises:
        ModuleNotFoundError: Jinja is not installed.
    """
    from markupsafe import Markup

    def code(source: str) -> list[Markup]:
        return [Markup(line) for line in highlighted(source)]

    return page(
        "fitgym.project.report",
        "report.html.jinja",
        report=report,
        version=__version__,
        files=_files(report),
        added=_added(report),
        totals={name: report.total(name) for name in ("branches", "statements", "mutants")},
        code=code,
        tests_of=_tests_of,
        named=NAMED,
        change=change,
        by_test=_by_test,
        classes=_classes,
        percent=percent,
        counted=counted,
        adds=adds,
        gaps=_gaps,
    )


def change(mutant: Mutant) -> tuple[str, str]:
    """Return the code that a mutant replaces and its replacement, shortened; "" for a deleted statement."""
    return _short(mutant.original), "" if mutant.operator == "deletion" else _short(mutant.replacement)


def percent(growth: Growth, *, before: bool = False) -> str:
    """Return a share as text, rounded down, so that only full coverage is shown as 100 %."""
    part = growth.before if before else growth.after
    return "-" if part is None else f"{100 * part // growth.total if growth.total else 100} %"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 branch` and `2 branches`."""
    ending = "es" if noun.endswith(("ch", "s")) else "s"
    return f"{number:,} {noun}{'' if number == 1 else ending}"


def adds(addition: Addition) -> str:
    """Return the contribution of a test in words, "" if there is none."""
    parts = ((addition.branches, "branch"), (addition.lines, "line"), (addition.mutants, "mutant"))
    return ", ".join(counted(number, noun) for number, noun in parts if number)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _classes(line: Line) -> str:
    """Return the CSS classes of a line: its mark, `v` if mutants survive, `u` if a branch is not taken."""
    mark = {"existing": "e", "generated": "g", "missed": "x", "excluded": "o", "": ""}[line.mark]
    return " ".join(filter(None, ("l", mark, "v" if line.survivors else "", "u" if line.untaken else "")))


def _by_test(line: Line) -> list[tuple[int | None, list[Mutant]]]:
    """Return the first killed mutants of a line, by the test that kills them."""
    found: dict[int | None, list[Mutant]] = {}
    for mutant, test in itertools.islice(line.killed, NAMED):
        found.setdefault(test, []).append(mutant)
    return list(found.items())


def _gaps(module: ReportedModule) -> int:
    """Return the number of lines that are not covered, have an untaken branch, or have surviving mutants."""
    return sum(line.mark == "missed" or bool(line.untaken or line.survivors) for line in module.lines)


def _tests_of(report: Report, module: ReportedModule) -> tuple[int, int]:
    """Return the numbers of existing and of generated tests that run a module."""
    generated = [report.tests[one.test].ran.generated for one in module.additions]
    return generated.count(False), generated.count(True)


def _added(report: Report) -> list[list[tuple[int, Addition]]]:
    """Return the contributions of each test, with the index of the module."""
    found: list[list[tuple[int, Addition]]] = [[] for _ in report.tests]
    for place, module in enumerate(report.modules):
        for addition in module.additions:
            if not addition.empty:
                found[addition.test].append((place, addition))
    return found


def _files(report: Report) -> list[tuple[str, bool, Sequence[int]]]:
    """Return the test files: path, whether it is generated, and its tests, those that add most first."""
    added = [sum(one.lines + one.branches + one.mutants for _, one in some) for some in _added(report)]

    def place(number: int) -> tuple[bool, str]:
        return report.tests[number].ran.generated, report.tests[number].file

    numbers: Iterable[int] = sorted(
        range(len(report.tests)), key=lambda number: (place(number), -added[number], number)
    )
    return [(file, generated, tuple(group)) for (generated, file), group in itertools.groupby(numbers, key=place)]
