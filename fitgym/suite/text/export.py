"""Export: write finished tests as a readable file.

The file needs the subject and pytest (or only unittest), but not fitgym. Its header contains the command but neither
date nor place, so the same run gives the same bytes.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fitgym import __version__
from fitgym.messages.observation import CAPTURED, Observation
from fitgym.subject.subject import Reference, Subject
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.text.cleanup import NAMES, undoing
from fitgym.suite.text.dialects import DIALECTS, WIDTH, Dialect, Table
from fitgym.suite.text.expressions import expression_piece, literal_source
from fitgym.suite.text.generated import GENERATED
from fitgym.suite.text.layout import Bracket, indented, laid_out
from fitgym.suite.text.place import import_root, is_configured, is_first_party
from fitgym.suite.text.scope import Scope
from fitgym.suite.text.source import Rendered, render
from fitgym.testcase.expression import Literal, refs

__all__ = ["arranged", "export", "file_name", "suite_text", "write"]

_RUNNER = ("pytest",)
"""Third-party packages that a file imports before it asks for others."""

Body = tuple[list[str], Mapping[int, str]]
"""The lines of a test's body, and the variables by position."""


def export(
    tests: Sequence[FinishedTest],
    subject: Subject,
    path: str | Path | None = None,
    *,
    command: str = "",
    dialect: Dialect = DIALECTS["pytest"],
) -> str:
    """Return the suite as text, and write it to `path` if given.

    Args:
        tests: in the order of the file; their names differ.
        subject: the code under test.
        path: the file, written completely or not at all. Missing folders are created.
        command: the command that repeats the run, for the header.
        dialect: the style of the tests.

    Raises:
        OSError: the file cannot be written.
    """
    folder = None if path is None else Path(path).parent
    text = suite_text(tests, subject, folder=folder, command=command, dialect=dialect)
    if path is not None:
        write(text, Path(path))
    return text


def arranged(tests: Sequence[FinishedTest], subject: Subject) -> list[FinishedTest]:
    """Return the tests sorted by the source line of their operation; of each, tests that return come first."""

    def place(test: FinishedTest) -> tuple[int, int, bool]:
        operation = subject.operations[test.statements[-1].operation]
        known = 0 <= operation.function < len(subject.functions)
        line = subject.functions[operation.function].line if known else sys.maxsize
        return line, operation.id, test.raises is not None

    return sorted(tests, key=place)


def file_name(module: str, class_name: str = "") -> str:
    """Return the file name for a subject: `test_package_module.py`, with the class if there is one."""
    parts = [*module.split("."), *(class_name.split(".") if class_name else [])]
    return f"test_{'_'.join(part.strip('_') for part in parts).lower()}.py"


def suite_text(
    tests: Sequence[FinishedTest],
    subject: Subject,
    *,
    folder: str | Path | None = None,
    command: str = "",
    dialect: Dialect = DIALECTS["pytest"],
    reserved: frozenset[str] = frozenset(),
    headed: bool = False,
    joining: bool = False,
) -> str:
    """Return the suite as the text of a file in `folder`.

    The text passes `ruff check` and `ruff format --check` with their default rules. Consecutive tests of one operation
    get its name as a heading. The folder matters only if the subject is not importable by itself: then a line extends
    `sys.path` by the relative path to it, or, without a folder, a comment names the package that must be on
    `PYTHONPATH`. Imports do not bind `reserved` names. If `headed`, headings are written even if there are few tests.
    A package that all tests need is asked for once for the whole file, unless its tests are `joining` another file.
    """
    writes = NAMES if subject.added or subject.changed else ()
    scope = Scope(reserved=frozenset({*(test.name for test in tests), *dialect.reserved, *writes, *reserved}))
    for module in dialect.modules(tests):  # first, so that names of the subject cannot shadow them
        scope.module(module)
    tests, packages = (tests, []) if joining else _shared_packages(tests)
    for test in tests:  # first pass: collects all imports, so that variables do not shadow them
        _function(test, subject, scope, dialect)
    groups = [
        (name, [_function(test, subject, scope, dialect) for test in group])
        for name, group in itertools.groupby(tests, lambda test: _heading(test, subject))
    ]
    skipping = [line for package in packages for line in dialect.requires(package, scope, whole=True)]
    head = [f'"""{_docstring(subject.reference, command)}"""', "", *_imports(subject, scope, folder, skipping)]
    beginning, body = "\n".join(head).rstrip("\n"), "\n\n\n".join(dialect.groups(groups, headed))
    if not body:
        return beginning + "\n"
    return (
        beginning + ("\n\n" if body.startswith("#") else "\n\n\n") + body + "\n"
    )  # the number of blank lines that isort expects


