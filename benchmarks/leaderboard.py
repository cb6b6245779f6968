"""The leaderboard of Landscapes-v0: ten training seeds of each agent, played on test tasks and validated.

    python benchmarks/leaderboard.py                       everything, about half an hour of processor time
    python benchmarks/leaderboard.py --only ppo --seeds 2  a part of it
    python benchmarks/leaderboard.py --board               only validate what is there, and write the page

Policies, datasets and records are in `results/leaderboard`; what is there is not made again. `fitgym validate` repeats
each record, and `leaderboard/landscapes.md` and `leaderboard/landscapes.csv` hold the repeated values.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fitgym.learning.dataset import collect
from fitgym.learning.training import Training, train
from fitgym.run.evaluation import evaluate
from fitgym.run.setting import Setting
from fitgym.study.leaderboard import boards, markdown, table
from fitgym.study.validation import Validity, claims, validate
from fitgym.suite.text.export import write

HERE = Path(__file__).parent
ENV = "fitgym/Landscapes-v0"


@dataclass(frozen=True)
class Entry:
    """An agent of the board.

    Attributes:
        agent: with its hyper-parameters.
        steps: of its training; 0 for an agent that is not trained.
        envs: number of parallel environments.
        data: names of the datasets that it learns from instead of the environment.
    """

    agent: str
    steps: int = 0
    envs: int = 1
    data: tuple[str, ...] = ()


ENTRIES: Mapping[str, Entry] = {
    "uniform": Entry("uniform"),
    "constant": Entry("fixed:promising"),
    "oracle": Entry("oracle:informed=true"),
    "linucb": Entry("linucb", 4_000),
    "dsg_sarsa": Entry("dsg_sarsa", 4_000),
    "dqn": Entry("dqn:learning_rate=0.001,exploration=0.5", 16_000, 4),
    "ppo": Entry("ppo:n_steps=30,batch_size=240,n_epochs=4,learning_rate=0.001,trace=0.8,entropy=0.005", 80_000, 32),
    "cloning": Entry("ppo:learning_rate=0.001", 1_000, data=("informed-v0",)),
    "conservative": Entry("dqn:learning_rate=0.001", 1_000, data=("mixed-v0",)),
}
"""The entries. `fixed:promising` is the best constant on training tasks, see `headroom/environments/ladder.md`."""

DATA: Mapping[str, float] = {"informed-v0": 0.0, "mixed-v0": 0.5}
"""The probability of a random action in place of the informed one, by dataset of 500 episodes."""


def made(folder: Path, entry: Entry, name: str, seed: int) -> str:
    """Return the agent to play: as it is, or the folder of the trained one, which is trained if it is missing."""
    if not entry.steps:
        return entry.agent
    place = folder / name / str(seed)
    if (place / "bundle.json").exists():
        return str(place)
    for dataset in entry.data:
        if not (folder / "data" / dataset / "data").exists():
            setting = Setting(env=ENV, agent="oracle:informed=true")
            collect(setting, 200 if DATA[dataset] else 500, folder / "data" / dataset, random=DATA[dataset])
    data = ",".join(str(folder / "data" / dataset) for dataset in entry.data)
    sizes = {"steps": entry.steps, "envs": entry.envs, "seed": seed}
    train(Training.of(entry.agent, env=ENV, data=data, output=str(place), **sizes))
    return str(place)


def played(folder: Path, name: str, seed: int, tasks: str) -> Path:
    """Play the test tasks, and return the file of the records. A trained agent plays with seed 0."""
    file = folder / "records" / f"{name}-{seed}.jsonl"
    if not file.exists():
        entry = ENTRIES[name]
        agent = made(folder, entry, name, seed)
        rows = evaluate([agent], env=ENV, tasks=tasks, seeds=[0 if entry.steps else seed])
        file.parent.mkdir(parents=True, exist_ok=True)
        write("".join(json.dumps(row.record) + "\n" for row in rows), file)
        sys.stderr.write(f"{name}, seed {seed}\n")
    return file


def validated(files: list[Path]) -> Iterator[Validity]:
    """Repeat every record."""
    for claim in claims(files):
        found = validate(claim)
        if not found.valid:
            sys.stderr.write(f"{found}\n")
        yield found


def main() -> int:
    """Train, play, validate and write the board; returns 1 if a record is invalid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(ENTRIES), metavar="ENTRY", default=list(ENTRIES))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--tasks", default="200-229")
    parser.add_argument("--folder", type=Path, default=Path("results") / "leaderboard")
    parser.add_argument("--board", action="store_true", help="train and play nothing")
    parser.add_argument("--no-board", action="store_true", help="only train and play")
    parser.add_argument("--output", type=Path, default=HERE / "leaderboard")
    options = parser.parse_args()
    if not options.board:
        for seed in options.seeds:
            for name in options.only:
                played(options.folder, name, seed, options.tasks)
    if options.no_board:
        return 0
    answers = list(validated(sorted((options.folder / "records").glob("*.jsonl"))))
    found = boards(answers)
    options.output.mkdir(parents=True, exist_ok=True)
    write(markdown(found), options.output / "landscapes.md")
    write(table(found), options.output / "landscapes.csv")
    wrong = sum(not one.valid for one in answers)
    print(f"{len(answers) - wrong} of {len(answers)} records are valid")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
