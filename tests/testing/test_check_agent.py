"""The check of agents: fitgym's pass, and each kind of error is found."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from nightly import nightly
from numpy.typing import NDArray

from fitgym.agents._deep import Deep
from fitgym.agents._space import drawn, middle
from fitgym.agents.base import Agent, Transition, agents
from fitgym.errors import InputError
from fitgym.testing import check_agent


@pytest.fixture(params=agents().names())
def name(request: pytest.FixtureRequest) -> str:
    if issubclass(agents().load(request.param), Deep):
        for library in ("stable_baselines3", "sb3_contrib"):
            pytest.importorskip(
                library, reason="deep agents learn with Stable-Baselines3, which is in the extra 'deep'"
            )
    return str(request.param)


@pytest.mark.parametrize("steps", [25, pytest.param(3, marks=nightly)])
def test_every_agent_passes(name: str, steps: int) -> None:
    check_agent(name, steps=steps)


@pytest.mark.parametrize(
    "text",
    [
        *("ucb:discount=0.9", "ucb:window=5", "softmax:window=4", "linucb:normalise=none", "dsg_sarsa:tiles=4"),
        *("dsg_sarsa:episodic=true,normalise=true", "epsilon_greedy:epsilon=1.0", "released_ucb:whole=true"),
        *(
            "factored_ucb:discount=0.9,epsilon=0",
            "factored_ucb:window=6",
            "linucb:features=action,discount=0.9",
            "linucb:features=both,window=6",
            "linucb:features=observation,discount=0.9",
            "gaussian:step=0.5,spread=1",
            "oracle:tries=2",
        ),
    ],
)
def test_variants_pass_too(text: str) -> None:
    check_agent(text)


class Drawing(Agent):
    """Counts what it has done and draws uniformly; it does nothing wrong."""

    learns = True

    def __init__(self, action_space: Any, action_names: Any = None, seed: int = 0, *, bonus: int = 1) -> None:
        super().__init__(action_space, action_names, seed)
        self.bonus = bonus
        self.total = 1

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        usable = np.flatnonzero(allowed)
        return int(usable[self.total % len(usable)] if rng is None else rng.choice(usable))

    def update(self, transition: Transition) -> None:
        self.total += self.bonus

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"total": np.array(self.total)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.total = int(arrays["total"])


class Numpy(Drawing):
    """Hands on what numpy gives."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return np.int64(super().act(observation, info))


class Outside(Drawing):
    """Counts actions from 5."""

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        return super().choose(observation, allowed, rng) + 5

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        return super().act(observation, info) - 5


class Single(Drawing):
    """Takes a batch for one observation."""

    def predict(self, *arguments: Any, **named: Any) -> Any:
        actions, state = super().predict(*arguments, **named)
        return actions.reshape(-1)[0], state


class Deaf(Drawing):
    """Does not care what is allowed."""

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        return super().choose(observation, np.ones_like(allowed), rng)


