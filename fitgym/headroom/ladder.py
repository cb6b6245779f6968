"""The ladder: the results of random actions, constants, rules, schedules and an oracle in an environment.

Episodes on test tasks are measured by their final value and by their area under the curve. The best constant, the best
rule and the schedule are chosen on training tasks. The best constant for each task is chosen on one half of its seeds
and measured on the other half. Every rung is therefore measured on episodes that did not influence its choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.envs.tasks import numbers
from fitgym.errors import InputError
from fitgym.headroom.plays import Play, Task, Value, play_all
from fitgym.headroom.policy import Constant, Greedy, Informed, Policy, Rollout, Ruled, Schedule, Uniform
from fitgym.run.environment import has_subject, make, options_of
from fitgym.run.setting import Setting
from fitgym.study.statistics import Interval
from fitgym.subject.corpus import Corpus

__all__ = ["MEASURES", "SPACING", "Ladder", "Request", "Rung", "measure"]

MEASURES = ("final", "area")
"""The measures of an episode."""

SPACING = 100_000
"""Distance between the first seeds of two tasks."""

_RESAMPLES = 2000
_KEPT = 8  # schedules that play on all training tasks
_SWITCHES = (0.25, 0.5, 0.75)  # shares of an episode at which a schedule changes its action

Progress = Callable[[str], None]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request for a measurement.

    Attributes:
        setting: environment with its options and budget.
        training: corpus of training subjects, if the environment has a subject.
        test: corpus of test subjects.
        tests: number of test tasks; the number of training tasks is the same, but at most 20.
        seeds: number of episodes of each policy on each task.
        tries: number of copies on which the oracle tries each candidate; 0 omits the oracle.
        every: number of decisions between two look-aheads.
        schedules: whether to search for schedules.
        jobs: number of parallel processes.
        seed: seed of all randomness.
    """

    setting: Setting
    training: str = "stdlib-v1:train"
    test: str = "stdlib-v1:test"
    tests: int = 10
    seeds: int = 4
    tries: int = 2
    every: int = 3
    schedules: bool = True
    jobs: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("tests", 1), ("seeds", 2), ("tries", 0), ("every", 1), ("jobs", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}, expected at least {least}")


@dataclass(frozen=True, slots=True)
class Rung:
    """The results of one kind of policy on the test tasks.

    Attributes:
        name: the name of the rung.
        policy: a description of the policy.
        final, area: values by task and seed, `(n_tasks, n_seeds)`.
        episodes: number of episodes played to find the policy, without those of this rung.
    """

    name: str
    policy: str
    final: Floats
    area: Floats
    episodes: int = 0

    def mean(self, measure: str) -> float:
        """Return the mean of a measure over tasks and seeds."""
        return float(getattr(self, measure).mean())


