"""full-v2 describes the state of the search and the program, not only the agent's last actions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import every, nightly
from numpy.typing import NDArray

from fitgym.engine import Engine
from fitgym.envs.algorithm_selection import AlgorithmSelection
from fitgym.envs.base import SearchEnv
from fitgym.envs.feature_set import FeatureSet
from fitgym.envs.features.base import Moment, View
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.envs.generator_rates import GeneratorRates
from fitgym.execution.executor import Executor
from fitgym.goals.exceptions import Exceptions
from fitgym.subject.source import locate

SUBJECTS = ("colorsys", "textwrap", "shlex", "statistics", "configparser")
GOALS = ("exceptions", "coverage", "diversity", "strong_mutation")
SEEDS = (0, 1, 2)

Floats = NDArray[np.float64]


@cache
def walk(
    subject: str, goal: str, actions: str, seed: int, decisions: int
) -> tuple[tuple[str, ...], Floats, NDArray[np.intp]]:
    """Names, observations and actions of an episode in which every action is taken equally often, in random order."""
    options: dict[str, Any] = {"population": 10, "generations_per_step": 1, "budget": "100000x", "features": "full-v2"}
    with FitnessSelection(subject, goal=goal, actions=actions, **options) as env:
        env.reset(seed=seed)
        n, chance = env.actions.size, np.random.default_rng(seed)
        order = np.concatenate([chance.permutation(n) for _ in range(decisions // n + 1)])[:decisions]
        seen, taken = [], []
        for action in order.tolist():
            observation, _, terminated, truncated, _ = env.step(action)
            seen.append(observation)
            taken.append(action)
            if terminated or truncated:
                break
        return tuple(env.feature_names), np.array(seen, float), np.array(taken)


def explained(subject: str, goal: str) -> dict[str, float]:
    """The share of each feature's variance that the last action explains (eta squared), the episodes' means removed.

    By chance alone it is (actions - 1) / (decisions - 1), 0.04 here.
    """
    names: tuple[str, ...] = ()
    parts, taken = [], []
    for seed in SEEDS:
        names, seen, actions = walk(subject, goal, "singles", seed, 64)
        parts.append(seen - seen.mean(axis=0))
        taken.append(actions)
    seen, actions = np.vstack(parts), np.concatenate(taken)
    between = sum(
        (actions == action).sum() * seen[actions == action].mean(axis=0) ** 2 for action in np.unique(actions)
    )
    total = (seen**2).sum(axis=0)
    return {
        name: float(b / t)
        for name, b, t in zip(names, np.asarray(between), total, strict=True)
        if t > 1e-6 and not name.startswith(("active_", "last_"))
    }


@pytest.mark.parametrize("subject", every(5, SUBJECTS))
@pytest.mark.parametrize("goal", every(2, ["exceptions", "coverage"]))
def test_the_last_action_explains_little_of_each_feature(goal: str, subject: str) -> None:
    found = explained(subject, goal)
    assert len(found) > 15
    assert {name: share for name, share in found.items() if share >= 0.2} == {}
    assert np.mean(list(found.values())) < 0.1


def test_the_features_before_told_the_last_action() -> None:
    """The measure finds what was wrong with full-v1."""
    with FitnessSelection(
        "colorsys", actions="singles", features="full-v1", population=10, generations_per_step=1, budget=None
    ) as env:
        env.reset(seed=0)
        actions = np.concatenate([np.random.default_rng(s).permutation(env.actions.size) for s in range(8)])
        seen = np.array([env.step(int(action))[0] for action in actions], float)
        seen -= seen.mean(axis=0)
        column = seen[:, env.feature_names.index("fitness_weak_mutation")]
        between = sum((actions == a).sum() * column[actions == a].mean() ** 2 for a in range(env.actions.size))
        assert between / (column**2).sum() > 0.5


@pytest.mark.parametrize("goal", every(4, GOALS))
@nightly
def test_every_feature_varies_on_some_subject(goal: str) -> None:
    flat: set[str] = set()
    seen = []
    few = ("colorsys", "textwrap", "string", "html.parser", "heapq")  # mutants take time
    for subject in few if goal == "strong_mutation" else (*SUBJECTS, "html.parser"):
        names, values, _ = walk(subject, goal, "pairs", 0, 30)
        seen.append(values)
        spread = np.ptp(np.vstack(seen), axis=0)
        flat = {name for name, width in zip(names, spread, strict=True) if width < 1e-4}
        if not flat:
            break  # a further subject could only add to it
    assert seen and not flat


@pytest.mark.parametrize("goal", every(2, GOALS))
def test_looking_at_full_v2_does_not_change_the_search(goal: str) -> None:
    subject = "colorsys" if goal == "strong_mutation" else "shlex"  # mutants take time
    found = []
    for features in ("remaining_budget", "full-v2"):
        with FitnessSelection(subject, goal=goal, features=features, population=6, budget="250x") as env:
            env.reset(seed=3)
            news = [env.step(action)[4] for action in (0, 5, 9, 2, 20, 7)]
            found.append([(n["generation"], n["executions"], n["goal_value"], n["suite_size"]) for n in news])
    assert found[0] == found[1]


def test_the_same_seed_gives_the_same_observation_in_another_process() -> None:
    script = (
        "from fitgym.envs.fitness_selection import FitnessSelection\n"
        "with FitnessSelection('shlex', features='full-v2', budget='30g', population=6) as env:\n"
        "    print(repr([env.reset(seed=1)[0].tolist()] + [env.step(a)[0].tolist() for a in (3, 40, 20)]))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1 and len(texts.pop()) > 1000


# ------------------------------------------------------------------ single blocks


@pytest.fixture(scope="module", params=["whole_suite", "mosa", "mio", "random_search", "one_goal"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    functions = ("exception", "branch", "line", "diversity")
    with Executor(locate("shlex")) as executor:
        found = Engine(
            executor, fitness=("branch",), tracked=("exception",), usable=functions, search=request.param, population=8
        )
        for _ in range(6):
            found.step()
        yield found


def named(features: str, engine: Engine, view: View, **moment: Any) -> dict[str, float]:
    known = FeatureSet.load(features)
    values = known.observe(engine, view, Moment(**moment))
    return dict(zip(known.names(view), map(float, values), strict=True))


VIEW = View(("exception", "branch", "line", "diversity"), 4)

numbers = st.floats(0.0, 1e12)


@given(
    value=numbers,
    gains=st.lists(st.floats(-1e12, 1e12), max_size=3).map(tuple),
    scale=st.floats(1e-3, 1e9),
    unit=st.floats(1e-3, 1e9),
    stagnation=st.integers(0, 10**9),
    remaining=st.floats(0.0, 1.0),
)
def test_bounds_hold_whatever_the_moment(engine: Engine, **moment: Any) -> None:
    found = named("goal+relative_gains+stagnation+remaining_budget", engine, VIEW, **moment)
    assert all(0.0 <= value <= 1.0 for value in found.values())


def test_all_of_it_is_defined_for_every_algorithm(engine: Engine) -> None:
    found = named("full-v2", engine, VIEW)
    assert all(0.0 <= value <= 1.0 for value in found.values())
    assert found["true_fitness_line"] == pytest.approx(engine.kept_fitness("line"))
    assert found["kept_coverage_line"] == pytest.approx(engine.kept_coverage("line"))
    assert found["true_fitness_diversity"] == pytest.approx(engine.fitness_of("diversity", engine.best))
    assert "kept_coverage_diversity" not in found


def test_exceptions_are_counted_because_only_those_found_are_known(engine: Engine) -> None:
    count = len(engine.function("exception").targets)
    expected = count * engine.kept_coverage("exception")
    assert named("kept_coverage", engine, VIEW)["kept_coverage_exception"] == pytest.approx(expected / (expected + 10))


def test_a_gain_is_measured_by_the_value(engine: Engine) -> None:
    found = [
        named("relative_gains", engine, VIEW, value=value, gains=gains, unit=unit)
        for value, gains, unit in ((100.0, (1.0,), 1.0), (0.2, (0.002,), 0.002), (2e6, (1e6, 0.0, 5e5), 1e6))
    ]
    # ln(101 / 100) / (ln(101 / 100) + 0.01)
    assert found[0]["relative_gain_1"] == found[1]["relative_gain_1"] == pytest.approx(0.4988, abs=1e-4)
    # ln(3 / 2) and ln(2 / 1.5): from 0.5 to 1, then nothing, then from 1 to 2 million, each and 1 million more
    assert list(found[2].values()) == pytest.approx([0.9759, 0.0, 0.9664], abs=1e-4)
    assert list(named("relative_gains", engine, VIEW, value=1.0, gains=(-5.0,)).values()) == [0.0, 0.0, 0.0]


def test_the_population_is_described_by_its_individuals(engine: Engine) -> None:
    found, individuals = named("population", engine, VIEW), engine.population
    mean = float(np.mean([len(one) for one in individuals]))
    assert found["population_size"] == pytest.approx(mean / (mean + 20))
    fitness = [np.mean([engine.fitness_of(name, one) for name in VIEW.functions]) for one in individuals]
    assert found["population_deviation"] == pytest.approx(np.std(fitness) / (np.std(fitness) + 0.02), abs=1e-5)
    assert all(0 <= engine.age_of(one) <= engine.generation for one in individuals)


def test_ages_grow_while_the_individuals_stay() -> None:
    with Executor(locate("colorsys")) as executor:
        running = Engine(executor, fitness=("branch",), population=6, seed=2)
        running.step()
        assert {running.age_of(one) for one in running.population} == {0}
        oldest = 0
        for _ in range(30):
            before = {one: running.age_of(one) for one in running.population}
            running.step()
            assert all(running.age_of(one) == before[one] + 1 for one in running.population if one in before)
            oldest = max(oldest, *map(running.age_of, running.population))
        assert oldest > 1


@pytest.mark.parametrize(
    ("env", "action", "expected"),
    [
        (FitnessSelection("colorsys", features="full-v2", actions=["exception", "exception+line"]), 1, ("exception", "line")),
        (FitnessSelection("colorsys", features="full-v2", actions="bits"), [1, 0, 1, 0, 0, 0, 0, 0], None),
        (AlgorithmSelection("colorsys", features="full-v2", searches=("mosa", "mio")), 1, ("mio",)),
    ],
    ids=["catalogue", "bits", "algorithms"],
)  # fmt: skip
def test_the_last_action_is_told_by_its_parts(env: SearchEnv, action: Any, expected: tuple[str, ...] | None) -> None:
    functions = Exceptions.functions
    told = expected if expected is not None else (functions[0], functions[2])
    with env:
        first = env.reset(seed=0)[0]
        assert {n: v for n, v in zip(env.feature_names, first, strict=True) if n.startswith("last_") and v} == {}
        seen = dict(zip(env.feature_names, env.step(np.array(action))[0], strict=True))
        last = {name: value for name, value in seen.items() if name.startswith("last_")}
        assert {name for name, value in last.items() if value == 1.0} == {f"last_{part}" for part in told}
        assert len(last) == (2 if isinstance(env, AlgorithmSelection) else len(functions))


def test_rates_are_told_as_numbers() -> None:
    with GeneratorRates("colorsys", features="full-v2", rates=("delete_rate", "ill_typed"), population=5) as env:
        env.reset(seed=0)
        seen = dict(zip(env.feature_names, env.step(np.array([-1.0, 0.5], np.float32))[0], strict=True))
        assert (seen["last_delete_rate"], seen["last_ill_typed"]) == (0.0, 0.75)
