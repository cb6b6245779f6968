"""What every agent of fitgym promises beyond what `fitgym.testing.check_agent` asks of any (see `test_check_agent.py`)."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from fitgym.agents._deep import Deep
from fitgym.agents.base import Agent, agents, agents_for, make
from fitgym.agents.transition import Transition
from fitgym.errors import InputError

NAMES = agents_for(spaces.Discrete)
RECURRENT = ("recurrent_ppo",)
ACTIONS = ("exception", "branch+exception", "exception+line", "exception+output", "branch+exception+line")


class Bandit(gymnasium.Env[Any, Any]):
    """Five actions; action k pays k / 10 and a little noise; an episode has seven steps."""

    observation_space = spaces.Box(0, 1, (3,), np.float32)
    action_space = spaces.Discrete(5)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self.np_random.random(3, np.float32), {"generation": 0}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        reward = action / 10 + float(self.np_random.random()) / 100
        return self.np_random.random(3, np.float32), reward, self.steps == 7, False, {"generation": 3 * self.steps}

    def action_masks(self) -> Any:
        return np.ones(5, bool)


def trained(name: str, seed: int = 0, steps: int = 12) -> Agent:
    """An agent that has learnt for a while, its next decision not yet taken."""
    agent = make(name, Bandit.action_space, action_names=ACTIONS, seed=seed).learn(Bandit(), steps, seed=1)
    agent.watch(begun())
    return agent


def begun() -> Bandit:
    """An environment at the beginning of an episode, always the same one."""
    env = Bandit()
    env.reset(seed=2)
    return env


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    if issubclass(agents().load(request.param), Deep):
        for library in ("stable_baselines3", "sb3_contrib"):
            pytest.importorskip(
                library, reason="deep agents learn with Stable-Baselines3, which is in the extra 'deep'"
            )
    return str(request.param)


def test_the_three_agents_are_there() -> None:
    assert {"fixed", "ucb", "uniform"} <= set(NAMES)


def test_one_observation_gives_one_action_without_axes(name: str) -> None:
    action, state = trained(name).predict(np.zeros(3, np.float32), None, None, True)
    assert action.shape == () and action.dtype == np.int64 and (state is None or name in RECURRENT)


def test_a_state_is_handed_back_or_handed_on(name: str) -> None:
    state = (np.ones((1, 64), np.float32), np.ones((1, 64), np.float32))
    handed = trained(name).predict(np.zeros(3), state)[1]
    assert (handed is state) is (name not in RECURRENT)
    assert all((part == 1).all() for part in state)


def test_what_is_saved_holds_no_pickle(name: str, tmp_path: Path) -> None:
    folder = trained(name).save(tmp_path / "agent")
    assert sorted(path.name for path in folder.iterdir()) == ["agent.json", "arrays.npz"]
    json.loads((folder / "agent.json").read_text())
    with np.load(folder / "arrays.npz", allow_pickle=False) as stored:
        assert not any(stored[key].dtype.hasobject for key in stored.files)


def test_each_observation_of_a_batch_has_its_own_mask(name: str) -> None:
    masks = np.array([[True, True, False, False, False], [True, False, False, False, True]])
    predicted, _ = trained(name).predict(np.zeros((2, 3)), action_masks=masks)
    assert masks[0, predicted[0]] and masks[1, predicted[1]]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([False] * 5, "the action mask forbids all 5 actions"),
        ([True] * 4, "the action mask has shape (4,), expected (5,)"),
    ],
)
def test_a_useless_mask_is_an_error(name: str, mask: list[bool], message: str) -> None:
    for ask in (lambda a: a.act(None, {"action_mask": mask}), lambda a: a.predict(np.zeros(3), action_masks=mask)):
        with pytest.raises(InputError) as caught:
            ask(trained(name))
        assert str(caught.value) == message


def test_another_number_of_actions_is_an_error(name: str, tmp_path: Path) -> None:
    agent = make(name, 4)
    message = "the environment has 5 actions, this agent was made for 4"
    with pytest.raises(InputError, match=message):
        agent.learn(Bandit(), 1)
    with pytest.raises(InputError, match=message):
        Agent.load(agent.save(tmp_path / "agent"), Bandit.action_space)


def test_other_action_names_are_an_error(name: str, tmp_path: Path) -> None:
    folder = trained(name).save(tmp_path / "agent")
    with pytest.raises(InputError, match="action 1 is 'exception' in the environment and 'branch"):
        Agent.load(folder, Bandit.action_space, ["exception"] * 5)


@pytest.mark.parametrize("space", [spaces.MultiBinary(3), spaces.Box(0, 1), spaces.Discrete(3)], ids=str)
def test_a_space_that_is_not_declared_is_an_error_that_names_agents_for_it(name: str, space: spaces.Space[Any]) -> None:
    cls = agents().load(name)
    if type(space) in cls.spaces:
        assert make(name, space).action_space == space
        return
    others = ", ".join(agents_for(type(space)))
    own = " and ".join(kind.__name__ for kind in cls.spaces)
    with pytest.raises(InputError) as caught:
        make(name, space)
    kind = type(space).__name__
    assert (
        str(caught.value) == f"{cls.__name__} cannot act in {space}, only in {own}; agents that act in {kind}: {others}"
    )


@pytest.mark.parametrize(
    "space",
    [
        *(spaces.Discrete(5, start=1), spaces.Box(0, 1, (2, 2)), spaces.Box(-np.inf, np.inf, (2,))),
        *(spaces.Box(0, 9, (2,), np.int64), spaces.MultiBinary((2, 2)), spaces.MultiDiscrete([2, 3])),
    ],
    ids=str,
)
def test_a_space_that_no_agent_acts_in_is_an_error(name: str, space: spaces.Space[Any]) -> None:
    with pytest.raises(
        InputError, match=r"cannot act in .*, only in .*, and no other agent acts in that space: use Disc"
    ):
        make(name, space)


@pytest.mark.parametrize("action", [-1, 5])
def test_an_action_that_does_not_exist_is_not_learnt_from(name: str, action: int) -> None:
    agent = trained(name)
    with pytest.raises(InputError, match=f"the action is {action}, expected 0 to 4"):
        agent.observe(Transition(None, action, 1.0, None))
    assert agent.n_updates == 12


def test_every_hyper_parameter_is_kept_under_its_name(name: str) -> None:
    agent = make(name, 5)
    keyword_only = [p for p in inspect.signature(type(agent)).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert agent.hyper_parameters().keys() == {p.name for p in keyword_only}


def test_an_agent_that_does_not_learn_stays_as_it_is(name: str) -> None:
    agent = make(name, 5)
    before = {key: array.tolist() for key, array in agent.arrays().items()}
    agent.observe(Transition(None, 2, 1.0, None))
    assert ({key: array.tolist() for key, array in agent.arrays().items()} == before) is not agent.learns
