"""Coverage of a project: lines and branches that each test runs, before and after the generated tests.

First the existing tests run alone in their own interpreter, then the generated tests run in a second one. The coverage
before the generated tests is therefore exact, including code that runs at import.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import subprocess
import sys
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from fitgym.errors import InputError
from fitgym.project.layout import Project
from fitgym.project.plugin import IMPORTED
from fitgym.sandbox.folder import Folder
from fitgym.suite.runs.measure import Arc
from fitgym.suite.text.export import write
from fitgym.suite.text.generated import generated_files
from fitgym.suite.text.place import is_installed

if TYPE_CHECKING:
    from coverage import Coverage, CoverageData

__all__ = ["Covered", "Files", "Ran", "covered"]

FITGYM = Path(__file__).parents[3]
"""The folder that `fitgym` is imported from."""

# The path of fitgym comes last, so that its neighbours do not shadow installed packages.
START = (
    "import sys; sys.path.append({root!r}); from fitgym.sandbox.sandbox import die_with_parent; "
    "die_with_parent({parent}); from fitgym.project.report.watched import main; main(sys.argv[1])"
)

NO_TESTS, BAD_CALL = 5, (3, 4)  # exit codes of pytest: nothing was collected; an internal error, wrong options


@dataclass(frozen=True, slots=True)
class Ran:
    """A test function that was run.

    Attributes:
        id: its node id without parameters, such as `tests/test_till.py::TestTill::test_total`.
        file: its file, absolute.
        line: of its `def` or first decorator, from 1.
        generated: fitgym wrote its file.
        cases: number of runs; more than one if it has parameters.
        outcome: "passed", "skipped" or "failed", the worst of its cases.
        message: why it failed or was skipped, in one line.
    """

    id: str
    file: Path
    line: int
    generated: bool
    cases: int
    outcome: str
    message: str


@dataclass(frozen=True, slots=True)
class Covered:
    """Coverage of one module by the tests, in the units of coverage.py.

    Attributes:
        statements: executable lines.
        excluded: lines excluded by the project's configuration of coverage.py.
        branches: jumps out of lines that have more than one destination.
        lines_before, branches_before: covered by the existing tests.
        lines_after, branches_after: covered by all tests.
        lines_by_test, branches_by_test: by the test's id; code that runs at import belongs to no test.
    """

    statements: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()
    branches: frozenset[Arc] = frozenset()
    lines_before: frozenset[int] = frozenset()
    branches_before: frozenset[Arc] = frozenset()
    lines_after: frozenset[int] = frozenset()
    branches_after: frozenset[Arc] = frozenset()
    lines_by_test: Mapping[str, frozenset[int]] = field(default_factory=dict)
    branches_by_test: Mapping[str, frozenset[Arc]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Files:
    """Files for other tools; a file that is None is not written.

    Attributes:
        cobertura: coverage as Cobertura XML.
        lcov: coverage as LCOV.
        junit: outcomes as JUnit XML.
    """

    cobertura: Path | None = None
    lcov: Path | None = None
    junit: Path | None = None


def covered(
    project: Project, tests: Path, files: Files = Files(), say: Callable[[str], None] = lambda _: None
) -> tuple[dict[str, Covered], tuple[Ran, ...], dict[str, str]]:
    """Run the tests of a project and measure the coverage of each.

    Args:
        project: its modules are measured.
        tests: folder with the tests, or a single file.
        files: for other tools; they contain the coverage of all tests.
        say: receives progress, one line each.

    Returns:
        Coverage by the name of the module, without modules that are not valid Python; the test functions in the order
        in which they ran; the error of each test file that could not be collected.

    Raises:
        InputError: there is no such folder, or pytest or coverage.py cannot work with the project's configuration.
    """
    if not tests.exists():
        raise InputError(f"the folder of tests '{tests}' does not exist; give the folder of the tests with --tests")
    generated = generated_files(tests)
    sources = {os.path.realpath(module.path): module.name for module in project.modules}
    ran: list[Ran] = []
    broken: dict[str, str] = {}
    with Folder() as temporary:
        place = Path(temporary)
        say(f"running the tests in {_shown(tests, project.root)}")
        for name, chosen in (("existing", [] if tests in generated else [tests]), ("generated", generated)):
            if not chosen:
                continue
            request = {
                "path": [] if is_installed(str(project.source)) else [str(project.source)],
                "files": list(sources),
                "ignored": [os.path.realpath(file) for file in generated if name == "existing"],
                "data": str(place / f"{name}.coverage"),
                "result": str(place / f"{name}.json"),
                "arguments": [*map(str, chosen), *IMPORTED, *(_junit(place, name) if files.junit else [])],
            }
            answer = _run(project, name, request)
            ran += [Ran(id=key, generated=name == "generated", **_typed(one)) for key, one in answer["tests"].items()]
            broken |= answer["broken"]
        if files.junit:
            write(_joined([place / "existing.xml", place / "generated.xml"]), files.junit)
        say("reading the coverage")
        return _read(project, place, sources, files), tuple(ran), broken


def _run(project: Project, name: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Run pytest in the root of the project by `fitgym.project.report.watched.main`, and return its result."""
    ours = ("PYTEST_XDIST", "COVERAGE_", "COV_")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    ended = subprocess.run(
        [sys.executable, "-c", START.format(root=str(FITGYM), parent=os.getpid()), json.dumps(request)],
        cwd=project.root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    said = ended.stdout.decode("utf-8", "replace").strip().splitlines()
    try:
        answer: dict[str, Any] = json.loads(Path(request["result"]).read_text("utf-8"))
    except FileNotFoundError:
        last = f": {said[-1]}" if said else ""
        raise InputError(
            f"the {name} tests ended their interpreter with code {ended.returncode}{last}; "
            f"run `pytest {_shown(Path(request['arguments'][0]), project.root)}` to see why"
        ) from None
    if answer["code"] in BAD_CALL:
        raise InputError(f"pytest cannot run the {name} tests: {' '.join(said[:2]) or 'an internal error'}")
    return answer


def _typed(seen: Mapping[str, Any]) -> dict[str, Any]:
    return {**seen, "file": Path(seen["file"])}


def _junit(place: Path, name: str) -> list[str]:
    return [f"--junit-xml={place / name}.xml", "-o", f"junit_suite_name={name}"]


def _joined(files: Iterable[Path]) -> bytes:
    """Return the test suites of several JUnit files as one file."""
    suites = ElementTree.Element("testsuites", name="pytest tests")
    for file in files:
        if file.exists():
            suites.extend(ElementTree.parse(file).getroot())
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text


def _read(project: Project, place: Path, sources: Mapping[str, str], files: Files) -> dict[str, Covered]:
    """Return the coverage of each module from the data files; write the files for other tools."""
    import coverage
    from coverage.exceptions import CoverageException

    both = coverage.CoverageData(basename=str(place / "both.coverage"))
    for name in ("existing", "generated"):
        if (place / f"{name}.coverage").exists():
            data = coverage.CoverageData(basename=str(place / f"{name}.coverage"))
            data.read()
            both.update(data)
    both.write()
    try:
        with contextlib.chdir(project.root):  # paths in the files are relative to the root
            before = _json(_loaded(place / "existing.coverage", sources), place / "before.json", sources)
            combined = _loaded(place / "both.coverage", sources)
            after = _json(combined, place / "after.json", sources)
            if files.cobertura:
                _written(files.cobertura, lambda file: combined.xml_report(list(sources), file, ignore_errors=True))
            if files.lcov:
                _written(files.lcov, lambda file: combined.lcov_report(list(sources), file, ignore_errors=True))
    except CoverageException as problem:
        raise InputError(f"coverage.py cannot report on the modules of '{project.root}': {problem}") from None
    data = combined.get_data()
    return {
        name: _covered(before[path], after[path], dict(_arcs(data, path)))
        for path, name in sources.items()
        if path in before and path in after
    }


def _loaded(data_file: Path, sources: Iterable[str]) -> Coverage:
    """Load coverage data with the project's exclusions (in the current folder); add modules that were not imported."""
    import coverage

    own = coverage.Coverage(data_file=None, config_file=True, messages=False)
    found = coverage.Coverage(data_file=str(data_file), config_file=False, branch=True, messages=False)
    for option in ("report:exclude_lines", "report:partial_branches"):
        found.set_option(option, own.get_option(option))
    if data_file.exists():
        found.load()
    data = found.get_data()
    data.add_arcs({path: [] for path in sources if path not in data.measured_files()})
    return found


def _json(measured: Coverage, file: Path, sources: Iterable[str]) -> dict[str, Any]:
    """Return coverage.py's JSON report of each file, by absolute path."""
    with warnings.catch_warnings(action="ignore"):  # a module that is not valid Python is left out
        measured.json_report(morfs=list(sources), outfile=str(file), ignore_errors=True)
    report = json.loads(file.read_text("utf-8"))
    return {os.path.realpath(path): entry for path, entry in report["files"].items()}


def _written(path: Path, report: Callable[[str], object]) -> None:
    """Let coverage.py write a report to a file, whose folder is created if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings(action="ignore"):
        report(str(path))


def _arcs(data: CoverageData, path: str) -> Iterator[tuple[str, frozenset[Arc]]]:
    """Yield the jumps of each test in a file."""
    data = copy.copy(data)
    for context in sorted({name for names in data.contexts_by_lineno(path).values() for name in names if name}):
        data.set_query_context(context)
        yield context, frozenset(data.arcs(path) or ())


def _covered(before: Mapping[str, Any], after: Mapping[str, Any], arcs: Mapping[str, frozenset[Arc]]) -> Covered:
    statements = frozenset(after["executed_lines"] + after["missing_lines"])
    excluded = frozenset(after["excluded_lines"])
    starts = sorted(statements | excluded)

    def first(line: int) -> int:
        """Return the first line of the statement that contains a line; jumps may start from any of its lines."""
        return line if line < 0 or not starts or line < starts[0] else starts[bisect_right(starts, line) - 1]

    def branches(entry: Mapping[str, Any], *keys: str) -> frozenset[Arc]:
        return frozenset((start, end) for key in keys for start, end in entry[key])

    possible = branches(after, "executed_branches", "missing_branches")
    by_test = {test: frozenset((first(start), first(end)) for start, end in made) for test, made in arcs.items()}
    return Covered(
        statements=statements,
        excluded=excluded,
        branches=possible,
        lines_before=frozenset(before["executed_lines"]),
        branches_before=branches(before, "executed_branches"),
        lines_after=frozenset(after["executed_lines"]),
        branches_after=branches(after, "executed_branches"),
        lines_by_test={
            test: frozenset(line for arc in made for line in arc if line > 0) & statements
            for test, made in by_test.items()
        },
        branches_by_test={test: made & possible for test, made in by_test.items()},
    )


def _shown(path: Path, root: Path) -> str:
    """Return a path as the user would type it in the root of the project."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
