"""Reruns: run a test file in a fresh interpreter in the sandbox, independent of the user's settings.

The file is copied to a folder of its own, the only writable one. Configuration files and pytest plugins of the machine
are disabled, so they neither slow the run down nor change its result.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from fitgym.sandbox.environment import MARKER, marked
from fitgym.sandbox.folder import Folder
from fitgym.subject.subject import Reference
from fitgym.suite.messages import NOT_ENDED
from fitgym.suite.runs.other_machine import ENVIRONMENT, furnish
from fitgym.suite.text.cleanup import note
from fitgym.suite.text.place import import_root

__all__ = ["FILE_NAME", "Rerun", "Verdict"]

FILE_NAME = "test_generated.py"

STILL_S = 6.0
"""Time limit of one test in seconds, three times its limit in the search."""

GRACE_S = 1.5
"""Seconds after that limit in which a test can be interrupted; code in C that goes on then ends the run."""

POLL_S = 0.02

ROOT = Path(__file__).parents[3]
"""The folder that `fitgym` is imported from."""

# The path of fitgym comes last, so that its neighbours do not shadow installed packages.
START = (
    "import sys; sys.path.append({root!r}); from fitgym.sandbox.sandbox import die_with_parent, main; "
    "die_with_parent({parent}); main(sys.argv[1:])"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one test.

    Attributes:
        passed: whether it passed.
        assertions: indexes of its assertions that do not hold; empty if it failed in another way.
        error: the class of the exception, or a description of what else went wrong.
        wrote: the test left or changed something in the current folder, or looked at a file of the project in it.
        seconds: duration; ignored when verdicts are compared.
    """

    passed: bool
    assertions: tuple[int, ...] = ()
    error: str = ""
    wrote: bool = False
    seconds: float = field(default=0.0, compare=False)


