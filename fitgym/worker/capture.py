"""Capture: collects what a test case prints, logs and warns of, as `capsys`, `caplog` and `pytest.warns` do."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable
from typing import Any

from fitgym.messages.captured import Captured

__all__ = ["Capture"]

_MOST = 1 << 16  # bytes of one stream; the rest is dropped


class Capture:
    """Replaces `sys.stdout`, `sys.stderr`, the handlers of the root logger and the warnings until `end` is called.

    The subject may close or replace the streams; its own replacements stay.

    Args:
        position: returns the position of the statement that runs.
    """

    def __init__(self, position: Callable[[], int]) -> None:
        self._before: tuple[Any, Any] = (sys.stdout, sys.stderr)
        self._streams = (_Stream(self._before[0]), _Stream(self._before[1]))
        sys.stdout, sys.stderr = self._streams
        self._handler = _Handler()
        self._logging: Any = sys.modules.get("logging")
        if self._logging is not None:
            self._logging.root.handlers.append(self._handler)
        self._position = position
        self._warned: list[tuple[int, type[Warning], str]] = []
        self._warnings = warnings.catch_warnings(action="always")
        self._warnings.__enter__()
        warnings.showwarning = self._note

    def end(self) -> Captured:
        """Restore the streams and the logger, and return the output."""
        for name, stream, before in zip(("stdout", "stderr"), self._streams, self._before, strict=True):
            if getattr(sys, name, None) is stream:
                setattr(sys, name, before)
        if self._logging is not None:
            with contextlib.suppress(ValueError, AttributeError):
                self._logging.root.handlers.remove(self._handler)
        self._warnings.__exit__(None, None, None)
        last = self._position()
        warned = [(category, text) for position, category, text in self._warned if position == last]
        out, err = (stream.text() for stream in self._streams)
        return Captured(out, err, self._handler.messages, warned)

    def _note(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        """Keep a warning instead of printing it."""
        self._warned.append((self._position(), category, str(message)))


class _Buffer(io.BytesIO):
    """Keeps the first 64 KiB and drops the rest."""

    def write(self, data: Any) -> int:
        return super().write(data) if self.tell() < _MOST else len(data)


class _Stream(io.TextIOWrapper):
    """A text stream in memory with the descriptor of the stream that it replaces."""

    def __init__(self, before: Any) -> None:
        self._kept = _Buffer()
        self._instead_of = before
        super().__init__(self._kept, encoding="utf-8", newline="", write_through=True)

    def fileno(self) -> int:
        found: int = self._instead_of.fileno()
        return found

    def text(self) -> str:
        """Return the text written so far, "" if the subject has closed the stream."""
        try:
            return self._kept.getvalue().decode("utf-8", "replace")
        except ValueError:
            return ""


class _Handler:
    """The part of `logging.Handler` that loggers use; `logging` itself may not be loaded.

    Tests compare warnings and above, whatever level a project's settings give to pytest.
    """

    level = 30  # logging.WARNING

    def __init__(self) -> None:
        self.messages: list[str] = []

    def handle(self, record: Any) -> bool:
        """Keep the message of a record."""
        with contextlib.suppress(Exception):  # arguments that do not fit the message; pytest would fail the test
            self.messages.append(str(record.getMessage()))
        return True

    def close(self) -> None:
        """Do nothing: there is no file."""

    flush = acquire = release = createLock = close
