"""The validator: a process that validates records one by one and is killed if one exceeds the time limit."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Final, Self

from fitgym.errors import InputError
from fitgym.sandbox.sandbox import die_with_parent
from fitgym.study.validation import Claim, Validity, validate

__all__ = ["LIMIT_S", "Validator"]

LIMIT_S: Final = 1800.0
"""Default time limit for each record, in seconds."""

LONGEST_S: Final = 1e6
"""Maximal limit in seconds: `poll` accepts at most 24 days."""


class Validator:
    """Validates records in a separate process, with a time limit for each.

    Args:
        limit: seconds for one record.

    Raises:
        InputError: the limit is not above 0.
    """

    def __init__(self, limit: float = LIMIT_S) -> None:
        if not 0.0 < limit <= LONGEST_S:
            raise InputError(f"the limit is {limit:g} seconds; expected a number above 0, such as 600")
        self.limit = limit
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def validate(self, claim: Claim) -> Validity:
        """Validate a claim; it is not valid if this takes longer than the limit."""
        try:
            pipe = self._pipe or self._start()
            pipe.send(claim)
            if pipe.poll(self.limit):
                found: Validity = pipe.recv()
                return found
            why = f"cannot be repeated within {self.limit:g} s; raise --limit if the run may take longer"
        except RecursionError:  # nothing was sent
            return Validity(claim, ("cannot be repeated: the record is nested too deeply",))
        except (EOFError, OSError):
            why = "cannot be repeated: the process died"
        except BaseException:
            self.close()
            raise
        self.close()
        return Validity(claim, (why,))

    def close(self) -> None:
        """Kill the process, and with it its workers; may be called twice."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), name="validator")
        self._process.start()
        theirs.close()
        self._pipe.recv()  # wait for its imports, which do not count for the limit
        return self._pipe


def _serve(pipe: Connection) -> None:
    """Validate claims until the other end is closed."""
    die_with_parent()
    os.setsid()  # Ctrl-C reaches only the parent, which kills this process
    with contextlib.suppress(EOFError, BrokenPipeError):
        pipe.send(None)
        while True:
            pipe.send(validate(pipe.recv()))