@dataclass(frozen=True)
class Ladder:
    """All rungs of one environment.

    Attributes:
        env: the id of the environment.
        tasks: names of the test tasks.
        rungs: the rungs in order. The first is "random". The last is the better one of oracle and informed policy, if
            there is one.
        others: further policies on the same tasks, such as each rule.
        shares_randomness: whether the oracle's copies had the same random numbers as the real episode.
        seed: seed of the bootstrap intervals.
    """

    env: str
    tasks: tuple[str, ...]
    rungs: tuple[Rung, ...]
    others: tuple[Rung, ...] = ()
    shares_randomness: bool = False
    seed: int = 0

    def rung(self, name: str) -> Rung:
        """Return the rung or further policy with this name.

        Raises:
            KeyError: there is none.
        """
        for one in (*self.rungs, *self.others):
            if one.name == name:
                return one
        raise KeyError(name)

    @cached_property
    def top(self) -> Rung:
        """The rung with the largest mean final value, which has score 1."""
        return max(self.rungs, key=lambda one: one.mean("final"))

    def interval(self, rung: Rung, measure: str = "final") -> Interval:
        """Return the mean with its 95 % bootstrap interval, which resamples tasks and seeds."""
        return self._interval([getattr(rung, measure)])

    def gap(self, low: Rung, high: Rung, measure: str = "final") -> Interval:
        """Return the difference of two rungs, in pairs of the same task and seed."""
        return self._interval([getattr(high, measure) - getattr(low, measure)])

    def score(self, rung: Rung, measure: str = "final") -> float:
        """Return the score: 0 for random actions, 1 for the top; NaN if they are equal."""
        null, top = self.rungs[0].mean(measure), self.top.mean(measure)
        return (rung.mean(measure) - null) / (top - null) if top > null else float("nan")

    def verdict(self) -> str:
        """State in one sentence whether an agent can learn anything in the environment."""
        simple = max(
            self.rungs[:-1] or self.rungs, key=lambda one: one.mean("final") if one is not self.top else -np.inf
        )
        fixed = self.rung("best constant")
        gap = self.gap(fixed, self.top)
        if self.top is fixed or gap.low <= 0.0:
            return (
                f"No policy is shown to beat the best constant action ({fixed.policy}): there is nothing to learn here."
            )
        beyond = self.gap(simple, self.top)
        words = (
            f"The {self.top.name} ({self.top.policy}) is {gap.value:.3f} [{gap.low:.3f}, {gap.high:.3f}] above the best "
            f"constant action"
        )
        if beyond.low <= 0.0:
            return f"{words}, and not shown to be above {simple.name} ({simple.policy})."
        return f"{words}, and {beyond.value:.3f} [{beyond.low:.3f}, {beyond.high:.3f}] above {simple.name} ({simple.policy})."

    def _interval(self, values: Sequence[Floats]) -> Interval:
        (found,) = values
        chance = np.random.default_rng(self.seed)
        n_tasks, n_seeds = found.shape
        tasks = chance.integers(n_tasks, size=(_RESAMPLES, n_tasks))
        seeds = chance.integers(n_seeds, size=(_RESAMPLES, n_tasks, n_seeds))
        means = found[tasks[:, :, None], seeds].mean(axis=(1, 2))
        low, high = np.percentile(means, (2.5, 97.5)).tolist()
        return Interval(float(found.mean()), low, high)


