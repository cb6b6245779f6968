"""Frames: which function of the subject a frame of a traceback belongs to, and what stands before it."""

from __future__ import annotations

import dis
import os
import types
from builtins import id
from typing import Any

from fitgym import instrument
from fitgym.instrument.recorder import Recorder
from fitgym.subject.subject import Subject

__all__ = ["Frames", "wrappers"]

_MOST_CODES = 10_000
_RAISE = bytes([dis.opmap["RAISE_VARARGS"]])  # what `raise` and `assert` compile to, and nothing else does


class Frames:
    """Which function of the subject a frame of a traceback belongs to.

    Args:
        subject: whose source file the frames are compared with.
        probes: the recorder, which knows the code that holds its probes.
    """

    def __init__(self, subject: Subject, probes: Recorder) -> None:
        self._probes = probes
        self._path = subject.reference.path
        self._functions = subject.functions
        self._named: dict[str, list[int]] = {}
        for function in subject.functions:
            self._named.setdefault(function.name, []).append(function.id)
        self._ours = os.path.dirname(os.path.abspath(instrument.__file__ or ""))
        # By the identity of their code, which is kept so that no other one gets it.
        self._known: dict[int, tuple[types.CodeType, int, dict[int, bool]]] = {}

    def innermost(self, traceback: types.TracebackType | None) -> tuple[int, bool]:
        """The innermost function of the subject, -1 for none, and whether its own `raise` or `assert` raised.

        Frames of probes are looked through: they stand for an operator of the subject.
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
        if explicit is None:  # reading the instructions copies all of them
            explicit = raises[instruction] = code.co_code[instruction : instruction + 1] == _RAISE
        return function, explicit and not left

    def _of_code(self, code: types.CodeType) -> tuple[types.CodeType, int, dict[int, bool]]:
        """A code object of the subject, the function that it belongs to, and which of its instructions raise."""
        known = self._known.get(id(code))
        if known is None:
            if len(self._known) >= _MOST_CODES:  # code that is made while it runs
                self._known.clear()
            function = self._probes.function_of(code)
            known = self._known[id(code)] = (code, function if function >= 0 else self._find(code), {})
        return known

    def _find(self, code: types.CodeType) -> int:
        """By name; several of one name, or the anonymous code of a comprehension or class body, by line."""
        line = code.co_firstlineno
        named = self._named.get(code.co_qualname, [])
        candidates = [self._functions[i] for i in named] or [
            function for function in self._functions if function.line <= line <= function.end_line
        ]
        if not candidates:
            return 0
        # The first line of decorated code is its first decorator, the line of a function its `def`.
        near = [function for function in candidates if function.line >= line] if named else []
        if near:
            return min(near, key=lambda function: (function.line - line, function.id)).id
        return min(candidates, key=lambda function: (function.end_line - function.line, -function.id)).id


def wrappers(target: Any) -> frozenset[types.CodeType]:
    """Code that stands between the call of an operation and its own body: its decorators."""
    found: set[types.CodeType] = set()
    for _ in range(16):
        if not hasattr(target, "__wrapped__"):
            break
        code = getattr(target, "__code__", None)
        if isinstance(code, types.CodeType):
            found.add(code)
        target = target.__wrapped__
    return frozenset(found)
