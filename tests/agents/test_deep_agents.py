"""Deep agents: policies trained with torch run without it, and learning leaves other random generators unchanged."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from nightly import every, nightly

from fitgym.agents._deep import whole_batches
from fitgym.agents._network import Network
from fitgym.agents.base import Agent, Transition, make, trained
from fitgym.envs.toy import Toy
from fitgym.errors import InputError

FORGETFUL = ("a2c", "dqn", "maskable_ppo", "ppo")
NAMES = (*FORGETFUL, "recurrent_ppo")


@pytest.fixture
def torch() -> Any:
    for library in ("stable_baselines3", "sb3_contrib"):
        pytest.importorskip(library, reason="deep agents learn with Stable-Baselines3, which is in the extra 'deep'")
    return pytest.importorskip("torch", reason="torch is in the extra 'deep'")


class Sides(gymnasium.Env[Any, Any]):
    """Pays 1 for the action on the side that is shown; one step an episode."""

    observation_space = spaces.Box(0, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.side = int(self.np_random.integers(2))
        return np.eye(2, dtype=np.float32)[self.side], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.zeros(2, np.float32), float(int(action) == self.side), True, False, {}

    def action_masks(self) -> Any:
        return np.ones(2, bool)


def test_a_network_is_what_is_worked_out_by_hand() -> None:
    layers = [
        (np.array([[1.0, -1.0], [0.5, 0.5]], np.float32), np.array([0.0, 1.0], np.float32)),
        (np.array([[2.0, 1.0]], np.float32), np.array([-1.0], np.float32)),
    ]
    x = np.array([1.0, 3.0], np.float32)
    # Hidden before the activation: (1 - 3, 2 + 1) = (-2, 3).
    assert Network(layers, "relu")(x) == pytest.approx([2 * 0 + 3 - 1])
    assert Network(layers, "tanh")(x) == pytest.approx([2 * np.tanh(-2) + np.tanh(3) - 1], abs=1e-6)


@pytest.mark.parametrize("name", FORGETFUL)
def test_numpy_computes_what_torch_computes(name: str, torch: Any) -> None:
    from stable_baselines3 import A2C, DQN, PPO

    agent: Any = make(name, 5, seed=1).learn(Toy(10), 300, seed=0)
    model = {"dqn": DQN, "a2c": A2C}.get(name, PPO)(
        "MlpPolicy", Toy(10), device="cpu", policy_kwargs={"net_arch": [64, 64]}
    )
    model.policy.load_state_dict({key: torch.as_tensor(values) for key, values in agent.arrays().items()})
    for observation in np.random.default_rng(0).random((10, 11), np.float32):
        with torch.no_grad():
            batch = torch.as_tensor(observation[None])
            if name == "dqn":
                expected = model.policy.q_net(batch)[0].numpy()
                found = agent.scores(observation)
            else:
                expected = model.policy.get_distribution(batch).distribution.probs[0].numpy()
                found = np.exp(agent.scores(observation)) / np.exp(agent.scores(observation)).sum()
        assert found == pytest.approx(expected, abs=1e-5)


def test_numpy_remembers_what_torch_remembers(torch: Any) -> None:
    from sb3_contrib import RecurrentPPO

    agent: Any = make("recurrent_ppo:memory=8,n_steps=32", 5, seed=1).learn(Toy(10), 64, seed=0)
    kwargs = {"net_arch": [64, 64], "lstm_hidden_size": 8}
    model = RecurrentPPO("MlpLstmPolicy", Toy(10), n_steps=32, device="cpu", policy_kwargs=kwargs)
    parameters = {key: torch.as_tensor(values) for key, values in agent.arrays().items() if key != "held"}
    model.policy.load_state_dict(parameters)
    ours: Any = None
    theirs: Any = None
    batches = np.random.default_rng(0).random((6, 2, 11), np.float32)
    for step, batch in enumerate(batches):
        starts = np.array([step == 0, step in (0, 3)])
        _, ours = agent.predict(batch, ours, starts, deterministic=True)
        _, theirs = model.predict(batch, theirs, starts, deterministic=True)
        # Theirs have an axis for layers first.
        assert ours == tuple(pytest.approx(part[0], abs=1e-6) for part in theirs)


class Remembering(gymnasium.Env[Any, Any]):
    """Pays 1 for the action on the side that was shown two steps ago; three steps an episode."""

    observation_space = spaces.Box(0, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.side, self.steps = int(self.np_random.integers(2)), 0
        return np.eye(2, dtype=np.float32)[self.side], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        reward = float(self.steps == 3 and int(action) == self.side)
        return np.zeros(2, np.float32), reward, self.steps == 3, False, {}


@nightly
def test_a_recurrent_agent_learns_what_has_to_be_remembered(torch: Any) -> None:
    agent = make("recurrent_ppo:learning_rate=0.01,n_steps=96,memory=16,hidden=16", 2, seed=0)
    agent.learn(Remembering(), 2400, seed=0)
    blank = np.zeros(2, np.float32)
    for side in (0, 1):
        state: Any = None
        for i, seen in enumerate((np.eye(2, dtype=np.float32)[side], blank, blank)):
            action, state = agent.predict(seen, state, np.array(i == 0), deterministic=True)
        assert action == side


def test_what_is_held_is_forgotten_where_an_episode_begins_and_saved(torch: Any, tmp_path: Path) -> None:
    agent: Any = make("recurrent_ppo:memory=4,n_steps=32", 5, seed=0).learn(Toy(10), 64, seed=0)
    observation = np.full(11, 0.5, np.float32)
    agent.begin_episode(observation, {})
    assert not agent.arrays()["held"].any()
    agent.act(observation, {})
    held = agent.arrays()["held"]
    assert held.any()
    loaded: Any = Agent.load(agent.save(tmp_path / "agent"))
    assert np.array_equal(loaded.arrays()["held"], held)
    assert [loaded.act(observation, {}) for _ in range(20)] == [agent.act(observation, {}) for _ in range(20)]
    agent.begin_episode(observation, {})
    assert not agent.arrays()["held"].any()


@nightly
@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("ppo:learning_rate=0.003,n_steps=64", 2000),
        ("maskable_ppo:learning_rate=0.003,n_steps=64", 2000),
        ("a2c:learning_rate=0.003", 3000),
        ("dqn:learning_rate=0.003", 1500),
    ],
)
def test_every_deep_agent_learns_to_look(text: str, steps: int, torch: Any) -> None:
    agent = make(text, 2, seed=0).learn(Sides(), steps, seed=0)
    for side in (0, 1):
        assert agent.predict(np.eye(2, dtype=np.float32)[side], deterministic=True)[0] == side


def test_learning_leaves_the_generators_of_others_alone(torch: Any) -> None:
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    expected = random.random(), np.random.random(), torch.rand(1).item()
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    threads = torch.get_num_threads()
    make("ppo", 5).learn(Toy(5), 40)
    assert (random.random(), np.random.random(), torch.rand(1).item()) == expected
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_agent_acts_where_there_is_no_torch(name: str, torch: Any, tmp_path: Path) -> None:
    agent = make(name, 5, seed=0).learn(Toy(10), 120, seed=0)
    folder = agent.save(tmp_path / "agent")
    observations = np.random.default_rng(0).random((6, 11), np.float32)
    np.save(tmp_path / "seen.npy", observations)
    code = (
        "import sys, numpy as np\n"
        "sys.modules['torch'] = sys.modules['stable_baselines3'] = None\n"
        "from fitgym.agents.base import Agent\n"
        f"agent = Agent.load({str(folder)!r})\n"
        f"seen = np.load({str(tmp_path / 'seen.npy')!r})\n"
        "print([int(agent.predict(row, deterministic=True)[0]) for row in seen], [agent.act(row, {}) for row in seen])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    ours = [int(agent.predict(row, deterministic=True)[0]) for row in observations]
    assert done.stdout.strip() == f"{ours} {[agent.act(row, {}) for row in observations]}", done.stderr


def test_training_on_several_environments_counts_the_steps_of_all(torch: Any) -> None:
    from stable_baselines3.common.env_util import make_vec_env

    agent = make("ppo:n_steps=16,batch_size=32", 5, seed=0)
    agent.learn(make_vec_env(lambda: Toy(10), n_envs=3), 96)  # type: ignore[arg-type]
    assert 96 <= agent.n_updates < 96 + 3


@pytest.mark.parametrize("name", NAMES)
def test_episodes_and_callbacks_end_the_training(name: str, torch: Any) -> None:
    assert make(name, 5).learn(Toy(7), episodes=3).n_updates == 21
    seen: list[Transition] = []

    def stop(_: Agent, transition: Transition) -> bool:
        seen.append(transition)
        return len(seen) < 9

    make(name, 5).learn(Toy(7), 100, callback=stop)
    assert len(seen) == 9
    assert [step.terminated for step in seen] == [False] * 6 + [True] + [False] * 2
    assert seen[6].next_observation[0] == 0.0, "the last observation of the episode, not the first of the next one"
    assert seen[7].observation[0] == 1.0


def test_an_environment_with_other_observations_is_refused(torch: Any) -> None:
    agent = make("ppo", 2).learn(Sides(), 20)
    with pytest.raises(InputError, match="the observation has 3 entries, this agent has learnt from 2"):
        agent.predict(np.zeros(3))

    class Wide(Sides):
        observation_space = spaces.Box(0, 1, (3,), np.float32)

        def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
            return np.zeros(3, np.float32), super().reset(**options)[1]

    with pytest.raises(InputError, match="trained with other observations or actions"):
        agent.learn(Wide(), 20)


def test_an_agent_that_has_learnt_nothing_is_not_taken_for_one_that_has() -> None:
    with pytest.raises(InputError, match="agent 'ppo' knows nothing yet: train it with `fitgym train ppo"):
        trained(make("ppo", 5))
    assert trained(make("ucb", 5)).n_actions == 5


def test_without_the_library_learning_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with pytest.raises(InputError, match=r"learning with 'ppo' needs the extra 'deep': pip install torch==2\.13\.0"):
        make("ppo", 5).learn(Toy(5), 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ppo:learning_rate=0", "the learning rate is 0, expected a number above 0"),
        ("dqn:gamma=1.5", "the discount gamma is 1.5, expected a number between 0 and 1"),
        ("a2c:hidden=0", "hidden is 0, expected a whole number of units, at least 1"),
        ("ppo:n_steps=-5", "n_steps is -5, expected a whole number of at least 2"),
        ("ppo:n_epochs=2.5", "n_epochs is 2.5, expected a whole number of at least 1"),
        ("dqn:exploration=-2", "the share of exploration is -2, expected a number between 0 and 1"),
        ("dqn:memory=1e3", "memory is 1000.0, expected a whole number of steps, at least 1"),
    ],
)
def test_a_senseless_hyper_parameter_is_explained(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make(text, 3)
    assert str(caught.value) == message


def test_a_callback_sees_what_the_last_improvement_has_left_and_can_save_it(torch: Any, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def look(agent: Agent, transition: Transition) -> None:
        seen.append((agent.n_updates, hash(tuple(array.tobytes() for array in agent.arrays().values()))))
        if agent.n_updates == 30:
            agent.save(tmp_path / "checkpoint")

    agent = make("ppo:n_steps=16,batch_size=16", 5, seed=0).learn(Toy(10), 48, callback=look, seed=0)
    assert [n for n, _ in seen] == list(range(1, 49))
    assert [len({learnt for n, learnt in seen if low < n <= low + 16}) for low in (0, 16, 32)] == [1, 1, 1]
    assert len({learnt for _, learnt in seen}) == 3
    saved = Agent.load(tmp_path / "checkpoint")
    assert saved.n_updates == 30 and saved.ready and saved.arrays().keys() == agent.arrays().keys()


class Valued(Toy):
    """Says what the goal's value is."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated, {**info, "goal_value": 7.0}