@dataclass
class _Measuring:
    """A measurement in progress."""

    request: Request
    progress: Progress
    played: int = 0
    labels: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    informed: bool = False
    copies: bool = True
    reseeds: bool = False
    steps: int = 0
    training: list[Task] = field(default_factory=list)
    tests: list[Task] = field(default_factory=list)

    def prepare(self) -> None:
        """Read the tasks, the action names and the abilities of the environment."""
        request = self.request
        self.training, self.tests = _tasks(request)
        options = {**request.setting.options}
        first = self.tests[0]
        if first.number is not None:
            options["task"] = first.number
        env: Any = make(
            Setting(env=request.setting.env, subject=first.subject, budget=request.setting.budget, options=options)
        )
        try:
            if not isinstance(env.action_space, spaces.Discrete):
                raise InputError(
                    f"the actions of {request.setting.env} are {env.action_space}, expected Discrete: there is no "
                    "best constant of others"
                )
            inner = env.unwrapped
            n_actions = int(env.action_space.n)
            names = tuple(getattr(inner, "action_names", ()))
            self.labels = names if len(names) == n_actions else tuple(map(str, range(n_actions)))
            self.rules = tuple(getattr(inner, "rules", ()))
            self.informed = hasattr(inner, "informed")
            self.reseeds = hasattr(inner, "reseed")
        finally:
            env.close()

    def play(self, policies: Sequence[Policy], tasks: Sequence[Task], seeds: Iterable[int], what: str) -> list[Rung]:
        """Play the policies on these tasks, and return a rung for each policy.

        Each task has its own seeds, the same for all policies. If tasks shared seeds, an environment that draws its luck
        from the seed alone would repeat it in every task, and the intervals would be too narrow.
        """
        seeds = list(seeds)
        plays = [
            Play(policy, task, seed + SPACING * place)
            for place, task in enumerate(tasks)
            for policy in policies
            for seed in seeds
        ]
        self.progress(f"{what}: {len(plays)} episodes")
        values = list(play_all(self.request.setting, plays, self.request.jobs))
        self.played += len(plays)
        self.steps = max(self.steps, *(value.steps for value in values))
        table: dict[int, list[Value]] = defaultdict(list)
        for number, value in enumerate(values):
            table[number // len(seeds) % len(policies)].append(value)
        shape = len(tasks), len(seeds)
        return [
            Rung(
                policy.name,
                policy.name,
                np.array([value.final for value in table[i]]).reshape(shape),
                np.array([value.area for value in table[i]]).reshape(shape),
            )
            for i, policy in enumerate(policies)
        ]


def measure(request: Request, progress: Progress = lambda line: None) -> Ladder:
    """Measure the ladder of an environment.

    Args:
        request: the request.
        progress: called with a line before each stage.

    Raises:
        InputError: the environment does not exist, its actions are not `Discrete`, or an option cannot be used.
        SubjectError: a subject cannot be tested.
    """
    run = _Measuring(request, progress)
    run.prepare()
    train_seeds = [request.seed + 10_000 + number for number in range(request.seeds)]
    seeds = [request.seed + number for number in range(request.seeds)]
    constants: list[Policy] = [Constant(action, label) for action, label in enumerate(run.labels)]
    rules: list[Policy] = [Ruled(name) for name in run.rules]

    chosen_constants = run.play(constants, run.training, train_seeds, "constants on training tasks")
    constant = constants[_best(chosen_constants)]
    random_, *on_tests = run.play([Uniform(), *constants], run.tests, seeds, "constants on test tasks")
    rungs = [
        _named("random", "each action with the same probability", random_),
        _named(
            "best constant",
            constant.name,
            on_tests[constants.index(constant)],
            len(chosen_constants) * _size(chosen_constants),
        ),
        _halves(on_tests, [one.name for one in constants]),
    ]
    others = [
        _named(f"constant {label}", f"constant {label}", one) for label, one in zip(run.labels, on_tests, strict=True)
    ]

    base: Policy = constant
    base_value = chosen_constants[_best(chosen_constants)].mean("final")
    if rules:
        chosen = run.play(rules, run.training, train_seeds, "rules on training tasks")
        found = run.play(rules, run.tests, seeds, "rules on test tasks")
        place = _best(chosen)
        rungs.append(_named("best rule", rules[place].name, found[place], len(rules) * _size(chosen)))
        others += [_named(one.name, one.name, rung) for one, rung in zip(rules, found, strict=True)]
        if chosen[place].mean("final") > base_value:
            base, base_value = rules[place], chosen[place].mean("final")
    if request.schedules and len(constants) > 1:
        before = run.played
        schedule, value = _scheduled(run, constants, train_seeds)
        spent = run.played - before
        (found_one,) = run.play([schedule], run.tests, seeds, "the schedule on test tasks")
        rungs.append(_named("best schedule", schedule.name, found_one, spent))
        if value > base_value:
            base = schedule
    top = []
    if run.informed:
        (result,) = run.play([Informed()], run.tests, seeds, "the informed policy")
        top.append(_named("informed", "knows what no agent sees", result))
    if request.tries:
        (greedy,) = run.play([Greedy()], run.tests, seeds[:2], "greedy look-ahead")
        others.append(_named("greedy", "largest next reward on copies", greedy))
        candidates = tuple(one for one in (constant, *rules) if one != base)[:4]
        oracle = Rollout(base, candidates, len(constants), request.tries, request.every)
        (ahead,) = run.play([oracle], run.tests, seeds, "the oracle")
        top.append(_named("oracle", f"looks ahead, then {base.name}", ahead))
    top.sort(key=lambda one: one.mean("final"))
    others += top[:-1]
    rungs += top[-1:]
    return Ladder(
        request.setting.env,
        tuple(task.name for task in run.tests),
        tuple(rungs),
        tuple(others),
        bool(request.tries) and not run.reseeds,
        request.seed,
    )


def _tasks(request: Request) -> tuple[list[Task], list[Task]]:
    """Return the training tasks and the test tasks."""
    env, n = request.setting.env, min(request.tests, 20)
    options = {**options_of(env), **request.setting.options}
    if has_subject(env):
        if request.setting.subject:
            tasks = [Task(request.setting.subject)]
            return tasks, tasks
        training, test = (Corpus.of(text).subjects for text in (request.training, request.test))
        return [Task(one) for one in training[:n]], [Task(one) for one in test[: request.tests]]
    if "split" in options and "task" in options:
        if options["task"] is not None:
            tasks = [Task(number=options["task"])]
            return tasks, tasks
        test_split = options["split"] if "split" in request.setting.options else "test"
        return [Task(number=one) for one in numbers("train")[:n]], [
            Task(number=one) for one in numbers(test_split)[: request.tests]
        ]
    return [Task()], [Task()]


def _scheduled(run: _Measuring, constants: Sequence[Policy], seeds: Sequence[int]) -> tuple[Schedule, float]:
    """Find the best schedule of up to three phases by successive halving; also return its mean final value."""
    horizon, labels = run.steps, run.labels
    ends = sorted({max(1, round(share * horizon)) for share in _SWITCHES})
    pairs = [
        Schedule((a, b), (end,), (labels[a], labels[b]))
        for a, b in permutations(range(len(constants)), 2)
        for end in ends
    ]
    first, value = _raced(run, pairs, seeds, "schedules of two phases")
    more = [
        Schedule((*first.actions, action), (first.ends[0], end), (*first.labels, labels[action]))
        for action in range(len(constants))
        for end in ends
        if end > first.ends[0] and action != first.actions[-1]
    ]
    if more:
        second, better = _raced(run, more, seeds, "schedules of three phases")
        if better > value:
            return second, better
    return first, value


def _raced(run: _Measuring, found: Sequence[Schedule], seeds: Sequence[int], what: str) -> tuple[Schedule, float]:
    """Find the best schedule: each round drops the worse half, until the remaining ones play on all training tasks."""
    alive, tasks = list(found), run.training
    amount = 1
    while len(alive) > _KEPT and amount < len(tasks):
        rungs = run.play(alive, tasks[:amount], seeds[:1], what)
        order = np.argsort([-one.mean("final") for one in rungs], kind="stable")
        alive = [alive[place] for place in order[: max(_KEPT, len(alive) // 2)]]
        amount = min(len(tasks), 2 * amount)
    rungs = run.play(alive[: 2 * _KEPT], tasks, seeds, what)
    place = _best(rungs)
    return alive[place], rungs[place].mean("final")


def _halves(rungs: Sequence[Rung], names: Sequence[str]) -> Rung:
    """Return the best constant of each task, chosen on one half of its seeds and measured on the other, both ways."""
    final, area = (np.array([getattr(one, measure) for one in rungs]) for measure in MEASURES)
    n_seeds = final.shape[2]
    middle = n_seeds // 2
    out = np.empty_like(final[0]), np.empty_like(area[0])
    for judged, chosen in ((slice(0, middle), slice(middle, None)), (slice(middle, None), slice(0, middle))):
        best = final[:, :, chosen].mean(axis=2).argmax(axis=0)
        for task, action in enumerate(best):
            out[0][task, judged], out[1][task, judged] = final[action, task, judged], area[action, task, judged]
    distinct = {names[action] for action in final.mean(axis=2).argmax(axis=0)}
    return Rung("best constant for each task", f"{len(distinct)} different ones", *out, episodes=0)


def _best(rungs: Sequence[Rung]) -> int:
    return int(np.argmax([one.mean("final") for one in rungs]))


def _size(rungs: Sequence[Rung]) -> int:
    return int(rungs[0].final.size)


def _named(name: str, policy: str, rung: Rung, episodes: int = 0) -> Rung:
    return Rung(name, policy, rung.final, rung.area, episodes)
