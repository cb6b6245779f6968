"""The command line: `fitgym generate`, `train`, `evaluate`, `replay`, `validate`, `cost`, `list`, `doctor`, and `study`."""

from __future__ import annotations

import json as json_format
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

from cyclopts import App, CycloptsError, Parameter

from fitgym import __version__
from fitgym.errors import ExecutionError, InputError, SubjectError
from fitgym.interruption import held
from fitgym.study_commands import study

if TYPE_CHECKING:
    from fitgym.live import LiveView

__all__ = ["app", "main"]

DONE, FINDING, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

START = """First steps:
  fitgym doctor                       does everything work here?
  fitgym generate textwrap            a suite for a module, in a minute
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

app.command(study)
app.register_install_completion_command(help="Complete commands and options in this shell from now on.")

EXAMPLES = """Examples:
  fitgym generate textwrap --goal coverage --budget 30s
  fitgym generate mypackage.parser:Parser --agent ucb --budget 200g
  fitgym generate src/tool.py --agent fixed:exception+branch --json record.json
"""


@app.command(help_epilogue=EXAMPLES)
def generate(
    subject: str,
    /,
    *,
    path: Path | None = None,
    goal: str = "exceptions",
    agent: str | None = None,
    search: str = "whole_suite",
    smart: bool = False,
    secondary: str = "length",
    budget: str = "60s",
    seed: int = 0,
    population: int = 50,
    populations: Literal["shared", "per-action"] = "shared",
    generations_per_step: int = 3,
    reward: str | None = None,
    output: Path = Path("generated_tests"),
    format: Literal["pytest", "unittest"] = "pytest",
    json: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=())] = False,
) -> int:
    """Generate a pytest suite for a module or class.

    Parameters
    ----------
    subject
        package.module, package.module:Class or path/to/file.py[:Class].
    path
        A folder that is searched first for the subject.
    goal
        What the tester wants in the end: exceptions, coverage, diversity or strong_mutation.
    agent
        Who chooses the fitness functions: ucb, uniform, fixed:exception+branch, ..., or the folder of a saved agent
        (default: that of the goal, ucb; fixed:branch for coverage).
    search
        The search algorithm, see `fitgym list search`, with options after a colon: mosa:crossover=0.5,distance=epsilon.
    smart
        Of the chosen fitness functions use only those, with those of their targets, that stand for the others.
    secondary
        What decides between test cases that are equally near to their targets: length, performance or diversity.
    budget
        60s (seconds, of which up to 40 % are for finishing), 20000x (executions of test cases) or 200g (generations).
        Finishing has at least 15 seconds; what it has not seen pass by then is left out.
    seed
        With a budget in x or g, the same seed gives the same suite.
    population
        Number of individuals.
    populations
        shared, or per-action: every action goes on with the population it left, as in the code released with the paper.
    generations_per_step
        How many generations a decision of the agent holds.
    reward
        paper or gain (default: gain for agents that learn from it).
    output
        Folder for the suite, made if it does not exist.
    format
        pytest functions, or unittest classes that need nothing but Python.
    json
        File for the run record, - for stdout.
    quiet
        No progress on stderr.
    """
    with held():
        from fitgym.execution.executor import Executor
        from fitgym.subject.source import locate

    to_stdout = json is not None and str(json) == "-"
    if json is not None and str(json).startswith("-") and not to_stdout:
        raise InputError(f"--json is followed by '{json}', expected the name of a file, or - for stdout")
    with Executor(locate(subject, path)) as executor:
        if goal != "coverage" and not (agent or "").startswith("fixed"):
            executor.require(frozenset({"infection"}))  # weak mutation is among what may be chosen
        with held():
            executor.start()  # the worker imports the subject while this process imports what a search needs
            from fitgym.generation import Request, generate_request

        request = Request(
            subject,
            path=path,
            goal=goal,
            agent=agent,
            search=search,
            smart=smart,
            secondary=secondary,
            budget=budget,
            seed=seed,
            population=population,
            populations=populations,
            generations_per_step=generations_per_step,
            reward=reward,
            output=output,
            json=None if to_stdout else json,
            format=format,
        )
        with nullcontext() if quiet else _view(subject, goal, agent or "the goal's default") as view:
            run = generate_request(request, progress=view, executor=executor)
    if to_stdout:
        sys.stdout.write(json_format.dumps(run.record, indent=2) + "\n")
    else:
        sys.stdout.write(run.summary() + "\n")
    if not run.source:
        advice = (
            "" if goal == "coverage" else "; --goal coverage keeps a test for every line and branch that is reached"
        )
        why = f"in {budget} no test case was found that goal '{goal}' keeps{advice}"
        if run.record["dropped"]:
            why = f"no test was seen to pass every time: {run.left_out()}"
        sys.stderr.write(f"fitgym: nothing was exported: {why}\n")
    return INTERRUPTED if run.interrupted else DONE


def _view(subject: str, goal: str, agent: str) -> LiveView:
    """The view of a run; what draws it takes as long to load as a tenth of the start, so who wants none pays nothing."""
    with held():
        from fitgym.live import LiveView

    return LiveView(subject, goal, agent)


REPLAY_EXAMPLES = """Examples:
  fitgym generate textwrap --budget 100g --json record.json
  fitgym replay record.json
  fitgym replay record.json --suite generated_tests
