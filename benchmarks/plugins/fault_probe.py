"""Runs a suite and prints for each test the lines it executes in a file, and the outcome of its calls into that file.

    python fault_probe.py SUITE FOLDER FILE

FOLDER has the version of the subject, FILE is relative to it. An outcome is what a call from outside the file returns,
yields or raises, and the state of its arguments afterwards. The last line of the output is JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

MOST = 500  # parts of one value
DEEPEST = 8
CALLS = 2000  # outcomes of one test
ATOMS = (int, float, complex, str, bytes, bytearray, bool, type(None), type(...))


def text(value: object) -> str:
    """Return a description of a value: atoms, containers, attributes; without calling code of its class."""
    parts: list[str] = []
    _describe(value, parts, DEEPEST)
    return re.sub(r"0x[0-9a-f]{6,}", "", " ".join(parts))


def _describe(value: object, parts: list[str], depth: int) -> None:
    cls = type(value)
    if len(parts) > MOST or depth < 0:
        return
    if cls in ATOMS:
        parts.append(repr(value)[:500])
        return
    parts.append(cls.__qualname__)
    if isinstance(value, type):
        parts.append(type.__dict__["__qualname__"].__get__(value))
        return
    for part in _parts(value):
        _describe(part, parts, depth - 1)


def _parts(value: object) -> Iterator[object]:
    for base in (dict, list, tuple, set, frozenset):
        if base in _mro(type(value)):
            things = list(base.items(value)) if base is dict else list(base.__iter__(value))  # type: ignore[attr-defined]
            yield from sorted(things, key=repr) if base in (set, frozenset) else things
    if type(value).__module__ in ("datetime", "decimal", "fractions", "re"):
        yield repr(value)
    try:
        stored = object.__getattribute__(value, "__dict__")
    except AttributeError:
        stored = {}
    if isinstance(stored, dict):
        yield from sorted(((name, one) for name, one in stored.items() if isinstance(name, str)), key=lambda at: at[0])
    for base in _mro(type(value)):
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            member = base.__dict__.get(name)
            if type(member).__name__ == "member_descriptor":
                try:
                    yield member.__get__(value)
                except AttributeError:
                    continue


def _mro(cls: type) -> tuple[type, ...]:
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(cls)
    return found


class Probe:
    """A pytest plugin that traces one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.tests: dict[str, dict[str, Any]] = {}
        self.lines: set[int] = set()
        self.calls: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self.lines, self.calls = set(), []
        sys.settrace(self.trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            outcomes = [hashlib.md5(call.encode("utf-8", "replace")).hexdigest()[:12] for call in self.calls]
            self.tests[item.name] = {"lines": sorted(self.lines), "calls": outcomes}

    def trace(self, frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != self.file:
            return None
        outer = not self.is_inside(frame.f_back)
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2]
        given = [frame.f_locals[name] for name in names if name in frame.f_locals][: code.co_argcount + 4]

        def local(frame: FrameType, event: str, value: Any) -> Any:
            if event == "line":
                self.lines.add(frame.f_lineno)
            elif event in ("return", "exception") and outer and len(self.calls) < CALLS:
                self.note(code.co_qualname, event, value, given)
            return local

        return local

    def is_inside(self, frame: FrameType | None) -> bool:
        """Return whether the file is on the stack, perhaps below a library that calls back."""
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        return frame is not None

    def note(self, name: str, event: str, value: Any, given: list[object]) -> None:
        sys.settrace(None)
        try:
            told = f"{value[0].__qualname__} {str(value[1])[:300]}" if event == "exception" else text(value)
            self.calls.append(" ".join([name, event, told, *map(text, given)]))
        except BaseException as problem:  # the suite goes on
            self.calls.append(f"{name} {event} {type(problem).__name__}")
        finally:
            sys.settrace(self.trace)


def main() -> None:
    suite, folder, file = sys.argv[1:]
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    probe = Probe(os.path.join(folder, file))
    output, sys.stdout = sys.stdout, sys.stderr
    pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no", "-c", os.devnull, suite], plugins=[probe])
    print(json.dumps(probe.tests), file=output)


if __name__ == "__main__":
    main()
