"""Mutants that have done their harm before the first test runs: code that the import of the subject executes.

Where code is exchanged in a running process the import is over. These mutants are imported by the file of the tests, each in a
fresh interpreter, in the sandbox.
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
LIMIT_S = 20.0  # of one interpreter,
EACH_S = 2.5  # and for each test


def killed_when_imported(
    numbers: Sequence[int], names: Sequence[str], source: str, subject: Subject, deadline: Deadline
) -> dict[int, str]:
    """Which of some mutants a suite kills, each with the name of the test that fails first.

    Where the mutant cannot be imported that is the first test of all.

    Args:
        numbers: of the mutants, indexes in `subject.mutants`.
        names: of the tests, in the order of the file, at least one.
        source: their file; all of them pass on the original.
        subject: the original.
        deadline: mutants that there is no time for count as survivors.
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