"""


@app.command(help_epilogue=REPLAY_EXAMPLES)
def replay(record: Path, /, *, path: Path | None = None, suite: Path | None = None) -> int:
    """Repeat a recorded run, decision by decision, and compare every reward.

    Parameters
    ----------
    record
        The file that fitgym generate --json has written.
    path
        A folder that is searched first for the subject.
    suite
        The exported suite, or the folder that it is in; it is run in a fresh interpreter.
    """
    from fitgym.replay import read
    from fitgym.replay import replay as run

    found = run(read(record), path=None if path is None else str(path), suite=suite)
    for note in found.notes:
        sys.stderr.write(f"fitgym: {note}\n")
    for difference in found.differences:
        sys.stdout.write(f"{difference}\n")
    if found.differences:
        return FINDING
    tests = "" if found.tests is None else f", {found.tests} tests pass"
    sys.stdout.write(f"{found.steps} steps, every reward is as recorded{tests}\n")
    return DONE


TRAIN_EXAMPLES = """Examples:
  fitgym train ppo --subjects stdlib-v1:train --steps 20000 --envs 2 --output policies/ppo
  fitgym train ppo --steps 100000 --checkpoint 5000 --resume --output policies/ppo
  fitgym train dsg_sarsa:alpha=0.02 --subjects lists/mine.toml --goal coverage --output policies/sarsa
  fitgym generate textwrap --agent policies/ppo
