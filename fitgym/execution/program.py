"""Programs: statements compiled once, then run by one loop.

A statement becomes a small function from the results so far to its own result. Everything that does not change is looked
up beforehand: the callable, the literals, the keyword names. A test case is a tuple of these functions, run in a loop
with a single `try` around it; what went wrong is looked into only when something did.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from fitgym.execution.driver import Driver
from fitgym.execution.frames import Frames, wrappers
from fitgym.execution.journal import IDLE
from fitgym.execution.lessons import Lessons
from fitgym.execution.protocol import WireCalls
from fitgym.execution.sandbox import Blocked
from fitgym.execution.steps import (
    Arguments,
    Results,
    SetupError,
    Step,
    arguments_of,
    calling,
    expressions,
    failing,
    no_arguments,
    operating,
    reading,
    resolve,
    sending,
    setting,
)
from fitgym.instrument.abstraction import abstract
from fitgym.instrument.factory import OutOfFuel
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.trace import Failure, Raised
from fitgym.subject.conformance import conforms
from fitgym.subject.subject import Operation, Subject
from fitgym.testcase.expression import refs
from fitgym.testcase.statement import Statement

__all__ = ["Outcome", "Program", "TimeUp", "type_name"]


class TimeUp(BaseException):
    """The clock ran out for the running test case; raised by the timer only."""


@dataclass(slots=True)
class Entry:
    """One compiled statement.

    Attributes:
        operation: what it does.
        step: does it.
        arguments: its arguments for the results so far, positional ones and keyword ones.
        seen: types that the operation was already seen to return.
        names: the parameter that each positional argument is bound to.
        target: what is called, where that is known beforehand.
        wrappers: code of the decorators around the operation's own body.
        is_closed: no argument refers to an earlier result.
        conforms: every argument is what its annotation asks for; None if that is not known yet or not always the same.
    """

    operation: Operation
    step: Step
    arguments: Callable[[Results], tuple[list[Any], dict[str, Any]]]
    seen: set[type]
    names: tuple[str, ...]
    target: Any
    wrappers: frozenset[types.CodeType]
    is_closed: bool = False
    conforms: bool | None = None


@dataclass(slots=True)
class Outcome:
    """How one test case ended, its probes left aside.

    Attributes:
        calls: see `Trace.calls`, as built-in values.
        raised: the exception that ended it.
        failure: why it cannot be trusted, "" if it can.
        results: what its statements returned, those that did.
        error: the exception itself; only while it is needed.
    """

    calls: WireCalls
    raised: Raised | None = None
    failure: Failure = ""
    results: Results = field(default_factory=list)
    error: BaseException | None = None


class Program:
    """The statements that a worker knows, ready to run.

    Args:
        subject: what is tested; its operations are resolved at once, so all modules they need are imported here.
        probes: the recorder of the worker.
        cells: of the journal.
    """

    def __init__(self, subject: Subject, probes: Recorder, cells: memoryview) -> None:
        self.subject = subject
        self.lessons = Lessons()
        self._probes = probes
        self._cells = cells
        self._entries: dict[int, Entry] = {}
        self._seen: list[set[type]] = [set() for _ in subject.operations]
        self._frames = Frames(subject, probes)
        self._driver = Driver(probes)
        self._targets: list[Any] = []
        self._unbound = [_unbound(operation) if operation.needs_receiver else None for operation in subject.operations]
        for operation in subject.operations:
            try:
                self._targets.append(None if operation.needs_receiver else resolve(operation.module, operation.name))
            except Exception:  # whatever importing it does; running it is a set-up failure
                self._targets.append(_MISSING)
        self._wrappers = [
            wrappers(target if target is not None else unbound)
            for target, unbound in zip(self._targets, self._unbound, strict=True)
        ]
        probes.runner_codes.update((self.run.__func__.__code__, self._run_abstracting.__func__.__code__))  # type: ignore[attr-defined]

    @property
    def is_async(self) -> bool:
        """Some operation needs an event loop."""
        return any(operation.drive in ("await", "aiterate", "aenter") for operation in self.subject.operations)

    def open_loop(self) -> None:
        """Make the event loop now, so that its descriptors count as there from the start."""
        self._driver.loop()

    def define(self, identifier: int, statement: Statement) -> None:
        """Compile a statement; its id stands for it from now on."""
        self._entries[identifier] = self._compile(statement)

    def run(self, testcase: tuple[int, ...], needs: frozenset[str] = frozenset()) -> Outcome:
        """Run one test case to its end or to its first exception.

        The journal says that a test case runs from before the first statement until no code of the subject can be
        reached any more; exceptions of the timer are raised in between only.
        """
        entries = [self._entries[identifier] for identifier in testcase]
        if "direct" in needs or "output" in needs or "input" in needs:
            return self._run_abstracting(entries, needs)
        program = [(entry.step, entry.seen) for entry in entries]
        cells = self._cells
        note = self._note
        idle = IDLE
        type_ = type
        results: Results = []
        append = results.append
        position = 0
        try:
            for step, seen in program:
                cells[2] = position
                value = step(results)
                if type_(value) not in seen:
                    note(entries[position], value)
                append(value)
                position += 1
            cells[1] = idle
        except BaseException as error:
            cells[1] = idle
            return self._ended(entries, results, error, [], needs)
        failure: Failure = "fuel" if self._probes.fuel_left < 0 else ""
        return Outcome(tuple([(entry.operation.id, True, (), ()) for entry in entries]), None, failure, results)

    def _run_abstracting(self, entries: list[Entry], needs: frozenset[str]) -> Outcome:
        """Like `run`, for what costs more: direct calls through decorators, and partitions of values."""
        cells = self._cells
        output, input_ = "output" in needs, "input" in needs
        entry_codes = self._probes.entry_codes
        results: Results = []
        inputs: list[tuple[tuple[str, str, float], ...]] = []
        outputs: list[tuple[tuple[str, float], ...]] = []
        try:
            for position, entry in enumerate(entries):
                cells[2] = position
                inputs.append(_inputs(entry, results) if input_ else ())
                entry_codes.clear()
                entry_codes.update(entry.wrappers)
                value = entry.step(results)
                if type(value) not in entry.seen:
                    self._note(entry, value)
                results.append(value)
                # A hash says nothing about behaviour and may come from an address: None's does before Python 3.12.
                told = output and entry.operation.operator != "__hash__"
                outputs.append(abstract(value) if told else ())
            cells[1] = IDLE
        except BaseException as error:
            cells[1] = IDLE
            outcome = self._ended(entries, results, error, inputs, needs)
        else:
            failure: Failure = "fuel" if self._probes.fuel_left < 0 else ""
            outcome = Outcome((), None, failure, results)
        done = len(outputs)
        ran = done if outcome.error is None else len(results) + 1
        outcome.calls = tuple(
            (
                entry.operation.id,
                position < done,
                outputs[position] if position < done else (),
                inputs[position] if position < len(inputs) else (),
            )
            for position, entry in enumerate(entries[:ran])
        )
        return outcome

    def _note(self, entry: Entry, value: object) -> None:
        drained = bool(entry.operation.drive)
        self.lessons.note(entry.operation, value, entry.seen, drained)

    # ------------------------------------------------------------------------------------------------- exceptions

    def _ended(
        self, entries: list[Entry], results: Results, error: BaseException, inputs: list[Any], needs: frozenset[str]
    ) -> Outcome:
        """What an exception means; it was raised by the statement after the last result."""
        position = min(len(results), len(entries) - 1)
        calls: WireCalls = tuple(
            [(e.operation.id, i < len(results), (), ()) for i, e in enumerate(entries[: len(results) + 1])]
        )
        failure = _failure_of(error)
        if not failure and self._probes.fuel_left < 0:
            failure = "fuel"
        if issubclass(type(error), (OutOfFuel, TimeUp, Blocked, SetupError)):
            return Outcome(calls, None, failure, results, error)
        self._probes.stopped(_TRACEBACK(error))
        return Outcome(
            calls, self._raised(entries[: position + 1], position, results, error, failure), failure, results, error
        )

    def _raised(
        self, entries: list[Entry], position: int, results: Results, error: BaseException, failure: Failure
    ) -> Raised:
        entry = entries[-1]
        function, explicit = self._frames.innermost(_TRACEBACK(error))
        if failure:  # where the stack or the memory ended is a matter of chance
            function, explicit = -1, False
        operation = entry.operation
        mro = tuple(type_name(cls) for cls in _MRO(type(error)) if cls is not object)
        kind: Literal["declared", "explicit", "implicit"] = "implicit"
        if _is_declared(type(error), operation.declared):
            kind = "declared"
        elif explicit:
            kind = "explicit"
        counted = not failure and function >= 0
        if counted and issubclass(type(error), TypeError) and not _binds(entry, results):
            counted = False
        ill_typed = counted and not all(_conform(entry, results) for entry in entries)
        return Raised(mro[0], function, operation.id, position, kind, counted and not ill_typed, mro, ill_typed)

    # --------------------------------------------------------------------------------------------------- compiling

    def _compile(self, statement: Statement) -> Entry:
        operation = self.subject.operations[statement.operation]
        try:
            arguments = arguments_of(statement)
            call, target = self._call(operation, statement, arguments)
        except SetupError as problem:
            return Entry(operation, failing(problem), no_arguments, set(), (), None, frozenset())
        step = self._driver.driving(call, "iterate" if statement.iterate and not operation.drive else operation.drive)
        self._probes.runner_codes.update((call.__code__, step.__code__))
        return Entry(
            operation,
            step,
            arguments.build,
            self._seen[operation.id] if not statement.iterate else set(),
            _names(operation, len(statement.args)),
            target,
            self._wrappers[operation.id],
            is_closed=not any(True for argument in expressions(statement) for _ in refs(argument)),
        )

    def _call(self, operation: Operation, statement: Statement, arguments: Arguments) -> tuple[Step, Any]:
        """The bare call, before its result is driven, and what is called where that is known."""
        target = self._targets[operation.id]
        if target is _MISSING:
            raise SetupError(f"'{operation.module}.{operation.name}' cannot be found")
        if not operation.needs_receiver:
            return calling(target, arguments), target
        if statement.receiver < 0:
            raise SetupError(f"'{operation.name}' needs a receiver")
        receiver = statement.receiver
        name = operation.operator or operation.name.rpartition(".")[2]
        unbound = self._unbound[operation.id]
        if operation.kind == "property":
            return reading(receiver, name), unbound
        if operation.kind == "setter":
            return setting(receiver, name, arguments), unbound
        if operation.kind == "operator":
            return operating(receiver, name, arguments), unbound
        return sending(receiver, name, arguments), unbound


_MISSING = object()


def type_name(cls: type) -> str:
    """`module.qualname`, the bare name for builtins; runs no code of the subject."""
    module, qualname = _MODULE(cls), _QUALNAME(cls)
    return f"{module}.{qualname}" if type(module) is str and module != "builtins" else qualname


def _failure_of(error: BaseException) -> Failure:
    """Why a test case that ended with this cannot be trusted.

    How deep a recursion may go depends on where it starts, and that is elsewhere when the test is run by pytest. So a
    test case that ends by `RecursionError` counts as one that went on for too long.
    """
    cls = type(error)  # `isinstance` would ask the error for its `__class__`
    if issubclass(cls, TimeUp):
        return "timeout"
    if issubclass(cls, (OutOfFuel, RecursionError)):
        return "fuel"
    if issubclass(cls, Blocked):
        return "blocked"
    if issubclass(cls, MemoryError):
        return "memory"
    if issubclass(cls, SetupError):
        return "setup"
    return ""


# What is asked of a class or an exception of the subject is asked past whatever it says about itself.
_TRACEBACK: Callable[[BaseException], types.TracebackType | None] = BaseException.__dict__["__traceback__"].__get__
_MRO: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_MODULE: Callable[[type], object] = type.__dict__["__module__"].__get__
_QUALNAME: Callable[[type], str] = type.__dict__["__qualname__"].__get__
_NAME: Callable[[type], str] = type.__dict__["__name__"].__get__


def _is_declared(cls: type, declared: tuple[str, ...]) -> bool:
    return bool(declared) and any(
        _NAME(base) in declared or _QUALNAME(base) in declared or type_name(base) in declared
        for base in _MRO(cls)
        if base is not object and base is not BaseException
    )


def _binds(entry: Entry, results: Results) -> bool:
    """The arguments fit the signature of what was called; True where that cannot be known."""
    target = entry.target
    if target is None or entry.operation.kind in ("property", "setter"):
        return True
    try:
        signature = inspect.signature(target)
        args, kwargs = entry.arguments(results)
    except Exception:  # no signature, or one that cannot be asked for
        return True
    if entry.operation.needs_receiver:
        args = [None, *args]
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _conform(entry: Entry, results: Results) -> bool:
    """Every argument is what its annotation asks for; True where that cannot be known."""
    if entry.conforms is not None:
        return entry.conforms
    answer = _arguments_conform(entry, results)
    if entry.is_closed:
        entry.conforms = answer
    return answer


def _arguments_conform(entry: Entry, results: Results) -> bool:
    hints = {p.name: p.hint for p in entry.operation.parameters if p.declared}
    if not hints:
        return True
    try:
        args, kwargs = entry.arguments(results)
    except Exception:  # an argument that cannot even be made
        return True
    pairs = itertools.chain(zip(entry.names, args, strict=False), kwargs.items())
    return all(name not in hints or conforms(value, hints[name]) for name, value in pairs)


def _unbound(operation: Operation) -> Any:
    """The function in the class that a method call will most likely reach, None if there is none."""
    name = operation.name if operation.kind != "setter" else operation.name.removesuffix(".setter")
    try:
        found = resolve(operation.module, name)
    except Exception:
        return None
    return found if isinstance(found, types.FunctionType) else None


def _inputs(entry: Entry, results: Results) -> tuple[tuple[str, str, float], ...]:
    """Partitions of all arguments with the parameters they are bound to."""
    args, kwargs = entry.arguments(results)
    pairs = itertools.chain(zip(entry.names, args, strict=False), kwargs.items())
    return tuple([(name, *place) for name, value in pairs for place in abstract(value)])


def _names(operation: Operation, count: int) -> tuple[str, ...]:
    """The parameters that the first `count` positional arguments are bound to."""
    kinds = ("positional_only", "positional_or_keyword")
    names = [parameter.name for parameter in operation.parameters if parameter.kind in kinds]
    rest = [parameter.name for parameter in operation.parameters if parameter.kind == "var_positional"]
    names += (rest or [""]) * max(0, count - len(names))
    return tuple(names[:count])
