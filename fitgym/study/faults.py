"""Faults: pairs of a fixed and a buggy version of the same code, and their detection by a suite.

A list of faults is a TOML file. A pair is two releases of a package, or two folders:

    [[fault]]
    id = "toolz_partition_all"
    subject = "toolz.itertoolz"         # package.module or package.module:Class
    package = "toolz"
    fixed = "0.12.1"
    buggy = "0.12.0"
    requires = ["other==1.0"]           # optional
    file = "toolz/itertoolz.py"         # optional, with hunks: the file that contains this fault
    hunks = [[727, 738]]                # first and last line in the fixed file; [n + 1, n] for lines removed after n

    [[fault]]
    id = "mine"
    subject = "tool"
    fixed = "checkouts/fixed"           # relative to the list
    buggy = "checkouts/buggy"

Two releases usually differ in more than one fault. With `hunks`, the buggy version is the fixed release in which only
these parts of the file are reverted, so that detecting another difference does not count. Releases are installed by
pip, without their dependencies, into a cache folder; FITGYM_CACHE sets its path.
"""

from __future__ import annotations

import dataclasses
import difflib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fitgym.errors import InputError, SubjectError, UnknownName
from fitgym.subject.subject import Reference
from fitgym.suite.runs.rerun import Rerun

__all__ = ["Detection", "Fault", "as_toml", "cache_folder", "detect", "from_bugsinpy", "load"]

_KEYS = ("id", "subject", "package", "fixed", "buggy", "requires", "file", "hunks", "kind")
_CLEAN_RUNS = 5  # consecutive clean runs, after which a suite is considered not flaky


@dataclass(frozen=True, slots=True)
class Fault:
    """A pair of a fixed and a buggy version.

    Attributes:
        id: its name.
        subject: the code under test.
        fixed, buggy: versions of `package`, or folders if that is "".
        package: its name for pip.
        requires: further requirements to install, for pip.
        file, hunks: the location of the fault, see the module; "" and none if all differences count.
        kind: the kind of fault, for readers.
    """

    id: str
    subject: str
    fixed: str
    buggy: str
    package: str = ""
    requires: tuple[str, ...] = ()
    file: str = ""
    hunks: tuple[tuple[int, int], ...] = ()
    kind: str = ""

    def folders(self, cache: Path) -> tuple[Path, Path]:
        """Return the folders of the fixed and of the buggy version, created if needed.

        Raises:
            SubjectError: a release cannot be installed, or the versions do not differ in the hunks.
        """
        if not self.package:
            return Path(self.fixed), Path(self.buggy)
        fixed, buggy = (
            _installed([f"{self.package}=={version}", *self.requires], cache) for version in (self.fixed, self.buggy)
        )
        return fixed, self._isolated(fixed, buggy, cache) if self.file else buggy

    def _isolated(self, fixed: Path, buggy: Path, cache: Path) -> Path:
        """Return the fixed version with only this fault reverted."""
        place = cache / "isolated" / self.id
        with _locked(cache, self.id):
            if not (place / ".made").exists():
                text = _put_back((fixed / self.file).read_text("utf-8"), (buggy / self.file).read_text("utf-8"), self)
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(fixed, place)
                (place / self.file).write_text(text, "utf-8")
                (place / ".made").touch()
        return place


@dataclass(frozen=True, slots=True)
class Detection:
    """The result of a suite on a fault.

    Attributes:
        tests: number of tests that pass each time on the fixed version.
        flaky: number of other tests, which are left out.
        failing: number of `tests` that fail on the buggy version.
    """

    tests: int
    flaky: int
    failing: int

    @property
    def detected(self) -> bool:
        """Whether a test fails on the buggy version and always passes on the fixed one."""
        return self.failing > 0


