"""The commands `fitgym train` and `fitgym evaluate`: train an agent, and compare agents."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from fitgym.commands.codes import DONE, FINDING, INTERRUPTED
from fitgym.commands.flags import Text, with_options
from fitgym.commands.interruption import held
from fitgym.errors import InputError
from fitgym.run.setting import DEFAULT_ENV

__all__ = ["EVALUATE_EXAMPLES", "TRAIN_EXAMPLES", "evaluate", "train"]

TRAIN_EXAMPLES = """Examples:
  fitgym train ppo --subjects stdlib-v1:train --steps 20000 --envs 2 --output policies/ppo
  fitgym train ppo --steps 100000 --checkpoint 5000 --resume --output policies/ppo
  fitgym train ppo --env fitgym/Landscapes-v0 --envs 64 --steps 200000 --validate 20000 --best --output policies/mine
  fitgym train dsg_sarsa:alpha=0.02 --subjects lists/mine.toml --goal coverage --output policies/sarsa
  fitgym train ppo --env fitgym/Toy-v0 --option horizon=20 --steps 20000 --output policies/toy
  fitgym train sac --env fitgym/WeightedFitness-v0 --output policies/weights
  fitgym train ppo --env fitgym/Programs-v0 --envs 10 --executor ray --address auto --output policies/programs
  fitgym generate textwrap --agent policies/ppo
