"""The command `fitgym replay`: repeats a recorded run, compares it, and writes a page that plays it."""

from __future__ import annotations

import sys
from pathlib import Path

from fitgym.commands.codes import DONE, FINDING
from fitgym.commands.interruption import held

__all__ = ["REPLAY_EXAMPLES", "replay"]

REPLAY_EXAMPLES = """Examples:
  fitgym generate textwrap --budget 100g --json record.json
  fitgym replay record.json
  fitgym replay record.json --suite generated_tests
  fitgym replay record.json --html replay.html
  fitgym replay runs.jsonl --number 3 --html replay.html
"""


def replay(
    record: Path,
    /,
    *,
    path: Path | None = None,
    suite: Path | None = None,
    html: Path | None = None,
    number: int = 0,
) -> int:
    """Repeat a recorded run, decision by decision, and compare every reward.

    With --html, it also writes a page to watch the run: the source with covered lines, the tests that were found, the
    choices and the rewards of each step. The page needs no network.

    Parameters
    ----------
    record
        File written by fitgym generate --json.
    path
        Folder to search first for the subject.
    suite
        The exported suite, or the folder that contains it. It is run in a fresh interpreter.
    html
        File for the page.
    number
        Which record of a file of fitgym evaluate --records or of the folder of a study, from 1.
    """
    with held():
        from fitgym.player.page import write_page
        from fitgym.player.records import record_in
        from fitgym.run.replay import replay as run

    found = run(
        record_in(record, number), path=None if path is None else str(path), suite=suite, watch=html is not None
    )
    for note in found.notes:
        sys.stderr.write(f"fitgym: {note}\n")
    for difference in found.differences:
        sys.stdout.write(f"{difference}\n")
    if not found.differences:
        tests = "" if found.tests is None else f", {found.tests} tests pass"
        sys.stdout.write(f"{found.steps} steps, every reward is as recorded{tests}\n")
    if html is not None and found.episode is not None:
        write_page(found.episode, html)
        sys.stdout.write(f"{html}: open it in a browser\n")
    return FINDING if found.differences else DONE
