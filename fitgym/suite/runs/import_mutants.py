"""Mutants of import-time code: code of the subject that has run before the first test starts.

Such a mutant cannot be patched into a running process, because the import is over. Instead the test file imports the
mutant, in a fresh interpreter in the sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing

from fitgym.mutants.mutation import mutated_text
from fitgym.subject.subject import Subject
from fitgym.suite.deadline import Deadline
from fitgym.suite.runs.rerun import Rerun

__all__ = ["killed_when_imported"]

JOBS = 2
LIMIT_S = 20.0  # time limit of one interpreter,
EACH_S = 2.5  # plus this for each test


def killed_when_imported(
    numbers: Sequence[int], names: Sequence[str], source: str, subject: Subject, deadline: Deadline
) -> dict[int, str]:
    """Return the mutants that a suite kills, each with the name of the first test that fails.

    If a mutant cannot be imported, that is the first test of the file.

    Args:
        numbers: of the mutants, indexes in `subject.mutants`.
        names: of the tests, in the order of the file, at least one.
        source: text of the test file; all tests pass on the original.
        subject: the original.
        deadline: mutants that are not run in time count as survivors.
    """
    found: dict[int, str] = {}
    for start in range(0, len(numbers), JOBS):
        some = numbers[start : start + JOBS]
        if deadline.rest <= 0:
            break
        limit = min(LIMIT_S + EACH_S * len(names), deadline.rest)
        with ExitStack() as stack:
            texts = [mutated_text(subject.source, subject.mutants[number]) for number in some]
            reruns = [
                stack.enter_context(closing(Rerun(source, subject.reference, mutated=text, limit_s=limit)))
                for text in texts
            ]
            for number, rerun in zip(some, reruns, strict=True):
                rerun.wait()
                failed = [name for name, verdict in rerun.verdicts.items() if not verdict.passed]
                if failed or (not rerun.finished and deadline.rest > 0):
                    found[number] = failed[0] if failed else names[0]
    return found
