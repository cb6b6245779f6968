"""The recorder: what one execution of a test case reached, measured and left early.

Counts, distances and fuel are the business of the probes, which a factory makes and which are called all the time. What
happens rarely is done here: who called whom, operands, and what belongs to which function.
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
_ADDRESS = " at 0x"  # in how objects are shown by default; another one in every process
_MOST_CODES = 10_000

_OWN_FILES = probes.FILES | {__file__, async_loop.__file__, tally.__file__}


class Recorder:
    """What the code under test does, counted and measured. One for each worker.

    Args:
        sites: all sites of the subject, by id.
        fuel: how many calls and rounds of loops one test case may make; takes effect at the next `begin`.
        factory: what makes the probes; the one that `factories.chosen` names unless given.

    Attributes:
        runner_codes: code objects of the runner; a frame of the subject right above one of them is direct. All of them
            must be known before direct calls are recorded first.
        entry_codes: code objects of wrappers around the operation that is called now; they do not count as callers.
        constants: literals (as source text) seen as operands, newest last; whoever reads them may clear them, and is not
            told them again.
    """

    def __init__(self, sites: Sequence[Site], fuel: int = 100_000, factory: type[Factory] | None = None) -> None:
        self.sites = tuple(sites)
        self.fuel = fuel
        self.runner_codes: set[CodeType] = set()
        self.entry_codes: set[CodeType] = set()
        self.constants: dict[str, None] = {}
        self.kept: dict[type, set[Any]] = {int: set(), float: set(), str: set(), bytes: set()}
        self._new: dict[str, Any] = {}  # what the last test case added to both
        self._n_kept = 0
        self._runner_ids: set[int] = set()
        self._codes: dict[int, tuple[CodeType, int]] = {}
        self._probes: dict[tuple[int, bool], Probe] = {}
        self._ids: dict[object, int] = {}
        self._factory: Factory = (factory or chosen())(self.sites, self, fuel)
        self._stops = Stops(self.sites, self.function_of, self._factory.count)

    @property
    def counts(self) -> Sequence[int]:
        """How often each site was reached, by site id."""
        return self._factory.counts

    @property
    def distances(self) -> Sequence[float]:
        """Least distance to each outcome, by slot.

        Infinite exactly where the site was not reached, and `FAR` where it was reached without an outcome, because an
        exception came instead.
        """
        return self._factory.distances

    @property
    def direct_counts(self) -> Sequence[int]:
        """Like `counts`, for code that was called by the runner itself; see `begin`."""
        return self._factory.direct_counts

    @property
    def direct_distances(self) -> Sequence[float]:
        """Like `distances`, likewise."""
        return self._factory.direct_distances

    def probe(self, site_id: int, leading: bool = False) -> Probe:
        """The object to be called at a site, always the same one.

        Args:
            site_id: of the site.
            leading: it counts the blocks that the condition leads to (`Site.leads`) as well.
        """
        key = (site_id, leading)
        probe = self._probes.get(key)
        if probe is None:
            probe = self._probes[key] = self._factory.make(self.sites[site_id], leading)
            self._ids[probe] = site_id
        return probe

    def begin(self, needs: frozenset[str] = frozenset()) -> None:
        """Forget the last test case; from now on also record what `needs` names.

        Args:
            needs: "direct": counts and distances of code called by the runner itself, in `direct_counts` and
                `direct_distances`; "constants": operands, in `constants`; "infection": what the sites say about mutants,
                in `infected`. Other names are for others.
        """
        self._stops.begin()
        self._new.clear()
        direct = "direct" in needs
        if direct and len(self._runner_ids) < len(self.runner_codes):
            self._runner_ids = {id(code) for code in self.runner_codes}
        collect = "constants" in needs and self._n_kept < MOST_OPERANDS
        self._factory.begin(self.fuel, direct, collect, "infection" in needs)

    def flip(self, site_id: int, operator: str) -> None:
        """Let the site compute with another operator, or with its own again, see `Factory.flip`."""
        self._factory.flip(site_id, operator)

    def unlearn(self) -> None:
        """Take back the operands since `begin`: how many there are was a matter of chance."""
        for text, value in self._new.items():
            self.kept[type(value)].discard(value)
            self.constants.pop(text, None)
        self._n_kept -= len(self._new)
        self._new.clear()

    def settle(self) -> None:
        """Let every later test case start with what is recorded now, direct records left aside.

        Meant for the import of the subject: a suite imports it before its first test. It burns none of the fuel of a test.
        """
        self._factory.settle()
        self._stops.settle()

    def next_statement(self) -> None:
        """Another statement of the test case begins; see `Factory.next_statement`."""
        self._factory.next_statement()

    @property
    def burnt(self) -> int:
        """How many calls and rounds of loops were made since `begin`, a deterministic measure of time."""
        return self._factory.burnt

    @property
    def fuel_left(self) -> int:
        """How much fuel is left, negative when it ran out or after `interrupt`."""
        return self._factory.fuel_left

    @property
    def spent(self) -> bool:
        """The fuel ran out, as a block noticed that then raised, or `interrupt` has taken it."""
        return self._factory.spent

    def stopped(self, traceback: TracebackType | None) -> None:
        """Note where an exception left blocks before their end; it may be noted again when it is raised again."""
        self._stops.note(traceback)

    def interrupt(self) -> None:
        """Take all fuel away, so that the next call or round of a loop raises `OutOfFuel`. Safe in a signal's callback."""
        self._factory.interrupt()

    def stops(self) -> tuple[Stop, ...]:
        """Where exceptions left blocks early since `begin`, ordered by block and line."""
        return self._stops.all()

    def snapshot(self) -> tuple[Reached, Reached | None]:
        """What was reached since `begin`; the second part is the same for direct calls, None unless "direct" was needed."""
        return self._factory.snapshot()

    def infected(self) -> Infected | None:
        """What the sites say about mutants since `begin`, None unless "infection" was needed."""
        return self._factory.infected()

    def snapshot_key(self) -> tuple[Reached, Reached | None, tuple[Stop, ...], Infected | None]:
        """Equal exactly if everything recorded since `begin` is equal: the parts of `snapshot`, the stops, and infection."""
        return (*self._factory.snapshot(), self._stops.all(), self._factory.infected())

    def function_of(self, code: CodeType) -> int:
        """The function of the subject that a code object belongs to, -1 if it is not instrumented code."""
        known = self._codes.get(id(code))
        if known is None:
            site = self.first_site(code)
            function = self.sites[site].function if site >= 0 else -1
            if len(self._codes) >= _MOST_CODES:  # code that is made while it runs
                self._codes.clear()
            # The code object is kept with the answer so that its id cannot be given to another one.
            known = self._codes[id(code)] = (code, function)
        return known[1]

    def first_site(self, code: CodeType) -> int:
        """The first site of a code object, which no other code of the subject has; -1 if it has no probes."""
        sites = (self._ids.get(constant, -1) for constant in code.co_consts if callable(constant))
        return next((site for site in sites if site >= 0), -1)

    # What probes ask and tell.

    def is_resumable(self) -> bool:
        """The function of the subject that runs now is a generator or coroutine, or there is none."""
        frame = _subject_frame()
        return frame is None or bool(frame.f_code.co_flags & _CAN_BE_RESUMED)

    def is_direct(self) -> bool:
        """The subject's code that runs now was called by the runner, with nothing of the subject in between."""
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
        """Whether code was called by the runner, by the subject, or by others, or is a part of what calls it."""
        if called.co_filename in _OWN_FILES:
            return Relation.PART_OF
        if id(caller) in self._runner_ids:
            return Relation.BY_RUNNER
        if called.co_filename != caller.co_filename:
            return Relation.BY_OTHERS
        return Relation.PART_OF if called.co_name in COMPREHENSIONS else Relation.BY_SUBJECT

    def keep(self, value: Any) -> None:
        """Remember an operand that can be written as a literal."""
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
                value = 0.0  # which equals -0.0: which of them is told must not depend on which one came first
            kept.add(value)
            text = repr(value)
            self.constants[text] = None
            self._new[text] = value
            self._n_kept += 1


def _subject_frame() -> FrameType | None:
    """The innermost frame that is not a probe."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in _OWN_FILES:
        frame = frame.f_back
    return frame
