"""The wire form: frames over pipes, and what the parent is willing to read in them.

The parent trusts nothing that comes from a process in which the code under test runs. A frame starts with a token that
was drawn for this worker, so stray output is recognised at its first byte; its length is bounded; and what it holds is
rebuilt by an unpickler that knows built-in containers and a few of our own dataclasses, so that reading runs no code.
"""

from __future__ import annotations

import dataclasses
import importlib
import io
import pickle
import struct
from typing import Any, Final

from fitgym.errors import FitgymError
from fitgym.instrument.trace import Call, Infected, Raised, Reached, Stop, Trace
from fitgym.messages.opcodes import check
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement

__all__ = [
    "BROKEN",
    "COMMAND",
    "FORK",
    "KILL",
    "MAKE",
    "MAX_FRAME",
    "MUTATE",
    "TOKEN_SIZE",
    "WARM",
    "FrameReader",
    "ProtocolError",
    "WireCall",
    "WireCalls",
    "WireExpression",
    "WireInputs",
    "WireStatement",
    "WireTrace",
    "decode_trace",
    "dumps",
    "encode_expression",
    "encode_statement",
    "frame",
    "read_trusted",
    "read_untrusted",
]

TOKEN_SIZE: Final = 16
COMMAND: Final = struct.Struct("<cI")
"""What the parent tells the zygote: a command and the number it is about, 0 if about none."""

FORK: Final = b"F"
"""Hand out a fresh child."""

KILL: Final = b"K"
"""End the child with this process id."""

MAKE: Final = b"C"
"""Make the mutant of this number, so that children that are handed out from now on have it."""

MUTATE: Final = b"M"
"""Have children that are handed out from now on ready to run mutants."""

WARM: Final = b"W"
"""Import modules for all children to come; their names follow, as many bytes as the number says."""

BROKEN: Final = 77
"""Exit status of a child that can no longer answer."""

MAX_FRAME: Final = 32 << 20
"""Bytes in one frame at most. The largest honest one, the description of a module with 12,000 lines, has 2 MB."""

_NOTHING = (b"", b"", b"")
_LENGTH = struct.Struct("<I")

WireExpression = Any
"""A literal is its text, a reference the number of its result; `("c", kind, items)` is a collection, `("n", module,
qualname)` a name, `("f", arity, body)` a small function."""

WireStatement = tuple[int, int, tuple[WireExpression, ...], tuple[tuple[str, WireExpression], ...], bool]
"""A statement as built-in values only."""

WireInputs = tuple[tuple[str, str, float], ...]
WireCall = tuple[int, bool, tuple[tuple[str, float], ...], WireInputs]
WireCalls = tuple[WireCall, ...]

WireTrace = tuple[
    Reached, Reached | None, WireCalls, tuple[Any, ...] | None, tuple[Any, ...], str, int, Infected | None
]
"""A trace as built-in values only: what was reached, what was reached directly (None if that was not recorded), calls,
raised, stops, failure, fuel, and what is infected (None if that was not recorded). Two traces are equal exactly when these
are."""


class ProtocolError(FitgymError):
    """What was read is not what a worker writes."""


def frame(token: bytes, payload: bytes) -> bytes:
    """One message as it goes over a pipe.

    Raises:
        ProtocolError: it is longer than `MAX_FRAME`.
    """
    if len(payload) > MAX_FRAME:
        raise ProtocolError(f"a frame of {len(payload)} bytes is longer than {MAX_FRAME}")
    return token + _LENGTH.pack(len(payload)) + payload


