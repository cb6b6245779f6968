"""Redundancy: find generated tests that add nothing to the other tests of a project."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fitgym.engine.choices import FITNESS
from fitgym.instrument.trace import Trace
from fitgym.project.existing.measurement import LIMIT_S, MUTANTS_S, ExistingTests, measure
from fitgym.project.existing.probes import Probed
from fitgym.project.existing.process import function_of
from fitgym.project.layout import Module, Project
from fitgym.subject.source import locate
from fitgym.suite.text.export import write
from fitgym.suite.text.suite_file import FileTest, SuiteFile

__all__ = ["COVERED", "Redundant", "remove_redundant"]

COVERED = ("branch", "line", "exception")
"""The fitness functions that say what a test covers."""


@dataclass(frozen=True, slots=True)
class Redundant:
    """The result of a search for redundant tests.

    Attributes:
        removed: the tests that were removed, as `test_x (file)`.
        notes: why redundant tests could not be found, a sentence for each reason.
    """

    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def remove_redundant(
    project: Project,
    files: Mapping[Module, Path],
    *,
    limit_s: float = LIMIT_S,
    mutants_s: float = MUTANTS_S,
    report: Callable[[str], None] = lambda _: None,
) -> Redundant:
    """Remove generated tests that add nothing to the other tests of their module.

    A test is redundant if the other tests, existing and generated, cover every branch, line and exception that it
    covers, and kill every mutant that it kills. Of two equivalent generated tests the first is kept. Tests that a user
    wrote or edited are never removed, and neither are tests that fail without the tests before them. If not all
    mutants could be run in time, nothing is removed.

    Args:
        project: the modules and their tests.
        files: the generated file of each module to examine.
        limit_s: seconds for all tests.
        mutants_s: seconds for all mutants.
        report: receives progress in a few words.
    """
    suites = {file: suite for file in files.values() if (suite := SuiteFile.read(file)) is not None}
    if not suites:
        return Redundant()
    generated = [(file, _function(test)) for file, suite in suites.items() for test in suite.own]
    found = measure(
        replace(project, modules=tuple(files)),
        limit_s=limit_s,
        mutants_s=mutants_s,
        generated=True,
        last=generated,
        report=report,
    )
    if found.unrun or not found.modules:
        return Redundant(notes=found.notes)
    removed: list[str] = []
    for module, file in files.items():
        if file not in suites or module.name not in found.modules:
            continue
        if tests := _redundant(module, file, suites[file].own, project, found):
            rest = suites[file].without(tests)
            file.unlink() if rest.is_empty else write(rest.text, file)
            removed += [f"{test.name} ({file.name})" for test in tests]
    return Redundant(tuple(removed))


def _redundant(
    module: Module, file: Path, own: Sequence[FileTest], project: Project, found: ExistingTests
) -> list[FileTest]:
    """Return the tests of a generated file that add nothing to the other tests of its module."""
    covered = _covered(module, project, found)
    rows: dict[str, list[str]] = {}  # node ids by function; a function with parameters has several
    for test in covered:
        if _is_in(file, test):
            rows.setdefault(function_of(test), []).append(test)
    needed = found.killers | found.dependent
    counts = Counter(itertools.chain(*covered.values()))
    redundant = []
    for candidate in reversed(own):
        ids = rows.get(_function(candidate), [])
        targets = Counter(itertools.chain(*(covered[one] for one in ids)))
        if ids and needed.isdisjoint(ids) and all(counts[target] > number for target, number in targets.items()):
            redundant.append(candidate)
            counts -= targets
    return redundant[::-1]


def _covered(module: Module, project: Project, found: ExistingTests) -> dict[str, frozenset[Hashable]]:
    """Return the targets that each test of a module covers, by node id."""
    subject = Probed(locate(module.name, project.source), []).subject()
    functions = [FITNESS.load(name)(subject) for name in COVERED]

    def targets(traces: tuple[Trace, ...]) -> Iterator[Hashable]:
        alone = replace(found.modules[module.name], traces=traces)
        for number, function in enumerate(functions):
            mask = alone.covered(function)
            yield from ((number, target.key) for target, yes in zip(function.targets, mask, strict=True) if yes)

    return {test: frozenset(targets(traces)) for test, traces in found.traces[module.name].items()}


def _function(test: FileTest) -> str:
    """Return the node id of a test without its file."""
    return test.name.replace(".", "::")


def _is_in(file: Path, test: str) -> bool:
    """Return whether a node id, whose path is relative to pytest's root folder, is one of the file."""
    return f"/{file.resolve().as_posix()}".endswith(f"/{test.partition('::')[0].lstrip('./')}")
