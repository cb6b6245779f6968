"""The parent's view of the worker: a zygote that has imported the subject, and the child it forked last.

The zygote is started with `subprocess`, not with `multiprocessing`: an environment inside a vector worker is daemonic
and may not have `multiprocessing` children. Ctrl-C does not reach its session. It ends when the parent ends.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fitgym.errors import ExecutionError, OutOfBudget, SubjectError
from fitgym.execution.child import Broken, Child, Writes
from fitgym.execution.launch import Launch, launch
from fitgym.execution.timekeeper import LOOK_S, Timekeeper
from fitgym.execution.waiting import readable, signal_name
from fitgym.instrument.trace import Failure
from fitgym.messages.journal import Journal
from fitgym.messages.limits import Limits
from fitgym.messages.news import read_news
from fitgym.messages.protocol import (
    BROKEN,
    COMMAND,
    FORK,
    KILL,
    MAKE,
    MUTATE,
    TOKEN_SIZE,
    WARM,
    FrameReader,
    ProtocolError,
    dumps,
    frame,
)
from fitgym.messages.watched import Watched
from fitgym.sandbox.environment import marked
from fitgym.sandbox.folder import Folder
from fitgym.subject.subject import Reference, Subject

__all__ = ["Zygote"]


_MOST_IMPORTED = 5000  # modules
_MOST_MADE = 100  # mutants per request; each takes a few milliseconds
_PATIENCE_S = 10.0  # for an answer of the zygote itself, which never runs a test case
_FLOOD_S = 1.0  # for messages that arrived before the deadline; a hostile import may never stop sending
_EXIT_S = 0.2  # a child that has closed its socket may still be exiting, and its exit status is needed
_RECEIVE = 1 << 16  # bytes; a larger buffer is mapped and unmapped for each call


class Zygote:
    """Starts the worker process, which imports the subject in the background.

    Args:
        reference: the subject.
        limits: resource limits of one test case.
        infection: insert infection probes into the code.
        start: starts the process.

    Attributes:
        seconds: wall time from the start until the subject was described; 0.0 before.
        child: the child that was forked last, None if it has ended.

    Raises:
        ExecutionError: the worker itself does not start.
    """

    def __init__(
        self, reference: Reference, limits: Limits, *, infection: bool = False, start: Launch = launch
    ) -> None:
        self.seconds = 0.0
        self.child: Child | None = None
        self._parked: list[Child] = []
        self._mutates = False
        self._made: set[int] = set()  # numbers of mutants
        self._watched = Watched()
        self._imported: dict[str, bool] = {}  # modules that children imported; True if the zygote did too
        self._started = time.monotonic()
        self._reference = reference
        self._subject: Subject | None = None
        self._owner = os.getpid()
        self._limits = limits
        self._token = secrets.token_bytes(TOKEN_SIZE)  # all descendants can read it in their environment
        self._seal = secrets.token_bytes(TOKEN_SIZE)  # starts every frame; not in the environment
        self._closed = False
        self._folder = Folder()
        home = os.path.join(self._folder.path, "home")
        os.mkdir(home)
        memory = Journal.create()
        self._control, theirs = socket.socketpair()
        try:
            self.journal = Journal(memory)
            self.journal.reset()
            errors = os.path.join(self._folder.path, "errors")
            self._process = start((theirs.fileno(), memory), home, errors, self._token.hex())
        except BaseException:
            self._control.close()
            self._folder.remove()
            raise
        finally:
            theirs.close()
            os.close(memory)
        self._reader = FrameReader(self._seal)
        self._descriptors: list[int] = []
        self._ending: set[int] = set()  # process ids of children that were told to end
        self._gone: dict[int, int] = {}  # wait status of children that ended by themselves
        try:
            path = [*reference.search_path, *(os.path.abspath(entry) for entry in sys.path)]
            self._send(self._seal + frame(self._seal, dumps((reference, limits, infection, home, path))))
        except BaseException:
            self.close()
            raise

    @property
    def subject(self) -> Subject:
        """The worker's description of the subject. Waits until it is available.

        Raises:
            SubjectError: the subject cannot be imported; the attribute `traceback` has the traceback as text.
            ExecutionError: the worker itself does not start.
            Writes: the import writes files, so a new worker with an overlay is needed.
        """
        if self._subject is None:
            try:
                self._subject = self._introduction(self._started + self._limits.import_seconds)
            except BaseException:
                self.close()
                raise
            self.seconds = time.monotonic() - self._started
        return self._subject

    @property
    def is_ours(self) -> bool:
        """True if this process started the zygote and has not closed it; False in a fork of that process."""
        return not self._closed and self._owner == os.getpid()

    def fork(self) -> Child:
        """Fork a fresh child and return it. Ends the previous child.

        Raises:
            ExecutionError: the zygote has ended or cannot fork.
            TimeoutError: it does not answer.
            ProtocolError: it answers something else.
        """
        self.retire()
        try:
            self._warm()
            self._send(COMMAND.pack(FORK, 0))
            message = self._hear(time.monotonic() + _PATIENCE_S)
            if message[0] != "child" or not self._descriptors:
                raise ExecutionError(f"the worker process cannot fork: {message[1]}")
            self.child = Child(message[1], socket.socket(fileno=self._descriptors.pop(0)), self._seal, self._watched)
        except BaseException:  # an interrupt too
            # Otherwise the unread answer would be taken for the answer to the next command.
            self.close(patience=0.0)
            raise
        return self.child

    def ready(self, fresh: bool) -> Child:
        """Return the child after all ended children are gone. Forks a new one if there is none or it is not `fresh`.

        Args:
            fresh: the child must not have received a request yet.

        Raises:
            ExecutionError, TimeoutError, ProtocolError: as in `fork`.
        """
        deadline = time.monotonic() + _PATIENCE_S
        while self._ending:  # the supervisor also removes their files from the private folder
            self._hear(deadline, news=True)
        if self.child is None or (fresh and not self.child.fresh):
            return self.fork()
        return self.child

    def mutate(self) -> None:
        """Prepare the zygote for running mutants, once. Ends a child that was forked before.

        Raises:
            ExecutionError: the zygote has ended.
        """
        if not self._mutates:
            self._mutates = True
            self.retire()
            self._send(COMMAND.pack(MUTATE, 0))

    def make(self, numbers: Iterable[int]) -> None:
        """Compile mutants in the zygote, once for all later children. Does nothing while there is a child.

        The existing child compiles its own mutants. At most `_MOST_MADE` mutants are compiled at once, because the
        zygote does not answer meanwhile.

        Raises:
            ExecutionError: the zygote has ended.
        """
        if self.child is not None:
            return
        new = [number for number in dict.fromkeys(numbers) if number not in self._made][:_MOST_MADE]
        if new:
            self._made.update(new)
            self._send(b"".join(COMMAND.pack(MAKE, number) for number in new))

    def note_imports(self, names: Iterable[str]) -> None:
        """Record modules that a child imported, so that the zygote imports them before the next fork; see `warming`."""
        for name in names if len(self._imported) < _MOST_IMPORTED else ():
            self._imported.setdefault(name, False)

    def _warm(self) -> None:
        """Let the zygote import each module that children have imported, before the next fork."""
        new = [name for name, done in self._imported.items() if not done]
        if new:
            self._imported.update(dict.fromkeys(new, True))
            text = "\n".join(new).encode()
            self._send(COMMAND.pack(WARM, len(text)) + text)
            message = self._hear(time.monotonic() + _PATIENCE_S + self._limits.import_seconds)
            if message[0] == "warm" and message[1]:  # the zygote took a new snapshot
                self._watched = Watched()

    def park(self) -> Child | None:
        """Set the current child aside and return it. `resume` makes it current again."""
        parked, self.child = self.child, None
        if parked is not None:
            self._parked.append(parked)
        return parked

    def resume(self, parked: Child) -> None:
        """End the current child and continue with a parked one."""
        self.retire()
        if parked in self._parked:  # it was not ended meanwhile
            self._parked.remove(parked)
            if parked.pid in self._gone:
                parked.connection.close()
            else:
                self.child = parked

    def ask(self, payload: bytes, n_items: int, deadline: float | None = None, seconds: float | None = None) -> bytes:
        """Send a request to the child and wait for its answer.

        Args:
            payload: the request.
            n_items: number of test cases in it.
            deadline: a value of `time.monotonic` after which the parent stops waiting.
            seconds: time limit of one test case; None for `Limits.seconds`.

        Raises:
            Broken: the child died, hung or wrote an invalid answer.
            OutOfBudget: the deadline passed; the child cannot be used again.
        """
        if deadline is not None and time.monotonic() >= deadline:
            raise OutOfBudget("the deadline has passed")
        child = self.child
        assert child is not None, "ask a child after fork()"
        child.fresh = False
        self.journal.reset()
        try:
            child.connection.sendall(frame(self._seal, payload))
            return self._answer(child, deadline, self._limits.seconds if seconds is None else seconds, n_items)
        except ProtocolError:
            raise self._broken(child, "crash", forged=True) from None
        except (ExecutionError, OSError):
            raise self._broken(child, "crash") from None

    def retire(self) -> None:
        """Tell the zygote to end the child. Does not wait; `ready` does."""
        child, self.child = self.child, None
        if child is None:
            return
        child.connection.close()
        if self._gone.pop(child.pid, None) is None:
            with contextlib.suppress(ExecutionError):  # the next request will raise it
                self._send(COMMAND.pack(KILL, child.pid))
            self._ending.add(child.pid)  # `ready` waits only for children that were told to end

    def close(self, patience: float = 2.0) -> None:
        """End the worker and everything below it, and remove its folder; a second call does nothing.

        Args:
            patience: seconds to wait for the worker to exit before it is killed. Not used while it imports, because it
                does not read commands then.
        """
        if self._closed:
            return
        self._closed = True
        if self._owner != os.getpid():  # a fork of the owner: close the copies but leave the worker running
            self._folder.forget()
            self._control.close()
            self._disconnect()
            return
        try:
            self._disconnect()
            self._control.close()  # the zygote reads the end of the stream, kills its descendants and exits
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience if self._subject is not None else 0.0)
        finally:
            self._kill_all()
            self.journal.close()
            self._folder.remove()

    def _disconnect(self) -> None:
        """Close the connections to all children, including parked ones."""
        for child in (*self._parked, *([] if self.child is None else [self.child])):
            child.connection.close()
        while self._descriptors:
            os.close(self._descriptors.pop())
        self._parked, self.child = [], None

    # ---------------------------------------------------------------------------------------------------- starting

    def _introduction(self, deadline: float) -> Subject:
        """Wait for the description of the subject."""
        reference = self._reference
        importing = False
        while True:
            try:
                message = self._receive(deadline)
            except TimeoutError:
                raise _subject_error(
                    f"importing '{reference.module}' did not finish within {self._limits.import_seconds:g} s; "
                    "does it wait for something, or start a program at module level?"
                ) from None
            except (ProtocolError, OSError) as error:
                raise _subject_error(f"importing '{reference.module}' disturbed the worker: {error}") from None
            if message is None:
                raise self._ended_early(importing)
            if message[0] == "importing":
                importing = True
            elif message[0] == "ready" and isinstance(message[1], Subject):
                return message[1]
            elif message[0] == "writes":
                raise Writes
            elif message[0] == "failed":
                raise _subject_error(str(message[1]), str(message[2]))

    def _ended_early(self, importing: bool) -> Exception:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2.0)
        status = self._process.poll()
        if not importing:
            return ExecutionError(f"the worker process does not start: {self._errors() or f'status {status}'}")
        if status is not None and status < 0:
            return _subject_error(f"importing '{self._reference.module}' crashed the process ({signal_name(-status)})")
        return _subject_error(f"importing '{self._reference.module}' ended the process (exit status {status})")

    def _errors(self) -> str:
        """Return the last line that the worker wrote to stderr before it began to import."""
        try:
            return Path(self._folder.path, "errors").read_text(errors="replace").strip().rpartition("\n")[2]
        except OSError:
            return ""

    # ------------------------------------------------------------------------------------------------ conversation

    def _send(self, data: bytes) -> None:
        try:
            self._control.sendall(data)
        except OSError as error:
            raise ExecutionError(f"the worker process has ended: {self._errors() or error}") from None

    def _receive(self, deadline: float) -> Any:
        """Return the next message of the zygote, None at the end of the stream. Stores received descriptors.

        Raises:
            TimeoutError: there was no message before the deadline.
            ProtocolError: the data is not a message.
        """
        while True:
            payload = self._reader.next()
            if payload is not None and time.monotonic() <= deadline + _FLOOD_S:
                return read_news(payload)
            left = deadline - time.monotonic()
            if left < -_FLOOD_S or not readable([self._control.fileno()], left):
                raise TimeoutError
            data, descriptors, _, _ = socket.recv_fds(self._control, _RECEIVE, 1)
            self._descriptors += descriptors
            if len(self._descriptors) > 1:
                raise ProtocolError("received more descriptors than children")
            if not data:
                return None
            self._reader.feed(data)

    def _hear(self, deadline: float, news: bool = False) -> tuple[Any, ...]:
        """Return the zygote's next message. Skips messages about ended children unless `news`, but records them.

        Raises:
            ExecutionError: the zygote has ended.
            TimeoutError, ProtocolError: as in `_receive`.
        """
        while True:
            message: tuple[Any, ...] | None = self._receive(deadline)
            if message is None:
                raise ExecutionError(f"the worker process has ended: {self._errors() or 'no message'}")
            if message[0] != "gone":
                return message
            _, pid, status = message
            if pid in self._ending:
                self._ending.discard(pid)
            else:
                self._gone[pid] = status
            if news:
                return message

    def _answer(self, child: Child, deadline: float | None, limit: float, n_items: int) -> bytes:
        """Wait for the child's answer and watch the journal for timeouts."""
        ours, zygotes = child.connection.fileno(), self._control.fileno()
        poll = select.poll()
        poll.register(ours, select.POLLIN)
        poll.register(zygotes, select.POLLIN)
        keeper, look = Timekeeper(self.journal, child.pid, limit, n_items), LOOK_S
        while True:
            ready = [descriptor for descriptor, _ in poll.poll(1000 * look)]
            if ours in ready:
                data = child.connection.recv(_RECEIVE)
                if not data:
                    raise self._broken(child, "crash")
                child.reader.feed(data)
                payload = child.reader.next()
                if payload is not None:
                    return payload
            elif zygotes in ready:
                with contextlib.suppress(TimeoutError):
                    self._hear(time.monotonic(), news=True)
                if child.pid in self._gone:
                    raise self._broken(child, "crash")
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                raise OutOfBudget("the deadline has passed")
            wrong, look = keeper.look(now)
            if wrong:
                raise self._broken(child, "timeout", forged=wrong == "forged")

    def _broken(self, child: Child, failure: Failure, *, forged: bool = False) -> Broken:
        """End the child and describe how it broke. A forged journal is not read."""
        running, last, position = self.journal.running, self.journal.last, self.journal.position
        status = self._end_child(child, patience=0.0 if failure == "timeout" or forged else _EXIT_S)
        if forged:
            self._end_parked()  # a thread in one of them may have written into the journal
            return Broken(failure, forged=True)
        if failure != "timeout" and status is not None:
            if os.WIFEXITED(status) and os.WEXITSTATUS(status) != BROKEN:
                failure = "exit"
            elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
                failure = "timeout"
        return Broken(failure, running, last, position)

    def _end_child(self, child: Child, patience: float) -> int | None:
        """Kill the child unless it exits in time. Return its wait status, None if the zygote does not report it."""
        self.child = None
        child.connection.close()
        try:
            try:
                return self._wait_gone(child, time.monotonic() + patience)
            except TimeoutError:
                self._send(COMMAND.pack(KILL, child.pid))
                return self._wait_gone(child, time.monotonic() + _PATIENCE_S)
        except (TimeoutError, ProtocolError, ExecutionError, OSError):
            self.close()
            return None

    def _end_parked(self) -> None:
        while self._parked:
            self.child = self._parked.pop()
            self.retire()

    def _wait_gone(self, child: Child, deadline: float) -> int:
        while child.pid not in self._gone:
            self._hear(deadline, news=True)
        return self._gone.pop(child.pid)

    # ------------------------------------------------------------------------------------------------------ ending

    def _kill_all(self) -> None:
        """Kill the remaining processes of the session, and marked processes that have left the session."""
        if self._process.poll() != 0:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for pid in marked(self._token.hex()):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)


def _subject_error(sentence: str, traceback: str = "") -> SubjectError:
    error = SubjectError(sentence)
    error.traceback = traceback  # type: ignore[attr-defined]
    return error
