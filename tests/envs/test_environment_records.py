"""Every environment declares its options, records its episodes, and accepts new functions and features as files."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from nightly import ALIKE, all_but, nightly

import fitgym.envs.features
import fitgym.fitness
from fitgym.envs import REGISTERED
from fitgym.envs.across_subjects import AcrossSubjects
from fitgym.envs.action.set_rates import RANGES, RateNumbers
from fitgym.envs.artificial import Artificial
from fitgym.envs.base import SearchEnv
from fitgym.envs.feature_set import FeatureSet
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.envs.generator_rates import GeneratorRates
from fitgym.errors import InputError, UnknownName
from fitgym.testcase.rates import DEFAULT

TRIANGLE = str(Path(__file__).parents[1] / "programs" / "triangle.py")
SMALL: dict[str, Any] = {"budget": "30g", "population": 4}


def make(name: str, **more: Any) -> Any:
    if REGISTERED[name].has_subject:
        more = {"subject": TRIANGLE, **SMALL, **more}
    return gymnasium.make(name, disable_env_checker=True, **more).unwrapped


def walk(env: Any, seed: int | None, steps: int = 3) -> dict[str, Any]:
    env.action_space.seed(5)
    env.reset(seed=seed)
    for _ in range(steps):
        env.step(env.action_space.sample())
    found: dict[str, Any] = json.loads(json.dumps(env.record()))
    return found


@pytest.mark.parametrize("seeded", [True, pytest.param(False, marks=nightly)])
@pytest.mark.parametrize("name", all_but(REGISTERED, ALIKE))
def test_a_recorded_episode_can_be_repeated_in_a_new_environment(name: str, seeded: bool) -> None:
    env = make(name)
    if not seeded:
        env.reset(seed=8)
    record = walk(env, 7 if seeded else None)
    env.close()
    assert record["env"] == name and (record["seed"] == 7 if seeded else record["seed"] not in (7, 8))
    given = record["options"] | ({"budget": record["budget"]} if record["budget"] else {})
    again = gymnasium.make(
        record["env"],
        disable_env_checker=True,
        **({"subject": record["subject"]} if record["subject"] else {}),
        **given,
    )
    again.reset(seed=record["seed"])
    for action in record["actions"]:
        element = again.unwrapped.action_of(action)  # type: ignore[attr-defined]
        assert again.action_space.contains(element)
        again.step(element)
    assert json.loads(json.dumps(again.unwrapped.record())) == record  # type: ignore[attr-defined]
    again.close()


@pytest.mark.parametrize("name", all_but(REGISTERED, ALIKE))
def test_the_names_a_policy_is_bound_to_and_the_constant_keys_are_there(name: str) -> None:
    env = make(name)
    _, info = env.reset(seed=0)
    assert {"generation", "executions", "goal_value", "action_mask"} <= info.keys()
    assert env.environment.keys() == {"catalogue", "features"} and all(env.environment.values())
    assert env.record().keys() == {"env", "subject", "budget", "seed", "options", "actions", "rewards"}
    assert "budget" not in env.record()["options"] and "timeout_s" not in env.record()["options"]
    env.close()


@pytest.mark.parametrize(
    ("name", "options", "catalogue", "agent"),
    [
        ("FitnessSelection", {}, "paper of exceptions", "ucb"),
        ("BranchCoverage", {}, "pairs of coverage", "fixed:branch"),
        ("FitnessSelection", {"functions": "exception,line"}, "pairs of exception, line", "ucb"),
        ("FitnessSelection", {"actions": ["line", "branch"]}, "list of line, branch", "ucb"),
        ("FitnessBits", {}, "bits of exceptions", "factored_ucb"),
        ("WeightedFitness", {}, "weights of exceptions", "gaussian"),
        ("AlgorithmSelection", {"searches": ["mosa", "mio"], "goal": "coverage"}, "algorithms mosa, mio", "ucb"),
        ("GeneratorRates", {"rates": ["ill_typed"]}, "rates ill_typed", "gaussian"),
        ("MultiGoal", {}, "pairs of exceptions+coverage", "ucb"),
    ],
)
def test_catalogues_and_default_agents_are_telling(name: str, options: Any, catalogue: str, agent: str) -> None:
    env = make(f"fitgym/{name}-v0", **options)
    assert env.environment == {"catalogue": catalogue, "features": "full-v2"} and env.default_agent == agent
    env.close()


def test_the_signature_shows_the_real_options_with_one_default_everywhere() -> None:
    shown = inspect.signature(FitnessSelection).parameters
    assert shown["reward"].default == "growth" and shown["features"].default == "full-v2"
    assert shown["population"].annotation == "int" and shown["executor"].default is None
    assert (
        "rates" in inspect.signature(GeneratorRates).parameters and "budget" in inspect.signature(Artificial).parameters
    )


def test_an_environment_that_was_constructed_directly_is_recorded_by_its_class() -> None:
    with FitnessSelection(TRIANGLE, **SMALL) as env:
        assert env.record()["env"] == "fitgym.envs.fitness_selection:FitnessSelection"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("FitnessSelection", {"serach": "mio"}, "has no option 'serach'; did you mean 'search'"),
        ("AlgorithmSelection", {"search": "mio"}, "has no option 'search': the agent chooses the search algorithm"),
        ("FitnessSelection", {"functions": ""}, "functions names no fitness function"),
        ("FitnessSelection", {"functions": "brunch"}, "no fitness function named 'brunch'"),
        ("FitnessSelection", {"functions": "branch", "actions": "paper-diversity"}, "combines 'diversity'"),
        ("FitnessSelection", {"features": "full-v1+goal"}, "have the block 'goal' twice"),
        ("FitnessSelection", {"features": "full-v1+gaol"}, "no feature block named 'gaol'; did you mean 'goal'"),
        ("GeneratorRates", {"rates": ["floor"]}, "no rate named 'floor'"),
        ("GeneratorRates", {"rates": []}, "expected at least one"),
        ("Artificial", {"budget": "20g"}, "expected evaluations of test cases"),
    ],
)
def test_options_that_make_no_sense_are_refused(name: str, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(f"fitgym/{name}-v0", **options)


@pytest.mark.parametrize("name", ["FitnessSelection", "FitnessBits", "WeightedFitness", "Toy"])
def test_an_action_that_does_not_exist_cannot_be_repeated(name: str) -> None:
    env = make(f"fitgym/{name}-v0")
    with pytest.raises(InputError):
        env.action_of("exception+brunch")
    env.close()


# ------------------------------------------------------------------ rates


def test_the_zero_vector_restores_the_default_rates_exactly() -> None:
    form = RateNumbers(list(RANGES))
    assert form.read(np.zeros(len(RANGES), np.float32)).rates == DEFAULT


@pytest.mark.parametrize("end", [-1.0, 1.0])
def test_rates_reach_the_ends_of_their_ranges_and_calls_sum_to_one_at_most(end: float) -> None:
    rates = RateNumbers(list(RANGES)).read(np.full(len(RANGES), end)).rates
    assert rates.tested_rate + rates.object_rate <= 1.0
    for name, limits in RANGES.items():
        assert name == "object_rate" or getattr(rates, name) == pytest.approx(limits[end > 0])


def test_rates_change_the_search() -> None:
    with GeneratorRates(TRIANGLE, **SMALL) as env:
        ends = []
        for number in (0.0, 1.0):
            env.reset(seed=2)
            ends.append([env.step(np.full(10, number, np.float32))[4]["executions"] for _ in range(3)])
        assert ends[0] != ends[1]
        assert env.engine is not None and env.engine.factory.rates.ill_typed == pytest.approx(0.3)


def test_a_step_with_the_default_rates_changes_nothing() -> None:
    with GeneratorRates(TRIANGLE, **SMALL) as env:
        env.reset(seed=2)
        assert env.engine is not None
        with env.fork() as twin:
            env.step(np.zeros(10, np.float32))
            assert twin.engine is not None
            for _ in range(3):
                twin.engine.step()
            assert twin.engine.executions == env.engine.executions and twin.engine.coverage() == env.engine.coverage()


# ------------------------------------------------------------------ one file each


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any, str, str], None]]:
    def write(package: Any, name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])

    yield write


def test_a_fitness_function_in_a_new_file_can_be_chosen_at_once(add: Any) -> None:
    text = "from fitgym.fitness.line import Line\n\nclass Echo(Line):\n    needs = frozenset({'direct'})\n"
    add(fitgym.fitness, "echo_lines", text)
    env = make("fitgym/ExceptionDiscovery-v0", functions="exception,branch,echo_lines")
    assert env.action_names[-1] == "branch+echo_lines" and "active_echo_lines" in env.feature_names
    env.reset(seed=0)
    env.step(env.action_of("echo_lines"))
    assert env.engine.active == ("echo_lines",) and env.engine.coverage()["echo_lines"][0] > 0
    env.close()


def test_a_feature_block_in_a_new_file_is_seen_at_once(add: Any) -> None:
    text = """
