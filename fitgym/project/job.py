"""A job: a process that generates the suites of single modules.

The process reads requests from its standard input, one JSON object per line. It answers on its standard output in lines
of JSON: `{"spent": 0.4, "note": "searching"}` from time to time, at the end `{"record": {...}, "path": "..."}` or
`{"error": "..."}`. It ends at the end of its input, and is killed when its parent ends.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

from fitgym.errors import FitgymError
from fitgym.run.generation import Progress, Request, generate_request
from fitgym.run.setting import Setting
from fitgym.sandbox.sandbox import die_with_parent

__all__ = ["answer", "main"]

TELLING_S = 0.25
"""Minimal number of seconds between two lines of progress."""


def main(parent: int) -> None:
    """Serve requests until the input or the parent ends.

    Args:
        parent: process id of the parent.
    """
    die_with_parent(parent)
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # send other output to stderr, so that it is not read as an answer
        # Between requests Ctrl-C is ignored; during a request it stops the search.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for line in sys.stdin:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            answer(json.loads(line), answers)
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def answer(given: Mapping[str, Any], answers: TextIO) -> None:
    """Generate one suite and write lines about it.

    Args:
        given: `setting` as written by `Setting.to_json`; `output`, `name` and `format` as in `Request`; `existing`, the
            measurement of existing tests, pickled and base64-encoded, "" for none.
        answers: where the lines go.
    """
    reported_at = 0.0

    def say(**values: Any) -> None:
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    def report(progress: Progress) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= TELLING_S:
            reported_at = time.monotonic()
            say(spent=progress.spent, note=progress.note if progress.phase == "finish" else "searching")

    try:
        setting = Setting.of(given["setting"])
        request = Request(setting, given["output"], format=given["format"], name=given["name"])
        existing = pickle.loads(base64.b64decode(given["existing"])) if given["existing"] else None
        run = generate_request(request, progress=report, existing=existing)
    except FitgymError as problem:
        say(error=str(problem))
    except KeyboardInterrupt:
        say(error="interrupted before there was a result", interrupted=True)
    else:
        path = None if run.suite_path is None else str(run.suite_path)
        say(record=run.record, path=path, interrupted=run.interrupted)


if __name__ == "__main__":
    main(int(sys.argv[1]))
