"""Check whether the generated tests of a project pass, and describe the failures."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from fitgym.errors import InputError
from fitgym.project.layout import Project
from fitgym.project.plugin import IMPORTED
from fitgym.sandbox.bound import bound
from fitgym.sandbox.folder import Folder
from fitgym.suite.text.place import is_installed
from fitgym.suite.text.suite_file import FileTest, SuiteFile

__all__ = ["Check", "Failure", "check"]

LIMIT_S = 600.0
"""Time limit for all generated tests, in seconds."""

NO_TESTS, WRONG_CALL = 5, 4  # exit codes of pytest


@dataclass(frozen=True, slots=True)
class Failure:
    """A generated test that fails.

    Attributes:
        file: of the test.
        name: `test_x` or `TestPrice.test_x`; "" if the file cannot be imported.
        edited: a user wrote or edited it.
        lines: the statement that failed, and pytest's explanation.
        case: the index of the case that fails, -1 if it is unknown or the test has none.
    """

    file: Path
    name: str
    edited: bool
    lines: tuple[str, ...]
    case: int = -1


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of generated tests.

    Attributes:
        files: the test files.
        passed: number of tests that passed.
        edited: number of tests in these files that a user wrote or edited.
        failures: in the order of the files.
    """

    files: tuple[Path, ...] = ()
    passed: int = 0
    edited: int = 0
    failures: tuple[Failure, ...] = field(default_factory=tuple)


def check(project: Project, files: Sequence[Path], junit: Path | None = None, chosen: Sequence[str] = ()) -> Check:
    """Run generated tests with the project's own pytest configuration.

    Args:
        project: the project of the tests.
        files: generated test files.
        junit: file for the outcomes as JUnit XML.
        chosen: node ids of pytest, in order; by default all tests of the files.

    Raises:
        InputError: pytest cannot run them, or a file cannot be parsed.
    """
    if not files:
        return Check()
    with Folder() as folder:
        outcomes = Path(folder) / "outcomes.xml"
        _run(project, chosen or [str(file) for file in files], outcomes)
        root = ElementTree.parse(outcomes).getroot()
        if junit is not None:
            junit.parent.mkdir(parents=True, exist_ok=True)
            junit.write_bytes(outcomes.read_bytes())
    suites = {file: SuiteFile.read(file) for file in files}
    by_name = {_dotted(file, project.root): file for file in files}
    passed, failures = 0, []
    for case in root.iter("testcase"):
        trouble = next((each for each in case if each.tag in ("failure", "error")), None)
        if trouble is None:
            passed += 1
            continue
        file, name = _place(case, by_name)
        suite = suites.get(file)
        test = None if suite is None else _test(suite, name)
        edited = suite is not None and test is not None and test in suite.edited
        lines = _lines(trouble.text or "", test is not None)
        failures.append(Failure(file, name if test is not None else "", edited, lines, _case(case, test)))
    edited_tests = sum(len(suite.edited) for suite in suites.values() if suite is not None)
    return Check(tuple(files), passed, edited_tests, tuple(failures))


def _run(project: Project, chosen: Sequence[str], outcomes: Path) -> None:
    path = [] if is_installed(str(project.source)) else [str(project.source)]
    ours = ("PYTEST_", "COVERAGE_", "COV_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    environment["PYTHONPATH"] = os.pathsep.join([*path, *filter(None, [os.environ.get("PYTHONPATH", "")])])
    options = [
        "-q",
        "--tb=short",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        "--maxfail=0",
        *IMPORTED,
    ]
    arguments = [*options, "-o", "junit_family=xunit2", f"--junit-xml={outcomes}", *chosen]
    try:
        done = subprocess.run(
            bound("pytest", *arguments),
            cwd=project.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"the generated tests did not finish within {LIMIT_S:g} s; run pytest to see which one hangs"
        ) from None
    if not outcomes.exists() or done.returncode in (NO_TESTS, WRONG_CALL):
        said = [line for line in (done.stdout + done.stderr).strip().split("\n") if line.strip()]
        raise InputError(f"pytest cannot run the generated tests: {said[-1] if said else 'it printed nothing'}")


def _dotted(file: Path, root: Path) -> str:
    """Return the name of the file in JUnit XML."""
    place = file.relative_to(root) if file.is_relative_to(root) else file
    return ".".join(place.with_suffix("").parts)


def _place(case: ElementTree.Element, by_name: dict[str, Path]) -> tuple[Path, str]:
    """Return the file and the name of a test."""
    owner, name = case.get("classname", ""), case.get("name", "").partition("[")[0]
    for dotted, file in by_name.items():
        if owner == dotted or owner.startswith(f"{dotted}."):
            return file, f"{owner[len(dotted) + 1 :]}.{name}".lstrip(".")
        if not owner and name == dotted:  # it cannot be imported
            return file, ""
    return Path(owner.replace(".", "/") or name), name


def _case(case: ElementTree.Element, test: FileTest | None) -> int:
    """Return the index of the only case of a test with the id in an outcome, -1 if there is none."""
    name = case.get("name", "").partition("[")[2].removesuffix("]")
    known = [] if test is None or not name else [number for number, one in enumerate(test.cases) if one == name]
    return known[0] if len(known) == 1 else -1


def _test(suite: SuiteFile, name: str) -> FileTest | None:
    return next((test for test in suite.tests if test.name == name), None)


def _lines(text: str, is_test: bool) -> tuple[str, ...]:
    """Return the statement in the test that failed, and pytest's explanation."""
    nonblank = [line for line in text.split("\n") if line.strip()]
    why = [line[1:].rstrip() for line in nonblank if line.startswith("E ")]
    statement = next((line for line in nonblank if line.startswith("    ")), "") if is_test else ""
    indent = min((len(line) - len(line.lstrip()) for line in why), default=0)
    return tuple(filter(None, [statement.strip(), *(line[indent:] for line in why)])) or tuple(nonblank[-1:])
