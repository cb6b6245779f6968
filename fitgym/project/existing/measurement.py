"""Measurement of existing tests: coverage and killed mutants, for use in a search."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fitgym.engine.existing import Existing
from fitgym.errors import InputError, SubjectError
from fitgym.instrument.trace import Trace
from fitgym.messages.protocol import TOKEN_SIZE, FrameReader, ProtocolError, dumps, read_untrusted
from fitgym.project.existing.probes import trace_of
from fitgym.project.existing.process import Job
from fitgym.project.layout import MARKERS, Module, Project
from fitgym.project.plugin import IMPORTED
from fitgym.sandbox.environment import MARKER, marked
from fitgym.sandbox.folder import Folder
from fitgym.subject.source import locate, read
from fitgym.subject.subject import Reference

__all__ = ["LIMIT_S", "MUTANTS_S", "ExistingTests", "measure", "measure_one", "places"]

LIMIT_S = 120.0
"""Time limit for all existing tests, in seconds."""

MUTANTS_S = 60.0
"""Time limit for all mutants, in seconds."""

START_S = 60.0
"""Time to import and collect the tests, in seconds."""

ROOT = Path(__file__).parents[3]
"""The folder that `fitgym` is imported from."""

START = (
    "import sys; sys.path.append({root!r}); from fitgym.project.existing.process import main; "
    "main({reading}, {writing}, {parent})"
)

_NO_TESTS = 5  # exit code of pytest
_RUNNING = frozenset({"fitgym", "pytest", "_pytest", "pluggy"})


@dataclass(frozen=True, slots=True)
class ExistingTests:
    """The results of a project's existing tests. It can be pickled.

    Attributes:
        passed, failed, skipped: numbers of tests. Only passing tests count for coverage and mutants.
        seconds: duration, mutants included.
        modules: targets reached and mutants killed, by module; modules that no test imports are left out.
        traces: the traces of each test that reaches a module, by module and node id, in the order in which they ran.
        killers: the node ids of tests that were the first to fail on a mutant.
        dependent: the node ids of tests that passed, but fail without the tests before them.
        unrun: number of mutants that were not run in time.
        notes: a sentence for everything that could not be done.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    modules: Mapping[str, Existing] = field(default_factory=dict)
    traces: Mapping[str, Mapping[str, tuple[Trace, ...]]] = field(default_factory=dict)
    killers: frozenset[str] = frozenset()
    dependent: frozenset[str] = frozenset()
    unrun: int = 0
    notes: tuple[str, ...] = ()


def measure(
    project: Project,
    *,
    references: Sequence[Reference] | None = None,
    limit_s: float = LIMIT_S,
    mutants_s: float = MUTANTS_S,
    generated: bool = False,
    last: Collection[tuple[Path, str]] = (),
    report: Callable[[str], None] = lambda _: None,
) -> ExistingTests:
    """Run the existing tests of a project once, by pytest with the project's own configuration.

    The tests run without a sandbox, as their owner runs them; mutants run inside it. Problems are returned as notes,
    not raised.

    Args:
        project: with its tests.
        references: the modules, if already located; a reference to a class restricts its mutants.
        limit_s: seconds for all tests; tests that have not run by then do not count.
        mutants_s: seconds for all mutants; mutants that have not run by then count as survivors. 0 runs none.
        generated: include tests that fitgym generated.
        last: tests that run after all others on a mutant, as file and node id without the file and parameters. They
            are among the killers only if no other test kills the mutant.
        report: receives progress in a few words.
    """
    started = time.monotonic()
    found = places(project)
    if not found:
        return ExistingTests(notes=(f"there are no existing tests: '{project.tests}' does not exist",))
    references = _references(project) if references is None else list(references)
    answer = _Answer(report)
    if inside := [one.module for one in references if one.module.partition(".")[0] in _RUNNING]:
        answer.notes.append(f"existing tests: '{inside[0]}' is needed to run the tests, so it cannot be measured")
        return answer.result((), time.monotonic() - started)
    try:
        _run(project, references, found, limit_s, mutants_s, generated, last, answer)
    except OSError as problem:
        answer.notes.append(f"existing tests could not be run: {problem}")
    return answer.result(references, time.monotonic() - started)


def measure_one(
    reference: Reference, tests: str | os.PathLike[str], report: Callable[[str], None] = lambda _: None
) -> tuple[Existing | None, tuple[str, ...]]:
    """Measure the existing tests in a folder on one module; return the result and notes, see `measure`.

    Tests that fitgym generated are included.

    Args:
        reference: the module, or a class in it.
        tests: a folder of tests, or a file.
        report: see `measure`.

    Raises:
        InputError: there is no such folder.
    """
    place = Path(os.path.abspath(tests))
    if not place.exists():
        raise InputError(f"tests '{os.fspath(tests)}' do not exist; name the folder of the existing tests")
    root = next((at for at in (place, *place.parents) if any((at / name).exists() for name in MARKERS)), place.parent)
    source = Path(reference.path).parents[reference.module.count(".") + (Path(reference.path).stem == "__init__")]
    module = Module(reference.module, Path(reference.path))
    found = measure(Project(root, source, (module,), place), references=[reference], generated=True, report=report)
    existing = found.modules.get(reference.module)
    if existing is None and not found.notes:
        return None, (f"existing tests: none of the {found.passed} passing tests imports '{reference.module}'",)
    return existing, found.notes


