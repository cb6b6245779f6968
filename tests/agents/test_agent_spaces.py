"""Action spaces of agents: valid actions, masks, and spaces that a saved agent refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._space import allowed_by, checked, drawn, plain, read, usual
from fitgym.agents.base import Agent, make
from fitgym.agents.transition import Action, Transition
from fitgym.envs.toy import Toy
from fitgym.errors import InputError, UnknownName

BITS = spaces.MultiBinary(3)
BOX = spaces.Box(np.array([-1, 0], np.float32), np.array([1, 5], np.float32))
ALL = (spaces.Discrete(4), BITS, BOX)


class Everywhere(Agent):
    """Draws uniformly in every space."""

    spaces = (spaces.Discrete, spaces.MultiBinary, spaces.Box)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        return drawn(self.action_space, allowed, rng or np.random.default_rng(0))


# Transitions


def test_an_action_of_a_transition_is_a_plain_number_or_an_array_of_the_type_of_its_space() -> None:
    def kept(action: Any) -> Any:
        return Transition.between(None, action, 1, None, False, False, {}, {}).action

    assert type(kept(np.int64(3))) is type(kept(np.array(3))) is int
    assert kept(np.array([True, False])).dtype == kept(np.array([1, 0])).dtype == np.int8
    assert kept(np.array([0.5, 1.0])).dtype == np.float32


def test_a_transition_keeps_a_copy_of_its_action() -> None:
    action = np.zeros(2, np.float32)
    transition = Transition.between(None, action, 1, None, False, False, {}, {})
    action[0] = 7
    assert transition.action.tolist() == [0, 0]  # type: ignore[union-attr]


# Spaces


def test_a_box_of_double_precision_is_rounded_inwards() -> None:
    given = spaces.Box(0.1, 0.7, (2,), np.float64)
    found: Any = usual(given)
    assert found.dtype == np.float32
    assert (found.low.astype(np.float64) >= 0.1).all() and (found.high.astype(np.float64) <= 0.7).all()


@pytest.mark.parametrize("space", ALL, ids=str)
def test_a_space_survives_json(space: spaces.Space[Any]) -> None:
    assert read(json.loads(json.dumps(plain(space)))) == space


@pytest.mark.parametrize("space", ALL, ids=str)
def test_a_draw_is_in_the_space_and_keeps_to_the_mask(space: spaces.Space[Any]) -> None:
    rng = np.random.default_rng(0)
    mask = np.array([True, False, True, True]) if isinstance(space, spaces.Discrete) else [1, 0, 0, 1, 1, 1]
    found = [drawn(space, allowed_by(space, mask), rng) for _ in range(60)]
    assert all(space.contains(action) for action in found)
    if isinstance(space, spaces.Discrete):
        assert {0, 2, 3} == set(found)
    if isinstance(space, spaces.MultiBinary):
        assert {tuple(bits.tolist()) for bits in found} == {(0, 1, 0), (0, 1, 1)}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([1] * 3, r"the action mask has shape \(3,\), expected \(6,\)"),
        ([1, 1, 0, 0, 1, 1], "the action mask forbids both values of bit 1"),
    ],
)
def test_a_useless_mask_of_bits_is_an_error(mask: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        allowed_by(BITS, mask)


def test_masks_of_a_box_are_ignored() -> None:
    agent = Everywhere(BOX)
    assert BOX.contains(agent.act(None, {"action_mask": [False]}))
    assert BOX.contains(agent.predict(np.zeros(3), action_masks=np.zeros(9, bool))[0])


@pytest.mark.parametrize(
    ("space", "action", "message"),
    [
        (spaces.Discrete(4), 4, "the action is 4, expected 0 to 3"),
        (BITS, [0, 1], r"the action is \[0, 1\], expected 3 bits"),
        (BITS, [0, 1, 2], r"the action is \[0, 1, 2\], expected 3 bits"),
        (BITS, 1, "the action is 1, expected 3 bits"),
        (BOX, [0.0, 5.5], r"the action is \[0.0, 5.5\], expected numbers in Box"),
        (BOX, [0.0, np.nan], r"the action is \[0.0, nan\], expected numbers in Box"),
    ],
)
def test_an_action_outside_the_space_is_not_observed(space: spaces.Space[Any], action: Any, message: str) -> None:
    agent = Everywhere(space)
    with pytest.raises(InputError, match=message):
        agent.observe(Transition(None, action, 1.0, None))
    assert agent.n_updates == 0


def test_actions_are_read_in_the_type_of_their_space() -> None:
    assert checked(BITS, [1.0, 0.0, 1.0]).dtype == np.int8  # type: ignore[union-attr]
    assert checked(BOX, [0, 1]).dtype == np.float32  # type: ignore[union-attr]


@pytest.mark.parametrize(("space", "shape"), [(ALL[0], ()), (BITS, (3,)), (BOX, (2,))], ids=str)
def test_predictions_have_the_shape_and_type_of_the_space(space: spaces.Space[Any], shape: tuple[int, ...]) -> None:
    agent = Everywhere(space)
    one, several = agent.predict(np.zeros(5))[0], agent.predict(np.zeros((4, 5)))[0]
    assert one.shape == shape and several.shape == (4, *shape)
    assert one.dtype == several.dtype == space.dtype


def test_each_observation_of_a_batch_has_its_own_mask_of_bits() -> None:
    masks = np.array([[1, 0] * 3, [0, 1] * 3], bool)
    found, _ = Everywhere(BITS).predict(np.zeros((2, 5)), action_masks=masks)
    assert found.tolist() == [[0, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize(("space", "message"), [(BITS, "2 action names were given for 3 bits"), (BOX, None)])
def test_names_are_those_of_bits_or_numbers(space: spaces.Space[Any], message: str | None) -> None:
    if message is None:
        assert Everywhere(space, ["a", "b"]).action_names == ("a", "b")
        return
    with pytest.raises(InputError, match=message):
        Everywhere(space, ["a", "b"])


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        (BITS, spaces.MultiBinary(4), "the environment has 4 bits, this agent was made for 3"),
        (BOX, spaces.Box(0, 1, (3,)), "the environment has 3 numbers, this agent was made for 2"),
        (BITS, spaces.Discrete(3), r"action space is Discrete\(3\), this agent was made for MultiBinary\(3\)"),
        (BOX, spaces.Box(0, 1, (2,)), r"action space is Box\(0.0, 1.0, .*, this agent was made for Box"),
    ],
)
def test_another_space_is_refused(ours: spaces.Space[Any], theirs: spaces.Space[Any], message: str) -> None:
    Everywhere(ours).check(ours)
    with pytest.raises(InputError, match=message):
        Everywhere(ours).check(theirs)


# Saved agents


def test_a_saved_agent_says_its_space() -> None:
    agent = make("uniform", 3)
    assert plain(agent.action_space) == {"kind": "Discrete", "n": 3}
    assert plain(BOX) == {"kind": "Box", "low": [-1.0, 0.0], "high": [1.0, 5.0]}


def test_a_file_without_a_space_is_of_discrete(tmp_path: Path) -> None:
    folder = make("uniform", 3, seed=2).save(tmp_path / "agent")
    description = json.loads((folder / "agent.json").read_text("utf-8"))
    del description["space"], description["environment"]
    (folder / "agent.json").write_text(json.dumps(description), "utf-8")
    loaded = Agent.load(folder, 3)
    assert loaded.action_space == spaces.Discrete(3) and loaded.environment == {}


CATALOGUE, OTHER = {"catalogue": "paper of exceptions"}, {"catalogue": "pairs of exception, branch, loop_twice"}


def test_a_policy_refuses_another_catalogue_by_name(tmp_path: Path) -> None:
    folder = make("ucb", 3, environment=CATALOGUE).save(tmp_path / "x")
    with pytest.raises(InputError) as caught:
        make(str(folder), 5, environment=OTHER)
    assert str(caught.value) == (
        f"the policy in '{folder}' was trained for catalogue 'paper of exceptions', this environment has 'pairs of "
        "exception, branch, loop_twice': train one for it, or ask for the catalogue it knows"
    )


def test_an_agent_is_checked_for_its_environment_too() -> None:
    agent = make("ucb", 3, environment={**CATALOGUE, "features": "full-v1"})
    agent.check(3, None, CATALOGUE)
    with pytest.raises(
        InputError, match="this agent was trained for features 'full-v1', this environment has 'paper-v1'"
    ):
        agent.check(3, None, {"features": "paper-v1"})


def test_what_only_one_side_names_is_not_compared(tmp_path: Path) -> None:
    unknown, known = (make("ucb", 3, environment=given).save(tmp_path / f"{len(given)}") for given in ({}, CATALOGUE))
    assert make(str(unknown), 3, environment=CATALOGUE).environment == {}
    assert make(str(known), 3).environment == CATALOGUE
    assert make(str(known), 3, environment={"features": "full-v1"}).environment == CATALOGUE


# Baselines


@pytest.mark.parametrize("space", [BITS, BOX], ids=str)
@pytest.mark.parametrize("name", ["uniform", "random_fixed", "fixed"])
def test_the_baselines_act_in_every_space_and_go_on_when_loaded(
    name: str, space: spaces.Space[Any], tmp_path: Path
) -> None:
    agent = make(name, space, seed=3)
    loaded = make(str(agent.save(tmp_path / "agent")), space)
    for _ in range(4):
        ours, theirs = agent.act(None, {}), loaded.act(None, {})
        assert space.contains(ours) and np.array_equal(ours, theirs)


def test_a_fixed_combination_sets_its_bits_or_its_numbers() -> None:
    names = ["exception", "branch", "line"]
    assert make("fixed:line+exception", BITS, action_names=names).act(None, {}).tolist() == [1, 0, 1]  # type: ignore[union-attr]
    box = spaces.Box(-1, 1, (3,))
    assert make("fixed:line+exception", box, action_names=names).act(None, {}).tolist() == [1, -1, 1]  # type: ignore[union-attr]
    with pytest.raises(UnknownName, match="no action named 'brnch'; did you mean 'branch'"):
        make("fixed:brnch", BITS, action_names=names)
    with pytest.raises(InputError, match="action 'line' is not allowed here"):
        make("fixed:line", BITS, action_names=names).act(None, {"action_mask": [1, 1, 1, 1, 1, 0]})


def test_a_random_action_stays_for_an_episode() -> None:
    agent = make("random_fixed", BOX, seed=1)
    first = [np.asarray(agent.act(None, {})).tolist() for _ in range(3)]
    agent.begin_episode(None, {})
    assert first[0] == first[1] == first[2] != np.asarray(agent.act(None, {})).tolist()


def test_an_oracle_tries_random_sets_and_takes_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[int]] = []

    def reward(env: Any, action: Any) -> float:
        tried.append(action.tolist())
        return float(action.sum())

    monkeypatch.setattr("fitgym.agents.oracle._reward", reward)
    agent = make("oracle", BITS, seed=0)
    agent.watch(Toy())
    chosen: Any = agent.act(None, {})
    assert len(tried) == 16 and int(chosen.sum()) == max(map(sum, tried))
