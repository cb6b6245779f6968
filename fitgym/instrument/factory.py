"""What a factory of probes is: the small interface between a `Recorder` and the probes that do the counting.

There is one in Python and one in C; with the same sites and the same calls they record the same, whatever they are
called with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from enum import IntEnum
from types import CodeType, TracebackType
from typing import Any, Protocol

from fitgym.instrument.trace import Infected, Reached
from fitgym.subject.subject import Site

__all__ = ["MOST_OPERANDS", "TOLD", "Factory", "Listener", "OutOfFuel", "Probe", "Relation"]

MOST_OPERANDS = 20_000
"""Operands that are kept, by one process and of one search: who wants so many in all needs no more from each process."""

TOLD = 100
"""Visits of a site by one test case whose operands are told: a loop has shown by then what it compares with."""

Probe = Callable[..., Any]


class OutOfFuel(BaseException):
    """The test case made more calls and rounds of loops than it may.

    Fuel ends what is endless, always at the same visit, whatever the factory. Each visit of a block that burns
    (`Site.burns`) takes one unit. A block that burns looks at what all of them have burnt only when its own visits since
    `begin` are more than a threshold, at first `fuel // 16 + 1`. Was it more than the fuel, this visit raises, and so
    does every later one of every block that burns, so that a bare `except` cannot hold it for long; otherwise the larger
    of the threshold and the visits, plus `fuel // 16 + 1`, becomes the threshold of all blocks. A test case may therefore
    burn somewhat more than it has, but always the same amount.
    """


class Relation(IntEnum):
    """What two code objects say of each other whose frames stand one upon the other, or with others' frames in between.

    Attributes:
        BY_RUNNER: the caller is code of the runner.
        BY_SUBJECT: the caller is code of the subject.
        PART_OF: what is called is a comprehension of the caller, or a probe: who called the caller is what matters.
        BY_OTHERS: the caller is anything else: who called it is what matters.
    """

    BY_RUNNER = 1
    BY_SUBJECT = 2
    PART_OF = 3
    BY_OTHERS = 4


class Listener(Protocol):
    """What probes ask and tell, aside from what they count."""

    @property
    def entry_codes(self) -> Set[CodeType]:
        """Code of the subject that does not count as a caller now; always the same set."""

    @property
    def kept(self) -> Mapping[type, Set[Any]]:
        """By type (int, float, str, bytes) the operands that `keep` need not be told again; always the same sets."""

    def stopped(self, traceback: TracebackType | None) -> None:
        """An `except` body begins that handles the exception with this traceback."""

    def is_resumable(self) -> bool:
        """The innermost frame that is not a probe belongs to a generator or coroutine."""

    def is_direct(self) -> bool:
        """The innermost frame that is not a probe was called by the runner, with nothing of the subject in between."""

    def relation(self, called: CodeType, caller: CodeType) -> Relation:
        """What `is_direct` looks at, frame by frame; the same for the same code at any time."""

    def keep(self, value: Any) -> None:
        """A comparison or membership test met this operand, in one of its first `TOLD` visits since `begin`."""


class Factory(Protocol):
    """Makes the probes of one subject and holds what they record since `begin`.

    Args:
        sites: all sites of the subject, by id.
        listener: is told what probes do not record themselves.
        fuel: how much may be burnt until the first `begin`.
    """

    def __init__(self, sites: Sequence[Site], listener: Listener, fuel: int) -> None: ...

    @property
    def counts(self) -> Sequence[int]:
        """How often each site was reached, by site id."""

    @property
    def distances(self) -> Sequence[float]:
        """Least distance to each outcome, by slot; infinite exactly where the site was not reached."""

    @property
    def direct_counts(self) -> Sequence[int]: ...

    @property
    def direct_distances(self) -> Sequence[float]: ...

    @property
    def burnt(self) -> int:
        """Visits of the blocks that burn since `begin`, those before `settle` left aside."""

    @property
    def fuel_left(self) -> int:
        """How much fuel is left, negative when it ran out or after `interrupt`."""

    @property
    def spent(self) -> bool:
        """A block has raised `OutOfFuel` since `begin`, or `interrupt` was called; costs less than `fuel_left`."""

    def count(self, site_id: int) -> int:
        """How often the site was reached."""

    def snapshot(self) -> tuple[Reached, Reached | None]:
        """What was reached, and what was reached directly unless `begin` did not ask for it."""

    def infected(self) -> Infected | None:
        """What the sites say about mutants, None unless `begin` asked for it."""

    def make(self, site: Site, leading: bool = False, /) -> Probe:
        """The object to be called at a site; asked at most once for each of the two.

        Args:
            site: what is recorded.
            leading: the probe counts the blocks that the condition leads to (`Site.leads`) as well.
        """

    def flip(self, site_id: int, operator: str, /) -> None:
        """From now on a probe that was made answers as this operator does; its own one takes it back.

        What the site records goes on meaning its own operator only for as long as that is in force.

        Args:
            site_id: of a comparison, a membership or identity test, or arithmetic.
            operator: one that can stand in its place, with the `=` of an augmented assignment.

        Raises:
            ValueError: the site has no such operator.
        """

    def begin(self, fuel: int, direct: bool, collect: bool, infect: bool) -> None:
        """Forget what was recorded, except what `settle` kept.

        Args:
            fuel: how much may be burnt.
            direct: also record the visits for which the listener's `is_direct` holds.
            collect: tell the listener operands, see `Listener.keep`.
            infect: also record what the sites say about mutants. Otherwise arithmetic and values are not even counted.
        """

    def settle(self) -> None:
        """From now on begin with what is recorded now, direct records left aside; it burns no fuel."""

    def next_statement(self) -> None:
        """Another statement of the test case begins.

        In one statement a function is usually called only directly or only indirectly, so one look at its caller holds
        for all its visits. Calls of earlier statements have ended, except those of generators, which are looked at
        again at each visit.
        """

    def interrupt(self) -> None:
        """Take all fuel away. Safe in a signal's callback."""
