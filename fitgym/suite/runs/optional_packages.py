"""Optional packages: a suite passes where only what the code requires is installed.

A suite is often made where more is installed: extras, plugins, the tools of the developer. The tests run once more with
these packages hidden. A test that fails then is skipped where its package is missing; if that does not help, it is left
out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from fitgym.subject.subject import Reference
from fitgym.suite.deadline import Deadline
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.runs.distributions import optional_packages
from fitgym.suite.runs.measure import read_coverage
from fitgym.suite.runs.rerun import Rerun, Verdict
from fitgym.suite.runs.stability import Dropped, Stability

__all__ = ["independent"]

ROUNDS = 4  # of runs with hidden packages: what fails is marked, what fails again is left out
LIMIT_S = 60.0  # for one run

Render = Callable[[Sequence[FinishedTest]], str]


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
    that fails nevertheless, or whose own imports need a hidden package, is left out. If the import of the subject, or
    each test, needs one, all tests are skipped without it. The suite stays as it is if the time runs out, or if the others fail without
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
    left = _importable(stable.tests, render, hidden)
    needed: frozenset[str] = frozenset()
    if not left:  # each test imports some, so the file is to be skipped without them
        needed = _imports(render(stable.tests)) & hidden
        left = [_needing(test, needed) for test in stable.tests]
        if not _is_skipped(render(left), reference, hidden, max(0.0, min(limit_s, deadline.rest))):
            return stable
        hidden = optional_packages(stable.imported, reference, needed)
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
                hidden = optional_packages(stable.imported, reference, needed)
                left = [_needing(test, needed) for test in _importable(stable.tests, render, hidden)]
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


def _importable(tests: Sequence[FinishedTest], render: Render, hidden: frozenset[str]) -> list[FinishedTest]:
    """Return the tests whose own imports need no hidden package."""
    if not _imports(render(tests)) & hidden:
        return list(tests)
    return [test for test in tests if not _imports(render([test])) & hidden]


def _imports(text: str) -> frozenset[str]:
    """Return the top-level packages that a file imports."""
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return frozenset(found)


def _is_skipped(text: str, reference: Reference, hidden: frozenset[str], limit_s: float) -> bool:
    """Return whether a file is skipped as a whole without some packages."""
    with closing(Rerun(text, reference, hidden=hidden, limit_s=limit_s).wait()) as run:
        return run.skipped


def _asked_at_import(run: Rerun, reference: Reference) -> frozenset[str]:
    """Return the hidden packages that the import of the file asked for; only those that the subject names, if any."""
    asked = run.asked.get("", frozenset())
    words = set(re.findall(r"\w+", Path(reference.path).read_text("utf-8", "replace")))
    return asked & words or asked


def _marked(test: FinishedTest, run: Rerun, at_import: frozenset[str]) -> FinishedTest | None:
    """Return a failing test with the packages that it is skipped without, None if it has them already."""
    asked = run.asked.get(test.name, frozenset()) or at_import
    if asked <= set(test.packages):
        return None
    return _needing(test, asked)


def _needing(test: FinishedTest, packages: frozenset[str]) -> FinishedTest:
    return replace(test, packages=tuple(sorted({*test.packages, *packages})))
