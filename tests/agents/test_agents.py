"""Single agents: UCB1 by hand, fixed combinations, random agents, and their common loop."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from fitgym.agents.base import Agent, Transition, agents, agents_for, kind, make
from fitgym.agents.fixed import Fixed
from fitgym.agents.ucb import UCB
from fitgym.agents.uniform import Uniform
from fitgym.errors import InputError, UnknownName


def told(agent: Agent, *outcomes: tuple[int, float]) -> Agent:
    """The agent after it has seen these actions with these rewards."""
    for action, reward in outcomes:
        agent.observe(Transition(None, action, reward, None))
    return agent


# UCB1


def test_ucb1_bounds_are_those_worked_out_by_hand() -> None:
    agent = UCB(3, c=math.sqrt(2), normalise="none")
    told(agent, (0, 1.0), (1, 0.5), (2, 0.0), (0, 0.0), (0, 0.5))
    # t = 5, ln 5 = 1.6094379124341003, N = (3, 1, 1), Q = (1.5 / 3, 0.5, 0) = (0.5, 0.5, 0)
    # sqrt(2 ln 5 / 3) = sqrt(1.0729586082894002) = 1.0358371533; sqrt(2 ln 5) = sqrt(3.2188758248682006) = 1.7941225779
    assert agent.indices() == pytest.approx([1.5358371533, 2.2941225779, 1.7941225779], abs=1e-9)
    assert agent.act(None, {}) == 1


def test_the_weight_of_the_bonus_is_c() -> None:
    agent = UCB(2, c=0.1, normalise="none")
    told(agent, (0, 1.0), (1, 0.0))
    # t = 2, sqrt(ln 2 / 1) = sqrt(0.6931471805599453) = 0.8325546112
    assert agent.indices() == pytest.approx([1.08325546112, 0.08325546112])


def test_normalised_rewards_are_measured_by_the_largest() -> None:
    agent = UCB(2, normalise="largest", c=1)
    told(agent, (0, 40.0), (1, 10.0))
    assert agent.means() == pytest.approx([1.0, 0.25])
    assert agent.indices() == pytest.approx([1.8325546112, 1.0825546112])


def test_normalised_rewards_that_are_all_zero_divide_by_nothing() -> None:
    assert np.isfinite(told(UCB(2), (0, 0.0), (1, 0.0)).indices()).all()  # type: ignore[attr-defined]


def test_an_untried_action_has_no_upper_bound() -> None:
    agent = UCB(3, normalise="none")
    told(agent, (1, 0.5))
    # t = 1, ln 1 = 0: the bonus of a single trial is 0.
    assert agent.indices().tolist() == [math.inf, 0.5, math.inf]


@given(st.integers(1, 70), st.integers(0, 2**32))
def test_ucb_tries_every_action_once_in_its_random_order_first(n: int, seed: int) -> None:
    agent = UCB(n, seed=seed)
    seen = []
    for step in range(n):
        seen.append(agent.act(None, {}))
        told(agent, (seen[-1], float(step % 3)))
    assert seen == agent.order.actions.tolist()
    assert sorted(seen) == list(range(n))


def test_the_first_order_depends_on_the_seed() -> None:
    assert len({tuple(UCB(9, seed=seed).order.actions) for seed in range(5)}) == 5


@pytest.mark.parametrize("seed", range(5))
def test_ties_go_to_the_action_that_comes_first_in_the_order(seed: int) -> None:
    agent = UCB(6, seed=seed)
    told(agent, *((action, 1.0) for action in range(6)))
    assert agent.act(None, {}) == agent.order.actions[0]


def test_a_masked_action_is_tried_as_soon_as_it_is_allowed() -> None:
    agent = UCB(3, seed=0)
    told(agent, *((action, 1.0) for action in (0, 2, 0, 2)))
    assert agent.act(None, {"action_mask": np.array([True, False, True])}) != 1
    assert agent.act(None, {}) == 1


def test_the_deterministic_choice_is_the_best_mean_without_bonus() -> None:
    agent = UCB(3, c=math.sqrt(2), normalise="none")
    told(agent, (0, 0.4), (1, 0.5), (2, 0.0), *((1, 0.5),) * 20)
    # t = 23: the bonus of an action tried once is sqrt(2 ln 23) = 2.504, of one tried 21 times 0.546.
    assert agent.act(None, {}) == 0
    assert agent.predict(None, deterministic=False)[0] == 0
    assert agent.predict(None, deterministic=True)[0] == 1


def test_an_untried_action_is_never_the_deterministic_choice_of_one_that_has_tried_something() -> None:
    assert told(UCB(3), (2, -1.0)).predict(None, deterministic=True)[0] == 2


@given(st.lists(st.floats(0, 1), min_size=2, max_size=2), st.integers(1, 60))
def test_with_constant_rewards_the_better_action_is_tried_at_least_as_often(payoffs: list[float], steps: int) -> None:
    agent = UCB(2)
    for _ in range(steps + 2):
        action = agent.act(None, {})
        told(agent, (action, payoffs[action]))
    best = int(np.argmax(payoffs))
    # The other action is ahead by at most one: at equal counts the bounds differ by the means only.
    assert agent.counts[best] >= agent.counts[1 - best] - 1


@pytest.mark.parametrize("c", [-0.1, math.nan, math.inf, "1"])
def test_a_senseless_weight_is_an_error(c: Any) -> None:
    with pytest.raises(InputError, match="the weight c of the bonus is"):
        UCB(2, c=c)


@pytest.mark.parametrize("reward", [math.nan, math.inf])
def test_a_reward_that_is_not_finite_is_not_learnt(reward: float) -> None:
    agent = UCB(2)
    with pytest.raises(InputError, match="expected a finite number"):
        told(agent, (0, reward))
    assert agent.counts.sum() == agent.n_updates == 0


# Fixed


@pytest.mark.parametrize("combination", ["exception+branch", "branch+exception", " branch + exception"])
def test_the_order_of_the_fitness_functions_does_not_matter(combination: str) -> None:
    assert Fixed(3, ["exception", "exception+branch", "branch"], combination=combination).act(None, {}) == 1


def test_without_a_combination_the_first_action_is_taken() -> None:
    assert make("fixed", 2, action_names=["exception", "branch"]).act(None, {}) == 0


def test_a_combination_outside_the_catalogue_is_an_error_that_lists_it() -> None:
    with pytest.raises(UnknownName) as caught:
        make("fixed:brnch", 2, action_names=["exception", "branch"])
    assert str(caught.value) == "no action named 'brnch'; did you mean 'branch'? (there are: branch, exception)"


def test_a_masked_combination_is_an_error_and_not_replaced() -> None:
    agent = make("fixed:branch", 2, action_names=["exception", "branch"])
    with pytest.raises(InputError, match="action 'branch' is not allowed here"):
        agent.act(None, {"action_mask": [True, False]})


# Uniform


def test_uniform_takes_every_allowed_action_about_equally_often() -> None:
    agent = Uniform(4, seed=0)
    counts = Counter(agent.act(None, {"action_mask": [True, True, False, True]}) for _ in range(3000))
    # 1000 expected each, standard deviation sqrt(3000 * 2 / 9) = 26: four of them are 104 (and the seed is given).
    assert counts.keys() == {0, 1, 3}
    assert all(abs(count - 1000) < 104 for count in counts.values())


# Names on the command line


def test_an_agent_takes_hyper_parameters_after_the_colon() -> None:
    agent = make("ucb:c=0.5,normalise=true", 3, seed=4)
    assert isinstance(agent, UCB)
    assert agent.hyper_parameters() == {"c": 0.5, "normalise": "largest", "discount": 1.0, "window": 0}
    assert agent.seed == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ucb1", "no agent named 'ucb1'; did you mean 'ucb'?"),
        (
            "ucb:0.5",
            "agent 'ucb' has no option '0.5'; expected after the colon: c=..., normalise=..., discount=..., window=...",
        ),
        (
            "ucb:d=1",
            "agent 'ucb' has no option 'd=1'; expected after the colon: c=..., normalise=..., discount=..., window=...",
        ),
        ("ucb:c=much", "agent 'ucb': c is 'much', expected a number, true or false"),
        ("uniform:1", "agent 'uniform' has no option '1'; expected after the colon: nothing"),
    ],
)
def test_a_mistake_on_the_command_line_is_explained(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make(text, 3)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b", "c"]])
def test_names_must_fit_the_actions(names: list[str]) -> None:
    with pytest.raises(InputError, match=f"{len(names)} action names were given for 2 actions"):
        Uniform(2, names)


def test_no_actions_are_too_few() -> None:
    with pytest.raises(InputError, match="the number of actions is 0"):
        Uniform(0)


# Learning in an environment


class Counting(gymnasium.Env[Any, Any]):
    """Two actions, episodes of three steps, four generations per step."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.resets: list[int | None] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.resets.append(seed)
        self.steps = 0
        return np.zeros(1, np.float32), {"generation": 0}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return np.zeros(1, np.float32), float(action), self.steps == 3, False, {"generation": 4 * self.steps}