class Lenient(Drawing):
    """Takes any mask."""

    def _checked(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return mask if mask.shape == (self.n_actions,) and mask.any() else np.ones(self.n_actions, bool)


class Moving(Drawing):
    """Counts what it is asked for."""

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        self.total += 1
        return super().choose(observation, np.roll(allowed, 0), rng)


class Gambling(Drawing):
    """Draws even if it is asked to be deterministic."""

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        return super().choose(observation, allowed, rng or self._predict_rng)


class Tallying(Drawing):
    """Counts predictions that draw."""

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        if rng is self._predict_rng:
            self.total += 1_000_007 * 60  # whatever it is counted modulo, what is done next stays the same
        return super().choose(observation, allowed, rng)


class Disturbed(Drawing):
    """Predicts with the numbers that it would have acted with."""

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        return super().choose(observation, allowed, None if rng is None else self.rng)


class Forgetful(Drawing):
    """Saves nothing of what it has learnt."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"total": np.array(0)}


class Nameless(Drawing):
    """Keeps a hyper-parameter for itself."""

    def __init__(self, action_space: Any, action_names: Any = None, seed: int = 0, *, bonus: int = 1) -> None:
        super().__init__(action_space, action_names, seed)
        self.bonus = 2 * bonus


class Unseeded(Drawing):
    """Draws from the generator that everybody shares."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        return int(random.choice(np.flatnonzero(self.allowed(info)).tolist()))


class Wasteful(Drawing):
    """Draws from the generator that everybody shares and does not use it."""

    def update(self, transition: Transition) -> None:
        np.random.random()
        super().update(transition)


class Agreeable(Drawing):
    """Acts anywhere."""

    def check(self, *arguments: Any) -> None:
        pass


class Vague(Drawing):
    """Says no more than that it will not."""

    def check(self, action_space: Any, *arguments: Any) -> None:
        try:
            super().check(action_space, *arguments)
        except InputError:
            raise InputError("these are other actions") from None


class Arrays(Drawing):
    """Draws uniformly in MultiBinary and Box; it does nothing wrong."""

    spaces = (spaces.MultiBinary, spaces.Box)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Any:
        return middle(self.action_space, allowed) if rng is None else drawn(self.action_space, allowed, rng)


class Doubles(Arrays):
    """Acts with numbers of another type."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return np.asarray(super().act(observation, info), np.float64)


class Lists(Arrays):
    """Acts with lists."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        return np.asarray(super().act(observation, info)).tolist()


class Far(Arrays):
    """Leaves the box."""

    spaces = (spaces.Box,)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Any:
        return super().choose(observation, allowed, rng) + np.float32(0 if rng is self.rng else 2)


class DeafToBits(Arrays):
    """Ignores masks of bits."""

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Any:
        return super().choose(observation, np.ones_like(allowed), rng)


class ForgetfulInBoxes(Arrays):
    """Saves its work in MultiBinary only."""

    def act(self, observation: Any, info: Mapping[str, Any]) -> Any:
        action = super().act(observation, info)
        return action if isinstance(self.action_space, spaces.MultiBinary) else action * np.float32(1 / self.total)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return super().arrays() if isinstance(self.action_space, spaces.MultiBinary) else {"total": np.array(1)}


class Nowhere(Drawing):
    """Declares no spaces."""

    spaces = ()


class Everywhere(Drawing):
    """Declares a space that agents do not act in."""

    spaces = (spaces.Discrete, spaces.MultiDiscrete)


def test_an_agent_without_fault_passes() -> None:
    check_agent(Drawing)
    check_agent(Drawing, steps=4, seed=3, bonus=5)
    check_agent(Arrays)


def test_a_name_has_its_options_with_it() -> None:
    check_agent("ucb:c=2")
    with pytest.raises(InputError, match="given beside the name 'ucb': write 'ucb:c=2'"):
        check_agent("ucb", c=2)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (Numpy, "act gave a int64, expected a plain int"),
        (Outside, "predict gave .*, which (is|are) not in"),
        (Single, r"predict gave shape \(\) for 1 observations"),
        (Deaf, "which the action mask forbids"),
        (Lenient, "act took the action mask .* expected an InputError"),
        (Moving, "a deterministic prediction (gave|changed)"),
        (Gambling, "a deterministic prediction (gave|changed)"),
        (Tallying, "a prediction that draws changed"),
        (Disturbed, "after predictions it did"),
        (Forgetful, "loaded it predicts"),
        (Nameless, "loaded it has the hyper-parameters"),
        (Unseeded, "after predictions it did"),
        (Wasteful, r"changes a shared random generator: numpy\.random"),
        (Agreeable, "load accepted another number of actions, expected an InputError that names 6 and 5"),
        (Doubles, r"in MultiBinary: act gave array of type float64, expected an array of type int8"),
        (Lists, "in MultiBinary: act gave list, expected an array of type int8"),
        (Far, "in Box: predict gave .*, which (is|are) not in"),
        (DeafToBits, "in MultiBinary: .* which the action mask forbids"),
        (ForgetfulInBoxes, "in Box after 25 steps: loaded it did"),
        (Nowhere, "declares no spaces, expected some of"),
        (Everywhere, "declares the space MultiDiscrete, expected some of"),
        (Vague, "learn with another number of actions said 'these are other actions'"),
    ],
)
def test_each_kind_of_carelessness_is_found(kind: type[Agent], complaint: str) -> None:
    with pytest.raises(AssertionError, match=f"^{kind.__name__}.*{complaint}"):
        check_agent(kind)


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    check_agent(Drawing)
    assert list(tmp_path.iterdir()) == []
