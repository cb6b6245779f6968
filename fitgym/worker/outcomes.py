"""Outcomes: the meaning of the exception that ended a test case for its trace."""

from __future__ import annotations

import types
from builtins import id
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from fitgym.instrument.factory import OutOfFuel
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.trace import Failure, Raised
from fitgym.sandbox.sandbox import Blocked
from fitgym.subject.subject import Subject
from fitgym.worker.entry import Entry
from fitgym.worker.frames import Frames
from fitgym.worker.steps import Results, SetupError

__all__ = ["Outcomes", "TimeUp"]


class TimeUp(BaseException):
    """The running test case exceeded its time limit. Raised only by the timer."""


class Outcomes:
    """Classifies exceptions.

    Args:
        subject: the subject, already imported.
        probes: the recorder of the worker.
    """

    def __init__(self, subject: Subject, probes: Recorder) -> None:
        self._probes = probes
        self._frames = Frames(subject, probes)
        # Only classes that exist now are cached, because later ones are destroyed with their test case. The keys are
        # ids, because the metaclass of a class may define its own hash.
        self._classes = _subclasses(BaseException)
        self._kinds: dict[int, _Kind | None] = dict.fromkeys(self._classes)

    def failure(self, error: BaseException) -> Failure:
        """Return why a test case that ended with this exception cannot be trusted. Records the blocks that it left."""
        kind = self._kind(error)
        if not kind.is_ours:
            self._probes.stopped(_TRACEBACK(error))
        return kind.failure or ("fuel" if self._probes.spent else "")

    def raised(
        self, entries: Sequence[Entry], results: Results, error: BaseException, failure: Failure
    ) -> Raised | None:
        """Return the exception of a test case, None if the worker raised it and not the subject.

        Args:
            entries: its statements up to the one that raised.
            results: results of the statements before.
            error: the exception.
            failure: see `failure`.
        """
        kind = self._kind(error)
        if kind.is_ours:
            return None
        function, explicit = self._frames.innermost(_TRACEBACK(error))
        if failure:  # where the stack or the memory was exhausted is random
            function, explicit = -1, False
        entry = entries[-1]
        operation = entry.callee.operation
        is_declared = bool(operation.declared) and not kind.names.isdisjoint(operation.declared)
        how: Literal["declared", "explicit", "implicit"] = (
            "declared" if is_declared else "explicit" if explicit else "implicit"
        )
        counted = function >= 0 and not (kind.is_type_error and not entry.binds)
        ill_typed = counted and not all(entry.conforms(results) for entry in entries)
        position = len(entries) - 1
        mro = kind.mro
        return Raised(mro[0], function, operation.id, position, how, counted and not ill_typed, mro, ill_typed)

    def _kind(self, error: BaseException) -> _Kind:
        cls = type(error)  # `isinstance` would call the error's `__class__` property
        kind = self._kinds.get(id(cls))
        if kind is None:
            kind = _Kind.of(cls)
            if id(cls) in self._kinds:
                self._kinds[id(cls)] = kind
        return kind


# These read attributes of the subject's classes and exceptions without running the subject's code.
_TRACEBACK: Callable[[BaseException], types.TracebackType | None] = BaseException.__dict__["__traceback__"].__get__
_MRO: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_MODULE: Callable[[type], object] = type.__dict__["__module__"].__get__
_QUALNAME: Callable[[type], str] = type.__dict__["__qualname__"].__get__
_NAME: Callable[[type], str] = type.__dict__["__name__"].__get__


class _Kind(NamedTuple):
    """Properties of all exceptions of one class.

    Attributes:
        failure: why a test case that ended with it cannot be trusted.
        is_ours: the worker raised it, not the subject.
        is_type_error: it may come from arguments that do not fit the signature.
        mro: names of its classes, from itself up to `BaseException`.
        names: names under which a docstring may declare it.
    """

    failure: Failure
    is_ours: bool
    is_type_error: bool
    mro: tuple[str, ...]
    names: frozenset[str]

    @classmethod
    def of(cls, error: type) -> _Kind:
        """Return the kind of a class."""
        bases = [base for base in _MRO(error) if base is not object]
        mro = tuple(map(_type_name, bases))
        declarable = [base for base in bases if base is not BaseException]
        names = frozenset(name(base) for base in declarable for name in (_NAME, _QUALNAME, _type_name))
        is_ours = issubclass(error, (OutOfFuel, TimeUp, Blocked, SetupError))
        return cls(_failure(error), is_ours, issubclass(error, TypeError), mro, names)


def _failure(cls: type) -> Failure:
    """Return why a test case that ended with an exception of this class cannot be trusted.

    The possible recursion depth depends on the depth at which the test starts, which differs under pytest. So a
    `RecursionError` counts as running out of fuel.
    """
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


def _type_name(cls: type) -> str:
    """Return `module.qualname`, or the bare name for builtins. Runs no code of the subject."""
    module, qualname = _MODULE(cls), _QUALNAME(cls)
    return f"{module}.{qualname}" if type(module) is str and module != "builtins" else qualname


def _subclasses(cls: type) -> dict[int, type]:
    """Return the class and all existing subclasses, by id."""
    found = {id(cls): cls}
    pending = [cls]
    while pending:
        derived: type
        for derived in type.__subclasses__(pending.pop()):
            if id(derived) not in found:
                found[id(derived)] = derived
                pending.append(derived)
    return found