"""


@app.command(help_epilogue=TRAIN_EXAMPLES)
def train(
    agent: str,
    /,
    *,
    subjects: str = "stdlib-v1:train",
    path: Path | None = None,
    goal: str = "exceptions",
    steps: int = 2000,
    budget: str = "100g",
    reward: str = "gain",
    actions: str | None = None,
    features: str = "full-v1",
    population: int = 50,
    seed: int = 0,
    envs: int = 1,
    output: Path = Path("policy"),
    checkpoint: int = 0,
    resume: Annotated[bool, Parameter(negative=())] = False,
    tensorboard: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=())] = False,
) -> int:
    """Train an agent on the subjects of a corpus, another one in every episode.

    Parameters
    ----------
    agent
        ppo, recurrent_ppo, maskable_ppo, a2c, dqn, dsg_sarsa, ..., with options after a colon, or the folder of a saved agent.
    subjects
        A corpus, a split of one such as stdlib-v1:train, a TOML file, or subjects with a comma after each.
    path
        A folder that is searched first for the subjects.
    goal
        What the tester wants in the end.
    steps
        Decisions to learn from, over all environments.
    budget
        Of an episode: 100g (generations) or 3000x (executions of test cases).
    reward
        paper or gain.
    actions
        The catalogue of combinations to choose from (default: the goal's own).
    features
        What the agent sees; fitgym generate shows full-v1.
    population
        Number of individuals of the search.
    seed
        The same seed gives the same agent.
    envs
        Environments at a time, each in a process of its own; for deep agents.
    output
        Folder for the agent.
    checkpoint
        Also save it every so many steps, in checkpoints/ of that folder.
    resume
        Go on from the last of them, with the steps that are left.
    tensorboard
        Write events for TensorBoard to log/ of that folder; for deep agents.
    quiet
        No progress on stderr.
    """
    with held():
        from fitgym.training import Episode, Training, last_checkpoint
        from fitgym.training import train as run

    def show(episode: Episode) -> None:
        if not quiet:
            sys.stderr.write(
                f"{episode.step} of {steps}: {episode.subject}, goal {episode.value:g}, rewards {episode.rewards:g}\n"
            )

    request = Training(
        agent,
        subjects,
        goal=goal,
        steps=steps,
        output=str(output),
        budget=budget,
        reward=reward,
        actions=actions,
        features=features,
        population=population,
        seed=seed,
        envs=envs,
        path=None if path is None else str(path),
        checkpoint=checkpoint,
        resume=resume,
        tensorboard=tensorboard,
    )
    try:
        trained = run(request, show)
    except KeyboardInterrupt:
        if (reached := last_checkpoint(request)) is None:
            raise
        sys.stderr.write(f"fitgym: interrupted; '{reached}' is there to go on from: the same command with --resume\n")
        return INTERRUPTED
    sys.stdout.write(f"{type(trained.agent).__name__} learnt from {trained.agent.n_updates} steps: {output}\n")
    for subject, reason in trained.unusable.items():
        sys.stderr.write(f"fitgym: '{subject}' was left out: {reason}\n")
    return FINDING if trained.unusable else DONE


EVALUATE_EXAMPLES = """Examples:
  fitgym evaluate ucb uniform fixed:exception --subjects stdlib-v1:validation --budget 2000x --jobs 2
  fitgym evaluate ucb dsg_sarsa --subjects lists/mine.toml --goal coverage --seeds 10 --json rows.json
  fitgym evaluate ucb linucb uniform --against uniform --seeds 10
"""


@app.command(help_epilogue=EVALUATE_EXAMPLES)
def evaluate(
    *agents: str,
    subjects: str = "stdlib-v1:test",
    path: Path | None = None,
    goal: str = "exceptions",
    budget: str = "3000x",
    reward: str = "gain",
    actions: str | None = None,
    features: str = "full-v1",
    populations: Literal["shared", "per-action"] = "shared",
    population: int = 50,
    generations_per_step: int = 3,
    seeds: int = 3,
    jobs: int = 1,
    against: str = "",
    json: Path | None = None,
) -> int:
    """Compare agents: every agent on every subject with every seed, all with the same budget.

    Parameters
    ----------
    agents
        Names of agents, with options after a colon: ucb:c=0.5.
    subjects
        A corpus, a split of one such as stdlib-v1:test, a TOML file, or subjects with a comma after each.
    path
        A folder that is searched first for the subjects.
    goal
        What the tester wants in the end.
    budget
        20000x (executions of test cases) or 200g (generations), for each run.
    reward
        What the agents learn from: paper or gain.
    actions
        The catalogue of combinations to choose from (default: the goal's own).
    features
        What the agents see; a trained agent needs what it was trained with.
    populations
        shared, or per-action: every action goes on with the population it left, as in the code released with the paper.
    population
        Number of individuals of the search.
    generations_per_step
        How many generations a decision of an agent holds.
    seeds
        How many seeds, from 0 on.
    jobs
        Runs at a time.
    against
        Agents among them, joined by commas, that the others are put beside: A12, the probability that a run of the other
        one reaches more, with its 95 % interval.
    json
        File for all rows.
    """
    from dataclasses import asdict

    with held():
        from fitgym import comparison, evaluation
    from fitgym.errors import BudgetError
    from fitgym.evolution.budget import Budget
    from fitgym.suite.export import write

    if seeds < 1:
        raise InputError(f"seeds is {seeds}, expected how many there should be, at least 1")
    if not Budget.parse(budget).deterministic:
        raise BudgetError(f"budget '{budget}' counts seconds, so runs could not be compared: use 3000x or 200g")
    baselines = [name.strip() for name in against.split(",") if name.strip()]
    for name in baselines:
        if name not in agents:
            raise InputError(f"--against '{name}' is not one of the agents to run: {', '.join(agents) or 'none'}")
    folder = None if path is None else str(path)
    rows: list[evaluation.Row] = []
    for row in evaluation.evaluate(
        agents,
        subjects,
        seeds=range(seeds),
        goal=goal,
        budget=budget,
        reward=reward,
        actions=actions,
        features=features,
        path=folder,
        populations=populations,
        population=population,
        generations_per_step=generations_per_step,
        jobs=jobs,
    ):
        rows.append(row)
        what = row.error if row.value is None else f"{row.value:g}"
        sys.stderr.write(f"{len(rows)}: {row.cell.agent} on {row.cell.subject}, seed {row.cell.seed}: {what}\n")
    lines = evaluation.summary(rows)
    width = max(len(line["agent"]) for line in lines)
    sys.stdout.write(f"{'agent':<{width}}  share of best  median  runs  failed\n")
    for line in lines:
        share, median = ("-", "-") if line["share"] is None else (f"{line['share']:.3f}", f"{line['median']:.4g}")
        sys.stdout.write(f"{line['agent']:<{width}}  {share:>13}  {median:>6}  {line['runs']:4}  {line['failed']:6}\n")
    for name, (decisions, actions_there) in evaluation.first_tries(rows).items():
        sys.stdout.write(
            f"{name} had {decisions} decisions in a run and {actions_there} actions to try: this says nothing about learning; "
            "give a larger --budget or fewer --generations-per-step\n"
        )
    if json is not None:
        write(json_format.dumps([asdict(row) for row in rows], indent=1) + "\n", json)
    with_runs = {row.cell.agent for row in rows if row.value is not None}
    for found in comparison.contrasts(rows, [name for name in baselines if name in with_runs]):
        sys.stdout.write(
            f"{found.agent} against {found.baseline}: A12 {found.a12:.2f} [{found.low:.2f}, {found.high:.2f}] on "
            f"{found.subjects} subjects, above on {found.better}, below on {found.worse}: {found.verdict}\n"
        )
    return FINDING if any(row.error for row in rows) else DONE


VALIDATE_EXAMPLES = """Examples:
  fitgym validate results/mio-small
  fitgym validate record.json --path src
  fitgym validate results/leaderboard-* --board board.md
"""


@app.command(help_epilogue=VALIDATE_EXAMPLES)
def validate(*records: Path, path: Path | None = None, board: Path | None = None) -> int:
    """See whether records are what they claim: repeat every run, and run its suite in a fresh interpreter.

    Parameters
    ----------
    records
        Folders of studies, records of fitgym generate (.json), or files with a record in each line (.jsonl).
    path
        A folder that is searched first for the subjects.
    board
        File for the leaderboard, Markdown: the agents of the valid records by goal, on stdlib-v1:test.
    """
    from fitgym.leaderboard import boards, markdown
    from fitgym.suite.export import write
    from fitgym.validation import claims
    from fitgym.validation import validate as validated

    if not records:
        raise InputError(
            "no records are named: give the folder of a study or a file that fitgym generate --json has written"
        )
    answers = []
    for claim in claims(records, None if path is None else str(path)):
        found = validated(claim)
        answers.append(found)
        sys.stdout.write(f"{'✓' if found.valid else '✗'} {claim.name}{''.join(f'; {r}' for r in found.reasons)}\n")
        sys.stdout.flush()
    wrong = sum(not found.valid for found in answers)
    sys.stdout.write(f"{len(answers) - wrong} of {len(answers)} records are valid\n")
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

    from fitgym.suite.cost import Quantity
    from fitgym.suite.cost import cost as measured
    from fitgym.suite.export import write

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
        "goals", "fitness", "agents", "search", "secondary", "envs", "features", "corpora", "trials", "executors"
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
    from fitgym.listing import describe, explain, overview

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
    from fitgym.doctor import as_json, as_text, examine

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
