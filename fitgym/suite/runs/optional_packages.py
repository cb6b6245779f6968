"""Optional packages: a suite passes where only what the code requires is installed.

A suite is often made where more is installed: extras, plugins, the tools of the developer. The tests run once more with
these packages hidden. A test that fails then is skipped where its package is missing; if that does not help, it is left
out.
"""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from fitgym.subject.subject import Reference
from fitgym.suite.deadline import Deadline
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.runs.measure import read_coverage
from fitgym.suite.runs.rerun import Rerun, Verdict
from fitgym.suite.runs.stability import Dropped, Stability

__all__ = ["independent", "optional_packages"]

RUNNER = ("pytest", ())
"""Whoever runs the suite has its runner, and what that requires."""

ROUNDS = 4  # of runs with hidden packages: what fails is marked, what fails again is left out
LIMIT_S = 60.0  # for one run

_SOURCES = ("lib", "python", "src")
"""Folders of a project that contain its packages."""

Render = Callable[[Sequence[FinishedTest]], str]
_Requirement = tuple[str, tuple[str, ...]]
"""The normalised name of a distribution, and the extras of it that are required."""


def optional_packages(
    imported: Mapping[str, str], reference: Reference, given: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return the names of the installed packages that the distribution of the subject does not require.

    What it requires is read from the metadata of its distribution, or from the `pyproject.toml` of its project if it is
    not installed, with the requirements of these in turn; what only an extra requires is optional. Nothing is optional
    if neither exists.

    Args:
        imported: the top-level modules that a run imported, each with its folder.
        reference: the subject.
        given: names of packages that are taken as required, with what they require.
    """
    top = reference.module.partition(".")[0]
    installed = {name for name, folder in imported.items() if name != top and _has_metadata(folder)}
    if not installed:
        return frozenset()
    places = list(dict.fromkeys((reference.root, *sys.path)))
    known: dict[str, importlib.metadata.Distribution] = {}
    for one in importlib.metadata.distributions(path=places):
        known.setdefault(_normal(one.name or ""), one)
    own = _distribution(top, known)
    wanted = _project_requirements(Path(reference.root)) if own is None else [(own, ())]
    if wanted is None:
        return frozenset()
    others = [(name, ()) for package in sorted(given) if (name := _distribution(package, known)) is not None]
    return frozenset(installed - given - _top_levels([*wanted, *others, RUNNER], known))


def independent(
    stable: Stability,
    render: Render,
    reference: Reference,
    *,
    deadline: Deadline = Deadline(),  # noqa: B008  (it is immutable)
    limit_s: float = LIMIT_S,
) -> Stability:
    """Return the suite with tests that pass, or are skipped, without optional packages.

    The tests run as if the optional packages that they import were not installed. A failing test that asks for some of
    them is skipped without these from now on, another one without those that the import of the file asks for. A test
    that fails nevertheless, or whose own imports need a hidden package, is left out. If the import of the subject needs
    one, all tests are skipped without it. The suite stays as it is if the time runs out, or if the others fail without
    the tests that are left out.

    Args:
        stable: the suite.
        render: returns the text of its file.
        reference: the subject.
        deadline: no run takes longer than the time that is left.
        limit_s: time limit of one run in seconds.
    """
    hidden = optional_packages(stable.imported, reference)
    if not hidden:
        return stable
    left = list(stable.tests)
    if _imports(render(left)) & hidden:
        left = [test for test in left if not _imports(render([test])) & hidden]
    needed: frozenset[str] = frozenset()
    for _ in range(ROUNDS):
        if not left or deadline.rest <= 0:
            break
        limit = min(limit_s, deadline.rest)
        if not hidden:
            return _with(stable, left, render, reference, limit)
        with closing(Rerun(render(left), reference, hidden=hidden, limit_s=limit).wait()) as run:
            if run.timed_out:
                break
            at_import = _asked_at_import(run, reference)
            if run.unusable:
                missing = hidden & set(re.findall(r"No module named '(\w+)", run.unusable)) or at_import
                if not missing:
                    break
                needed |= missing
                left = [_needing(test, missing) for test in left]
                hidden = optional_packages(stable.imported, reference, needed)
                continue
            failing = {test.name for test in left if not run.verdicts.get(test.name, _MISSING).passed}
            if run.finished and not failing:
                return _with(stable, left, render, reference, limit)
            marked = {test.name: _marked(test, run, at_import) for test in left if test.name in failing}
            left = [one for test in left if (one := marked.get(test.name, test)) is not None]
    return stable


def _with(
    stable: Stability, tests: Sequence[FinishedTest], render: Render, reference: Reference, limit_s: float
) -> Stability:
    """Return the suite with other tests, measured again if some are missing; the former suite if a test fails now."""
    if tuple(tests) == stable.tests:
        return stable
    measured = stable.measured
    kept = {test.name for test in tests}
    if len(kept) < len(stable.tests):
        with closing(Rerun(render(tests), reference, measured=measured is not None, limit_s=limit_s).wait()) as run:
            if not (run.finished and all(run.verdicts.get(name, _MISSING).passed for name in kept)):
                return stable
            measured = measured and read_coverage(run.coverage_file, reference)
    dropped = [Dropped(test.name, _NEEDED) for test in stable.tests if test.name not in kept]
    return replace(stable, tests=tuple(tests), dropped=(*stable.dropped, *dropped), measured=measured)


_MISSING = Verdict(False, (), "it was not run")
_NEEDED = "it depends on which packages are installed"


def _imports(text: str) -> frozenset[str]:
    """Return the top-level packages that a file imports."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return frozenset(found)


def _asked_at_import(run: Rerun, reference: Reference) -> frozenset[str]:
    """Return the hidden packages that the import of the file asked for: those that the subject names, if it names any."""
    asked = run.asked.get("", frozenset())
    words = set(re.findall(r"\w+", Path(reference.path).read_text("utf-8", "replace")))
    return asked & words or asked


def _marked(test: FinishedTest, run: Rerun, at_import: frozenset[str]) -> FinishedTest | None:
    """Return a failing test with the packages that it is skipped without, None if it is skipped without them already."""
    asked = run.asked.get(test.name, frozenset()) or at_import
    if asked <= set(test.packages):
        return None
    return _needing(test, asked)


def _needing(test: FinishedTest, packages: frozenset[str]) -> FinishedTest:
    return replace(test, packages=tuple(sorted({*test.packages, *packages})))


def _has_metadata(folder: str) -> bool:
    """Return whether packages are installed in a folder."""
    try:
        return any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(folder or "."))
    except OSError:
        return False


