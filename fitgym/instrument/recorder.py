"""The recorder: records which sites one execution of a test case reached, and where exceptions left blocks.

The probes record counts, distances and fuel; a factory creates them, and they run very often. The recorder handles rare
events: the caller of a function, operands, and the function of a code object.
"""

from __future__ import annotations

import inspect
import sys
from builtins import id
from collections.abc import Sequence
from types import CodeType, FrameType, TracebackType
from typing import Any

from fitgym.instrument import async_loop, tally
from fitgym.instrument.factories import chosen
from fitgym.instrument.factory import MOST_OPERANDS, Factory, Probe, Relation
from fitgym.instrument.python import probes
from fitgym.instrument.stops import COMPREHENSIONS, Stops
from fitgym.instrument.trace import Infected, Reached, Stop
from fitgym.subject.subject import Site

__all__ = ["Recorder"]

_CAN_BE_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_LONGEST_LITERAL = 100
_ADDRESS = " at 0x"  # in the default `repr` of objects; it differs in every process
_MOST_CODES = 10_000

_OWN_FILES = probes.FILES | {__file__, async_loop.__file__, tally.__file__}


class Recorder:
    """Counts and measures the execution of the code under test. There is one per worker.

    Args:
        sites: all sites of the subject, by id.
        fuel: number of calls and loop iterations allowed per test case; takes effect at the next `begin`.
        factory: creates the probes; by default the factory returned by `factories.chosen`.

    Attributes:
        runner_codes: code objects of the runner. A frame of the subject directly above one of them is direct. The set
            must be complete before direct calls are recorded for the first time.
        entry_codes: code objects of wrappers around the operation that is called now. They do not count as callers.
        constants: literals (as source text) seen as operands, newest last. The reader may clear them; they are not
            reported again.
    """

    def __init__(self, sites: Sequence[Site], fuel: int = 100_000, factory: type[Factory] | None = None) -> None:
        self.sites = tuple(sites)
        self.fuel = fuel
        self.runner_codes: set[CodeType] = set()
        self.entry_codes: set[CodeType] = set()
        self.constants: dict[str, None] = {}
        self.kept: dict[type, set[Any]] = {int: set(), float: set(), str: set(), bytes: set()}
        self._new: dict[str, Any] = {}  # operands that the last test case added to `constants` and `kept`
        self._n_kept = 0
        self._runner_ids: set[int] = set()
        self._codes: dict[int, tuple[CodeType, int]] = {}
        self._probes: dict[tuple[int, bool], Probe] = {}
        self._ids: dict[object, int] = {}
        self._factory: Factory = (factory or chosen())(self.sites, self, fuel)
        self._stops = Stops(self.sites, self.function_of, self._factory.count)

    @property
    def counts(self) -> Sequence[int]:
        """Number of visits of each site, by site id."""
        return self._factory.counts

    @property
    def distances(self) -> Sequence[float]:
        """Least distance to each outcome, by slot.

        Infinite exactly if the site was not reached. `FAR` if it was reached but raised an exception before it had an
        outcome.
        """
        return self._factory.distances

    @property
    def direct_counts(self) -> Sequence[int]:
        """Like `counts`, for code that the runner called directly; see `begin`."""
        return self._factory.direct_counts

    @property
    def direct_distances(self) -> Sequence[float]:
        """Like `distances`, for code that the runner called directly; see `begin`."""
        return self._factory.direct_distances

    def probe(self, site_id: int, leading: bool = False) -> Probe:
        """Return the probe of a site, always the same object.

        Args:
            site_id: id of the site.
            leading: also count the blocks that the condition leads to (`Site.leads`).
        """
        key = (site_id, leading)
        probe = self._probes.get(key)
        if probe is None:
            probe = self._probes[key] = self._factory.make(self.sites[site_id], leading)
            self._ids[probe] = site_id
        return probe

    def begin(self, needs: frozenset[str] = frozenset()) -> None:
        """Clear the records of the last test case, and record the data named by `needs` from now on.

        Args:
            needs: "direct": counts and distances of code that the runner called directly, in `direct_counts` and
                `direct_distances`; "constants": operands, in `constants`; "infection": infected mutants, in `infected`.
                Other names are ignored.
        """
        self._stops.begin()
        self._new.clear()
        direct = "direct" in needs
        if direct and len(self._runner_ids) < len(self.runner_codes):
            self._runner_ids = {id(code) for code in self.runner_codes}
        collect = "constants" in needs and self._n_kept < MOST_OPERANDS
        self._factory.begin(self.fuel, direct, collect, "infection" in needs)

    def flip(self, site_id: int, operator: str) -> None:
        """Make the site evaluate another operator, or its own again, see `Factory.flip`."""
        self._factory.flip(site_id, operator)

    def discard_collected(self) -> None:
        """Remove the operands collected since `begin`, because their number depends on timing."""
        for text, value in self._new.items():
            self.kept[type(value)].discard(value)
            self.constants.pop(text, None)
        self._n_kept -= len(self._new)
        self._new.clear()

    def settle(self) -> None:
        """Keep the data recorded so far as the start of every later test case, without direct records.

        Used after the import of the subject: a suite imports it before its first test. It burns no fuel of a test.
        """
        self._factory.settle()
        self._stops.settle()

    def next_statement(self) -> None:
        """Start the next statement of the test case; see `Factory.next_statement`."""
        self._factory.next_statement()

    @property
    def burnt(self) -> int:
        """Number of calls and loop iterations since `begin`, a deterministic measure of time."""
        return self._factory.burnt

    @property
    def fuel_left(self) -> int:
        """Remaining fuel; negative after it ran out or after `interrupt`."""
        return self._factory.fuel_left

    @property
    def spent(self) -> bool:
        """A block has raised `OutOfFuel` since `begin`, or `interrupt` was called."""
        return self._factory.spent

    def stopped(self, traceback: TracebackType | None) -> None:
        """Record where an exception left blocks early. May be called again if the exception is raised again."""
        self._stops.note(traceback)

    def interrupt(self) -> None:
        """Take all fuel away, so that the next call or loop iteration raises `OutOfFuel`. Safe in a signal handler."""
        self._factory.interrupt()

    def stops(self) -> tuple[Stop, ...]:
        """Return where exceptions left blocks early since `begin`, ordered by block and line."""
        return self._stops.all()

    def snapshot(self) -> tuple[Reached, Reached | None]:
        """Return the sites reached since `begin`, and the directly reached ones (None unless "direct" was needed)."""
        return self._factory.snapshot()

    def infected(self) -> Infected | None:
        """Return the mutants infected since `begin`, by site; None unless "infection" was needed."""
        return self._factory.infected()

    def snapshot_key(self) -> tuple[Reached, Reached | None, tuple[Stop, ...], Infected | None]:
        """Return a key of all records since `begin`: the parts of `snapshot`, the stops, and infection."""
        return (*self._factory.snapshot(), self._stops.all(), self._factory.infected())

    def function_of(self, code: CodeType) -> int:
        """Return the function of the subject that a code object belongs to, -1 if it is not instrumented code."""
        known = self._codes.get(id(code))
        if known is None:
            site = self.first_site(code)
            function = self.sites[site].function if site >= 0 else -1
            if len(self._codes) >= _MOST_CODES:  # the subject may create code objects while it runs
                self._codes.clear()
            # The code object is kept with the answer, so that its id is not reused.
            known = self._codes[id(code)] = (code, function)
        return known[1]

    def first_site(self, code: CodeType) -> int:
        """Return the first site of a code object, which is unique to it; -1 if it has no probes."""
        sites = (self._ids.get(constant, -1) for constant in code.co_consts if callable(constant))
        return next((site for site in sites if site >= 0), -1)

    # Interface for the probes, see `Listener`.

    def is_resumable(self) -> bool:
        """Return True if the running function of the subject is a generator or coroutine, or if there is none."""
        frame = _subject_frame()
        return frame is None or bool(frame.f_code.co_flags & _CAN_BE_RESUMED)

    def is_direct(self) -> bool:
        """Return True if the runner called the running code of the subject, with no other subject frame between."""
        frame = sys._getframe(1)
        called = frame.f_code
        while frame.f_back is not None:
            frame = frame.f_back
            caller = frame.f_code
            relation = self.relation(called, caller)
            if relation == Relation.BY_RUNNER:
                return True
            if relation == Relation.BY_SUBJECT and caller not in self.entry_codes:
                return False
            if relation == Relation.PART_OF:
                called = caller
        return False

    def relation(self, called: CodeType, caller: CodeType) -> Relation:
        """Return whether code was called by the runner, the subject or others, or is a part of its caller."""
        if called.co_filename in _OWN_FILES:
            return Relation.PART_OF
        if id(caller) in self._runner_ids:
            return Relation.BY_RUNNER
        if called.co_filename != caller.co_filename:
            return Relation.BY_OTHERS
        return Relation.PART_OF if called.co_name in COMPREHENSIONS else Relation.BY_SUBJECT

    def keep(self, value: Any) -> None:
        """Store an operand that can be written as a literal."""
        kind = type(value)
        if not (kind is str or kind is int or kind is float or kind is bytes) or self._n_kept >= MOST_OPERANDS:
            return
        if kind is float and (value != value or value in (float("inf"), float("-inf"))):
            return
        if (kind is str or kind is bytes) and len(value) > _LONGEST_LITERAL:
            return
        if kind is str and _ADDRESS in value:
            return
        if kind is int and value.bit_length() > 4 * _LONGEST_LITERAL:
            return
        kept = self.kept[kind]
        if value not in kept:
            if value == 0.0 and kind is float:
                value = 0.0  # 0.0 equals -0.0: the stored one must not depend on which came first
            kept.add(value)
            text = repr(value)
            self.constants[text] = None
            self._new[text] = value
            self._n_kept += 1


def _subject_frame() -> FrameType | None:
    """Return the innermost frame that is not a probe."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in _OWN_FILES:
        frame = frame.f_back
    return frame
