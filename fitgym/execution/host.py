"""The host: starts the worker process of a subject, and replaces it after it has ended."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

from fitgym.errors import ExecutionError
from fitgym.execution.child import Child, Writes
from fitgym.execution.launch import Launch, launch
from fitgym.execution.zygote import Zygote
from fitgym.messages.limits import Limits
from fitgym.messages.protocol import ProtocolError
from fitgym.subject.subject import Reference, Subject

__all__ = ["Host"]

_MOST_RESTARTS = 5  # of the worker process in a row, with no result in between


class Host:
    """Keeps a worker process for one subject.

    The host starts the worker when it is first needed. It starts another one after the worker was closed, and in a fork
    of the process that had started it.

    Args:
        reference: the subject.
        limits: resource limits of one test case.
        start: starts a worker process; not kept in copies.

    Attributes:
        infection: the code has infection probes.
        timings: seconds of wall time spent on starting workers ("start") and on running ("run").
    """

    def __init__(self, reference: Reference, limits: Limits, start: Launch = launch) -> None:
        self.infection = False
        self.reference = reference
        self.limits = limits
        self.timings: dict[str, float] = {"start": 0.0, "run": 0.0}
        self._subject: Subject | None = None
        self._tried_mutants: tuple[int, ...] = ()
        self._reset_worker(start)

    def _reset_worker(self, start: Launch = launch) -> None:
        self._start = start
        self._zygote: Zygote | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None
        self._lock = threading.RLock()
        self._restarts = 0
        # A child that has only verified and whose state is as it was after the import.
        self._verifier: tuple[Zygote, Child] | None = None

    def start(self) -> None:
        """Start the worker if there is none. Does not wait: the worker imports the subject in the background."""
        with self._lock:
            self._started()

    @property
    def subject(self) -> Subject:
        """The description of the code under test. Starts the worker if it has not been described yet.

        Raises:
            SubjectError: the subject cannot be imported; the attribute `traceback` has the traceback as text.
        """
        with self._lock:
            if self._subject is None:
                self._running()
            assert self._subject is not None
            return self._subject

    @property
    def import_seconds(self) -> float:
        """Wall time of the last worker start in seconds, including the import; 0.0 before the first start."""
        return self._zygote.seconds if self._zygote is not None else self.timings["start"]

    def close(self) -> None:
        """End the worker and all its descendants. Does nothing if there is no worker. The next run starts a new one."""
        with self._lock:
            zygote, self._zygote = self._zygote, None
            if self._finalizer is not None:
                self._finalizer.detach()
                self._finalizer = None
            if zygote is not None:
                zygote.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _running(self) -> Zygote:
        """Return the worker after it has described the subject."""
        zygote = self._started()
        if zygote.seconds == 0.0:
            try:
                self._subject = zygote.subject
            except Writes:
                self.reference = replace(self.reference, writes=True)
                return self._running()
            self.timings["start"] += zygote.seconds
        return zygote

    def _started(self) -> Zygote:
        """Return the worker. Starts one if this process has none."""
        if self._zygote is None or not self._zygote.is_ours:
            if self._zygote is not None:
                self.close()
            self._restarts += 1
            if self._restarts > _MOST_RESTARTS:
                raise ExecutionError(
                    f"the worker for '{self.reference.text}' died {_MOST_RESTARTS} times without a test case to blame"
                )
            zygote = Zygote(self.reference, self.limits, infection=self.infection, start=self._start)
            self._finalizer = weakref.finalize(self, _close, zygote)
            self._zygote = zygote
        return self._zygote

    def _ready(self, fresh: bool, mutants: bool) -> tuple[Zygote, Child]:
        """Return the worker and a waiting child, which runs mutants if `mutants`. Replaces both if they have ended.

        Raises:
            ExecutionError: the worker keeps dying.
        """
        while True:
            zygote = self._running()
            try:
                if mutants:
                    zygote.mutate()
                    zygote.make(self._tried_mutants)
                return zygote, zygote.ready(fresh)
            except (ExecutionError, ProtocolError, OSError):  # `_started` limits how often this may happen
                zygote.close(patience=0.0)

    def _retire(self) -> None:
        if self._zygote is not None and self._zygote.is_ours:
            self._zygote.retire()

    @contextlib.contextmanager
    def _parked(self, *, verifies: bool) -> Iterator[None]:
        """Run the block in fresh processes. The current child keeps its statements and is used again afterwards.

        Args:
            verifies: the block verifies. A child that has only verified, and whose state is as it was after the import,
                may be used instead of a fresh one.
        """
        zygote = self._zygote if self._zygote is not None and self._zygote.is_ours else None
        parked = None if zygote is None else zygote.park()
        if verifies and zygote is not None and self._verifier is not None and self._verifier[0] is zygote:
            zygote.resume(self._verifier[1])
            self._verifier = None
        try:
            yield
        finally:
            if zygote is not None and zygote.is_ours:
                if verifies and zygote.child is not None:
                    self._verifier = zygote, zygote.child
                    zygote.park()
                if parked is not None:
                    zygote.resume(parked)

    def _drop_verifier(self) -> None:
        if self._verifier is not None and self._verifier[0].is_ours:
            self._verifier[0].resume(self._verifier[1])
            self._verifier[0].retire()
        self._verifier = None


def _close(zygote: Zygote) -> None:
    """Close the zygote. Called when the executor is collected and at interpreter exit."""
    if zygote.is_ours or os.getpid() != zygote._owner:
        zygote.close()
