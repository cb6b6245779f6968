"""Answers: what a child sends back for a batch. The code under test may forge them, so their shape is checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from fitgym.messages.protocol import ProtocolError, read_untrusted

__all__ = ["Answer", "read_answer"]


_TYPES = (list, list, bool, int, tuple, tuple, list)


class Answer(NamedTuple):
    """The parts of an answer, see `fitgym.worker.runner.Runner.answer`.

    Attributes:
        results: results of the items, up to the first that left state behind.
        fresh: traces that are new to this child.
        last: the child has ended.
        redo: care level for repeating the batch, 0 if it need not be repeated.
        feedback: returned types, operations that return iterators, constants seen at comparisons.
        found: changed parts of the far state and changed facts about the process.
        imported: names of the modules imported since the last answer.
    """

    results: list[Any]
    fresh: list[Any]
    last: bool
    redo: int
    feedback: tuple[Any, Any, Any]
    found: tuple[Any, Any]
    imported: list[str]


def read_answer(payload: bytes, n_items: int) -> Answer:
    """Decode and check the answer for a batch of `n_items`.

    Raises:
        ProtocolError: the payload is not a valid answer.
    """
    parts = read_untrusted(payload)
    if type(parts) is not tuple or tuple(map(type, parts)) != _TYPES:
        raise ProtocolError("the parts of an answer have wrong types")
    answer = Answer(*parts)
    if answer.redo not in (0, 1, 2) or (not answer.redo and not 0 < len(answer.results) <= n_items):
        raise ProtocolError(f"{len(answer.results)} results for {n_items} test cases")
    if (
        len(answer.found) != 2
        or len(answer.feedback) != 3
        or not all(type(name) is str and len(name) < 200 for name in answer.imported)
    ):
        raise ProtocolError("the parts of an answer have wrong lengths or contain invalid module names")
    return answer