def test_learning_ends_after_the_given_steps() -> None:
    env = Counting()
    assert UCB(2).learn(env, 7, seed=9).n_updates == 7
    assert env.resets == [9, None, None]


def test_learning_ends_after_the_given_episodes() -> None:
    assert UCB(2).learn(Counting(), episodes=2).n_updates == 6


def test_learning_ends_at_whichever_limit_comes_first() -> None:
    assert UCB(2).learn(Counting(), 100, episodes=1).n_updates == 3
    assert UCB(2).learn(Counting(), 2, episodes=5).n_updates == 2


def test_learning_without_a_limit_is_an_error() -> None:
    with pytest.raises(InputError, match="give total_timesteps or episodes"):
        UCB(2).learn(Counting())


def test_a_callback_that_returns_false_ends_learning() -> None:
    seen: list[Transition] = []

    def stop_at_two(agent: Agent, transition: Transition) -> bool:
        seen.append(transition)
        return agent.n_updates < 2

    UCB(2).learn(Counting(), 100, callback=stop_at_two)
    assert len(seen) == 2


def test_a_transition_says_how_many_generations_the_step_lasted() -> None:
    seen: list[int] = []
    UCB(2).learn(Counting(), 5, callback=lambda _, transition: seen.append(transition.generations))
    assert seen == [4, 4, 4, 4, 4]