def places(project: Project) -> list[Path]:
    """Return the places of a project's existing tests.

    This is its tests folder, or, if there is none, folders and files of tests next to its modules.
    """
    if project.tests.exists():
        return [project.tests]
    folders = list(dict.fromkeys([project.root, *(module.path.parent for module in project.modules)]))
    inside = [folder / name for folder in folders for name in ("tests", "test") if (folder / name).is_dir()]
    beside = [file for folder in folders for file in sorted({*folder.glob("test_*.py"), *folder.glob("*_test.py")})]
    return [*inside, *beside]


def _references(project: Project) -> list[Reference]:
    """Return references to the modules of a project that can be located."""
    found = []
    for module in project.modules:
        with contextlib.suppress(SubjectError):
            found.append(locate(module.name, project.source))
    return found


class _Answer:
    """Collects the messages of the process."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self.notes: list[str] = []
        self.ended = False
        self.failed = False  # pytest gave up before it ran a test
        self._report = report
        self._total = 0
        self._outcomes = {"passed": 0, "failed": 0, "skipped": 0}
        self._failed: list[str] = []
        self._unusable: list[tuple[str, str]] = []
        self._imports: dict[str, Trace] = {}
        self._traces: dict[str, dict[str, list[Trace]]] = {}
        self._distinct: dict[Any, Trace] = {}
        self._killed: dict[str, list[str]] = {}
        self._killers: set[str] = set()
        self._dependent: set[str] = set()
        self._unrun = 0

    def hear(self, message: Any) -> None:
        """Process one message."""
        match message:
            case ("collected", int(number)):
                self._total = number
            case ("test", str(name), str(outcome), float(), dict(records), tuple(raised)):
                self._test(name, outcome, records, raised)
            case ("unusable", str(file), str(why)):
                self._unusable.append((file, why))
            case ("late",):
                ran = sum(self._outcomes.values())
                self.notes.append(f"existing tests: {ran} of {self._total} ran in time; the others do not count")
            case ("broken",):
                ran = sum(self._outcomes.values())
                self.notes.append(f"existing tests: the process ended after {ran} of {self._total} tests")
            case ("mutants", str(name), int(total), int(infected)):
                self._report(f"running {infected} of {total} mutants of {name}")
            case ("killed", str(name), str(mutant), str(test)):
                self._killed.setdefault(name, []).append(mutant)
                self._killers.add(test)
            case ("dependent", str(test)):
                self._dependent.add(test)
            case ("unrun", int(number)):
                self._unrun = number
                self.notes.append(f"existing tests: {number} mutants were not run in time and count as survivors")
            case ("base", str(name), record):
                self._imports[name] = self._trace(name, record, None)
            case ("unprobed", str(name), str(why)):
                self.notes.append(f"existing tests: {name} is not measured, because {why}")
            case ("end", int(code)):
                self.ended = True
                if self._total == 0 and not self._unusable:
                    self.failed = code not in (0, _NO_TESTS)
                    self.notes += [] if self.failed else ["existing tests could not be run: there are none"]

    def result(self, references: Sequence[Reference], seconds: float) -> ExistingTests:
        """Return the collected results."""
        if self._unusable:
            file, why = self._unusable[0]
            files = f"{len(self._unusable)} files" if len(self._unusable) > 1 else "1 file"
            self.notes.append(f"existing tests: {files} could not be imported, such as '{file}': {why}")
        if self._failed:
            number = f"{len(self._failed)} tests fail" if len(self._failed) > 1 else "1 test fails"
            verb = "do" if len(self._failed) > 1 else "does"
            self.notes.append(f"existing tests: {number} and {verb} not count, such as '{self._failed[0]}'")
        modules = {}
        for reference in references:
            tests = self._traces.get(reference.module, {})
            imported = self._imports.get(reference.module)
            traces = [*itertools.chain(*tests.values()), *([] if imported is None else [imported])]
            if traces:
                modules[reference.module] = Existing(
                    Existing.digest(read(reference)),
                    tuple(dict.fromkeys(traces)),
                    frozenset(self._killed.get(reference.module, ())),
                    tests=len(tests),
                )
        return ExistingTests(
            **self._outcomes,
            seconds=seconds,
            modules=modules,
            traces={name: {test: tuple(some) for test, some in self._traces.get(name, {}).items()} for name in modules},
            killers=frozenset(self._killers),
            dependent=frozenset(self._dependent),
            unrun=self._unrun,
            notes=tuple(self.notes),
        )

    def _test(self, name: str, outcome: str, records: Mapping[str, Any], raised: Sequence[Any]) -> None:
        self._outcomes[outcome] = self._outcomes.get(outcome, 0) + 1
        if outcome == "failed":
            self._failed.append(name)
        self._report(f"existing tests: {sum(self._outcomes.values())} of {self._total}")
        for module, record in records.items():
            self._traces.setdefault(module, {}).setdefault(name, []).append(self._trace(module, record, None))
        for module, kind, function in raised:
            if module in records:
                trace = self._trace(module, ((b"", b"", b""), (), (b"", b""), 0), (kind, function))
                self._traces[module][name].append(trace)

    def _trace(self, module: str, record: Any, raised: tuple[str, int] | None) -> Trace:
        reached, stops, infected, _ = record  # records that differ only in fuel share one trace
        key = (module, reached, stops, infected, raised)
        if key not in self._distinct:
            self._distinct[key] = trace_of((reached, stops, infected, 0), raised)
        return self._distinct[key]


def _run(
    project: Project,
    references: Sequence[Reference],
    found: Sequence[Path],
    limit_s: float,
    mutants_s: float,
    generated: bool,
    last: Collection[tuple[Path, str]],
    answer: _Answer,
) -> None:
    """Run the process, and pass its messages to `answer`."""
    token = os.urandom(TOKEN_SIZE)
    marker = token.hex()
    private = Folder()
    job_in, job_out = os.pipe()
    reading, writing = os.pipe()
    job = Job(
        tuple(references),
        tuple(dict.fromkeys((str(project.source), str(project.root)))),
        (*_arguments(Path(private.path)), *map(str, found)),
        generated,
        tuple((os.path.realpath(file), function) for file, function in last),
        limit_s,
        mutants_s,
        private.path,
        token,
    )
    process = None
    try:
        with (Path(private.path) / "output").open("wb") as output:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    START.format(root=str(ROOT), reading=job_in, writing=writing, parent=os.getpid()),
                ],
                cwd=project.root,
                env=_environment(marker, private.path),
                pass_fds=(job_in, writing),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        os.close(job_in)
        os.close(writing)
        job_in = writing = -1
        with os.fdopen(job_out, "wb") as pipe:
            job_out = -1
            pipe.write(dumps(tuple(job)))
        _receive(reading, token, START_S + 2 * limit_s + 2 * mutants_s, answer)
        if not answer.ended or answer.failed:
            _explain(Path(private.path) / "output", answer)
    finally:
        for descriptor in (job_in, job_out, reading, writing):
            if descriptor >= 0:
                os.close(descriptor)
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        # Processes that have left the process group still carry the marker in their environment.
        for pid in marked(marker):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        private.remove()


def _receive(reading: int, token: bytes, limit_s: float, answer: _Answer) -> None:
    reader = FrameReader(token)
    end = time.monotonic() + limit_s
    while not answer.ended and (left := end - time.monotonic()) > 0:
        if not select.select([reading], [], [], left)[0]:
            break
        data = os.read(reading, 1 << 16)
        if not data:
            return
        try:
            reader.feed(data)
            while (payload := reader.next()) is not None:
                answer.hear(read_untrusted(payload))
        except ProtocolError as problem:
            answer.notes.append(f"existing tests: {problem}")
            return
    if not answer.ended:
        answer.notes.append(f"existing tests did not finish within {limit_s:.0f} s and were stopped")
        answer.ended = True


def _explain(output: Path, answer: _Answer) -> None:
    """Add a note on why the process or pytest ended early, from its last output."""
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - 4000))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ").removeprefix("E ").strip() for line in lines if "error" in line.lower()]
    why = (errors or lines or ["the process ended"])[-1]
    answer.notes.append(f"existing tests could not be run: {why}")


def _arguments(private: Path) -> list[str]:
    """Return the arguments of pytest.

    They prevent files in the project, and disable plugins that would disturb the measurement.
    """
    loaded = not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")  # otherwise pytest does not know their options
    off = [option for plugin, option in _OFF.items() if loaded and importlib.util.find_spec(plugin) is not None]
    return [
        *("-q", "--no-header", "--no-summary", "--tb=short", "--continue-on-collection-errors"),
        *IMPORTED,
        *("-p", "no:cacheprovider", f"--basetemp={private / 'temporary'}", "--maxfail=1000000000"),
        *off,
    ]


_OFF = MappingProxyType({"pytest_cov": "--no-cov", "xdist": "-n0"})
"""Plugins that disturb the measurement, with the option that disables each."""


def _environment(marker: str, folder: str) -> dict[str, str]:
    """Return the environment of the user, without variables of other runs of pytest or coverage.py."""
    ours = ("PYTEST_CURRENT_TEST", "PYTEST_XDIST", "COV_CORE", "COVERAGE_PROCESS")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return inherited | {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": folder, MARKER: marker}
