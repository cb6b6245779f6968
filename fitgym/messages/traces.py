"""Traces: decodes each trace once. Equal traces share one object, and so do equal calls in them."""

from __future__ import annotations

import weakref
from typing import Any

from fitgym.instrument.trace import Call, Trace
from fitgym.messages.protocol import ProtocolError, decode_trace

__all__ = ["Traces"]

_MOST_CALLS = 10_000  # cached calls


class Traces:
    """Decodes traces of workers and reuses decoded traces that still exist."""

    def __init__(self) -> None:
        self._traces: weakref.WeakValueDictionary[Any, Trace] = weakref.WeakValueDictionary()
        self._calls: dict[Any, Call] = {}

    def decoded(self, wire: Any) -> Trace:
        """Decode a trace from a worker. Raises `ProtocolError` if the data is not a trace."""
        try:
            trace = self._traces.get(wire)
        except TypeError as error:
            raise ProtocolError(f"not a trace: {error}") from error
        if trace is None:
            if len(self._calls) >= _MOST_CALLS:
                self._calls.clear()
            trace = self._traces[wire] = decode_trace(wire, self._calls)
        return trace
