"""The protocol: frames over pipes, and the messages that the parent accepts.

The parent trusts no data from a process in which the code under test runs. A frame starts with a token that was drawn
for this worker, so stray output is detected at its first byte. Its length is bounded. Its content is decoded by an
unpickler that accepts only built-in containers and a few of our own dataclasses, so reading runs no code.
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
    "MAX_REQUEST",
    "MUTATE",
    "REPORT",
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
"""A command from the parent to the zygote: a letter and a number, 0 if the command needs none."""

FORK: Final = b"F"
"""Hand out a fresh child."""

KILL: Final = b"K"
"""End the child with this process id."""

MAKE: Final = b"C"
"""Compile the mutant with this number for all children that are handed out from now on."""

MUTATE: Final = b"M"
"""Prepare all children that are handed out from now on for running mutants."""

WARM: Final = b"W"
"""Import modules for all later children. Their names follow; the number is their length in bytes."""

BROKEN: Final = 77
"""Exit status of a child that can no longer answer."""

MAX_FRAME: Final = 32 << 20
"""Maximal size of a frame in bytes. The largest valid one, the description of a module with 12,000 lines, has 2 MB."""

MAX_REQUEST: Final = 1 << 20
"""Maximal size of a request to the fork server in bytes."""

REPORT: Final = struct.Struct("<i")
"""A report about a forked worker: first its process id, then its exit code, negative for a signal as in `subprocess`."""

_NOTHING = (b"", b"", b"")
_LENGTH = struct.Struct("<I")

WireExpression = Any
"""An expression as built-in values.

A literal is its text, and a reference the position of its result. `("c", kind, items)` is a collection, `("n", module,
qualname)` a name, and `("f", arity, body)` a small function.
"""

WireStatement = tuple[int, int, tuple[WireExpression, ...], tuple[tuple[str, WireExpression], ...], bool]
"""A statement as built-in values only."""

WireInputs = tuple[tuple[str, str, float], ...]
WireCall = tuple[int, bool, tuple[tuple[str, float], ...], WireInputs]
WireCalls = tuple[WireCall, ...]

WireTrace = tuple[
    Reached, Reached | None, WireCalls, tuple[Any, ...] | None, tuple[Any, ...], str, int, Infected | None
]
"""A trace as built-in values only.

The parts: reached sites, directly reached sites (None if not recorded), calls, raised, stops, failure, fuel, and
infected sites (None if not recorded). Two traces are equal exactly when these are equal.
"""


class ProtocolError(FitgymError):
    """The data is not a valid message of a worker."""


def frame(token: bytes, payload: bytes) -> bytes:
    """Return a message as it is sent over a pipe.

    Raises:
        ProtocolError: the payload is longer than `MAX_FRAME`.
    """
    if len(payload) > MAX_FRAME:
        raise ProtocolError(f"a frame of {len(payload)} bytes is longer than {MAX_FRAME}")
    return token + _LENGTH.pack(len(payload)) + payload


class FrameReader:
    """Splits a stream of bytes into the payloads of its frames.

    Args:
        token: the first bytes of every frame.
    """

    def __init__(self, token: bytes) -> None:
        self._token = token
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Append received data.

        Raises:
            ProtocolError: the data cannot be part of a frame.
        """
        self._buffer += data
        if self._buffer[:TOKEN_SIZE] != self._token[: len(self._buffer)]:
            raise ProtocolError("a frame does not start with the token")

    def next(self) -> bytes | None:
        """Return the payload of the next frame, None until it has arrived completely.

        Raises:
            ProtocolError: the data is not a frame, or the frame is longer than `MAX_FRAME`.
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
    """Return the payload for a message."""
    return pickle.dumps(message, protocol=5)


def read_trusted(payload: bytes) -> Any:
    """Decode a message from the parent, in the worker."""
    return pickle.loads(payload)


def read_untrusted(payload: bytes) -> Any:
    """Decode a message from a worker, in the parent. Runs no code that the message could choose.

    A message of bounded size also takes bounded time and memory, see `opcodes.check`.

    Raises:
        ProtocolError: the message cannot be read, is too expensive to read, or names a class that is not in `_OURS`.
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
    """Allows the dataclasses and named tuples of `_OURS`, and no other classes."""

    def find_class(self, module: str, name: str) -> Any:
        if module in _OURS and name.isidentifier():
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and (dataclasses.is_dataclass(found) or issubclass(found, tuple)):
                return found
        raise ProtocolError(f"'{module}.{name}' is not allowed")


# --------------------------------------------------------------------------------------------------------- statements
# Pickling instances of classes is slow; a statement as plain tuples costs a fraction of that.


def encode_statement(statement: Statement) -> WireStatement:
    """Encode a statement as built-in values."""
    return (
        statement.operation,
        statement.receiver,
        tuple([encode_expression(argument) for argument in statement.args]),
        tuple([(name, encode_expression(argument)) for name, argument in statement.kwargs]),
        statement.iterate,
    )


def encode_expression(expression: Expression) -> WireExpression:
    """Encode an expression as built-in values."""
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
    """Decode a trace from a worker.

    Args:
        wire: the trace as it was sent.
        calls: cache, so that equal calls share one object; it is extended.

    Raises:
        ProtocolError: the data is not a trace.
    """
    try:
        reached, direct, called, raised, stops, failure, fuel, infected = wire
        _check(reached)
        if direct is not None:
            _check(direct)
        if infected is not None:
            _check((*infected, b""))
        if type(failure) is not str or type(fuel) is not int:
            raise TypeError("failure or fuel has the wrong type")
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
        raise TypeError("sites, counts and distances must be bytes")
    if len(sites) != len(counts) or len(sites) % 4 or len(distances) % 8:
        raise ValueError(f"{len(sites)} bytes of sites, {len(counts)} of counts, {len(distances)} of distances")