"""


@with_options("path", "budget")
def train(
    agent: str,
    /,
    *,
    env: str = DEFAULT_ENV,
    subjects: Text = "",
    path: Path | None = None,
    steps: int = 2000,
    budget: Text = "",
    seed: int = 0,
    envs: int = 1,
    executor: str = "local",
    address: Text = "",
    output: Path = Path("policy"),
    data: Text = "",
    validate: int = 0,
    validate_on: Text = "",
    best: Annotated[bool, Parameter(negative=())] = False,
    checkpoint: int = 0,
    resume: Annotated[bool, Parameter(negative=())] = False,
    tensorboard: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=())] = False,
    options: Mapping[str, Any],
) -> int:
    """Train an agent in an environment; each episode uses another subject of a corpus, if the environment has subjects.

    Parameters
    ----------
    agent
        ppo, recurrent_ppo, a2c, dqn, sac, dsg_sarsa, ..., with options after a colon, or the folder of a saved agent.
    env
        The environment, see `fitgym list envs`.
    subjects
        A corpus, a split of one, a TOML file, or a list of subjects, each followed by a comma (default: stdlib-v1:train
        for an environment with a subject).
    path
        Folder to search first for the subjects.
    steps
        Number of decisions to learn from, over all environments.
    budget
        Budget of an episode: 100g (generations) or 3000x (executions of test cases) (default: that of the
        environment).
    seed
        The same seed gives the same agent.
    envs
        Number of parallel environments, each in its own process; for deep agents only.
    executor
        Where the environments run: local (this machine) or ray (a Ray cluster, one core for each environment; extra
        `ray`).
    address
        Address of the Ray cluster: auto or HOST:PORT. Without it, a cluster is started on this machine.
    output
        Folder for the agent.
    data
        Folders of datasets of fitgym collect, separated by commas, to learn from instead of the environment: ppo and a2c
        imitate the recorded actions, dqn learns values conservatively. Steps are updates.
    validate
        Number of steps between validations: the agent plays the validation tasks, which it does not learn from (0:
        none). Results are shown and written to validation.csv of the output folder.
    validate_on
        Subjects or numbered tasks for the validation (default: the split validation).
    best
        Save the agent of the best validation in best/ of the output folder.
    checkpoint
        Number of steps between checkpoints, which are saved in checkpoints/ of the output folder (0: none).
    resume
        Continue from the last checkpoint, with the remaining steps.
    tensorboard
        Write events for TensorBoard to log/ of the output folder; for deep agents only.
    quiet
        Show no progress on stderr.
    """
    with held():
        from fitgym.learning.checkpoint import last_checkpoint
        from fitgym.learning.training import Episode, Training
        from fitgym.learning.training import train as run
        from fitgym.learning.validation import Point
        from fitgym.run.environment import has_subject, options_of

    def show(episode: Episode) -> None:
        if not quiet:
            sys.stderr.write(
                f"{episode.step} of {steps}: {episode.subject or env}, goal {episode.value:g}, "
                f"rewards {episode.rewards:g}\n"
            )

    def show_validation(point: Point) -> None:
        if not quiet:
            sys.stderr.write(
                f"{point.step} of {steps}: validation {point.mean:.4g} [{point.low:.4g}, {point.high:.4g}], "
                f"{point.episodes} episodes\n"
            )

    if not subjects and has_subject(env):
        subjects = "stdlib-v1:train"
    request = Training.of(
        agent,
        subjects,
        env=env,
        steps=steps,
        output=str(output),
        budget=budget,
        seed=seed,
        envs=envs,
        executor=executor,
        address=address,
        path=None if path is None else str(path),
        data=data,
        validate=validate,
        validate_on=validate_on,
        best=best,
        checkpoint=checkpoint,
        resume=resume,
        tensorboard=tensorboard,
        **options,
    )
    try:
        trained = run(request, show, show_validation)
    except KeyboardInterrupt:
        if (reached := last_checkpoint(request)) is None:
            raise
        sys.stderr.write(f"fitgym: interrupted; run the same command with --resume to continue from '{reached}'\n")
        return INTERRUPTED
    reward = {**options_of(env), **options}.get("reward")
    rewarded = f", reward {reward}" if reward else ""
    sys.stdout.write(
        f"{type(trained.agent).__name__} learnt from {trained.agent.n_updates} steps{rewarded}: {output}\n"
    )
    if trained.validations:
        at = max(trained.validations, key=lambda point: point.mean)
        sys.stdout.write(
            f"best validation {at.mean:.4g} after {at.step} steps, last {trained.validations[-1].mean:.4g}\n"
        )
    if trained.lost:
        sys.stderr.write(
            f"fitgym: the cluster lost environments {trained.lost} times; their episodes were cut short, so the training "
            "cannot be repeated exactly\n"
        )
    for subject, reason in trained.unusable.items():
        sys.stderr.write(f"fitgym: '{subject}' was left out: {reason}\n")
    return FINDING if trained.unusable else DONE


EVALUATE_EXAMPLES = """Examples:
  fitgym evaluate ucb uniform fixed:exception --subjects stdlib-v1:validation --budget 2000x --jobs 2
  fitgym evaluate ucb dsg_sarsa --subjects lists/mine.toml --goal coverage --seeds 10 --json rows.json
  fitgym evaluate ucb linucb uniform --against uniform --seeds 10
  fitgym evaluate ucb uniform --env fitgym/AlgorithmSelection-v0 --option 'searches=["mosa","mio"]' --records runs.jsonl
  fitgym evaluate policies/mine uniform --env fitgym/Landscapes-v0 --tasks 200-299 --seeds 1 --records entry.jsonl
  fitgym evaluate policies/programs uniform --env fitgym/Programs-v0 --option split=test --seeds 100 --executor ray
