"""Factories: the small interface between a `Recorder` and the probes that count.

There is one factory in Python and one in C. With the same sites and the same calls they record the same data.
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
"""Maximal number of operands stored, per process and per search. More from one process would never be used."""

TOLD = 100
"""Visits of a site per test case whose operands are reported. By then a loop has shown its operands."""

Probe = Callable[..., Any]


class OutOfFuel(BaseException):
    """The test case has made more calls and loop iterations than its fuel allows.

    Fuel stops infinite loops, always at the same visit with either factory. Each visit of a burning block
    (`Site.burns`) takes one unit. A burning block checks the total only when its own visits since `begin` exceed a
    threshold, at first `fuel // 16 + 1`:

    - If the total exceeds the fuel, this visit raises. So does every later visit of every burning block, so that a bare
      `except` cannot stop it for long.
    - Otherwise the larger of the threshold and the visits, plus `fuel // 16 + 1`, is the new threshold of all blocks.

    So a test case may burn somewhat more than its fuel, but always the same amount.
    """


class Relation(IntEnum):
    """The relation of two code objects whose frames are adjacent on the stack, or separated by other frames.

    Attributes:
        BY_RUNNER: the caller is code of the runner.
        BY_SUBJECT: the caller is code of the subject.
        PART_OF: the called code is a comprehension of the caller, or a probe. The caller of the caller decides.
        BY_OTHERS: the caller is other code. Its caller decides.
    """

    BY_RUNNER = 1
    BY_SUBJECT = 2
    PART_OF = 3
    BY_OTHERS = 4


class Listener(Protocol):
    """Interface through which probes report events and query the call stack."""

    @property
    def entry_codes(self) -> Set[CodeType]:
        """Code of the subject that does not count as a caller now; always the same set object."""

    @property
    def kept(self) -> Mapping[type, Set[Any]]:
        """Operands by type (int, float, str, bytes) that `keep` already has; always the same set objects."""

    def stopped(self, traceback: TracebackType | None) -> None:
        """Note that an `except` body starts to handle the exception with this traceback."""

    def is_resumable(self) -> bool:
        """Return True if the innermost frame that is not a probe belongs to a generator or coroutine."""

    def is_direct(self) -> bool:
        """Return True if the runner called the innermost non-probe frame, with no frame of the subject in between."""

    def relation(self, called: CodeType, caller: CodeType) -> Relation:
        """Return the relation that `is_direct` uses frame by frame. It is constant for the same code."""

    def keep(self, value: Any) -> None:
        """Report an operand of a comparison or membership test, in one of the first `TOLD` visits since `begin`."""


class Factory(Protocol):
    """Creates the probes of one subject and stores what they record since `begin`.

    Args:
        sites: all sites of the subject, by id.
        listener: receives the events that probes do not record themselves.
        fuel: fuel until the first `begin`.
    """

    def __init__(self, sites: Sequence[Site], listener: Listener, fuel: int) -> None: ...

    @property
    def counts(self) -> Sequence[int]:
        """Number of visits of each site, by site id."""

    @property
    def distances(self) -> Sequence[float]:
        """Least distance to each outcome, by slot; infinite exactly if the site was not reached."""

    @property
    def direct_counts(self) -> Sequence[int]: ...

    @property
    def direct_distances(self) -> Sequence[float]: ...

    @property
    def burnt(self) -> int:
        """Visits of burning blocks since `begin`, without those before `settle`."""

    @property
    def fuel_left(self) -> int:
        """Remaining fuel; negative after it ran out or after `interrupt`."""

    @property
    def spent(self) -> bool:
        """A block has raised `OutOfFuel` since `begin`, or `interrupt` was called; faster than `fuel_left`."""

    def count(self, site_id: int) -> int:
        """Return the number of visits of the site."""

    def snapshot(self) -> tuple[Reached, Reached | None]:
        """Return the reached sites, and the directly reached ones unless `begin` was called without `direct`."""

    def infected(self) -> Infected | None:
        """Return the infected mutants by site, None unless `begin` was called with `infect`."""

    def make(self, site: Site, leading: bool = False, /) -> Probe:
        """Create the probe of a site. Called at most once for each value of `leading`.

        Args:
            site: the site to record.
            leading: also count the blocks that the condition leads to (`Site.leads`).
        """

    def flip(self, site_id: int, operator: str, /) -> None:
        """Make an existing probe evaluate another operator from now on. The original operator restores it.

        The recorded distances describe the original operator only while it is active.

        Args:
            site_id: id of a comparison, a membership or identity test, or arithmetic.
            operator: the replacement, with the `=` of an augmented assignment.

        Raises:
            ValueError: the operator cannot replace that of the site.
        """

    def begin(self, fuel: int, direct: bool, collect: bool, infect: bool) -> None:
        """Clear the recorded data, except data kept by `settle`.

        Args:
            fuel: fuel of the test case.
            direct: also record the visits for which the listener's `is_direct` holds.
            collect: report operands to the listener, see `Listener.keep`.
            infect: also record infected mutants. Otherwise visits of arithmetic and value sites are not counted.
        """

    def settle(self) -> None:
        """Keep the data recorded so far as the start of every test case, without direct records. It burns no fuel."""

    def next_statement(self) -> None:
        """Start the next statement of the test case.

        In one statement a function is usually called either directly or indirectly, so its caller is checked once for
        all visits. Calls of earlier statements have ended, except calls of generators, which are checked at each visit.
        """

    def interrupt(self) -> None:
        """Take all fuel away. Safe in a signal handler."""
