"""What is compared after each test case because a test case has changed it before."""

from __future__ import annotations

from typing import Any

from fitgym.messages.protocol import ProtocolError

__all__ = ["Watched"]

_MOST = 4096  # parts that are compared after each test case


class Watched:
    """Parts of the state of one snapshot, by their numbers there.

    Attributes:
        far: parts of the modules around the subject, see `fitgym.worker.state.leakage.State`.
        facts: about the process, see `fitgym.worker.state.process.Process`.
    """

    def __init__(self) -> None:
        self.far: dict[int, None] = {}
        self.facts: dict[int, None] = {}

    def wire(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """As it is sent to a child."""
        return tuple(self.far), tuple(self.facts)

    def add(self, far: Any, facts: Any) -> bool:
        """Watch what a child has found changed; whether some of it is new and there is room for it.

        Raises:
            ProtocolError: these are no numbers.
        """
        before = len(self.far) + len(self.facts)
        for known, found in ((self.far, far), (self.facts, facts)):
            if not isinstance(found, tuple) or not all(type(number) is int for number in found):
                raise ProtocolError("parts of the state are numbers")
            known.update(dict.fromkeys(found[: max(0, _MOST - len(known))]))
        return len(self.far) + len(self.facts) > before
