"""Watched state: parts that are compared after each test case because a test case has changed them before."""

from __future__ import annotations

from typing import Any

from fitgym.messages.protocol import ProtocolError

__all__ = ["Watched"]

_MOST = 4096  # watched parts


class Watched:
    """Watched parts of one snapshot, by their numbers in it.

    Attributes:
        far: parts of the state of the modules around the subject, see `fitgym.worker.state.leakage.State`.
        facts: facts about the process, see `fitgym.worker.state.process.Process`.
    """

    def __init__(self) -> None:
        self.far: dict[int, None] = {}
        self.facts: dict[int, None] = {}

    def wire(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Encode the parts for a child."""
        return tuple(self.far), tuple(self.facts)

    def add(self, far: Any, facts: Any) -> bool:
        """Watch parts that a child found changed. Returns True if a part was added.

        Raises:
            ProtocolError: the parts are not numbers.
        """
        before = len(self.far) + len(self.facts)
        for known, found in ((self.far, far), (self.facts, facts)):
            if not isinstance(found, tuple) or not all(type(number) is int for number in found):
                raise ProtocolError("parts of the state must be given as a tuple of integers")
            known.update(dict.fromkeys(found[: max(0, _MOST - len(known))]))
        return len(self.far) + len(self.facts) > before
