"""The command line: `fitgym generate`, `train`, `evaluate`, `headroom`, `report`, `replay`, `play`, `validate`, `cost`, `list`, `doctor`, `study`, and `course`."""

from __future__ import annotations

import inspect
import json as json_format
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Annotated, Literal, NoReturn

from cyclopts import App, CycloptsError, Parameter

from fitgym import __version__
from fitgym.commands.agents import EVALUATE_EXAMPLES, TRAIN_EXAMPLES, evaluate, train
from fitgym.commands.check import CHECK_EXAMPLES, check
from fitgym.commands.codes import BAD_INPUT, DONE, FINDING
from fitgym.commands.configuration import Configuration
from fitgym.commands.course import course
from fitgym.commands.diff import DIFF_EXAMPLES, diff
from fitgym.commands.generate import GENERATE_EXAMPLES, generate
from fitgym.commands.headroom import HEADROOM_EXAMPLES, headroom
from fitgym.commands.init import INIT_EXAMPLES, init
from fitgym.commands.play import PLAY_EXAMPLES, play
from fitgym.commands.replay import REPLAY_EXAMPLES, replay
from fitgym.commands.report import REPORT_EXAMPLES, report
from fitgym.commands.studies import study
from fitgym.commands.update import UPDATE_EXAMPLES, update
from fitgym.errors import ExecutionError, InputError, SubjectError

__all__ = ["app", "main"]

START = """First steps:
  fitgym doctor                       does everything work here?
  fitgym generate textwrap            a suite for a module, in a minute
  fitgym generate --jobs 2            suites for the project in this folder
  fitgym report                       what its tests cover and miss
  fitgym play textwrap                choose the fitness functions yourself
  fitgym list                         what there is to choose from
  fitgym COMMAND --help               with examples
  fitgym --install-completion         the tab key completes commands and options
"""

app = App(
    name="fitgym",
    version=__version__,
    help="Generate pytest suites by search, with an agent that chooses what the search optimises.",
    help_epilogue=START,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)

GENERATING: dict[Callable[..., int], str] = {
    generate: GENERATE_EXAMPLES,
    check: CHECK_EXAMPLES,
    update: UPDATE_EXAMPLES,
}
"""The commands about generated tests; they take their options from pyproject.toml too."""

TELLING: dict[Callable[..., int], str] = {diff: DIFF_EXAMPLES, report: REPORT_EXAMPLES}
"""Likewise, but what they write is no suite."""

_known = frozenset(name for command in (*GENERATING, *TELLING) for name in inspect.signature(command).parameters)
for _command, _examples in GENERATING.items():
    app.command(_command, help_epilogue=_examples, config=Configuration(_known))
for _command, _examples in TELLING.items():
    app.command(_command, help_epilogue=_examples, config=Configuration(_known, without=("output", "json", "junit")))
app.command(init, help_epilogue=INIT_EXAMPLES)
app.command(study)
app.command(course)
app.command(train, help_epilogue=TRAIN_EXAMPLES)
app.command(evaluate, help_epilogue=EVALUATE_EXAMPLES)
app.command(headroom, help_epilogue=HEADROOM_EXAMPLES)
app.command(replay, help_epilogue=REPLAY_EXAMPLES)
app.command(play, help_epilogue=PLAY_EXAMPLES)
app.register_install_completion_command(help="Complete commands and options in this shell from now on.")

VALIDATE_EXAMPLES = """Examples:
  fitgym validate results/mio-small
  fitgym validate record.json --path src
  fitgym validate results/leaderboard-* --board board.md
"""


@app.command(help_epilogue=VALIDATE_EXAMPLES)
def validate(*records: Path, path: Path | None = None, board: Path | None = None, limit: float = 1800.0) -> int:
    """See whether records are what they claim: make every run again, agent and all, and compare every field.

    What cannot be compared is named as unchecked.

    Parameters
    ----------
    records
        Folders of studies, records of fitgym generate (.json), or files with a record in each line (.jsonl).
    path
        A folder that is searched first for the subjects.
    board
        File for the leaderboard, Markdown: the agents of the valid records by goal, on stdlib-v1:test.
    limit
        Seconds for each record; one that takes longer is not valid.
    """
    from fitgym.run.repetition import UNCHECKED
    from fitgym.study.leaderboard import boards, markdown
    from fitgym.study.validation import claims
    from fitgym.study.validator import Validator
    from fitgym.suite.text.export import write

    if not records:
        raise InputError(
            "no records are named: give the folder of a study or a file that fitgym generate --json has written"
        )
    answers = []
    with Validator(limit) as validator:
        for claim in claims(records, None if path is None else str(path)):
            answers.append(validator.validate(claim))
            sys.stdout.write(f"{answers[-1]}\n")
            sys.stdout.flush()
    wrong = sum(not found.valid for found in answers)
    never = ", ".join(UNCHECKED)
    sys.stdout.write(f"{len(answers) - wrong} of {len(answers)} records are valid (unchecked in each: {never})\n")
    if board is not None:
        write(markdown(boards(answers)), board)
    return FINDING if wrong else DONE


