"""The worker as the parent sees it: a zygote that has imported the subject, and the child it has forked last.

The zygote is started with `subprocess`, never with `multiprocessing`: an environment inside a vector worker is daemonic
and may not have children of that kind. It lives in a session of its own, so Ctrl-C does not reach it, and it ends, with
everything below it, when its end of the control socket reports that the parent is gone.
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
from fitgym.sandbox.environment import environment, marked
from fitgym.sandbox.folder import Folder
from fitgym.sandbox.sandbox import same_layout
from fitgym.subject.subject import Reference, Subject

__all__ = ["Zygote"]


_MOST_IMPORTED = 5000  # modules
_MOST_MADE = 100  # mutants, which take some milliseconds each
_PATIENCE_S = 10.0  # for an answer of the zygote itself, which never runs a test case
_FLOOD_S = 1.0  # for messages that have arrived when the time is over; a hostile import may never stop sending
_LAST_WORDS_S = 0.2  # a child that has closed its socket may still be on its way out, and how it ends is the news
_RECEIVE = 1 << 16  # bytes; room for more is mapped and unmapped each time


class Zygote:
    """Starts the worker process, which imports the subject while the parent does something else.

    Args:
        reference: the subject.
        limits: what its test cases may use.
        infection: its code has probes that tell which mutants are infected.

    Attributes:
        seconds: wall time from its start until it had described the subject, 0.0 before.
        child: the child that was forked last and is still alive.

    Raises:
        ExecutionError: the worker itself does not start.
    """

    def __init__(self, reference: Reference, limits: Limits, *, infection: bool = False) -> None:
        self.seconds = 0.0
        self.child: Child | None = None
        self._parked: list[Child] = []
        self._mutates = False
        self._made: set[int] = set()  # numbers of mutants
        self._watched = Watched()
        self._imported: dict[str, bool] = {}  # modules that children have imported; whether they were imported here too
        self._started = time.monotonic()
        self._reference = reference
        self._subject: Subject | None = None
        self._owner = os.getpid()
        self._limits = limits
        self._token = secrets.token_bytes(TOKEN_SIZE)  # everything below can read it in its environment
        self._seal = secrets.token_bytes(TOKEN_SIZE)  # starts every frame
        self._closed = False
        self._folder = Folder()
        home = os.path.join(self._folder.path, "home")
        os.mkdir(home)
        memory = Journal.create()
        self._control, theirs = socket.socketpair()
        try:
            self.journal = Journal(memory)
            self.journal.reset()
            with open(os.path.join(self._folder.path, "errors"), "wb") as errors, same_layout():
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "fitgym.worker.main", str(theirs.fileno()), str(memory)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    cwd=home,
                    env=environment(home, self._token.hex()),
                    pass_fds=(theirs.fileno(), memory),
                    start_new_session=True,
                )
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
        """What the worker has found out about the subject; waits until it has.

        Raises:
            SubjectError: the subject cannot be imported; its own traceback, as text, is in the attribute `traceback`.
            ExecutionError: the worker itself does not start.
            Writes: it needs another worker, with an overlay.
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
        """This process has started it and not closed it; False in a fork of the process that did."""
        return not self._closed and self._owner == os.getpid()

    def fork(self) -> Child:
        """A fresh child; the last one is ended.

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
            # The answer that nobody has heard would be taken for that to the next question.
            self.close(patience=0.0)
            raise
        return self.child

    def ready(self, fresh: bool) -> Child:
        """The child, once all that were ended are gone; forked if there is none, or none to which nothing has happened.

        Args:
            fresh: it must not have been asked for anything yet.

        Raises:
            ExecutionError, TimeoutError, ProtocolError: as `fork`.
        """
        deadline = time.monotonic() + _PATIENCE_S
        while self._ending:  # what they have left in the private folder goes with them
            self._hear(deadline, news=True)
        if self.child is None or (fresh and not self.child.fresh):
            return self.fork()
        return self.child

    def mutate(self) -> None:
        """Be ready to run mutants: what that takes is made once, and a child that came without it is ended.

        Raises:
            ExecutionError: the zygote has ended.
        """
        if not self._mutates:
            self._mutates = True
            self.retire()
            self._send(COMMAND.pack(MUTATE, 0))

    def make(self, numbers: Iterable[int]) -> None:
        """Have mutants made once for all children to come; for nobody, as long as there is a child that makes its own.

        Not too many at a time, because meanwhile the zygote does not answer.

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
        """Remember modules that a child has imported, so that children to come find them there; see `warming`."""
        for name in names if len(self._imported) < _MOST_IMPORTED else ():
            self._imported.setdefault(name, False)

    def _warm(self) -> None:
        """Have modules imported that children have imported, once each, before the next child comes."""
        new = [name for name, done in self._imported.items() if not done]
        if new:
            self._imported.update(dict.fromkeys(new, True))
            text = "\n".join(new).encode()
            self._send(COMMAND.pack(WARM, len(text)) + text)
            message = self._hear(time.monotonic() + _PATIENCE_S + self._limits.import_seconds)
            if message[0] == "warm" and message[1]:  # the snapshot was taken anew
                self._watched = Watched()

    def park(self) -> Child | None:
        """The child, left as it is while others work in its place; `resume` takes it back."""
        parked, self.child = self.child, None
        if parked is not None:
            self._parked.append(parked)
        return parked

    def resume(self, parked: Child) -> None:
        """End the child that works now and go on with one that was parked."""
        self.retire()
        if parked in self._parked:  # and was not ended meanwhile
            self._parked.remove(parked)
            if parked.pid in self._gone:
                parked.connection.close()
            else:
                self.child = parked

    def ask(self, payload: bytes, n_items: int, deadline: float | None = None, seconds: float | None = None) -> bytes:
        """Send a request to the child and wait for its answer.

        Args:
            payload: the request.
            n_items: test cases in it.
            deadline: of `time.monotonic`; nobody waits longer.
            seconds: that one test case may take; None for `Limits.seconds`.

        Raises:
            Broken: the child died, hung or wrote something else.
            OutOfBudget: the deadline passed; the child is no longer of use.
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
        """End the child; nobody waits for that before the next one is asked."""
        child, self.child = self.child, None
        if child is None:
            return
        child.connection.close()
        if self._gone.pop(child.pid, None) is None:
            with contextlib.suppress(ExecutionError):  # whoever asks next will find out
                self._send(COMMAND.pack(KILL, child.pid))
            self._ending.add(child.pid)  # nobody waits for one that nobody was told to end

    def close(self, patience: float = 2.0) -> None:
        """End the worker and everything below it, and remove its folder; closing twice is harmless.

        Args:
            patience: seconds that it has to end by itself before it is killed; none while it imports, when it does not
                listen.
        """
        if self._closed:
            return
        self._closed = True
        if self._owner != os.getpid():  # a fork of the process that started it: let go, but leave it running
            self._folder.forget()
            self._control.close()
            self._let_go()
            return
        try:
            self._let_go()
            self._control.close()  # the zygote sees the end, kills what is below it and exits
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience if self._subject is not None else 0.0)
        finally:
            self._kill_all()
            self.journal.close()
            self._folder.remove()

    def _let_go(self) -> None:
        """Hang up on all children, the parked ones too."""
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
        """The last line that the worker wrote before it began to import."""
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
        """The next message of the zygote, None at its end; descriptors sent along are kept.

        Raises:
            TimeoutError: there was none in time.
            ProtocolError: it is not a message.
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
                raise ProtocolError("more descriptors than children")
            if not data:
                return None
            self._reader.feed(data)

    def _hear(self, deadline: float, news: bool = False) -> tuple[Any, ...]:
        """The zygote's next message; of those about children that have ended only with `news`, but all are noted.

        Raises:
            ExecutionError: it has ended.
            TimeoutError, ProtocolError: as `_receive`.
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
        """Wait for the child's frame with an eye on the journal."""
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
        """End the child, find out how it ended itself, and say what it was doing, unless the journal is forged."""
        running, last, position = self.journal.running, self.journal.last, self.journal.position
        status = self._end_child(child, patience=0.0 if failure == "timeout" or forged else _LAST_WORDS_S)
        if forged:
            self._end_parked()  # a thread in one of them can have written into the journal as well
            return Broken(failure, forged=True)
        if failure != "timeout" and status is not None:
            if os.WIFEXITED(status) and os.WEXITSTATUS(status) != BROKEN:
                failure = "exit"
            elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
                failure = "timeout"
        return Broken(failure, running, last, position)

    def _end_child(self, child: Child, patience: float) -> int | None:
        """Kill the child unless it ends by itself in time; its wait status, None if the zygote does not know."""
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
        """Whatever is left of the session, and of those who left the session, by force."""
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
