"""The process that runs existing tests: `main` is called in a fresh interpreter with the numbers of two pipes.

It reads a job and writes messages; see `Recording` and `Killing`. The last message is ("end", pytest's exit code).
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from fitgym.messages.protocol import dumps, frame, read_trusted
from fitgym.sandbox.confinement import confined
from fitgym.sandbox.level import REQUIRED, Level, check, demanded
from fitgym.sandbox.sandbox import die_with_parent
from fitgym.subject.subject import Reference
from fitgym.suite.text.generated import is_generated

__all__ = ["Job", "function_of", "main"]


class Job(NamedTuple):
    """The job of the process.

    Attributes:
        references: the modules to measure.
        path: folders to put at the front of `sys.path`.
        arguments: of pytest.
        generated: tests that fitgym generated count as existing ones.
        last: tests that run after all others on a mutant, as file and node id without the file and parameters.
        limit_s: seconds for all tests.
        mutants_s: seconds for all mutants, 0 for none.
        folder: the only folder that mutants may write in; also for temporary files.
        token: prefix of every message.
    """

    references: tuple[Reference, ...]
    path: tuple[str, ...]
    arguments: tuple[str, ...]
    generated: bool
    last: tuple[tuple[str, str], ...]
    limit_s: float
    mutants_s: float
    folder: str
    token: bytes


def main(reading: int, writing: int, parent: int) -> None:
    """Read the job from one pipe, do it, and write the results to the other."""
    die_with_parent(parent)
    sys.dont_write_bytecode = True
    with os.fdopen(reading, "rb") as pipe:
        job = Job(*read_trusted(pipe.read()))
    os.set_inheritable(writing, False)
    if demanded() > Level.GUARD:
        check(confined(os.path.realpath(job.folder)))
        del os.environ[REQUIRED]  # forks inherit the confinement, and cannot enter namespaces again

    def tell(message: Any) -> None:
        data = frame(job.token, dumps(message))
        while data:
            data = data[os.write(writing, data) :]

    # The folders of the project come first; the empty entry, the current folder, is removed.
    sys.path[:] = [*job.path, *(entry for entry in sys.path if entry and entry not in job.path)]
    import pytest

    from fitgym.project.existing.probes import Probes
    from fitgym.project.existing.recording import Recording

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        probes = Probes(job.references)
    probes.install()

    def mutants(items: Any, run: Any, ran: Any) -> None:
        if job.mutants_s > 0:
            from fitgym.project.existing.killing import Killing

            Killing(probes, tell, job.mutants_s, job.folder, last).run(items, run, ran)

    runs_last = frozenset(job.last)

    def last(item: Any) -> bool:
        return (os.path.realpath(item.path), function_of(item.nodeid)) in runs_last

    def ignored(path: Path) -> bool:
        return not job.generated and is_generated(path)

    session = Recording(probes, tell, ignore=ignored, limit_s=job.limit_s, then=mutants)
    code = pytest.main(list(job.arguments), plugins=[session])
    for name, probed in probes.modules.items():
        if probed.imported:
            tell(("base", name, probed.base()))
    for name, why in probes.failed.items():
        tell(("unprobed", name, why))
    tell(("end", int(code)))


def function_of(test: str) -> str:
    """Return the node id of a test without its file and parameters, such as `TestPrice::test_x`."""
    return test.partition("::")[2].partition("[")[0]
