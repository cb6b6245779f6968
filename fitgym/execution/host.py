"""The host: starts the worker process of a subject, and replaces it when it has ended."""

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
from fitgym.execution.zygote import Zygote
from fitgym.messages.limits import Limits
from fitgym.messages.protocol import ProtocolError
from fitgym.subject.subject import Reference, Subject

__all__ = ["Host"]

_MOST_RESTARTS = 5  # of the worker process in a row, with nothing done in between


class Host:
    """Keeps a worker process for one subject.

    The host starts the worker when it is first needed. It starts another one after the worker was closed, and in a fork
    of the process that had started it.

    Args:
        reference: the subject.
        limits: what one test case may use.

    Attributes:
        infection: the code has probes that tell which mutants are infected.
        timings: seconds of wall time spent on starting workers ("start") and on running ("run").
    """

    def __init__(self, reference: Reference, limits: Limits) -> None:
        self.infection = False
        self.reference = reference
        self.limits = limits
        self.timings: dict[str, float] = {"start": 0.0, "run": 0.0}
        self._subject: Subject | None = None
        self._tried_mutants: tuple[int, ...] = ()
        self._reset_worker()

    def _reset_worker(self) -> None:
        self._zygote: Zygote | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None
        self._lock = threading.RLock()
        self._restarts = 0
        self._verifier: tuple[Zygote, Child] | None = None  # has verified and is as it was after the import

    def start(self) -> None:
        """Start the worker if there is none, and do not wait for it: it imports the subject meanwhile."""
        with self._lock:
            self._started()

    @property
    def subject(self) -> Subject:
        """What is known about the code under test; starts the worker if nothing is known yet.

        Raises:
            SubjectError: the subject cannot be imported; its own traceback, as text, is in the attribute `traceback`.
        """
        with self._lock:
            if self._subject is None:
                self._running()
            assert self._subject is not None
            return self._subject

    @property
    def import_seconds(self) -> float:
        """Wall time that the last start of the worker took, the import included; 0.0 before the first one."""
        return self._zygote.seconds if self._zygote is not None else self.timings["start"]

    def close(self) -> None:
        """End the worker and everything below it; harmless when there is none. The next run starts another one."""
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
        """The worker when it has described the subject."""
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
        """The worker, started if there is none of ours."""
        if self._zygote is None or not self._zygote.is_ours:
            if self._zygote is not None:
                self.close()
            self._restarts += 1
            if self._restarts > _MOST_RESTARTS:
                raise ExecutionError(
                    f"the worker for '{self.reference.text}' died {_MOST_RESTARTS} times without a test case to blame"
                )
            zygote = Zygote(self.reference, self.limits, infection=self.infection)
            self._finalizer = weakref.finalize(self, _close, zygote)
            self._zygote = zygote
        return self._zygote

    def _ready(self, fresh: bool, mutants: bool) -> tuple[Zygote, Child]:
        """The worker with a child that waits for a request, one for mutants; both are replaced if they are gone.

        Raises:
            ExecutionError: they do not stay alive.
        """
        while True:
            zygote = self._running()
            try:
                if mutants:
                    zygote.mutate()
                    zygote.make(self._tried_mutants)
                return zygote, zygote.ready(fresh)
            except (ExecutionError, ProtocolError, OSError):  # how often that may happen is counted in `_running`
                zygote.close(patience=0.0)

    def _retire(self) -> None:
        if self._zygote is not None and self._zygote.is_ours:
            self._zygote.retire()

    @contextlib.contextmanager
    def _parked(self, *, verifies: bool) -> Iterator[None]:
        """Let fresh processes work inside the block; the child that worked before keeps its statements and goes on after.

        Args:
            verifies: a child that has only verified, and was found as it was after the import, is as good as a fresh one.
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
    """Runs when the executor is collected, and at the end of the interpreter."""
    if zygote.is_ours or os.getpid() != zygote._owner:
        zygote.close()
