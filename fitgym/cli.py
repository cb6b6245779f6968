"""The command line: the app, its smaller commands, and the translation of errors into exit codes.

The larger commands are in `fitgym.commands`. Defined here are `validate`, `cost`, `list` and `doctor`.
"""

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
from fitgym.commands.collect import COLLECT_EXAMPLES, collect
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
  fitgym doctor                       check that fitgym works on this machine
  fitgym generate textwrap            generate a suite for a module in one minute
  fitgym generate --jobs 2            generate suites for the project in this folder
  fitgym report                       show what its tests cover and miss
  fitgym play textwrap                choose the fitness functions yourself
  fitgym list                         list goals, agents, searches and other choices
  fitgym COMMAND --help               show the options of a command, with examples
  fitgym --install-completion         complete commands and options with the tab key
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
"""Commands about generated tests; they also read options from pyproject.toml."""

TELLING: dict[Callable[..., int], str] = {diff: DIFF_EXAMPLES, report: REPORT_EXAMPLES}
"""Commands that write no suite; they also read options from pyproject.toml, except for output files."""

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
app.command(collect, help_epilogue=COLLECT_EXAMPLES)
app.command(headroom, help_epilogue=HEADROOM_EXAMPLES)
app.command(replay, help_epilogue=REPLAY_EXAMPLES)
app.command(play, help_epilogue=PLAY_EXAMPLES)
app.register_install_completion_command(help="Install tab completion of commands and options for this shell.")

VALIDATE_EXAMPLES = """Examples:
  fitgym validate results/mio-small
  fitgym validate record.json --path src
  fitgym validate results/leaderboard-* --board board.md
  fitgym validate entry.jsonl others.jsonl --board board.csv
"""


@app.command(help_epilogue=VALIDATE_EXAMPLES)
def validate(*records: Path, path: Path | None = None, board: Path | None = None, limit: float = 1800.0) -> int:
    """Check records: repeat every run, including the agent's decisions, and compare every field.

    Fields that cannot be compared are listed as unchecked.

    Parameters
    ----------
    records
        Folders of studies, records of fitgym generate (.json), or files with one record per line (.jsonl).
    path
        Folder to search first for the subjects.
    board
        File for the leaderboard of the valid records: agents by goal on stdlib-v1:test, or agents in an environment on
        numbered test tasks. Markdown, or all values as CSV if the name ends in .csv.
    limit
        Seconds for each record; a record that takes longer is not valid.
    """
    from fitgym.run.repetition import UNCHECKED
    from fitgym.study.leaderboard import boards, markdown, table
    from fitgym.study.validation import claims
    from fitgym.study.validator import Validator
    from fitgym.suite.text.export import write

    if not records:
        raise InputError(
            "no records are given; expected the folder of a study or a file written by fitgym generate --json"
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
        write((table if board.suffix == ".csv" else markdown)(boards(answers)), board)
    return FINDING if wrong else DONE


COST_EXAMPLES = """Examples:
  fitgym cost generated_tests/test_textwrap.py
  fitgym cost old/test_tool.py new/test_tool.py --path src --json costs.json
"""


@app.command(help_epilogue=COST_EXAMPLES)
def cost(*suites: Path, runs: int = 15, path: Path | None = None, json: Path | None = None) -> int:
    """Measure the run time, the lines run and the memory of exported suites.

    Each run uses a fresh interpreter.

    Parameters
    ----------
    suites
        Test files.
    runs
        Number of runs of each suite to measure time, and again to measure memory.
    path
        Folder to search first for the subjects.
    json
        File for the number of lines, and the medians of time and memory with their 95 % intervals.
    """
    from dataclasses import asdict

    from fitgym.suite.runs.cost import Quantity
    from fitgym.suite.runs.cost import cost as measured
    from fitgym.suite.text.export import write

    if not suites:
        raise InputError("no suite is given; expected the path of an exported file, such as test_textwrap.py")

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
    """List the available choices: all kinds, one kind, or the details of one entry.

    Parameters
    ----------
    what
        The kind to list. Without it, all kinds are listed with their names and the option that selects them.
    name
        An entry of this kind: shows its options with their defaults, its formula and its source.
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
    """Check what works on this machine, what does not, and how to fix it.

    Parameters
    ----------
    json
        Print the findings as JSON.
    """
    from fitgym.commands.doctor import as_json, as_text, examine

    findings = examine()
    sys.stdout.write((as_json(findings) if json else as_text(findings)) + "\n")
    return FINDING if any(finding.state == "broken" for finding in findings) else DONE


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a finding, 2 bad input, 130 interrupted, 128 + n ended by signal n.

    Raises:
        KeyboardInterrupt: the user interrupted before there was a result; `fitgym.__main__` reports it.
    """
    # As an exception, so that `with` blocks end worker processes and remove temporary folders.
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
    """Exit with 128 + `number`; `SystemExit` runs the cleanup of worker processes and temporary folders."""
    raise SystemExit(128 + number)


def _complain(message: str, traceback: str = "") -> int:
    """Write one sentence to stderr, after the subject's own traceback if there is one; return the exit code."""
    if traceback:
        sys.stderr.write(traceback.rstrip() + "\n\n")
    sys.stderr.write(f"fitgym: {message}\n")
    return BAD_INPUT