def write(content: str | bytes, path: Path) -> None:
    """Write a file completely or not at all: the new file replaces the old one in one step.

    Raises:
        OSError: the file cannot be written; an existing file is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        # The umask can only be read by setting it.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(
            temporary, 0o666 & ~mask
        )  # temporary files are readable only by the user; give the suite the usual permissions
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _docstring(reference: Reference, command: str) -> str:
    """Return the docstring of the file, without local paths."""
    what = reference.module + (f".{reference.class_name}" if reference.class_name else "")
    lines = [f"Tests of {what}, {GENERATED} {__version__}.", ""]
    if command:
        local = reference.text.rpartition(":")[0] or reference.text if reference.class_name else reference.text
        if os.path.isabs(local):
            command = command.replace(local, os.path.basename(local))
        lines += [f"    {command}", ""]
    lines += [
        "They record what the code did when they were made; a failing test shows a change,",
        "not always a fault.",
        "",
    ]
    text = "\n".join(lines)
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _shared_packages(tests: Sequence[FinishedTest]) -> tuple[list[FinishedTest], list[str]]:
    """Return the tests without the packages that all of them need, and these: the file is skipped without them."""
    shared = sorted(set.intersection(*(set(test.packages) for test in tests))) if tests else []
    own = [replace(one, packages=tuple(name for name in one.packages if name not in shared)) for one in tests]
    return own, shared


def _imports(subject: Subject, scope: Scope, folder: str | Path | None, skipping: Sequence[str]) -> list[str]:
    """Return the import lines.

    Lines that skip the file, make the subject importable, or remove files written by its import come before its import.
    Those that skip the file come before the imports of third-party packages, too.
    """
    reference = subject.reference
    root = import_root(reference)
    if folder is not None and root and is_configured(root, Path(folder)):
        root = ""
    first = [*([""] if skipping else []), *skipping, *undoing(subject, scope, WIDTH)]
    top = reference.module.partition(".")[0]
    ours = (top,) if is_first_party(reference) else ()
    runner = _RUNNER if skipping else ()

    def is_late(package: str) -> bool:
        return package == top or bool(skipping and package not in {*sys.stdlib_module_names, *_RUNNER, ""})

    if not root or folder is None:
        lines = scope.imports(WIDTH, first_party=ours, runner=runner)
        if first and lines:
            before, after = _split(lines, is_late)
            lines = [*before, *first, "", *after]
        note = [f"# The folder of `{reference.module.partition('.')[0]}` has to be on PYTHONPATH.", ""] if root else []
        return [*note, *lines] if lines else []
    way = Path(os.path.relpath(root, folder)).as_posix()
    scope.module("os")
    scope.module("sys")
    lines = scope.imports(WIDTH, first_party=ours, runner=runner)
    # Imports of the subject's own project come after the line that makes it importable.
    before, after = _split(lines, is_late)
    paths, sys_module = f"{scope.module('os')}.path", scope.module("sys")
    here = Bracket(f"{paths}.dirname(", ("__file__",), ")", call=True)
    target = here if way == "." else Bracket(f"{paths}.join(", (here, literal_source(repr(way))), ")", call=True)
    extend = laid_out(Bracket(f"{sys_module}.path.insert(", ("0", target), ")", call=True), WIDTH)
    return [*before, "", *extend, *first, "", *after]


def _split(lines: list[str], is_late: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Split the import lines before the first import of a late package; blank lines at the split are removed."""
    start = next((i for i, line in enumerate(lines) if is_late(_imported(line))), len(lines))
    before, after = lines[:start], lines[start:]
    while before and not before[-1]:
        before.pop()
    return before, after


def _imported(line: str) -> str:
    """Return the top-level package that an import line imports from, "" for other lines."""
    words = line.split()
    return words[1].partition(".")[0] if len(words) > 1 and words[0] in ("import", "from") else ""


def _heading(test: FinishedTest, subject: Subject) -> str:
    """Return the name of the operation of the last statement; for a function that another one returned, of that one."""
    operation = subject.operations[test.statements[-1].operation]
    return operation.name.partition(".__call__")[0] if "<locals>" in operation.owner else operation.name


def _function(test: FinishedTest, subject: Subject, scope: Scope, dialect: Dialect) -> list[str]:
    """Return the lines of one test function: arrange, act, assert, with blank lines between longer parts."""
    rows = tuple(tuple(expression_piece(value, {}, scope) for value in row) for row in test.cases.rows)
    body, names = _plain_body(test, subject, scope, dialect) or _full_body(test, subject, scope, dialect)
    cases = Table(tuple(names[position] for position in _given(test)), rows)
    return dialect.function(test, _without_double_blanks(body), cases, scope)


def _given(test: FinishedTest) -> dict[int, str]:
    """Return the suggested names of the test's parameters, by the positions that refer to them."""
    return dict(enumerate(test.cases.parameters, len(test.statements)))


def _plain_body(test: FinishedTest, subject: Subject, scope: Scope, dialect: Dialect) -> Body | None:
    """Return a body that checks the call directly, None if it needs other checks or does not fit on a line."""
    last = len(test.statements) - 1
    if test.raises is not None or [(fact.position, fact.path) for fact in test.assertions] != [(last, "")]:
        return None
    (fact,) = test.assertions
    named = refs(fact.expression)
    if last in named:
        return None
    rendered = _rendered(test, subject, scope, dialect, named, plain=True)
    *arrange, value = [line for block in rendered.blocks for line in block]
    if not _is_complete(rendered.blocks[-1][:-1]):  # the last line is only the end of a longer statement
        return None
    match _kind(value):
        case "comparison":
            if not (condition := _condition(value, fact)):
                return None
            checks = dialect.holds(condition)
        case "value":
            checks = dialect.check(value, fact, expression_piece(fact.expression, rendered.names, scope), scope)
        case _:
            return None
    if len(checks) != 1:
        return None
    arrange = [*_first(test, scope, dialect), *arrange]
    return [*arrange, *([""] if len(arrange) > 1 else []), *checks], rendered.names