"""


@with_options("path", "budget")
def evaluate(
    *agents: str,
    env: str = DEFAULT_ENV,
    subjects: Text = "",
    path: Path | None = None,
    tasks: Text = "",
    budget: Text = "",
    seeds: int = 3,
    jobs: int | None = None,
    executor: str = "local",
    address: Text = "",
    against: Text = "",
    json: Path | None = None,
    records: Path | None = None,
    options: Mapping[str, Any],
) -> int:
    """Compare agents: run every agent on every subject or task with every seed, all with the same budget.

    Parameters
    ----------
    agents
        Names of agents, with options after a colon: ucb:c=0.5.
    env
        The environment, see `fitgym list envs`.
    subjects
        A corpus, a split of one, a TOML file, or a list of subjects, each followed by a comma (default: stdlib-v1:test
        for an environment with a subject).
    path
        Folder to search first for the subjects.
    tasks
        Numbered tasks of an environment such as fitgym/Landscapes-v0: validation, test or a range such as 200-299
        (default: the seed determines the task).
    budget
        Budget of each run: 20000x (executions of test cases) or 200g (generations) (default: 3000x for an environment
        with a subject).
    seeds
        Number of seeds, counted from 0.
    jobs
        Number of parallel runs (default: 1, or the number of cores of the cluster).
    executor
        Where the runs are made: local (this machine) or ray (a Ray cluster, one core for each run; extra `ray`).
    address
        Address of the Ray cluster: auto or HOST:PORT. Without it, a cluster is started on this machine.
    against
        Baselines among the agents, separated by commas. For each other agent, the output shows A12 (the probability
        that its run reaches more than a run of the baseline) with its 95 % interval, the Holm-adjusted p and the
        verdict (extra `study`).
    json
        File for all rows.
    records
        File for the records, one run per line; `fitgym validate` repeats them.
    """
    with held():
        from fitgym.run import evaluation
        from fitgym.run.environment import has_subject, kind, options_of
        from fitgym.run.generation import writable_file
        from fitgym.study import comparison
    from fitgym.errors import BudgetError
    from fitgym.evolution.budget import Budget
    from fitgym.study.verdict import judge
    from fitgym.suite.text.export import write

    if seeds < 1:
        raise InputError(f"seeds is {seeds}; expected a number of at least 1")
    if budget and not Budget.parse(budget).deterministic:
        raise BudgetError(f"budget '{budget}' counts seconds, which makes runs incomparable; use 3000x or 200g")
    writable_file(json)
    if writable_file(records) is not None and not hasattr(kind(env), "record"):
        raise InputError(
            f"--records: environment '{env}' keeps no records; leave the option out, or use an environment of fitgym"
        )
    baselines = [name.strip() for name in against.split(",") if name.strip()]
    for name in baselines:
        if name not in agents:
            raise InputError(
                f"--against '{name}' is not among the agents to run; expected one of: {', '.join(agents) or 'none'}"
            )
    if baselines and find_spec("scipy") is None:
        raise InputError(
            "--against needs scipy for its statistical test; pip install 'fitgym[study]', or leave the option out"
        )
    if not subjects and has_subject(env):
        subjects = "stdlib-v1:test"
    folder = None if path is None else str(path)
    rows: list[evaluation.Row] = []
    where: dict[str, Any] = {"jobs": jobs, "executor": executor, "address": address}
    for row in evaluation.evaluate(
        agents, subjects, seeds=range(seeds), env=env, budget=budget, path=folder, tasks=tasks, **where, **options
    ):
        rows.append(row)
        what = row.error if row.value is None else f"{row.value:g}"
        sys.stderr.write(
            f"{len(rows)}: {row.setting.agent} on {row.setting.place or env}, seed {row.setting.seed}: {what}\n"
        )
    lines = evaluation.summary(rows)
    width = max(len(line["agent"]) for line in lines)
    if reward := {**options_of(env), **options}.get("reward"):
        sys.stdout.write(f"reward {reward}\n")
    sys.stdout.write(f"{'agent':<{width}}  share of best  median    mean  runs  failed\n")
    for line in lines:
        share = "-" if line["share"] is None else f"{line['share']:.3f}"
        median, mean = ("-" if line[name] is None else f"{line[name]:.4g}" for name in ("median", "mean"))
        sys.stdout.write(
            f"{line['agent']:<{width}}  {share:>13}  {median:>6}  {mean:>6}  {line['runs']:4}  {line['failed']:6}\n"
        )
    for name, (decisions, actions_there) in evaluation.first_tries(rows).items():
        sys.stdout.write(
            f"{name} made {decisions} decisions in a run and has {actions_there} actions to try: too few to show "
            "learning; use a larger --budget or fewer --generations-per-step\n"
        )
    if json is not None:
        write(json_format.dumps([row.to_json() for row in rows], indent=1) + "\n", json)
    if records is not None:
        write("".join(json_format.dumps(row.record) + "\n" for row in rows if row.record is not None), records)
    with_runs = {row.setting.agent for row in rows if row.value is not None}
    for found in judge(comparison.contrasts(rows, [name for name in baselines if name in with_runs])):
        one = found.evidence
        sys.stdout.write(
            f"{one.agent} against {one.baseline}: A12 {one} on {one.subjects} subjects, above on {one.better}, below on "
            f"{one.worse}, Holm-adjusted p {found.shown_p}: {found.verdict}\n"
        )
    return FINDING if any(row.error for row in rows) else DONE