def test_every_episode_is_announced() -> None:
    class Announced(Uniform):
        episodes = 0

        def begin_episode(self, observation: Any, info: Any) -> None:
            self.episodes += 1

    assert Announced(2).learn(Counting(), 7).episodes == 3


# Keeping


def test_an_agent_of_one_kind_does_not_load_as_another(tmp_path: Path) -> None:
    folder = UCB(2).save(tmp_path / "agent")
    with pytest.raises(InputError, match="holds the agent 'ucb', not 'uniform'"):
        Uniform.load(folder)


def test_a_folder_without_an_agent_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no saved agent in"):
        Agent.load(tmp_path)


def test_a_broken_file_is_an_error(tmp_path: Path) -> None:
    folder = UCB(2).save(tmp_path / "agent")
    (folder / "agent.json").write_text("{")
    with pytest.raises(InputError, match="no saved agent in"):
        Agent.load(folder)


@pytest.mark.parametrize("rest", [b"", b"PK\x03\x04"])
def test_half_a_file_of_arrays_is_an_error(rest: bytes, tmp_path: Path) -> None:
    folder = UCB(2).save(tmp_path / "agent")
    (folder / "arrays.npz").write_bytes(rest)
    with pytest.raises(InputError, match="no saved agent in"):
        Agent.load(folder)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    agent = UCB(np.int64(3), seed=np.int64(1), c=np.float64(0.5), window=np.int64(5))  # type: ignore[arg-type]
    loaded = UCB.load(agent.save(tmp_path / "agent"))
    assert (loaded.seed, loaded.c, loaded.window) == (1, 0.5, 5)


@pytest.mark.parametrize("seed", [-1, 0.5, "one"])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(InputError, match=f"the seed is {seed}, expected a whole number of at least 0"):
        UCB(3, seed=seed)


