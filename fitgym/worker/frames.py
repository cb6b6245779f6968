"""Frames: maps frames of a traceback to functions of the subject, and counts those on the stack."""

from __future__ import annotations

import dis
import os
import sys
import types
from builtins import id
from typing import Any

from fitgym import instrument
from fitgym.instrument.recorder import Recorder
from fitgym.subject.subject import Subject

__all__ = ["Frames", "depth", "wrappers"]

_MOST_CODES = 10_000
_RAISE = bytes([dis.opmap["RAISE_VARARGS"]])  # what `raise` and `assert` compile to, and nothing else does


class Frames:
    """Maps frames of a traceback to functions of the subject.

    Args:
        subject: the subject; its source file identifies its frames.
        probes: the recorder, which maps code with probes to functions.
    """

    def __init__(self, subject: Subject, probes: Recorder) -> None:
        self._probes = probes
        self._path = subject.reference.path
        self._functions = subject.functions
        self._named: dict[str, list[int]] = {}
        for function in subject.functions:
            self._named.setdefault(function.name, []).append(function.id)
        self._ours = os.path.dirname(os.path.abspath(instrument.__file__ or ""))
        # By the id of the code object. The code object is kept, so that no other one can get the same id.
        self._known: dict[int, tuple[types.CodeType, int, dict[int, bool]]] = {}

    def innermost(self, traceback: types.TracebackType | None) -> tuple[int, bool]:
        """Return the innermost function of the subject (-1 for none), and whether its own `raise` or `assert` raised.

        Frames of probes are skipped, because a probe replaces an operator of the subject.
        """
        path, ours = self._path, self._ours
        found: types.TracebackType | None = None
        left = False
        while traceback is not None:
            filename = traceback.tb_frame.f_code.co_filename
            if filename == path:
                found, left = traceback, False
            elif not filename.startswith(ours):
                left = True
            traceback = traceback.tb_next
        if found is None:
            return -1, False
        code, function, raises = self._of_code(found.tb_frame.f_code)
        instruction = found.tb_lasti
        explicit = raises.get(instruction)
        if explicit is None:  # cached, because `co_code` copies all instructions
            explicit = raises[instruction] = code.co_code[instruction : instruction + 1] == _RAISE
        return function, explicit and not left

    def _of_code(self, code: types.CodeType) -> tuple[types.CodeType, int, dict[int, bool]]:
        """Return a code object of the subject, the id of its function, and a cache of which instructions raise."""
        known = self._known.get(id(code))
        if known is None:
            if len(self._known) >= _MOST_CODES:  # the subject may create code objects while it runs
                self._known.clear()
            function = self._probes.function_of(code)
            known = self._known[id(code)] = (code, function if function >= 0 else self._find(code), {})
        return known

    def _find(self, code: types.CodeType) -> int:
        """Find a function by name.

        If several match, or the code belongs to a comprehension or class body, use the line.
        """
        line = code.co_firstlineno
        named = self._named.get(code.co_qualname, [])
        candidates = [self._functions[i] for i in named] or [
            function for function in self._functions if function.line <= line <= function.end_line
        ]
        if not candidates:
            return 0
        # Decorated code starts at its first decorator, but the line of a function is its `def`.
        near = [function for function in candidates if function.line >= line] if named else []
        if near:
            return min(near, key=lambda function: (function.line - line, function.id)).id
        return min(candidates, key=lambda function: (function.end_line - function.line, -function.id)).id


def wrappers(target: Any) -> frozenset[types.CodeType]:
    """Return the code of the decorators between the call of an operation and its body."""
    found: set[types.CodeType] = set()
    for _ in range(16):
        if not hasattr(target, "__wrapped__"):
            break
        code = getattr(target, "__code__", None)
        if isinstance(code, types.CodeType):
            found.add(code)
        target = target.__wrapped__
    return frozenset(found)


def depth() -> int:
    """Return the number of frames on the stack, up to and including the caller's."""
    found = 0
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        found += 1
        frame = frame.f_back
    return found
