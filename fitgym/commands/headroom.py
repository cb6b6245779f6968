"""The command `fitgym headroom`: measure how much good decisions can gain in an environment."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from fitgym.commands.codes import DONE
from fitgym.commands.flags import Text, with_options
from fitgym.commands.interruption import held
from fitgym.errors import InputError

__all__ = ["HEADROOM_EXAMPLES", "headroom"]

HEADROOM_EXAMPLES = """Examples:
  fitgym headroom fitgym/Toy-v0 fitgym/Artificial-v0
  fitgym headroom fitgym/Programs-v0 --tests 20 --seeds 4 --jobs 2 --output results/headroom
  fitgym headroom fitgym/Programs-v0 --option split=400-419 --tries 0
  fitgym headroom fitgym/BranchCoverage-v0 --test stdlib-v1:validation --budget 1000x --population 10
"""


@with_options("path", "budget")
def headroom(
    *envs: str,
    training: str = "stdlib-v1:train",
    test: str = "stdlib-v1:test",
    budget: Text = "",
    tests: int = 10,
    seeds: int = 4,
    tries: int = 2,
    every: int = 3,
    schedules: bool = True,
    jobs: int = 1,
    seed: int = 0,
    output: Path | None = None,
    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=())] = False,
    options: Mapping[str, Any],
) -> int:
    """Measure the values of random actions, constants, simple rules, schedules and an oracle in an environment.

    Parameters
    ----------
    envs
        Environments with discrete actions, see `fitgym list envs`.
    training
        A corpus, a split of one, or a list of subjects, each followed by a comma. Constants, rules and schedules are
        chosen on its first subjects, if the environment has a subject.
    test
        The corpus, split or subjects of the test tasks.
    budget
        Budget of an episode: 100g (generations) or 3000x (executions of test cases) (default: chosen by the
        environment).
    tests
        Number of test tasks, the first ones of the split or corpus.
    seeds
        Number of episodes of each policy on each task.
    tries
        Number of copies with independent random numbers on which the oracle tries each candidate; 0 leaves the oracle
        out.
    every
        Number of decisions between two lookaheads of the oracle.
    schedules
        Search for the best schedule of up to three phases.
    jobs
        Number of parallel processes.
    seed
        The same seed gives the same table.
    output
        Folder for ladder.md, ladder.csv and a figure of each environment.
    quiet
        Show no progress on stderr.
    """
    with held():
        from fitgym.headroom.ladder import Request, measure
        from fitgym.headroom.report import text, write_all
        from fitgym.run.setting import Setting

    if not envs:
        raise InputError("no environment is given; expected at least one, such as fitgym/Programs-v0")

    def show(line: str) -> None:
        if not quiet:
            sys.stderr.write(f"{line}\n")

    requests = [
        Request(
            setting=Setting(env=env, budget=budget, options=options),
            training=training,
            test=test,
            tests=tests,
            seeds=seeds,
            tries=tries,
            every=every,
            schedules=schedules,
            jobs=jobs,
            seed=seed,
        )
        for env in envs
    ]
    found = []
    for request in requests:
        show(request.setting.env)
        found.append(measure(request, show))
        sys.stdout.write(f"{request.setting.env}\n\n{text(found[-1])}\n")
    if output is not None:
        write_all(found, output, shlex.join(["fitgym", *sys.argv[1:]]))
    return DONE