def _first(test: FinishedTest, scope: Scope, dialect: Dialect) -> list[str]:
    """Return the lines before all others: they skip the test, or switch to a folder of its own."""
    skips = [line for package in test.packages for line in dialect.requires(package, scope)]
    return [*skips, *(dialect.own_folder() if test.writes else [])]


def _is_complete(lines: Sequence[str]) -> bool:
    """Return whether the lines are complete statements."""
    try:
        ast.parse("\n".join(lines))
    except SyntaxError:
        return False
    return True


def _full_body(test: FinishedTest, subject: Subject, scope: Scope, dialect: Dialect) -> Body:
    """Return a body that assigns results to variables and checks these."""
    compared = [fact for fact in test.assertions if fact != test.warning]
    of_output = [fact for fact in compared if fact.kind in CAPTURED]
    captures = dialect.captures(of_output, scope)
    named = {fact.position for fact in compared if fact not in of_output}
    named |= {position for fact in test.assertions for position in refs(fact.expression)}
    rendered = _rendered(test, subject, scope, dialect, named)
    arrange = [line for block in rendered.blocks[:-1] for line in block]
    act = list(rendered.blocks[-1])
    if test.raises is not None:
        act = [*dialect.expected(test, scope), *indented(act)]
    if test.warning is not None:
        act = [*dialect.warns(test.warning, scope), *indented(act)]
    checks = [line for fact in compared for line in _check(fact, rendered, dialect, captures.values)]
    arrange = [*_first(test, scope, dialect), *captures.before, *arrange]
    checks = [*captures.after, *checks]
    gap = [""] if arrange else []
    return [*arrange, *gap, *act, *(gap if checks else []), *checks], rendered.names


def _rendered(
    test: FinishedTest, subject: Subject, scope: Scope, dialect: Dialect, named: Collection[int], plain: bool = False
) -> Rendered:
    is_block = test.raises is not None or test.warning is not None
    return render(
        test.statements,
        subject,
        scope,
        named=named,
        reserved=dialect.reserved,
        finite=test.finite,
        discarded=range(len(test.statements) - plain),
        given=_given(test),
        environment=dialect,
        width=dialect.body,
        deeper=4 if is_block else 0,
    )


def _check(fact: Observation, rendered: Rendered, dialect: Dialect, output: Mapping[str, str]) -> list[str]:
    """Return the lines that check one fact about a variable, or about a part of the output."""
    expected = expression_piece(fact.expression, rendered.names, rendered.scope)
    value = output[fact.kind] if fact.kind in CAPTURED else rendered.names[fact.position] + _path(fact.path)
    return dialect.check(value, fact, expected, rendered.scope)


def _kind(line: str) -> str:
    """Return whether the line is a "comparison", another "value" that can be compared, or "" for neither."""
    try:
        node = ast.parse(line, mode="eval").body
    except SyntaxError:
        return ""
    if isinstance(node, ast.Compare):
        return "comparison"
    return "" if isinstance(node, ast.BoolOp | ast.Lambda | ast.IfExp) else "value"


def _condition(comparison: str, fact: Observation) -> str:
    """Return the condition for a comparison that is known to be true or false, "" if there is none."""
    if fact.kind not in ("is", "truth") or fact.expression not in (Literal("True"), Literal("False")):
        return ""
    if fact.expression == Literal("True"):
        return comparison
    operator = _operators(comparison)[0]
    if isinstance(operator, ast.In):
        left, _, right = comparison.rpartition(" in ")
        return f"{left} not in {right}"
    # `not a == b` is not equivalent to `a != b`, but linters demand the latter.
    return "" if isinstance(operator, ast.Eq | ast.NotEq) else f"not {comparison}"


def _operators(comparison: str) -> list[ast.cmpop]:
    node = ast.parse(comparison, mode="eval").body
    return node.ops if isinstance(node, ast.Compare) else []


def _path(path: str) -> str:
    """Return the path to an observed value, with keys quoted as formatters prefer."""
    if "[" not in path:
        return path
    steps = []
    node: ast.expr = ast.parse(f"_{path}", mode="eval").body
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Subscript):
            steps.append(f"[{literal_source(ast.unparse(node.slice))}]")
            node = node.value
        elif isinstance(node, ast.Attribute):
            steps.append(f".{node.attr}")
            node = node.value
        else:
            raise ValueError(f"'{path}' is not a path of attributes and subscripts")
    return "".join(reversed(steps))


def _without_double_blanks(lines: list[str]) -> list[str]:
    """Remove blank lines at both ends, and repeated ones."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return kept