@pytest.mark.parametrize("name", ["ppo:n_steps=16", "dqn", "a2c", "recurrent_ppo:n_steps=16"])
def test_the_log_has_what_the_library_and_the_episodes_say(name: str, torch: Any, tmp_path: Path) -> None:
    make(name, 5, seed=0).learn(Valued(10), 48, seed=0, log=tmp_path / "log")  # type: ignore[call-arg]
    lines = [json.loads(line) for line in (tmp_path / "log" / "progress.jsonl").read_text().splitlines()]
    told = [line for line in lines if "episode/rewards" in line]
    assert told
    assert all(line["episode/length"] == 10 and line["episode/goal_value"] == 7 for line in told)
    assert [entry.name for entry in (tmp_path / "log").iterdir()] == ["progress.jsonl"]


def test_events_for_tensorboard_are_written_or_it_is_said_what_is_missing(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent: Any = make("ppo:n_steps=16", 5, seed=0)
    with pytest.raises(InputError, match="events for TensorBoard need a folder"):
        agent.learn(Toy(10), 16, tensorboard=True)
    with monkeypatch.context() as patch:
        patch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(InputError, match=r"pip install 'fitgym\[deep\]'"):
            agent.learn(Toy(10), 16, log=tmp_path, tensorboard=True)
    assert agent.n_updates == 0
    pytest.importorskip("tensorboard", reason="events are written by tensorboard, which is in the extra 'deep'")
    agent.learn(Toy(10), 16, log=tmp_path, tensorboard=True)
    assert sorted(path.name.partition(".")[0] for path in tmp_path.iterdir()) == ["events", "progress"]


ON_POLICY = (
    "ppo:n_steps=16,batch_size=8",
    "maskable_ppo:n_steps=16,batch_size=8",
    "recurrent_ppo:n_steps=16,batch_size=8",
)


@pytest.mark.parametrize(
    "limits", [{"total_timesteps": 16}, {"total_timesteps": 10}, {"total_timesteps": 26}, {"episodes": 2}]
)
@pytest.mark.parametrize("name", every(2, [*ON_POLICY, "a2c:n_steps=16"]))
def test_what_a_limit_has_cut_short_of_a_rollout_is_learnt_from(name: str, limits: dict[str, int], torch: Any) -> None:
    """The same steps with a tiny and with an ordinary step size end in other parameters only if they are learnt from."""
    slow, quick = (
        make(f"{name},learning_rate={rate}", 5, seed=0).learn(Toy(7), seed=0, **limits) for rate in (1e-9, 1e-2)
    )
    assert slow.n_updates == quick.n_updates == limits.get("total_timesteps", 14)
    changed = [np.abs(values - quick.arrays()[key]).max() for key, values in slow.arrays().items()]
    assert max(changed) > 1e-3
    assert all(np.isfinite(values).all() for values in quick.arrays().values())


def test_a_rollout_of_several_environments_is_learnt_from_whatever_is_left_of_it(torch: Any) -> None:
    from stable_baselines3.common.env_util import make_vec_env

    slow, quick = (
        make(f"ppo:learning_rate={rate}", 5, seed=0).learn(make_vec_env(lambda: Toy(10), n_envs=3), 50)  # type: ignore[arg-type]
        for rate in (1e-9, 1e-2)
    )
    assert slow.n_updates == quick.n_updates == 51
    assert max(np.abs(slow.arrays()[key] - values).max() for key, values in quick.arrays().items()) > 1e-3


@pytest.mark.parametrize(
    ("size", "steps", "expected"), [(64, 128, 64), (64, 129, 65), (64, 65, 65), (64, 1, 64), (2, 3, 3)]
)
def test_no_batch_holds_a_single_step(size: int, steps: int, expected: int) -> None:
    assert whole_batches(size, steps) == expected
    assert steps == 1 or steps % expected != 1


def test_the_values_that_dqn_learns_towards_are_renewed(torch: Any) -> None:
    agent = make("dqn:target_interval=200", 5, seed=0).learn(Toy(10), 410, seed=0)
    fresh = make("dqn:target_interval=10000", 5, seed=0).learn(Toy(10), 410, seed=0)
    targets = [key for key in agent.arrays() if key.startswith("q_net_target.")]
    assert targets
    assert any((agent.arrays()[key] != fresh.arrays()[key]).any() for key in targets)


def test_dqn_explores_less_and_less_over_its_episodes(torch: Any, tmp_path: Path) -> None:
    make("dqn", 5, seed=0).learn(Toy(10), episodes=40, seed=0, log=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    rates = [line["rollout/exploration_rate"] for line in lines if "rollout/exploration_rate" in line]
    assert rates[0] > 0.5 and rates[-1] == pytest.approx(0.05)
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize(
    "space", [spaces.Discrete(4), spaces.Dict({"x": spaces.Box(0, 1, (2,))}), spaces.Box(0, 1, (2, 3))]
)
def test_observations_that_are_no_row_of_numbers_are_refused(space: spaces.Space[Any]) -> None:
    env = Sides()
    env.observation_space = space  # type: ignore[assignment]
    with pytest.raises(InputError, match=r"the observations are .*, expected a row of numbers: Box of shape \(n,\)"):
        make("ppo", 2).learn(env, 4)


@pytest.mark.parametrize("name", ["ppo:n_steps=16,batch_size=16", "dqn", "recurrent_ppo:memory=4,n_steps=16"])
def test_learning_without_a_log_leaves_no_folder(
    torch: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SB3_LOGDIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    make(name, 5, seed=0).learn(Toy(10), 40, seed=0)
    assert list(tmp_path.iterdir()) == []