def load(file: str | Path) -> dict[str, Fault]:
    """Return the faults of a list, by id.

    Raises:
        InputError: the file cannot be read, or an entry is incomplete.
    """
    try:
        document = tomllib.loads(Path(file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InputError(f"the faults '{file}' cannot be read: {problem}") from None
    tables = document.get("fault", [])
    if not (isinstance(tables, list) and tables and all(isinstance(table, dict) for table in tables)):
        raise InputError(f"the list of faults '{file}' is empty; expected tables that begin with [[fault]]")
    found = [_fault(f"fault {number} of '{file}'", table, Path(file).parent) for number, table in enumerate(tables, 1)]
    twice = [fault.id for fault in found if [one.id for one in found].count(fault.id) > 1]
    if twice:
        raise InputError(f"the list of faults '{file}' has two faults with the id '{twice[0]}'; give each its own id")
    return {fault.id: fault for fault in found}


def as_toml(faults: Iterable[Fault]) -> str:
    """Return a list of faults as TOML that `load` can read."""
    tables = []
    for fault in faults:
        found = {key: value for key, value in dataclasses.asdict(fault).items() if value}
        # Text, and lists of text and of numbers, have the same syntax in TOML and JSON.
        tables.append("\n".join(["[[fault]]", *(f"{key} = {json.dumps(value)}" for key, value in found.items())]))
    return "\n\n".join(tables) + "\n"


def detect(text: str, fixed: Reference, buggy: Reference) -> Detection:
    """Run a suite on both versions.

    Tests that do not pass on the fixed version are left out and the rest is run again, until all pass five times in a
    row, as in Almulla and Gay 2022, section 4.

    Args:
        text: of the suite.
        fixed, buggy: the subject in either version.
    """
    names: set[str] | None = None
    flaky: set[str] = set()
    clean = 0
    while clean < _CLEAN_RUNS:
        passed, failed = _run(text, fixed, hash_seed=clean)
        names = names if names is not None else passed | failed
        bad = (failed | (names - passed)) - flaky
        flaky |= bad
        clean = 0 if bad else clean + 1
        if not names - flaky:
            return Detection(0, len(flaky), 0)
    assert names is not None
    stable = names - flaky
    passed, _ = _run(text, buggy)
    return Detection(len(stable), len(flaky), len(stable - passed))


def _run(text: str, reference: Reference, hash_seed: int = 0) -> tuple[set[str], set[str]]:
    """Return the tests that pass and those that do not; if the file cannot be imported, no test passes."""
    rerun = Rerun(text, reference, hash_seed=hash_seed)
    try:
        rerun.wait()
        passed = {name for name, verdict in rerun.verdicts.items() if verdict.passed}
        return passed, set(rerun.verdicts) - passed
    finally:
        rerun.close()


def cache_folder() -> Path:
    """Return the folder for installed releases: FITGYM_CACHE, or a folder of the user."""
    given = os.environ.get("FITGYM_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "fitgym"


def from_bugsinpy(root: str | Path, checkouts: str | Path) -> Iterator[Fault]:
    """Yield the faults of a BugsInPy checkout that are checked out in both versions.

    A patch with several modules gives a fault for the first one that is not a test.

    Args:
        root: of BugsInPy, with `projects/NAME/bugs/NUMBER/bug_patch.txt`.
        checkouts: a folder with `NAME/NUMBER/fixed` and `NAME/NUMBER/buggy`, as made by `bugsinpy-checkout -w`; bugs
            without both folders are left out.
    """
    for patch in sorted(Path(root).glob("projects/*/bugs/*/bug_patch.txt")):
        name, number = patch.parts[-4], patch.parts[-2]
        place = Path(checkouts) / name / number
        versions = [_only_folder(place / version) for version in ("fixed", "buggy")]
        files = re.findall(r"^\+\+\+ b/(\S+\.py)", patch.read_text("utf-8", "replace"), re.MULTILINE)
        modules = [file for file in files if not re.search(r"(^|/)tests?(/|_)|_test\.py$", file)]
        if all(versions) and modules:
            fixed, buggy = map(str, versions)
            inside = re.sub(r"^(src|lib)/", "", modules[0])
            yield Fault(
                f"{name}_{number}", inside.removesuffix(".py").removesuffix("/__init__").replace("/", "."), fixed, buggy
            )


def _only_folder(place: Path) -> Path | None:
    """Return the checkout: the folder itself, or the only folder in it, as made by `bugsinpy-checkout`."""
    if not place.is_dir():
        return None
    inside = [one for one in place.iterdir() if not one.name.startswith(".")]
    found = inside[0] if len(inside) == 1 and inside[0].is_dir() else place
    return next((found / name for name in ("src", "lib") if (found / name).is_dir()), found)


def _fault(where: str, table: Mapping[str, Any], folder: Path) -> Fault:
    for key in table:
        if key not in _KEYS:
            raise InputError(f"{where}: {UnknownName('key', key, _KEYS)}")
    for key in ("id", "subject", "fixed", "buggy", "package", "file", "kind"):
        value = table.get(key, "" if key in ("package", "file", "kind") else None)
        if not isinstance(value, str) or (value == "" and key in ("id", "subject", "fixed", "buggy")):
            raise InputError(f"{where}: {key} is {value!r}; expected text")
    if bool(table.get("file")) != bool(table.get("hunks")):
        raise InputError(f"{where}: only one of file and hunks is given; give both or neither")
    hunks = table.get("hunks", [])
    if not all(isinstance(hunk, list) and [type(line) for line in hunk] == [int, int] for hunk in hunks):
        raise InputError(f"{where}: hunks is {hunks!r}; expected pairs of lines such as [[12, 15]]")
    values = {**table, "requires": tuple(table.get("requires", ())), "hunks": tuple((a, b) for a, b in hunks)}
    if not table.get("package"):
        values |= {key: str(folder / table[key]) for key in ("fixed", "buggy")}
    return Fault(**values)


def _put_back(fixed: str, buggy: str, fault: Fault) -> str:
    """Return the text of the fixed file with the chosen differences reverted to the buggy file."""
    new, old = fixed.splitlines(keepends=True), buggy.splitlines(keepends=True)
    changes = [
        change
        for change in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if change[0] != "equal" and any(_same(change[3], change[4], hunk) for hunk in fault.hunks)
    ]
    if not changes:
        raise SubjectError(
            f"the versions of fault '{fault.id}' do not differ in lines {list(fault.hunks)} of {fault.file}"
        )
    for _, start, end, first, last in reversed(changes):
        new[first:last] = old[start:end]
    return "".join(new)


def _same(first: int, last: int, hunk: tuple[int, int]) -> bool:
    """Return whether a difference is equal to a hunk, or inside it."""
    start, end = hunk
    return first + 1 == start if end < start else start <= first + 1 and last <= end


def _installed(requirements: list[str], cache: Path) -> Path:
    """Return the folder of a release with its further requirements, installed if needed."""
    place = cache / re.sub(r"[^\w.]+", "_", "+".join(requirements))
    with _locked(cache, place.name):
        if not (place / ".made").exists():
            shutil.rmtree(place, ignore_errors=True)
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
            command += ["--target", str(place), *requirements]
            done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode:
                said = (done.stderr.strip().splitlines() or ["nothing"])[-1].removeprefix("ERROR: ")
                raise SubjectError(f"pip cannot install '{' '.join(requirements)}': {said}")
            (place / ".made").touch()
    return place


@contextmanager
def _locked(cache: Path, name: str) -> Iterator[None]:
    """Hold a lock on a folder, so that one process at a time creates it."""
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / f".{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