from fitgym.envs.features.base import Block

class Weighing(Block):
    low = -1.0

    def names(self, view):
        return ["weighing"]

    def values(self, engine, view, moment):
        return [-0.25 * len(engine.active)]
"""
    add(fitgym.envs.features, "weighing", text)
    env = make("fitgym/ExceptionDiscovery-v0", features="paper-v1+weighing")
    observation, _ = env.reset(seed=0)
    assert env.feature_names[-1] == "weighing" and observation[-1] == -0.25
    assert env.observation_space.low[-1] == -1.0 and env.observation_space.low[0] == 0.0
    assert env.environment["features"] == "paper-v1+weighing"
    env.close()


def test_blocks_can_be_seen_alone() -> None:
    env = make("fitgym/ExceptionDiscovery-v0", features="active+goal")
    assert env.feature_names == [*(f"active_{name}" for name in env.goal.functions), "goal"]
    env.close()
    with pytest.raises(UnknownName, match="feature set"):
        FeatureSet.load("actif")


@pytest.mark.parametrize("name", ["fitgym/GeneratorRates-v0", "fitgym/FitnessBits-v0", "fitgym/AlgorithmSelection-v0"])
def test_every_search_environment_works_across_subjects(name: str) -> None:
    env = AcrossSubjects(gymnasium.make(name, subject="colorsys", **SMALL), ("colorsys", "html"))
    env.action_space.seed(0)
    _, info = env.reset(seed=1)
    env.step(env.action_space.sample())
    inner = env.unwrapped
    assert isinstance(inner, SearchEnv) and env.environment == inner.environment
    assert env.get_wrapper_attr("record")()["subject"] == info["subject"]
    assert env.action_space.contains(env.action_of(inner.actions_taken[0]))
    assert env.default_agent == inner.default_agent
    env.close()
