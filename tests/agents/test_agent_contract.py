"""The contract of fitgym's agents, beyond `fitgym.testing.check_agent` (see `test_check_agent.py`)."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from fitgym.agents._deep import Deep
from fitgym.agents.base import Agent, agents, agents_for, make
from fitgym.agents.transition import Transition
from fitgym.errors import InputError
from fitgym.testing.agents import Levers

RECURRENT = ("recurrent_ppo",)
ACTIONS = ("exception", "branch+exception", "exception+line", "exception+output", "branch+exception+line")
KINDS: tuple[type[spaces.Space[Any]], ...] = (spaces.Discrete, spaces.MultiBinary, spaces.Box)
PAIRS = [(name, kind) for kind in KINDS for name in agents_for(kind)]
"""Every agent in every space that it declares."""

MANY = {spaces.Discrete: "5 actions", spaces.MultiBinary: "5 bits", spaces.Box: "5 numbers"}


def trained(name: str, kind: type[spaces.Space[Any]], seed: int = 0, steps: int = 12) -> Agent:
    """An agent that has learnt for a while, its next decision not yet taken."""
    env = Levers(5, kind)
    agent = make(name, env.action_space, action_names=ACTIONS, seed=seed).learn(env, steps, seed=1)
    begun = Levers(5, kind)
    begun.reset(seed=2)
    agent.watch(begun)
    return agent


def some(kind: type[spaces.Space[Any]]) -> Any:
    """An action of the space."""
    return {spaces.Discrete: 2, spaces.MultiBinary: np.array([0, 1, 0, 1, 1], np.int8)}.get(
        kind, np.array([0.5, -0.5, 0.1, 1, -1], np.float32)
    )


def without_library(name: str) -> None:
    """Skip the test of a deep agent where the extra `deep` is not installed."""
    if issubclass(agents().load(name), Deep):
        for library in ("stable_baselines3", "sb3_contrib"):
            pytest.importorskip(
                library, reason="deep agents learn with Stable-Baselines3, which is in the extra 'deep'"
            )


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{pair[0]}-{pair[1].__name__}")
def pair(request: pytest.FixtureRequest) -> tuple[str, type[spaces.Space[Any]]]:
    without_library(request.param[0])
    name, kind = request.param
    return name, kind


@pytest.fixture
def name(pair: tuple[str, type[spaces.Space[Any]]]) -> str:
    return pair[0]


@pytest.fixture
def kind(pair: tuple[str, type[spaces.Space[Any]]]) -> type[spaces.Space[Any]]:
    return pair[1]


def test_the_three_agents_are_there() -> None:
    assert {"fixed", "ucb", "uniform"} <= set(agents_for(spaces.Discrete))


@pytest.mark.parametrize("space", KINDS)
def test_in_each_space_there_are_baselines_and_agents_that_learn(space: type[spaces.Space[Any]]) -> None:
    names = agents_for(space)
    learning = [name for name in names if agents().load(name).learns or issubclass(agents().load(name), Deep)]
    assert {"uniform", "random_fixed", "fixed", "oracle"} <= set(names)
    assert len(learning) >= 2 and any(not issubclass(agents().load(name), Deep) for name in learning)


def test_one_observation_gives_one_action_without_an_axis_for_a_batch(name: str, kind: type[spaces.Space[Any]]) -> None:
    agent = trained(name, kind)
    action, state = agent.predict(np.zeros(3, np.float32), None, None, True)
    assert action.shape == (() if kind is spaces.Discrete else (5,)) and action.dtype == agent.action_space.dtype
    assert state is None or name in RECURRENT


def test_a_state_is_handed_back_or_handed_on(name: str, kind: type[spaces.Space[Any]]) -> None:
    state = (np.ones((1, 64), np.float32), np.ones((1, 64), np.float32))
    handed = trained(name, kind).predict(np.zeros(3), state)[1]
    assert (handed is state) is (name not in RECURRENT)
    assert all((part == 1).all() for part in state)


def test_what_is_saved_holds_no_pickle_and_names_the_space(
    name: str, kind: type[spaces.Space[Any]], tmp_path: Path
) -> None:
    folder = trained(name, kind).save(tmp_path / "agent")
    assert sorted(path.name for path in folder.iterdir()) == ["agent.json", "arrays.npz"]
    assert json.loads((folder / "agent.json").read_text())["space"]["kind"] == kind.__name__
    with np.load(folder / "arrays.npz", allow_pickle=False) as stored:
        assert not any(stored[key].dtype.hasobject for key in stored.files)


def test_an_action_is_not_the_memory_of_the_agent(name: str, kind: type[spaces.Space[Any]]) -> None:
    agent, twin = trained(name, kind), trained(name, kind)
    for ask in (lambda a: a.act(np.zeros(3), {}), lambda a: a.predict(np.zeros(3), deterministic=True)[0]):
        given, expected = ask(agent), np.array(ask(twin))
        if isinstance(given, np.ndarray) and given.ndim:
            given += 1
        assert np.array_equal(ask(agent), ask(twin)) and agent.action_space.contains(expected[()])


def test_each_observation_of_a_batch_has_its_own_mask(name: str, kind: type[spaces.Space[Any]]) -> None:
    if kind is spaces.MultiBinary:
        masks = np.array([[1, 0, 0, 1, 1, 0, 1, 0, 1, 0], [1, 0] * 5], bool)
        bits = [[0, 1, 0, 0, 0], [0] * 5]  # the only allowed ones
        if name in ("fixed", "in_turn"):  # it says so where its own bits are masked
            masks, bits = np.array([[0, 1, 1, 0, 1, 0, 1, 0, 1, 0]] * 2, bool), [[1, 0, 0, 0, 0]] * 2
        assert trained(name, kind).predict(np.zeros((2, 3)), action_masks=masks)[0].tolist() == bits
        return
    masks = np.array([[True, True, False, False, False], [True, False, False, False, True]])
    predicted, _ = trained(name, kind).predict(np.zeros((2, 3)), action_masks=masks)
    assert predicted.shape == (2, 5) if kind is spaces.Box else masks[0, predicted[0]] and masks[1, predicted[1]]


USELESS = [
    (spaces.Discrete, [False] * 5, "the action mask forbids all 5 actions"),
    (spaces.Discrete, [True] * 4, "the action mask has shape (4,), expected (5,)"),
    (spaces.MultiBinary, [True] * 2 + [False] * 2 + [True] * 6, "the action mask forbids both values of bit 1"),
    (spaces.MultiBinary, [True] * 5, "the action mask has shape (5,), expected (10,)"),
]


@pytest.mark.parametrize(
    ("name", "kind", "mask", "message"),
    [(name, kind, mask, message) for kind, mask, message in USELESS for name in agents_for(kind)],
)
def test_a_useless_mask_is_an_error(name: str, kind: type[spaces.Space[Any]], mask: list[bool], message: str) -> None:
    without_library(name)
    agent = trained(name, kind)
    for ask in (lambda a: a.act(None, {"action_mask": mask}), lambda a: a.predict(np.zeros(3), action_masks=mask)):
        with pytest.raises(InputError) as caught:
            ask(agent)
        assert str(caught.value) == message


def test_another_number_of_actions_is_an_error(name: str, kind: type[spaces.Space[Any]], tmp_path: Path) -> None:
    agent = make(name, Levers(4, kind).action_space)
    message = f"the environment has {MANY[kind]}, this agent was made for 4"
    with pytest.raises(InputError, match=message):
        agent.learn(Levers(5, kind), 1)
    with pytest.raises(InputError, match=message):
        Agent.load(agent.save(tmp_path / "agent"), Levers(5, kind).action_space)


def test_other_action_names_are_an_error(name: str, kind: type[spaces.Space[Any]], tmp_path: Path) -> None:
    folder = trained(name, kind).save(tmp_path / "agent")
    with pytest.raises(InputError, match="action 1 is 'exception' in the environment and 'branch"):
        Agent.load(folder, Levers(5, kind).action_space, ["exception"] * 5)


@pytest.mark.parametrize("agent", agents().names())
@pytest.mark.parametrize("space", [spaces.MultiBinary(3), spaces.Box(0, 1), spaces.Discrete(3)], ids=str)
def test_a_space_that_is_not_declared_is_an_error_that_names_agents_for_it(
    agent: str, space: spaces.Space[Any]
) -> None:
    cls = agents().load(agent)
    if type(space) in cls.spaces:
        assert make(agent, space).action_space == space
        return
    others = ", ".join(agents_for(type(space)))
    own = " and ".join(kind.__name__ for kind in cls.spaces)
    with pytest.raises(InputError) as caught:
        make(agent, space)
    kind = type(space).__name__
    assert (
        str(caught.value) == f"{cls.__name__} cannot act in {space}, only in {own}; agents that act in {kind}: {others}"
    )


@pytest.mark.parametrize("agent", agents().names())
@pytest.mark.parametrize(
    "space",
    [
        *(spaces.Discrete(5, start=1), spaces.Box(0, 1, (2, 2)), spaces.Box(-np.inf, np.inf, (2,))),
        *(spaces.Box(0, 9, (2,), np.int64), spaces.MultiBinary((2, 2)), spaces.MultiDiscrete([2, 3])),
    ],
    ids=str,
)
def test_a_space_that_no_agent_acts_in_is_an_error(agent: str, space: spaces.Space[Any]) -> None:
    with pytest.raises(
        InputError, match=r"cannot act in .*, only in .*, and no other agent acts in that space: use Disc"
    ):
        make(agent, space)


OUTSIDE = [
    *((spaces.Discrete, action, f"the action is {action}, expected 0 to 4") for action in (-1, 5)),
    (spaces.MultiBinary, [0, 1, 2, 0, 0], "the action is [0, 1, 2, 0, 0], expected 5 bits"),
    (spaces.MultiBinary, [0, 1], "the action is [0, 1], expected 5 bits"),
    (spaces.Box, [0.0, 0.0, 2.0, 0.0, 0.0], "the action is [0.0, 0.0, 2.0, 0.0, 0.0], expected numbers in Box"),
]


@pytest.mark.parametrize(
    ("name", "kind", "action", "message"),
    [(name, kind, action, message) for kind, action, message in OUTSIDE for name in agents_for(kind)],
)
def test_an_action_outside_the_space_is_not_learnt_from(
    name: str, kind: type[spaces.Space[Any]], action: Any, message: str
) -> None:
    without_library(name)
    agent = trained(name, kind)
    with pytest.raises(InputError) as caught:
        agent.observe(Transition(None, action, 1.0, None))
    assert str(caught.value).startswith(message)
    assert agent.n_updates == 12


def test_every_hyper_parameter_is_kept_under_its_name(name: str, kind: type[spaces.Space[Any]]) -> None:
    agent = make(name, Levers(5, kind).action_space)
    keyword_only = [p for p in inspect.signature(type(agent)).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert agent.hyper_parameters().keys() == {p.name for p in keyword_only}


def test_an_agent_that_does_not_learn_stays_as_it_is(name: str, kind: type[spaces.Space[Any]]) -> None:
    agent = make(name, Levers(5, kind).action_space)
    before = {key: array.tolist() for key, array in agent.arrays().items()}
    agent.observe(Transition(None, some(kind), 1.0, None))
    assert ({key: array.tolist() for key, array in agent.arrays().items()} == before) is not agent.learns
