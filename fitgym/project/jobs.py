"""Jobs: processes that generate suites in parallel."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, Any, Self

__all__ = ["Job", "Jobs"]

COMMAND = [sys.executable, "-m", "fitgym.project.job"]

PATIENCE_S = 0.5
"""Seconds to wait for lines of jobs before polling them again."""


class Job:
    """A process that generates the suite of one module at a time, see `fitgym.project.job`.

    Attributes:
        module: the name of the module in progress, "" for none.
    """

    def __init__(self) -> None:
        self.module = ""
        self._pending = b""
        # A file, because a job would block on a full pipe that nobody reads.
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `close`)
        self._process = subprocess.Popen(
            [*COMMAND, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # or Ctrl-C would reach it twice: from the terminal and by `interrupt`
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, self.output = self._process.stdin, self._process.stdout
        # `read` must not wait for a job that has written nothing.
        os.set_blocking(self.output.fileno(), False)

    def begin(self, module: str, request: Mapping[str, Any]) -> None:
        """Send a request to the process."""
        self.module = module
        with contextlib.suppress(BrokenPipeError):  # `read` reports that the process has ended
            self._input.write(json.dumps(request).encode() + b"\n")
            self._input.flush()

    def read(self, ended: bool) -> Iterator[dict[str, Any]]:
        """Yield the lines written so far.

        Args:
            ended: the process ended before this call: an error with the last line of stderr follows.
        """
        chunk = b""
        with contextlib.suppress(BlockingIOError):
            while chunk := self.output.read(1 << 16) or b"":
                self._pending += chunk
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines:
            yield json.loads(line)
        if ended:
            yield {"error": f"its process ended with code {self._process.returncode}{self._last_words()}"}

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def interrupt(self) -> None:
        """Tell the process to finish with its current result."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.output.close()
        self._errors.close()

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().split("\n")
        return f": {lines[-1]}" if lines[-1] else ""


class Jobs:
    """Several jobs; they are closed at the end of the `with` block.

    Args:
        limit: maximal number of parallel jobs.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._jobs: list[Job] = []
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for job in self._jobs:
            job.close()
        self._selector.close()

    @property
    def busy(self) -> list[Job]:
        """The jobs with a module in progress."""
        return [job for job in self._jobs if job.module]

    def begin(self, module: str, request: Mapping[str, Any]) -> None:
        """Send a request to a free job or a new one; `room` must be true."""
        job = next((one for one in self._jobs if not one.module), None)
        if job is None:
            assert len(self._jobs) < self._limit, "all jobs are busy"
            job = Job()
            self._jobs.append(job)
            self._selector.register(job.output, selectors.EVENT_READ, job)
        job.begin(module, request)

    @property
    def room(self) -> bool:
        """Whether another request can begin."""
        return len(self.busy) < self._limit

    def answers(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Wait for lines, and yield each with the name of its module; jobs that have ended are removed."""
        for key, _ in self._selector.select(PATIENCE_S):
            job: Job = key.data
            ended = job.ended  # asked once: a process may end while its lines are read
            for line in job.read(ended):
                yield job.module, line
                if "error" in line or "record" in line:
                    job.module = ""
            if ended:
                self._selector.unregister(job.output)
                self._jobs.remove(job)
                job.close()

    def interrupt(self) -> None:
        """Tell all jobs to finish with their current results."""
        for job in self.busy:
            job.interrupt()
