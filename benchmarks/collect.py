"""Runs one collector in a separate process, driven over standard input and output by lines of JSON.

    PYTHONPATH=benchmarks python benchmarks/collect.py COLLECTOR FOLDER OPTIONS

    {"subject": "semver"}          -> {"tests": 74}, after importing, instrumenting and a trial run
    {"repeat": true, "least": ns}  -> {"bare": ns, "together": ns, "one_by_one": ns or null, "why": ""}

Times are processor time for one round of all tests, measured over as many rounds as take at least `least`. The garbage
collector is off while tests run; it runs before.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import workload


def timed(functions: list[Callable[[], None]], least: int) -> float:
    """Return nanoseconds of processor time for calling all functions once."""
    gc.collect()
    gc.disable()
    try:
        rounds = 0
        started = now = time.process_time_ns()
        while rounds < 1 or now - started < least:
            for function in functions:
                function()
            rounds += 1
            now = time.process_time_ns()
    finally:
        gc.enable()
    return (now - started) / rounds


class Subject:
    """The plain and the instrumented copy of all modules of a workload."""

    def __init__(self, name: str, collect: Callable[[str, dict[str, str]], Any], options: dict[str, str]) -> None:
        self.tests = 0
        self.why = ""
        self.ways: dict[str, list[Callable[[], None]]] = {"bare": [], "together": [], "one_by_one": []}
        for part in workload.parts(name):
            source, file = workload.source_of(part.module)
            plain = workload.module_from(compile(source, file, "exec", dont_inherit=True), part.module)
            self._add(part, plain, collect(part.module, options))

    def _add(self, part: workload.Part, plain: Any, collected: Any) -> None:
        bare, tests = workload.compiled(part, plain), workload.compiled(part, collected.module)
        self.tests += len(bare)
        self.ways["bare"].append(lambda: workload.run(bare))
        self.ways["together"].append(lambda: collected.together(tests))
        try:
            collected.one_by_one(tests)
        except NotImplementedError as reason:
            self.why = str(reason)
            self.ways.pop("one_by_one", None)
        else:
            self.ways["one_by_one"].append(lambda: collected.one_by_one(tests))

    def repeat(self, least: int, backwards: bool) -> dict[str, Any]:
        """Measure each way once, in alternating order."""
        names = list(self.ways)[:: -1 if backwards else 1]
        measured = {name: timed(self.ways[name], least) for name in names}
        return {**measured, "why": self.why}


def main() -> None:
    """Answer requests until the input ends."""
    name, folder, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # output of subjects must not mix with the answers
    warnings.simplefilter("ignore")
    workload.look_in(folder)
    collector = importlib.import_module(f"collectors.{name}")
    subject = None
    repeats = 0
    for line in sys.stdin:
        request = json.loads(line)
        if "subject" in request:
            subject = Subject(request["subject"], collector.collect, options)
            subject.repeat(0, False)
            answer: dict[str, Any] = {"tests": subject.tests, "version": collector.version()}
        else:
            assert subject is not None, "name a subject first"
            repeats += 1
            answer = subject.repeat(request["least"], backwards=repeats % 2 == 0)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
