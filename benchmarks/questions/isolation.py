"""What does it cost to restore the state after import for every test case, in a package of 1,000 modules?

The package consists of modules that all hold state. Test cases of four functions are timed: one changes nothing, one
changes a global of its own module, one changes another module of the package, and one imports something heavy in its
body. The baseline is the first function in a package of two modules. The time is processor time of all processes per
test case, without searching.
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable
from questions.answer import Answer, Settings, Table, Target
from questions.processes import apart

__all__ = ["answer"]

MOST_MS = 0.3
"""Limit in milliseconds of a test case's cost beyond one that changes nothing in a small package."""

NEIGHBOUR = """
import re

CACHE = {}
ITEMS = [1, 2, 3]


class Store:
    kept = {}


def put(x):
    CACHE[x] = x
    return x
"""

FRONT = """
from . import m0001

COUNT = 0


def calm(x: int):
    return x + 1 if x > 3 else x


def counts(x: int):
    global COUNT
    COUNT += x
    return COUNT


def far(x: int):
    return m0001.put(x)


def lazy(x: int):
    import email.message, http.client, xml.dom.minidom
    return m0001.put(x) + len(xml.dom.minidom.Document().childNodes)
"""

FUNCTIONS = {
    "calm": "changes nothing",
    "counts": "changes its own module",
    "far": "changes another module",
    "lazy": "imports in its body, and changes another module",
}


def written(folder: Path, modules: int) -> None:
    """Write a package `wide` with so many modules."""
    package = folder / "wide"
    package.mkdir()
    names = [f"m{number:04d}" for number in range(1, modules)]
    for name in names:
        (package / f"{name}.py").write_text(NEIGHBOUR)
    (package / "__init__.py").write_text("".join(f"from . import {name}\n" for name in names))
    (package / "front.py").write_text(FRONT)


def cost(modules: int, name: str, number: int) -> float:
    """Return milliseconds of processor time per test case of one call, without the first of them."""
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), modules)
        with Executor(locate("wide.front", folder)) as executor:
            table = StatementTable()
            operation = next(one.id for one in executor.subject.operations if one.name == name)
            calls = [table.testcase([Statement(operation, args=(Literal(str(n)),))]) for n in range(2 * number)]
            executor.run(calls[:number], table)
            before = _used()
            executor.run(calls[number:], table)
            executor.close()  # the processor time of children is known only after they end
            with_start = _used() - before
        with Executor(locate("wide.front", folder)) as executor:
            executor.run(calls[:number], table)
            before = _used()
            executor.close()
            start = _used() - before
    return 1000 * max(0.0, with_start - start) / number


def _used() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def answer(settings: Settings) -> Answer:
    """Measure by kind of test case the cost beyond one that changes nothing in a small package."""
    repeats, modules, number = settings.choose(1, 3), settings.choose(100, 1000), settings.choose(200, 2000)
    least = min(apart(cost, 2, "calm", number) for _ in range(repeats))
    result = Answer()
    table = Table(f"a package of {modules} modules", ("a test case", "ms", "ms over one in a small package"), [])
    table.rows.append(("changes nothing, two modules", f"{least:.3f}", ""))
    for name, what in FUNCTIONS.items():
        found = min(apart(cost, modules, name, number) for _ in range(repeats))
        table.rows.append((what, f"{found:.3f}", f"{found - least:.3f}"))
        result.figures[what] = found
        result.targets.append(Target(f"isolating a test case that {what}, ms", MOST_MS, found - least))
    result.tables.append(table)
    return result
