"""An answer: what a child sends back for a batch. It may have been forged by the code under test, so its shape is checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from fitgym.messages.protocol import ProtocolError, read_untrusted

__all__ = ["Answer", "read_answer"]


_TYPES = (list, list, bool, int, tuple, tuple, list)


class Answer(NamedTuple):
    """The parts of an answer, see `fitgym.worker.runner.Runner.answer`.

    Attributes:
        results: one for each item up to the first that left something behind.
        fresh: traces that are new to this child.
        last: the child has ended.
        redo: how much to compare after each test case when the batch is repeated, 0 if it need not be.
        feedback: types returned, operations that return iterators, constants seen at comparisons.
        found: parts of the far state and facts about the process that were found changed.
        imported: names of the modules that were imported since the last answer.
    """

    results: list[Any]
    fresh: list[Any]
    last: bool
    redo: int
    feedback: tuple[Any, Any, Any]
    found: tuple[Any, Any]
    imported: list[str]


def read_answer(payload: bytes, n_items: int) -> Answer:
    """Read the answer about so many items.

    Raises:
        ProtocolError: it is none.
    """
    parts = read_untrusted(payload)
    if type(parts) is not tuple or tuple(map(type, parts)) != _TYPES:
        raise ProtocolError("an answer of other types")
    answer = Answer(*parts)
    if answer.redo not in (0, 1, 2) or (not answer.redo and not 0 < len(answer.results) <= n_items):
        raise ProtocolError(f"{len(answer.results)} results for {n_items} test cases")
    if (
        len(answer.found) != 2
        or len(answer.feedback) != 3
        or not all(type(name) is str and len(name) < 200 for name in answer.imported)
    ):
        raise ProtocolError("an answer of another shape")
    return answer
