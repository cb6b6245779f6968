"""Programs: statements compiled once, then run by one loop.

A statement becomes a small function from the results so far to its own result. Everything that does not change is looked
up beforehand: the callable, the literals, the keyword names. A test case is a tuple of these functions, run in a loop
with a single `try` around it; what went wrong is looked into only when something did.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import importlib
import inspect
import itertools
import math
import operator as operators
import os
import types
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fitgym import instrument
from fitgym.execution.journal import IDLE
from fitgym.execution.protocol import WireCalls
from fitgym.execution.sandbox import Blocked
from fitgym.instrument.abstraction import abstract
from fitgym.instrument.factory import OutOfFuel
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.trace import Failure, Raised
from fitgym.subject.conformance import conforms
from fitgym.subject.hints import Hint, of_value, union
from fitgym.subject.subject import Operation, Subject
from fitgym.testcase.expression import Collection, Expression, Lambda, Name, Ref, refs
from fitgym.testcase.expression import Literal as LiteralExpression
from fitgym.testcase.statement import Statement

if TYPE_CHECKING:
    import asyncio

__all__ = ["MOST_ITEMS", "Lessons", "Outcome", "Program", "SetupError", "TimeUp", "type_name"]

MOST_ITEMS = 100
"""How many items an iterator is asked for."""

Results = list[Any]
Step = Callable[[Results], Any]


class TimeUp(BaseException):
    """The clock ran out for the running test case; raised by the timer only."""


class SetupError(Exception):
    """A statement cannot even be tried: what it names does not exist."""


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


class Lessons:
    """What running has taught about the subject since the last `drain`.

    Attributes:
        returns: for each operation what it was seen to return.
        iterators: operations that returned an iterator though their signature does not say so.
    """

    MOST_TYPES = 8

    def __init__(self) -> None:
        self.returns: dict[int, Hint] = {}
        self.iterators: list[int] = []
        self._known: dict[int, Hint] = {}
        self._empty: dict[tuple[int, type], int] = {}

    def note(self, operation: Operation, value: object, seen: set[type], drained: bool) -> None:
        """An operation returned a value of a type that is not in `seen`."""
        cls = type(value)
        if any(cls is exact for exact in (list, set, frozenset, dict, tuple)) and not value:
            # An empty container does not say what it holds; wait for a better one, though not for ever.
            count = self._empty[operation.id, cls] = self._empty.get((operation.id, cls), 0) + 1
            if count == 20:
                seen.add(cls)
            elif count > 1:
                return
        else:
            seen.add(cls)
        if not drained and operation.id not in self.iterators and _is_iterator(cls):
            self.iterators.append(operation.id)
        if "<locals>" in _QUALNAME(cls):
            return
        hint = of_value(value)
        known = self._known.get(operation.id)
        if known is not None:
            parts = known.args if known.kind == "union" else (known,)
            if len(parts) >= self.MOST_TYPES:
                return
            hint = union([*parts, hint])
        if hint != known:
            self._known[operation.id] = self.returns[operation.id] = hint

    def drain(self) -> tuple[dict[int, Hint], list[int]]:
        """What is new; it is forgotten here."""
        new = (self.returns, self.iterators)
        self.returns, self.iterators = {}, []
        return new


def _is_iterator(cls: type) -> bool:
    return any("__next__" in type.__getattribute__(base, "__dict__") for base in _MRO(cls))


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
        self._driver = _Driver(probes)
        self._targets: list[Any] = []
        self._unbound = [_unbound(operation) if operation.needs_receiver else None for operation in subject.operations]
        for operation in subject.operations:
            try:
                self._targets.append(None if operation.needs_receiver else resolve(operation.module, operation.name))
            except Exception:  # whatever importing it does; running it is a set-up failure
                self._targets.append(_MISSING)
        self._wrappers = [
            _wrappers(target if target is not None else unbound)
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
            arguments = _arguments(statement)
            call, target = self._call(operation, statement, arguments)
        except SetupError as problem:
            return Entry(operation, _failing(problem), _no_arguments, set(), (), None, frozenset())
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
            is_closed=not any(True for argument in _expressions(statement) for _ in refs(argument)),
        )

    def _call(self, operation: Operation, statement: Statement, arguments: _Arguments) -> tuple[Step, Any]:
        """The bare call, before its result is driven, and what is called where that is known."""
        target = self._targets[operation.id]
        if target is _MISSING:
            raise SetupError(f"'{operation.module}.{operation.name}' cannot be found")
        if not operation.needs_receiver:
            return _calling(target, arguments), target
        if statement.receiver < 0:
            raise SetupError(f"'{operation.name}' needs a receiver")
        receiver = statement.receiver
        name = operation.operator or operation.name.rpartition(".")[2]
        unbound = self._unbound[operation.id]
        if operation.kind == "property":
            return _reading(receiver, name), unbound
        if operation.kind == "setter":
            return _setting(receiver, name, arguments), unbound
        if operation.kind == "operator":
            return _operating(receiver, name, arguments), unbound
        return _sending(receiver, name, arguments), unbound


_MISSING = object()


def resolve(module: str, qualname: str) -> Any:
    """The object that a module holds under a dotted name; imports the module.

    Raises:
        ImportError, AttributeError: there is none.
    """
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


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


# ------------------------------------------------------------------------------------------------------------ frames


class Frames:
    """Which function of the subject a frame of a traceback belongs to.

    Args:
        subject: whose source file the frames are compared with.
        probes: the recorder, which knows the code that holds its probes.
    """

    def __init__(self, subject: Subject, probes: Recorder) -> None:
        self._probes = probes
        self._path = subject.reference.path
        self._functions = subject.functions
        self._named: dict[str, list[int]] = {}
        for function in subject.functions:
            self._named.setdefault(function.name, []).append(function.id)
        self._ours = os.path.dirname(os.path.abspath(instrument.__file__ or ""))

    def innermost(self, traceback: types.TracebackType | None) -> tuple[int, bool]:
        """The innermost function of the subject, -1 for none, and whether its own `raise` or `assert` raised.

        Frames of probes are looked through: they stand for an operator of the subject.
        """
        function, explicit = -1, False
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename == self._path:
                function = self.of_code(code)
                explicit = code.co_code[traceback.tb_lasti : traceback.tb_lasti + 1] == _RAISE
            elif not code.co_filename.startswith(self._ours):
                explicit = False
            traceback = traceback.tb_next
        return function, explicit

    def of_code(self, code: types.CodeType) -> int:
        """Id of the function that a code object of the subject belongs to."""
        function = self._probes.function_of(code)
        return function if function >= 0 else self._find(code)

    def _find(self, code: types.CodeType) -> int:
        """By name; several of one name, or the anonymous code of a comprehension or class body, by line."""
        line = code.co_firstlineno
        named = self._named.get(code.co_qualname, [])
        candidates = [self._functions[i] for i in named] or [
            function for function in self._functions if function.line <= line <= function.end_line
        ]
        if not candidates:
            return 0
        # The first line of decorated code is its first decorator, the line of a function its `def`.
        near = [function for function in candidates if function.line >= line] if named else []
        if near:
            return min(near, key=lambda function: (function.line - line, function.id)).id
        return min(candidates, key=lambda function: (function.end_line - function.line, -function.id)).id


def _wrappers(target: Any) -> frozenset[types.CodeType]:
    """Code that stands between the call of an operation and its own body: its decorators."""
    found: set[types.CodeType] = set()
    for _ in range(16):
        if not hasattr(target, "__wrapped__"):
            break
        code = getattr(target, "__code__", None)
        if isinstance(code, types.CodeType):
            found.add(code)
        target = target.__wrapped__
    return frozenset(found)


_RAISE = bytes([dis.opmap["RAISE_VARARGS"]])  # what `raise` and `assert` compile to, and nothing else does


# --------------------------------------------------------------------------------------------------------- arguments


@dataclass(frozen=True, slots=True)
class _Arguments:
    """How the arguments of a statement are made: constants in place, the rest built for each execution."""

    constants: list[Any]
    dynamic: tuple[tuple[int, Step], ...]
    keywords: tuple[tuple[str, Step], ...]

    def build(self, results: Results) -> tuple[list[Any], dict[str, Any]]:
        args = self.constants.copy()
        for index, make in self.dynamic:
            args[index] = make(results)
        return args, {name: make(results) for name, make in self.keywords}


def _expressions(statement: Statement) -> list[Expression]:
    return [*statement.args, *(argument for _, argument in statement.kwargs)]


def _no_arguments(results: Results) -> tuple[list[Any], dict[str, Any]]:
    return [], {}


def _failing(problem: SetupError) -> Step:
    def step(results: Results) -> Any:
        raise SetupError(str(problem))

    return step


def _arguments(statement: Statement) -> _Arguments:
    constants: list[Any] = []
    dynamic: list[tuple[int, Step]] = []
    for index, argument in enumerate(statement.args):
        if isinstance(argument, LiteralExpression):
            constants.append(literal(argument.text))
        else:
            constants.append(None)
            dynamic.append((index, maker(argument)))
    return _Arguments(
        constants, tuple(dynamic), tuple([(name, maker(argument)) for name, argument in statement.kwargs])
    )


_FLOATS = {f"float({quote}{text}{quote})": float(text) for text in ("nan", "inf", "-inf") for quote in "'\""}


@functools.lru_cache(maxsize=10_000, typed=True)
def literal(text: str) -> Any:
    """The value of a literal's text.

    Raises:
        SetupError: it is not the text of a literal.
    """
    if text in _FLOATS:
        return _FLOATS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise SetupError(f"not a literal: {text}") from error


def maker(expression: Expression) -> Step:
    """A function from the results so far to the value of the expression, made afresh where it can be changed.

    Raises:
        SetupError: it names something that does not exist.
    """
    match expression:
        case LiteralExpression(text):
            return _constant(literal(text))
        case Ref(index):
            return operators.itemgetter(index)
        case Name(module, qualname):
            try:
                return _constant(resolve(module, qualname))
            except Exception as error:
                raise SetupError(f"'{module}.{qualname}' cannot be found") from error
        case Collection(kind, items):
            return _collecting(kind, [maker(item) for item in items])
        case Lambda(arity, body):
            return _defining(arity, body)


def _constant(value: Any) -> Step:
    return lambda results: value


def _collecting(kind: str, makers: list[Step]) -> Step:
    if kind == "dict":
        keys, values = makers[::2], makers[1::2]
        pairs = list(zip(keys, values, strict=True))
        return lambda results: {key(results): value(results) for key, value in pairs}
    if kind == "list":
        return lambda results: [make(results) for make in makers]
    convert: Callable[[list[Any]], Any] = _CONVERSIONS[kind]
    return lambda results: convert([make(results) for make in makers])


_CONVERSIONS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "iter": iter,
}


def _defining(arity: int, body: Expression) -> Step:
    """A function of `arity` parameters that returns one of them or the value of an expression."""
    chosen = -1 - body.index if isinstance(body, Ref) and body.index < 0 else -1
    make = maker(body) if chosen < 0 else None

    def define(results: Results) -> Any:
        value = make(results) if make is not None else None
        if arity < 0:
            return lambda *args: args[chosen] if chosen >= 0 else value
        if arity == 0:
            return lambda: value
        if arity == 1:
            return lambda a: a if chosen == 0 else value
        if arity == 2:
            return lambda a, b: (a, b)[chosen] if chosen >= 0 else value
        if arity == 3:
            return lambda a, b, c: (a, b, c)[chosen] if chosen >= 0 else value
        names = ", ".join(f"p{i}" for i in range(arity))
        result = f"p{chosen}" if chosen >= 0 else "value"
        return eval(f"lambda {names}: {result}", {"value": value})

    return define


# ------------------------------------------------------------------------------------------------------------- calls


def _calling(target: Any, arguments: _Arguments) -> Step:
    constants, dynamic, keywords = arguments.constants, arguments.dynamic, arguments.keywords
    if keywords:
        build = arguments.build

        def step(results: Results) -> Any:
            args, kwargs = build(results)
            return target(*args, **kwargs)

    elif not dynamic:
        fixed = tuple(constants)

        def step(results: Results) -> Any:
            return target(*fixed)

    else:

        def step(results: Results) -> Any:
            args = constants.copy()
            for index, make in dynamic:
                args[index] = make(results)
            return target(*args)

    return step


def _sending(receiver: int, name: str, arguments: _Arguments) -> Step:
    constants, dynamic, keywords = arguments.constants, arguments.dynamic, arguments.keywords
    if keywords or dynamic:
        build = arguments.build

        def step(results: Results) -> Any:
            args, kwargs = build(results)
            return getattr(results[receiver], name)(*args, **kwargs)

    else:
        fixed = tuple(constants)

        def step(results: Results) -> Any:
            return getattr(results[receiver], name)(*fixed)

    return step


def _reading(receiver: int, name: str) -> Step:
    def step(results: Results) -> Any:
        return getattr(results[receiver], name)

    return step


def _setting(receiver: int, name: str, arguments: _Arguments) -> Step:
    build = arguments.build

    def step(results: Results) -> Any:
        args, _ = build(results)
        setattr(results[receiver], name, args[0])

    return step


def _operating(receiver: int, name: str, arguments: _Arguments) -> Step:
    build = arguments.build
    if name == "__call__":

        def step(results: Results) -> Any:
            args, kwargs = build(results)
            return results[receiver](*args, **kwargs)

    elif name == "__enter__":

        def step(results: Results) -> Any:
            with results[receiver] as entered:
                return entered

    elif name in _REFLECTED:
        apply = _REFLECTED[name]

        def step(results: Results) -> Any:
            args, _ = build(results)
            return apply(args[0], results[receiver])

    elif name in _OPERATORS:
        apply = _OPERATORS[name]

        def step(results: Results) -> Any:
            args, _ = build(results)
            return apply(results[receiver], *args)

    else:
        raise SetupError(f"no operator calls '{name}'")
    return step


def _same(value: Any) -> Any:
    return value


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operators.add,
    "sub": operators.sub,
    "mul": operators.mul,
    "matmul": operators.matmul,
    "truediv": operators.truediv,
    "floordiv": operators.floordiv,
    "mod": operators.mod,
    "divmod": divmod,
    "pow": pow,
    "lshift": operators.lshift,
    "rshift": operators.rshift,
    "and": operators.and_,
    "or": operators.or_,
    "xor": operators.xor,
}
_REFLECTED = {f"__r{name}__": apply for name, apply in _ARITHMETIC.items()}
_OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": apply for name, apply in _ARITHMETIC.items()},
    **{f"__i{name}__": getattr(operators, f"i{name}") for name in _ARITHMETIC if name != "divmod"},
    **{f"__{name}__": getattr(operators, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs")},
    **{f"__{name}__": getattr(operators, name) for name in ("invert", "index", "contains", "getitem")},
    **{f"__{name}__": getattr(operators, name) for name in ("setitem", "delitem")},
    **{f"__{name}__": getattr(math, name) for name in ("trunc", "floor", "ceil")},
    **{f"__{name}__": getattr(builtins, name) for name in ("len", "bool", "str", "repr", "bytes", "hash", "format")},
    **{f"__{name}__": getattr(builtins, name) for name in ("int", "float", "complex", "round", "reversed", "next")},
    "__iter__": iter,
    "__anext__": anext,
    # Driving the result awaits it, iterates over it or enters it.
    "__await__": _same,
    "__aiter__": _same,
    "__aenter__": _same,
}


# ----------------------------------------------------------------------------------------------------------- driving


class _Driver:
    """Does with a result what is needed so that the body behind it runs.

    One event loop serves all test cases of a process; it is replaced when a test case leaves it in an odd state.
    """

    def __init__(self, probes: Recorder) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._probes = probes

    def driving(self, call: Step, drive: str) -> Step:
        """The call with its result driven."""
        if not drive:
            return call
        finish: Callable[[Any], Any] = {
            "iterate": _drained,
            "enter": _entered,
            "await": self._awaited,
            "aiterate": self._awaited_items,
            "aenter": self._awaited_context,
        }[drive]
        self._probes.runner_codes.update(
            (finish.__code__ if isinstance(finish, types.FunctionType) else finish.__func__.__code__,)  # type: ignore[attr-defined]
        )

        def step(results: Results) -> Any:
            return finish(call(results))

        return step

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop, made when it is needed first."""
        import asyncio  # takes 40 ms, and most subjects have no coroutines

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop

    def _awaited(self, value: Any) -> Any:
        return self._complete(_await(value))

    def _awaited_items(self, value: Any) -> Any:
        return self._complete(_collect(value))

    def _awaited_context(self, value: Any) -> Any:
        return self._complete(_enter(value))

    def _complete(self, work: Awaitable[Any]) -> Any:
        loop = self.loop()
        try:
            return loop.run_until_complete(work)
        except BaseException:
            self._discard_if_odd(loop)
            raise
        finally:
            self._cancel(loop)

    def _cancel(self, loop: asyncio.AbstractEventLoop) -> None:
        """End what the test case has left running."""
        import asyncio

        if loop.is_closed() or loop.is_running():
            return
        tasks = asyncio.all_tasks(loop)
        if tasks:
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        generators: Any = getattr(loop, "_asyncgens", ())
        if generators:
            loop.run_until_complete(loop.shutdown_asyncgens())
            self._replace(loop)  # a loop that has shut its generators down warns about new ones
        elif getattr(loop, "_scheduled", ()):
            self._replace(loop)

    def _discard_if_odd(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop.is_closed():
            self._loop = None

    def _replace(self, loop: asyncio.AbstractEventLoop) -> None:
        """A fresh loop in the place of one with a history; its descriptors are the same numbers again."""
        loop.close()
        self._loop = None
        self.loop()


def _drained(value: Any) -> Any:
    return list(itertools.islice(value, MOST_ITEMS))


def _entered(value: Any) -> Any:
    with value as entered:
        return entered


async def _await(value: Awaitable[Any]) -> Any:
    return await value


async def _collect(value: Any) -> list[Any]:
    items: list[Any] = []
    async for item in value:
        items.append(item)
        if len(items) == MOST_ITEMS:
            break
    return items


async def _enter(value: Any) -> Any:
    async with value as entered:
        return entered
