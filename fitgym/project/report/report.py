"""The report of a project as data: modules line by line, contributions of tests, and gaps.

`fitgym.project.report.page` turns it into HTML. The same sources, tests and records give the same report.
"""

from __future__ import annotations

import ast
import os
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fitgym.mutants.mutant import Mutant
from fitgym.project.layout import Module, Project
from fitgym.project.report.covered import Covered, Files, Ran, covered
from fitgym.project.report.recorded import Recorded, recorded
from fitgym.suite.runs.measure import Arc

__all__ = ["Addition", "Growth", "Line", "Mark", "Report", "ReportedModule", "ReportedTest", "report"]

Mark = Literal["", "existing", "generated", "missed", "excluded"]
"""Coverage of a line: by an existing test, only by generated tests, by no test, excluded; "" for no code."""

_Function = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Growth:
    """Coverage of one quantity, such as branches.

    Attributes:
        before: covered by the existing tests; None if not measured.
        after: covered by all tests.
        total: number of all.
    """

    before: int | None
    after: int
    total: int

    def __add__(self, other: Growth) -> Growth:
        before = None if self.before is None or other.before is None else self.before + other.before
        return Growth(before, self.after + other.after, self.total + other.total)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a module.

    Attributes:
        number: from 1.
        mark: its coverage.
        tests: numbers of the tests that run it; tests that run the fewest lines of the module come first.
        untaken: destinations of untaken branches from this line, in words.
        killed: killed mutants of this line, each with the number of a test that kills it, None if that test no longer
            exists.
        survivors: surviving mutants of this line.
    """

    number: int
    mark: Mark = ""
    tests: tuple[int, ...] = ()
    untaken: tuple[str, ...] = ()
    killed: tuple[tuple[Mutant, int | None], ...] = ()
    survivors: tuple[Mutant, ...] = ()


@dataclass(frozen=True, slots=True)
class Addition:
    """The contribution of a test to a module.

    Attributes:
        test: its number.
        lines: number of lines run by no other test.
        branches: number of branches taken by no other test.
        mutants: number of mutants credited to it; each mutant is credited to one test.
    """

    test: int
    lines: int
    branches: int
    mutants: int

    @property
    def empty(self) -> bool:
        """Whether the test adds nothing."""
        return not (self.lines or self.branches or self.mutants)


@dataclass(frozen=True, slots=True)
class ReportedModule:
    """A module with its source.

    Attributes:
        name: dotted.
        path: relative to the root of the project if it is below it.
        source: its text.
        lines: one for each line of the text.
        branches, statements: their coverage; None if the module is not valid Python.
        mutants: killed mutants, None if unknown.
        additions: contributions of the tests that run it, the largest first.
        record: data of its record.
    """

    name: str
    path: str
    source: str
    lines: tuple[Line, ...]
    branches: Growth | None
    statements: Growth | None
    mutants: Growth | None
    additions: tuple[Addition, ...]
    record: Recorded


@dataclass(frozen=True, slots=True)
class ReportedTest:
    """A test function.

    Attributes:
        name: with its class, such as `TestTill::test_total`.
        file: relative to the root of the project if it is below it.
        line: of its first line, from 1.
        source: its text, "" if it is not a function in its file.
        ran: its run.
    """

    name: str
    file: str
    line: int
    source: str
    ran: Ran


@dataclass(frozen=True, slots=True)
class Report:
    """A project with its tests.

    Attributes:
        title: name of the project.
        modules: by name.
        tests: in the order in which they ran; other parts refer to them by index.
        broken: test files that could not be collected, with the error.
    """

    title: str
    modules: tuple[ReportedModule, ...]
    tests: tuple[ReportedTest, ...]
    broken: tuple[tuple[str, str], ...]

    @property
    def failed(self) -> tuple[int, ...]:
        """The numbers of the tests that failed."""
        return tuple(number for number, test in enumerate(self.tests) if test.ran.outcome == "failed")

    def total(self, quantity: Literal["branches", "statements", "mutants"]) -> Growth | None:
        """Return the sum over the modules for which the quantity is known, None if there are none."""
        known = [growth for module in self.modules if (growth := getattr(module, quantity)) is not None]
        return sum(known[1:], known[0]) if known else None


def report(
    project: Project,
    tests: Path | None = None,
    *,
    files: Files = Files(),  # noqa: B008  (it is immutable)
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """Run the tests of a project and report on its modules.

    Args:
        project: the modules.
        tests: folder or file of the tests, None for the project's own tests.
        files: files to write for other tools.
        say: receives progress, one line each.

    Raises:
        InputError: there are no tests, or pytest or coverage.py cannot work with the project's configuration.
    """
    measured, ran, broken = covered(project, tests or project.tests, files, say)
    functions: dict[Path, list[_Function]] = {}
    shown = [_test(one, project.root, functions) for one in ran]
    modules = []
    for module in project.modules:
        say(f"reading {module.name}")
        modules.append(_module(project, module, measured.get(module.name), ran))
    return Report(_title(project), tuple(modules), tuple(shown), tuple(sorted(broken.items())))


def _title(project: Project) -> str:
    """Return the common package of the modules, else the name of the root folder."""
    names = {module.name.partition(".")[0] for module in project.modules}
    return names.pop() if len(names) == 1 else project.root.name


def _module(project: Project, module: Module, measured: Covered | None, ran: Sequence[Ran]) -> ReportedModule:
    source = _text(module.path)
    name, path = module.name, _relative(module.path, project.root)
    if measured is None:
        empty = tuple(Line(number) for number, _ in enumerate(source.split("\n"), 1))
        invalid = Recorded("The module is not valid Python for this interpreter.")
        return ReportedModule(name, path, source, empty, None, None, None, (), invalid)
    record = recorded(project, module, source)
    number_of = {one.id: number for number, one in enumerate(ran)}
    killers = _killers(record, ran)
    return ReportedModule(
        name=name,
        path=path,
        source=source,
        lines=tuple(_lines(source, measured, record, killers, number_of)),
        branches=Growth(len(measured.branches_before), len(measured.branches_after), len(measured.branches)),
        statements=Growth(len(measured.lines_before), len(measured.lines_after), len(measured.statements)),
        mutants=None if record.problem else Growth(record.killed_before, record.killed, record.total),
        additions=tuple(_additions(measured, record, killers, number_of)),
        record=record,
    )


def _killers(record: Recorded, ran: Sequence[Ran]) -> dict[str, int]:
    """Return the numbers of the tests named in a record, which are in its generated file."""
    wanted = f"/{record.suite}"
    return {
        one.id.rpartition("::")[2]: number
        for number, one in enumerate(ran)
        if record.suite and one.generated and one.file.as_posix().endswith(wanted)
    }


def _lines(
    source: str, measured: Covered, record: Recorded, killers: Mapping[str, int], number_of: Mapping[str, int]
) -> Iterable[Line]:
    """Yield the lines of a module with their data."""
    size = {number_of[test]: len(lines) for test, lines in measured.lines_by_test.items()}
    tests: dict[int, list[int]] = defaultdict(list)
    for test, lines in measured.lines_by_test.items():
        for line in lines:
            tests[line].append(number_of[test])
    untaken: dict[int, list[str]] = defaultdict(list)
    for start, end in sorted(measured.branches - measured.branches_after):
        untaken[start].append(f"line {end}" if end > 0 else "the end of the function")
    killed: dict[int, list[tuple[Mutant, int | None]]] = defaultdict(list)
    for name, mutants in record.kills.items():
        for mutant in mutants:
            killed[mutant.line].append((mutant, killers.get(name)))
    survivors: dict[int, list[Mutant]] = defaultdict(list)
    for mutant in record.survivors:
        survivors[mutant.line].append(mutant)
    starts = _starts(source, measured.statements | measured.excluded)
    for number, _ in enumerate(source.split("\n"), 1):
        covers = measured.lines_after if number in measured.statements else frozenset()
        yield Line(
            number,
            _mark(starts.get(number, number), measured),
            tuple(sorted(tests[number], key=lambda test: (size[test], test))),
            tuple(untaken[number]) if number in covers else (),
            tuple(killed[number]),
            tuple(survivors[number]),
        )


def _mark(line: int, measured: Covered) -> Mark:
    if line in measured.excluded:
        return "excluded"
    if line not in measured.statements:
        return ""
    if line in measured.lines_before:
        return "existing"
    return "generated" if line in measured.lines_after else "missed"


def _starts(source: str, known: frozenset[int]) -> dict[int, int]:
    """Return the first line of the statement of each continuation line."""
    text = source.split("\n")
    found: dict[int, int] = {}
    for node in ast.walk(ast.parse(source)):  # outer statements come first, so inner ones replace them
        if isinstance(node, ast.stmt) and node.lineno in known:
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = _first_line(body[0]) - 1 if body else node.end_lineno or node.lineno
            for line in range(node.lineno + 1, last + 1):
                if line not in known and text[line - 1].strip() and not text[line - 1].lstrip().startswith("#"):
                    found[line] = node.lineno
    return found


def _first_line(node: ast.stmt | ast.match_case) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _additions(
    measured: Covered, record: Recorded, killers: Mapping[str, int], number_of: Mapping[str, int]
) -> list[Addition]:
    """Return the contributions of the tests that run the module, the largest first."""
    lines, branches = _alone(measured.lines_by_test), _alone(measured.branches_by_test)
    credited = {killers[name]: len(mutants) for name, mutants in record.kills.items() if name in killers}
    found = [
        Addition(number_of[test], lines.get(test, 0), branches.get(test, 0), credited.get(number_of[test], 0))
        for test in measured.lines_by_test
    ]
    seen = {one.test for one in found}
    found += [Addition(test, 0, 0, mutants) for test, mutants in credited.items() if test not in seen]
    return sorted(found, key=lambda one: (-one.branches - one.lines - one.mutants, one.test))


def _alone(by_test: Mapping[str, frozenset[int]] | Mapping[str, frozenset[Arc]]) -> dict[str, int]:
    """Return for each test the number of places that no other test reaches."""
    reaching: dict[object, list[str]] = defaultdict(list)
    for test, places in by_test.items():
        for place in places:
            reaching[place].append(test)
    found: dict[str, int] = defaultdict(int)
    for tests in reaching.values():
        if len(tests) == 1:
            found[tests[0]] += 1
    return found


def _test(ran: Ran, root: Path, functions: dict[Path, list[_Function]]) -> ReportedTest:
    """Return a test with its source; `functions` caches the functions of files."""
    if ran.file not in functions:
        functions[ran.file] = list(_functions(_text(ran.file)))
    around = [text for first, last, text in functions[ran.file] if first <= ran.line <= last]
    name = ran.id.partition("::")[2] or ran.id
    return ReportedTest(name, _relative(ran.file, root), ran.line, around[-1] if around else "", ran)


def _functions(source: str) -> Iterator[_Function]:
    """Yield first line, last line and text of each function, outer ones first.

    Decorators are included, the indentation is removed.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = source.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first, last = _first_line(node), node.end_lineno or node.lineno
            indent = " " * node.col_offset
            yield first, last, "\n".join(line.removeprefix(indent) for line in lines[first - 1 : last])


def _text(path: Path) -> str:
    """Return the text of a source file, with `\\n` at line ends; "" if it cannot be read."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, ValueError):
        return ""


def _relative(path: Path, root: Path) -> str:
    real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    return real.relative_to(real_root).as_posix() if real.is_relative_to(real_root) else str(path)