@dataclass(slots=True)
class Rerun:
    """One run of a test file in a fresh interpreter; it starts when the object is created.

    Args:
        text: text of the file.
        reference: its subject; the folder that it is imported from is added to `PYTHONPATH` if necessary.
        order: 0 as written, 1 reversed, others shuffled.
        hash_seed: `PYTHONHASHSEED` of the interpreter.
        elsewhere: simulate another machine, see `fitgym.suite.runs.other_machine`.
        hidden: top-level packages to import as if they were not installed.
        measured: measure branch coverage of the subject.
        mutated: source of the mutant to import as the subject, "" for the original.
        limit_s: time limit in seconds.
        still_s: time limit of one test in seconds, at most `STILL_S`.
        patience_s: time limit in seconds that applies if the first test began in its first half.

    Attributes:
        verdicts: by name of the test, complete after `wait`.
        unusable: why the file could not be imported, "" if it could.
        skipped: the file was skipped as a whole.
        timed_out: the interpreter was killed at a time limit.
        finished: the interpreter exited by itself after running every test, and pytest completed normally.
        seconds: duration of the run.
        imported: the top-level modules that the run imported, each with its folder; the standard library is left out.
        asked: names of the tests with the hidden packages that they ask for; "" stands for the import of the file.
        coverage_file: data of coverage.py if `measured`; removed by `close`.
    """

    text: str
    reference: Reference
    order: int = 0
    hash_seed: int = 0
    elsewhere: bool = False
    hidden: frozenset[str] = frozenset()
    measured: bool = False
    mutated: str = ""
    limit_s: float = 60.0
    still_s: float = math.inf
    patience_s: float = math.inf
    verdicts: dict[str, Verdict] = field(init=False, default_factory=dict)
    unusable: str = field(init=False, default="")
    skipped: bool = field(init=False, default=False)
    timed_out: bool = field(init=False, default=False)
    finished: bool = field(init=False, default=False)
    seconds: float = field(init=False, default=0.0)
    imported: dict[str, str] = field(init=False, default_factory=dict)
    asked: dict[str, frozenset[str]] = field(init=False, default_factory=dict)
    _private: Folder = field(init=False)
    _folder: Path = field(init=False)
    _process: subprocess.Popen[bytes] = field(init=False)
    _started: float = field(init=False)
    _ended: bool = field(init=False, default=False)
    _size: int = field(init=False, default=0)
    _grown_at: float = field(init=False, default=0.0)
    _begun: float = field(init=False, default=math.inf)
    _token: str = field(init=False, default_factory=lambda: secrets.token_hex(16))

    def __post_init__(self) -> None:
        self._private = Folder()
        self._folder = Path(self._private.path)
        try:
            self._place.mkdir()
            if self.elsewhere:
                furnish(self._place)
            (self._place / FILE_NAME).write_text(self.text, encoding="utf-8")
            # An empty configuration keeps pytest from using one of a parent folder.
            (self._place / "pytest.ini").touch()
            (self._folder / "mutated").write_text(self.mutated, encoding="utf-8")
            (self._folder / "coveragerc").write_text("[run]\ndynamic_context = test_function\n", encoding="utf-8")
            with (self._folder / "errors").open("wb") as errors:
                self._started = time.monotonic()
                self._process = subprocess.Popen(
                    [
                        sys.executable,
                        "-c",
                        START.format(root=str(ROOT), parent=os.getpid()),
                        str(self._folder),
                        *self._options(),
                        "--",
                        *self._command(),
                    ],
                    cwd=self._place,
                    env=self._environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,
                )
        except BaseException:
            self._private.remove()
            raise

    @property
    def coverage_file(self) -> Path:
        return self._folder / "coverage"

    @property
    def _still(self) -> float:
        return min(self.still_s, STILL_S)

    @property
    def _place(self) -> Path:
        """The current folder of the interpreter; it contains the file, and elsewhere those of a project."""
        return self._folder / "suite"

    def wait(self) -> Rerun:
        """Wait for the end of the run, at most until its limit, and read its results."""
        try:
            while not self.look():
                time.sleep(POLL_S)
        finally:
            self._kill()
        return self

    def look(self) -> bool:
        """Check whether the run has ended or reached a limit; if so, read its results."""
        if self.seconds:
            return True
        code = self._process.poll()
        now = time.monotonic() - self._started
        if (size := self._written()) != self._size:
            self._size, self._grown_at, self._begun = size, now, min(self._begun, now)
        self.timed_out = code is None and (
            now > self.limit_s
            or now > self.patience_s >= 2 * self._begun
            or (size > 0 and now - self._grown_at > self._still + GRACE_S)
        )
        if code is None and not self.timed_out:
            return False
        self._kill()
        self.seconds = time.monotonic() - self._started
        self._read(code, now - self._grown_at)
        return True

    def close(self) -> None:
        """Kill the interpreter if it still runs, and remove its folder."""
        self._kill()
        self._private.remove()

    def _options(self) -> list[str]:
        """Return the options of the sandbox that differ from its defaults."""
        writes = self.reference.writes or note(self.reference) in self.text
        beside = [f"--beside={self.reference.root}"] if writes else []
        return beside + ([f"--programs={','.join(self.reference.programs)}"] if self.reference.programs else [])

    def _command(self) -> list[str]:
        place = [f"{FILE_NAME}", "-c", "pytest.ini", "--rootdir", ".", "-p", "no:cacheprovider", "-q"]
        # Plain assertions and tracebacks: pytest would call `__repr__` of the subject's objects to explain a failure.
        plain = ["--assert=plain", "--tb=native", "--no-header", "--no-summary"]
        pytest = [
            "pytest",
            *place,
            *plain,
            "-p",
            "fitgym.suite.runs.verdicts",
            "--verdicts",
            str(self._folder / "verdicts"),
        ]
        pytest += [
            "--still",
            f"{self._still:.2f}",
            "--order",
            str(self.order),
            *(["--elsewhere"] if self.elsewhere else []),
            *(["--hidden", ",".join(sorted(self.hidden))] if self.hidden else []),
        ]
        if self.mutated:
            pytest += ["-x", "-p", "fitgym.suite.runs.mutated", "--mutated", str(self._folder / "mutated")]
            pytest += ["--module", self.reference.module, "--origin", self.reference.path]
        if not self.measured:
            return pytest
        files = ",".join(dict.fromkeys((self.reference.path, os.path.realpath(self.reference.path))))
        options = [
            "--branch",
            f"--include={files}",
            f"--data-file={self.coverage_file}",
            f"--rcfile={self._folder / 'coveragerc'}",
        ]
        return ["coverage", "run", *options, "-m", *pytest]

    def _environment(self) -> dict[str, str]:
        ours: tuple[str, ...] = ("PYTEST_", "COVERAGE_", "COV_", "PYTHONHASHSEED", "PYTHONPATH", "PYTHONWARNINGS")
        ours += ("PYTHONSTARTUP", "PYTHONOPTIMIZE")  # PYTHONOPTIMIZE would remove the assertions
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        path = [import_root(self.reference), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        return inherited | {
            "PYTHONPATH": os.pathsep.join(os.path.abspath(folder) for folder in path if folder),
            "PYTHONHASHSEED": str(self.hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            MARKER: self._token,
            **(ENVIRONMENT if self.elsewhere else {}),
        }

    def _written(self) -> int:
        """Return the size of the file of verdicts, which grows with each event."""
        try:
            return (self._folder / "verdicts").stat().st_size
        except OSError:
            return 0

    def _read(self, code: int | None, silent_s: float) -> None:
        """Read the verdicts.

        A test without an "end" event was running when the interpreter died, `silent_s` seconds after the test began.
        """
        running = ""
        writers = set()
        path = self._folder / "verdicts"
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                entry = json.loads(line)
            except ValueError:  # the interpreter died while writing the line
                break
            match entry["event"]:
                case "skipped":
                    self.skipped = True
                    continue
                case "wrote":
                    writers.add(entry["test"])
                    continue
                case "asked":
                    self.asked[entry["test"]] = self.asked.get(entry["test"], frozenset()) | {entry["package"]}
                    continue
                case "imported":
                    self.imported = {str(name): str(folder) for name, folder in dict(entry["packages"]).items()}
                    continue
            running = entry["test"] if entry["event"] == "start" else ""
            if entry["event"] == "unusable":
                self.unusable = entry["error"] or "it cannot be imported"
            elif entry["event"] == "end" and self.verdicts.get(entry["test"], _GOOD).passed:
                # A test may have changed the clock of its interpreter: no test takes longer than the whole run.
                seconds = min(max(0.0, entry["seconds"]), self.seconds)
                self.verdicts[entry["test"]] = Verdict(
                    entry["passed"], tuple(entry["assertions"]), entry["error"], seconds=seconds
                )
        for name in sorted(writers & set(self.verdicts)):
            self.verdicts[name] = replace(self.verdicts[name], wrote=True)
        if running:
            why = NOT_ENDED if code is None else f"ended the interpreter with code {code}"
            self.verdicts[running] = Verdict(False, (), why, seconds=silent_s)
        elif not self.verdicts and not self.unusable:
            silent = "it was not imported in time" if code is None else "the interpreter wrote nothing"
            self.unusable = "it is skipped" if self.skipped else self._last_words() or silent
        # Exit code 1 without a failed test: a test broke pytest itself, and would break the user's pytest as well.
        expected = int(not all(verdict.passed for verdict in self.verdicts.values()))
        self.finished = code == expected and not running and not self.unusable

    def _last_words(self) -> str:
        """Return the last line of the interpreter's standard error."""
        try:
            with (self._folder / "errors").open("rb") as errors:
                errors.seek(0, os.SEEK_END)
                errors.seek(max(0, errors.tell() - 2000))
                lines = errors.read().decode("utf-8", "replace").split("\n")
        except OSError:  # tests run in this folder and may have deleted its files
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _kill(self) -> None:
        """Kill the interpreter and all processes that it started."""
        if self._ended:  # the process id may have been reused
            return
        self._ended = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        # Processes that have left the process group still carry the token in their environment.
        for pid in marked(self._token):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


_GOOD = Verdict(True)
