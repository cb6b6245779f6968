"""The worker process: imports the subject once, then forks children that run test cases.

Run as `python -m fitgym.worker.main CONTROL JOURNAL` with two inherited descriptors. The process itself is a zygote: it
imports, instruments and describes the subject, and never runs a test case (`supervisor`). Each child starts from the
state right after the import (`runner`). A child answers batches until a test case leaves behind state that cannot be
restored. It then reports this in its last answer and ends. The zygote kills the processes that a child leaves running.
It ends together with all its descendants when its parent ends.
"""

from __future__ import annotations

import os
import socket
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from fitgym.errors import ExecutionError, SubjectError
from fitgym.messages.journal import Journal
from fitgym.messages.protocol import TOKEN_SIZE, FrameReader, dumps, frame, read_trusted
from fitgym.sandbox.sandbox import Guard, adopt_orphans, ended_by, limit_sleep, restrict
from fitgym.sandbox.semaphores import refuse_semaphores
from fitgym.subject.subject import Reference
from fitgym.worker.runner import Runner
from fitgym.worker.supervisor import Supervisor, high

__all__ = ["main"]


def main(arguments: list[str]) -> NoReturn:
    """Run the worker process.

    Args:
        arguments: descriptor numbers of the control socket and of the journal.
    """
    parent = os.getppid()  # asked at once, because the parent may end at any time
    control = socket.socket(fileno=high(int(arguments[0])))
    journal = Journal(int(arguments[1]))
    Journal.seal(int(arguments[1]))
    for argument in arguments:
        os.close(int(argument))
    sys.dont_write_bytecode = True  # not before: compiling the worker's own files is slow
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    token = control.recv(TOKEN_SIZE, socket.MSG_WAITALL)
    reader = FrameReader(token)
    while (payload := reader.next()) is None:
        data = control.recv(1 << 16)
        if not data:
            os._exit(0)
        reader.feed(data)
    reference, limits, infection, home, path = read_trusted(payload)
    sys.path[:] = list(dict.fromkeys(path))
    sys.argv[:] = [reference.program]
    adopt_orphans()
    try:
        guard = restrict(
            home,
            memory_mb=4096,
            file_mb=limits.file_mb,
            files=limits.files,
            mode="polite",
            programs=reference.programs,
        )
    except ExecutionError as error:
        raise SystemExit(str(error)) from None  # the parent reads this message from stderr
    _silence()
    limit_sleep(guard)
    refuse_semaphores(guard)
    if reference.writes:
        guard.install_overlay(reference.root)
    try:
        with ended_by(control):  # an import may never finish
            control.sendall(frame(token, dumps(("importing", reference.module))))
            runner = Runner.prepare(reference, limits, journal, guard, infection=infection)
            runner.settle()
    except BaseException as error:
        if _needs_overlay(reference, guard):
            control.sendall(frame(token, dumps(("writes", reference.module))))
        else:
            control.sendall(frame(token, dumps(_failure(reference, error, guard.hints))))
        os._exit(1)
    if _needs_overlay(reference, guard):
        control.sendall(frame(token, dumps(("writes", reference.module))))
        os._exit(1)
    control.sendall(frame(token, dumps(("ready", runner.subject))))
    Supervisor(control, token, runner, home, parent).serve()


def _silence() -> None:
    """Redirect the standard streams to /dev/null, so that output of test cases costs little and reaches no terminal."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def _needs_overlay(reference: Reference, guard: Guard) -> bool:
    """Return True if the sandbox refused a write next to the subject or to /tmp that an overlay would allow."""
    places = tuple(os.path.join(place, "") for place in (reference.root, os.path.realpath(reference.root), "/tmp"))
    return not reference.writes and any(os.path.abspath(path).startswith(places) for path in guard.missed)


def _failure(reference: Reference, error: BaseException, hints: Sequence[str]) -> tuple[str, str, str]:
    """Return one sentence about a failed import, and the subject's part of the traceback.

    The subject may have caught a refusal of the sandbox and raised another exception. Then the last of `hints` is
    added.
    """
    if isinstance(error, SubjectError):
        return ("failed", str(error), "" if error.__cause__ is None else _traceback(error.__cause__))
    text = " ".join(str(error).split())
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SystemExit):
        what = f"it exits with status {error.code!r}"
    hint = hints[-1] if hints and hints[-1] not in what else ""
    return ("failed", f"'{reference.module}' cannot be imported: {what}{hint}", _traceback(error))


def _traceback(error: BaseException) -> str:
    """Format the subject's own part of the traceback."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    frames = [
        entry
        for entry in traceback.extract_tb(error.__traceback__)
        if not entry.filename.startswith((ours, "<frozen importlib")) and "/importlib/" not in entry.filename
    ]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames)]
    return "".join([*lines, *traceback.format_exception_only(error)])


if __name__ == "__main__":
    main(sys.argv[1:])