def _distribution(top: str, known: Mapping[str, importlib.metadata.Distribution]) -> str | None:
    """Return the name of the distribution of a top-level package, None if there is none."""
    if _normal(top) in known:
        return _normal(top)
    return next((name for name, one in known.items() if top in _top_levels_of(one)), None)


def _top_levels(wanted: Sequence[_Requirement], known: Mapping[str, importlib.metadata.Distribution]) -> frozenset[str]:
    """Return the top-level packages of distributions and of all that they require."""
    found: set[str] = set()
    seen: set[_Requirement] = set()
    waiting = list(wanted)
    while waiting:
        one = waiting.pop()
        if one in seen or (distribution := known.get(one[0])) is None:
            continue
        seen.add(one)
        found |= _top_levels_of(distribution)
        waiting += _required(distribution.requires or (), one[1])
    return frozenset(found)


def _top_levels_of(distribution: importlib.metadata.Distribution) -> frozenset[str]:
    """Return the names that a distribution installs."""
    names = (distribution.read_text("top_level.txt") or "").split()
    names += [file.parts[0].partition(".")[0] for file in distribution.files or () if file.parts[0] != ".."]
    return frozenset(names)


def _required(requirements: Iterable[str], extras: Sequence[str] = ()) -> list[_Requirement]:
    """Return what requirements such as `kombu[redis]>=5; python_version < "4"` name.

    Other conditions than extras are taken to hold: what may be required is not optional.
    """
    found = []
    for text in requirements:
        needed, _, condition = text.partition(";")
        asked = re.findall(r"""\bextra\s*==\s*["']([^"']+)["']""", condition)
        if asked and not set(map(_normal, asked)) & set(map(_normal, extras)):
            continue
        if match := re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?", needed):
            own = tuple(part.strip() for part in (match[2] or "").split(",") if part.strip())
            found.append((_normal(match[1]), own))
    return found


def _project_requirements(root: Path) -> list[_Requirement] | None:
    """Return what the project with this folder of packages requires, None if it does not say."""
    for folder in (root, root.parent) if root.name in _SOURCES else (root,):
        try:
            project: Any = tomllib.loads((folder / "pyproject.toml").read_text("utf-8")).get("project")
        except (OSError, ValueError):
            continue
        if not isinstance(project, dict) or "dependencies" in project.get("dynamic", ()):
            return None
        named = project.get("dependencies", [])
        return _required([one for one in named if isinstance(one, str)]) if isinstance(named, list) else None
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