class FrameReader:
    """Cuts a stream of bytes into the payloads of its frames.

    Args:
        token: what every frame has to start with.
    """

    def __init__(self, token: bytes) -> None:
        self._token = token
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Append what has arrived.

        Raises:
            ProtocolError: it cannot be part of a frame.
        """
        self._buffer += data
        if self._buffer[:TOKEN_SIZE] != self._token[: len(self._buffer)]:
            raise ProtocolError("a frame does not start with the token")

    def next(self) -> bytes | None:
        """The payload of the next frame, None until it has arrived completely.

        Raises:
            ProtocolError: what has arrived is not a frame, or is longer than `MAX_FRAME`.
        """
        start = TOKEN_SIZE + _LENGTH.size
        if len(self._buffer) < start:
            return None
        if self._buffer[:TOKEN_SIZE] != self._token:
            raise ProtocolError("a frame does not start with the token")
        (length,) = _LENGTH.unpack_from(self._buffer, TOKEN_SIZE)
        if length > MAX_FRAME:
            raise ProtocolError(f"a frame of {length} bytes is longer than {MAX_FRAME}")
        if len(self._buffer) < start + length:
            return None
        payload = bytes(self._buffer[start : start + length])
        del self._buffer[: start + length]
        return payload


def dumps(message: object) -> bytes:
    """The payload for a message."""
    return pickle.dumps(message, protocol=5)


def read_trusted(payload: bytes) -> Any:
    """A message from the parent, read in the worker."""
    return pickle.loads(payload)


def read_untrusted(payload: bytes) -> Any:
    """A message from a worker, read in the parent; no code of anyone's choosing runs.

    A message of bounded size also takes bounded time and memory, see `opcodes.check`.

    Raises:
        ProtocolError: it cannot be read, is too expensive to read, or asks for a class that is not ours.
    """
    try:
        check(payload)
        return _Reader(io.BytesIO(payload)).load()
    except Exception as error:
        raise ProtocolError(f"a message cannot be read: {type(error).__name__}: {error}") from error


_OURS = frozenset(
    {
        "fitgym.subject.subject",
        "fitgym.subject.types.hints",
        "fitgym.testcase.expression",
        "fitgym.messages.observation",
    }
)


class _Reader(pickle.Unpickler):
    """Admits the dataclasses and named tuples of `_OURS` and nothing else by name."""

    def find_class(self, module: str, name: str) -> Any:
        if module in _OURS and name.isidentifier():
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and (dataclasses.is_dataclass(found) or issubclass(found, tuple)):
                return found
        raise ProtocolError(f"'{module}.{name}' is not admitted")


# --------------------------------------------------------------------------------------------------------- statements
# What names a class is slow to pickle; as plain tuples a statement costs a fraction of that.


def encode_statement(statement: Statement) -> WireStatement:
    """The statement as built-in values."""
    return (
        statement.operation,
        statement.receiver,
        tuple([encode_expression(argument) for argument in statement.args]),
        tuple([(name, encode_expression(argument)) for name, argument in statement.kwargs]),
        statement.iterate,
    )


def encode_expression(expression: Expression) -> WireExpression:
    """The expression as built-in values."""
    match expression:
        case Literal():
            return expression.text
        case Ref():
            return expression.position
        case Collection():
            return ("c", expression.kind, tuple([encode_expression(item) for item in expression.items]))
        case Name():
            return ("n", expression.module, expression.qualname)
        case Lambda():
            return ("f", expression.arity, encode_expression(expression.body))


# ------------------------------------------------------------------------------------------------------------- traces


def decode_trace(wire: WireTrace, calls: dict[Any, Call]) -> Trace:
    """The trace that a worker described.

    Args:
        wire: what the worker sent.
        calls: equal calls share one object; grows.

    Raises:
        ProtocolError: it does not describe a trace.
    """
    try:
        reached, direct, called, raised, stops, failure, fuel, infected = wire
        _check(reached)
        if direct is not None:
            _check(direct)
        if infected is not None:
            _check((*infected, b""))
        if type(failure) is not str or type(fuel) is not int:
            raise TypeError("failure or fuel is of another type")
        return Trace(
            reached,
            direct,
            tuple([calls.get(call) or calls.setdefault(call, Call(*call)) for call in called]),
            None if raised is None else Raised(*raised),
            tuple([Stop(*stop) for stop in stops]),
            failure,  # type: ignore[arg-type]
            fuel,
            infected,
        )
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"not a trace: {error}") from error


def _check(reached: Reached) -> None:
    sites, counts, distances = reached
    if not (type(sites) is type(counts) is type(distances) is bytes):
        raise TypeError("what was reached is not given as bytes")
    if len(sites) != len(counts) or len(sites) % 4 or len(distances) % 8:
        raise ValueError(f"{len(sites)} bytes of sites, {len(counts)} of counts, {len(distances)} of distances")