def test_an_episode_may_end_where_nothing_is_allowed_any_more() -> None:
    agent = make("dsg_sarsa", 2, seed=0)
    ended = Transition(np.zeros(3), 0, 1.0, np.ones(3), terminated=True, info={"action_mask": np.zeros(2, bool)})
    agent.observe(ended)
    assert agent.n_updates == 1
    assert agent.act(np.zeros(3), {"action_mask": np.ones(2, bool)}) in (0, 1)


def test_a_saved_agent_goes_on_or_draws_the_numbers_of_a_seed(tmp_path: Path) -> None:
    agent = make("uniform", 50, seed=3)
    folder = str(agent.save(tmp_path / "agent"))

    def drawn(**options: Any) -> list[int]:
        saved = make(folder, 50, **options)
        return [saved.act(None, {}) for _ in range(8)]

    expected = [agent.act(None, {}) for _ in range(8)]
    assert drawn() == drawn(seed=1) == expected == drawn(seed=3, reseed=True)
    first, second = drawn(seed=1, reseed=True), drawn(seed=2, reseed=True)
    assert first != second != expected != first
    assert first == drawn(seed=1, reseed=True)


def test_another_format_is_an_error(tmp_path: Path) -> None:
    folder = UCB(2).save(tmp_path / "agent")
    text = (folder / "agent.json").read_text()
    (folder / "agent.json").write_text(text.replace('"format": 1', '"format": 99'))
    with pytest.raises(InputError, match="holds format 99, this version reads 1"):
        Agent.load(folder)


def test_hyper_parameters_survive_saving(tmp_path: Path) -> None:
    loaded = UCB.load(UCB(2, c=0.25, normalise="largest").save(tmp_path / "agent"))
    assert (loaded.c, loaded.normalise) == (0.25, "largest")


@pytest.mark.parametrize("space", [spaces.Discrete(2), spaces.MultiBinary(2), spaces.Box(0, 1, (2,))], ids=str)
def test_every_agent_of_the_folder_can_be_made_by_its_name(space: spaces.Space[Any]) -> None:
    names = agents_for(type(space))
    assert [type(make(name, space)).__module__ for name in names] == [f"fitgym.agents.{name}" for name in names]


def test_every_agent_acts_in_some_space() -> None:
    kinds = (spaces.Discrete, spaces.MultiBinary, spaces.Box)
    assert {name for kind in kinds for name in agents_for(kind)} == set(agents().names())


@pytest.mark.parametrize(
    "change",
    [
        *(
            {"action_names": 5},
            {"agent": 3},
            {"agent": "../ucb"},
            {"hyper_parameters": []},
            {"hyper_parameters": {"q": 1}},
        ),
        *({"generators": 1}, {"generators": []}, {"generators": [{}, {}]}, {"space": []}, {"space": {"kind": "Moon"}}),
        *({"seed": "x"}, {"seed": None}, {"environment": [1]}, {"made": 3}, {"hyper_parameters": {"c": "x"}}),
        *({"action_names": []}, {"n_actions": -1, "space": {"kind": "Discrete", "n": "x"}}),
        {"hyper_parameters": {"two\nlines": 1}},
    ],
)
def test_what_was_changed_in_a_saved_agent_is_one_sentence(change: dict[str, Any], tmp_path: Path) -> None:
    file = UCB(2).save(tmp_path / "agent") / "agent.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(InputError) as caught:
        Agent.load(tmp_path / "agent")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[]", "3", "null", '"text"', "[" * 100_000])
def test_what_is_no_description_of_an_agent_is_one_sentence(text: str, tmp_path: Path) -> None:
    file = UCB(2).save(tmp_path / "agent") / "agent.json"
    file.write_text(text)
    with pytest.raises(InputError, match="no saved agent in"):
        Agent.load(tmp_path / "agent")


@pytest.mark.parametrize("text", ["fixed:", "ucb:", "uniform: "])
def test_a_colon_without_options_is_refused(text: str) -> None:
    for use in (lambda: make(text, 2), lambda: kind(text)):
        with pytest.raises(InputError, match="ends in a colon: write '"):
            use()