COST_EXAMPLES = """Examples:
  fitgym cost generated_tests/test_textwrap.py
  fitgym cost old/test_tool.py new/test_tool.py --path src --json costs.json
"""


@app.command(help_epilogue=COST_EXAMPLES)
def cost(*suites: Path, runs: int = 15, path: Path | None = None, json: Path | None = None) -> int:
    """Measure how long the tests of exported suites run, how many lines, and how much memory they take.

    Each run has a fresh interpreter.

    Parameters
    ----------
    suites
        Files of tests.
    runs
        How often each is run for time, and as often for memory.
    path
        A folder that is searched first for the subjects.
    json
        File for the lines, and the medians of the others with their 95 % intervals.
    """
    from dataclasses import asdict

    from fitgym.suite.runs.cost import Quantity
    from fitgym.suite.runs.cost import cost as measured
    from fitgym.suite.text.export import write

    if not suites:
        raise InputError("no suite is named: give the path of an exported file, such as test_textwrap.py")

    def shown(quantity: Quantity, unit: float) -> str:
        return f"{quantity.median / unit:.4g} [{quantity.low / unit:.4g}, {quantity.high / unit:.4g}]"

    found = {}
    sys.stdout.write("suite  tests  failed  time in ms  peak in KiB  resident in MiB  lines run\n")
    for suite in suites:
        one = found[str(suite)] = measured(suite, runs=runs, path=path)
        sys.stdout.write(
            f"{suite}  {one.tests}  {one.failed}  {shown(one.seconds, 1e-3)}  {shown(one.peak, 1024)}  "
            f"{shown(one.resident, 1 << 20)}  {one.lines}\n"
        )
    if json is not None:
        write(json_format.dumps({suite: asdict(one) for suite, one in found.items()}, indent=1) + "\n", json)
    return FINDING if any(one.failed for one in found.values()) else DONE


LIST_EXAMPLES = """Examples:
  fitgym list
  fitgym list agents
  fitgym list agents ucb
  fitgym list corpora stdlib-v1
"""


@app.command(name="list", help_epilogue=LIST_EXAMPLES)
def list_(
    what: Literal[
        "goals",
        "fitness",
        "agents",
        "policies",
        "search",
        "secondary",
        "envs",
        "features",
        "corpora",
        "trials",
        "executors",
    ]
    | None = None,
    name: str = "",
    /,
) -> int:
    """List what there is to choose from: everything, one kind, or all about one.

    Parameters
    ----------
    what
        A kind of things; without one, all kinds with their names and where they are chosen.
    name
        One of them: its options with their defaults, its formula and its source.
    """
    from fitgym.commands.listing import describe, explain, overview

    if what is None or name:
        sys.stdout.write((explain(what, name) if what else overview()) + "\n")
        return DONE
    rows = describe(what)
    width = max((len(name) for name, _ in rows), default=0)
    for name, line in rows:
        sys.stdout.write(f"{name:<{width}}  {line}\n")
    return DONE


DOCTOR_EXAMPLES = """Examples:
  fitgym doctor
  fitgym doctor --json > doctor.json
"""


@app.command(help_epilogue=DOCTOR_EXAMPLES)
def doctor(*, json: Annotated[bool, Parameter(negative=())] = False) -> int:
    """Say what works on this machine, what does not, and what to do about it.

    Parameters
    ----------
    json
        The same for machines.
    """
    from fitgym.commands.doctor import as_json, as_text, examine

    findings = examine()
    sys.stdout.write((as_json(findings) if json else as_text(findings)) + "\n")
    return FINDING if any(finding.state == "broken" for finding in findings) else DONE


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a finding, 2 bad input, 130 interrupted, 128 + n ended by signal n.

    Raises:
        KeyboardInterrupt: the user interrupted before anything was found; `fitgym.__main__` says so.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        result = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        code = result if isinstance(result, int) else DONE
    except CycloptsError as error:
        code = _complain(str(error).strip() + " (see fitgym --help)")
    except SubjectError as error:
        code = _complain(str(error), getattr(error, "traceback", ""))
    except (InputError, ExecutionError) as error:
        code = _complain(str(error))
    sys.exit(code)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """End at once, but in order: no process and no folder is left behind."""
    raise SystemExit(128 + number)


def _complain(message: str, traceback: str = "") -> int:
    """One sentence on stderr, after the subject's own traceback if it has one."""
    if traceback:
        sys.stderr.write(traceback.rstrip() + "\n\n")
    sys.stderr.write(f"fitgym: {message}\n")
    return BAD_INPUT
