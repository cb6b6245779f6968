"""The page of a report: one HTML file that needs neither a network nor JavaScript."""

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
"""How many tests, and how many killed mutants, are named at a line; the others are counted."""

LONGEST = 72
"""Characters of code that are shown of a mutant."""


def write_page(report: Report, path: Path) -> None:
    """Write the page, whole or not at all.

    Args:
        report: what it shows.
        path: the HTML file.

    Raises:
        ModuleNotFoundError: Jinja is not installed.
        OSError: the file cannot be written.
    """
    write(html(report), path)


def html(report: Report) -> str:
    """The text of the page; the same report gives the same text.

    Args:
        report: what it shows. All of its texts are escaped.

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
    """What a mutant replaces, and by what, as short texts; the second is "" for a deleted statement."""
    return _short(mutant.original), "" if mutant.operator == "deletion" else _short(mutant.replacement)


def percent(growth: Growth, *, before: bool = False) -> str:
    """A share as text, rounded down, so that only all of it is 100 %."""
    part = growth.before if before else growth.after
    return "-" if part is None else f"{100 * part // growth.total if growth.total else 100} %"


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 branch` and `2 branches`."""
    ending = "es" if noun.endswith(("ch", "s")) else "s"
    return f"{number:,} {noun}{'' if number == 1 else ending}"


def adds(addition: Addition) -> str:
    """What a test adds, in words; "" if nothing."""
    parts = ((addition.branches, "branch"), (addition.lines, "line"), (addition.mutants, "mutant"))
    return ", ".join(counted(number, noun) for number, noun in parts if number)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _classes(line: Line) -> str:
    """The classes of a line: who covers it, `v` if mutants survive, `u` if a branch is not taken."""
    mark = {"existing": "e", "generated": "g", "missed": "x", "excluded": "o", "": ""}[line.mark]
    return " ".join(filter(None, ("l", mark, "v" if line.survivors else "", "u" if line.untaken else "")))


def _by_test(line: Line) -> list[tuple[int | None, list[Mutant]]]:
    """The first killed mutants of a line, by the test that kills them."""
    found: dict[int | None, list[Mutant]] = {}
    for mutant, test in itertools.islice(line.killed, NAMED):
        found.setdefault(test, []).append(mutant)
    return list(found.items())


def _gaps(module: ReportedModule) -> int:
    """How many lines of a module are not covered, have a branch that is not taken, or mutants that survive."""
    return sum(line.mark == "missed" or bool(line.untaken or line.survivors) for line in module.lines)


def _tests_of(report: Report, module: ReportedModule) -> tuple[int, int]:
    """How many existing and how many generated tests run a module."""
    generated = [report.tests[one.test].ran.generated for one in module.additions]
    return generated.count(False), generated.count(True)


def _added(report: Report) -> list[list[tuple[int, Addition]]]:
    """For each test what it adds, with the place of the module."""
    found: list[list[tuple[int, Addition]]] = [[] for _ in report.tests]
    for place, module in enumerate(report.modules):
        for addition in module.additions:
            if not addition.empty:
                found[addition.test].append((place, addition))
    return found


def _files(report: Report) -> list[tuple[str, bool, Sequence[int]]]:
    """The test files: path, whether it is generated, and its tests, those first that add most."""
    added = [sum(one.lines + one.branches + one.mutants for _, one in some) for some in _added(report)]

    def place(number: int) -> tuple[bool, str]:
        return report.tests[number].ran.generated, report.tests[number].file

    numbers: Iterable[int] = sorted(
        range(len(report.tests)), key=lambda number: (place(number), -added[number], number)
    )
    return [(file, generated, tuple(group)) for (generated, file), group in itertools.groupby(numbers, key=place)]
