"""Training and evaluation on a two-node Ray cluster give the same results as on this machine."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nightly import nightly

pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytest.importorskip("stable_baselines3", reason="deep agents learn with Stable-Baselines3, in the extra 'deep'")

import ray
from gymnasium.wrappers import OrderEnforcing
from ray_settings import QUICK
from stable_baselines3.common.vec_env import SubprocVecEnv

import fitgym
from fitgym.envs.toy import Toy
from fitgym.errors import ExecutionError, InputError
from fitgym.learning.rollouts import Rollouts
from fitgym.learning.training import Training, train
from fitgym.run.environment import make
from fitgym.run.evaluation import evaluate
from fitgym.run.setting import Setting

MAKERS = [partial(make, Setting(env="fitgym/Toy-v0", options={"horizon": 8}))] * 2


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with one core each."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUICK.items():
            patch.setenv(name, value)
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        found.add_node(num_cpus=1)
        found.wait_for_nodes()
        yield found
        ray.shutdown()
        found.shutdown()


def of_toy(folder: Path, **options: Any) -> Training:
    given = {"envs": 2, "steps": 96, "seed": 3, "output": str(folder), **options}
    return Training.of("ppo:n_steps=16,batch_size=16", env="fitgym/Toy-v0", horizon=8, **given)


@nightly
def test_the_same_seed_gives_the_same_agent_here_and_on_the_cluster(cluster: Any, tmp_path: Path) -> None:
    here = train(of_toy(tmp_path / "here"))
    there = train(of_toy(tmp_path / "there", executor="ray", address=cluster.address))
    assert here.episodes == there.episodes and len(here.episodes) == 12
    arrays = here.agent.arrays()
    assert arrays.keys() == there.agent.arrays().keys()
    assert all(np.array_equal(values, there.agent.arrays()[name]) for name, values in arrays.items())
    assert (tmp_path / "here" / "agent.json").read_bytes() == (tmp_path / "there" / "agent.json").read_bytes()
    assert json.loads((tmp_path / "there" / "bundle.json").read_text())["lost"] == 0 == there.lost


def test_every_step_is_that_of_processes_on_this_machine(cluster: Any) -> None:
    actions = np.random.default_rng(0).integers(5, size=(20, 2))
    told = []
    for env in (SubprocVecEnv(MAKERS, start_method="spawn"), Rollouts(MAKERS, cluster.address)):
        env.seed(7)
        found = [env.reset().tolist()]
        for pair in actions:
            observations, rewards, dones, infos = env.step(pair)
            assert observations.flags.writeable and observations.dtype == np.float32 and rewards.dtype == np.float64
            found += [observations.tolist(), rewards.tolist(), dones.tolist(), [str(info) for info in infos]]
            found.append([str(info) for info in env.reset_infos])
        assert env.get_attr("action_names", 1) == [Toy().action_names]
        assert env.env_is_wrapped(OrderEnforcing) == [True, True] and env.has_attr("no_such_thing") is False
        env.close()
        told.append(found)
    assert told[0] == told[1]


@nightly
def test_a_learner_can_be_a_task_of_the_cluster_itself(cluster: Any, tmp_path: Path) -> None:
    ray.init(cluster.address, log_to_driver=False)
    try:
        learner = ray.remote(num_cpus=1)(train)
        found = ray.get(learner.remote(of_toy(tmp_path / "there", envs=1, executor="ray")))
        assert ray.is_initialized()
    finally:
        ray.shutdown()
    assert found.episodes == train(of_toy(tmp_path / "here", envs=1)).episodes and len(found.episodes) == 12


@nightly
def test_rows_of_an_evaluation_are_those_of_this_machine(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the processes of the cluster began elsewhere
    train(of_toy(Path("policy")))
    options: dict[str, Any] = {"env": "fitgym/Toy-v0", "seeds": range(4), "horizon": 8}
    there = list(evaluate(["policy", "uniform"], executor="ray", address=cluster.address, **options))
    here = list(evaluate(["policy", "uniform"], **options))
    order = here.index
    assert sorted(there, key=order) == here and not any(row.error for row in here)
    assert [row.record for row in sorted(there, key=order)] == [row.record for row in here]


@nightly
def test_what_an_environment_raises_is_raised_here(cluster: Any) -> None:
    with Rollouts(MAKERS, cluster.address) as env:
        env.reset()
        with pytest.raises(AttributeError, match="no_such_thing"):
            env.get_attr("no_such_thing")
    with pytest.raises(InputError, match=r"no environment|did you mean|horizon") as found:
        Rollouts([partial(make, Setting(env="fitgym/Toy-v0", options={"horizont": 8}))] * 2, cluster.address)
    assert len(str(found.value).splitlines()) == 1


def test_more_environments_than_cores_are_refused(cluster: Any) -> None:
    with pytest.raises(InputError, match="the cluster has 2 cores, and 3 environments need 3: use fewer"):
        Rollouts([*MAKERS, MAKERS[0]], cluster.address)


def test_a_node_with_another_version_is_refused(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    version = fitgym.__version__
    monkeypatch.setattr(fitgym, "__version__", "9.9")
    with pytest.raises(InputError, match=f"a node of the cluster has fitgym {version}, this process has 9.9: install"):
        Rollouts(MAKERS, cluster.address)


@nightly
def test_a_core_that_something_else_holds_is_waited_for_in_vain(cluster: Any) -> None:
    with (
        Rollouts(MAKERS[:1], cluster.address),
        pytest.raises(ExecutionError, match="no free core for an environment within 1 s"),
    ):
        Rollouts(MAKERS, cluster.address, patience_s=1)


def test_nobody_at_an_address_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(InputError, match=f"no Ray cluster answers at '127.0.0.1:{port}': start one with"):
        Rollouts(MAKERS, f"127.0.0.1:{port}")


def kill(actor: Any) -> None:
    """End the process of an actor, and wait until Ray knows."""
    ray.kill(actor)
    with pytest.raises(ray.exceptions.RayActorError):
        while True:
            ray.get(actor.about.remote())


@nightly
def test_a_lost_environment_has_its_episode_truncated_and_begins_another_one(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fitgym.learning.rollouts.LOSSES", 2)
    with Rollouts(MAKERS, cluster.address) as env:
        env.seed(7)
        env.reset()
        before, _, _, _ = env.step([0, 1])
        kill(env._actors[1])
        after, rewards, dones, infos = env.step([0, 1])
        assert dones.tolist() == [False, True] and rewards[1] == 0.0
        assert infos[1]["TimeLimit.truncated"] and np.array_equal(infos[1]["terminal_observation"], before[1])
        assert after[1][0] == 1.0, "all of the budget is left"
        assert env.lost == [0, 1] and not env.step([0, 1])[2].any()
        kill(env._actors[1])
        assert env.get_attr("action_names") == [Toy().action_names] * 2 and env.lost == [0, 2]
        assert env.step([0, 1])[2].tolist() == [False, True]
        kill(env._actors[1])
        with pytest.raises(ExecutionError, match="environment 1 was lost 3 times; the last time Ray said"):
            env.step([0, 1])


@nightly
def test_a_training_goes_on_when_a_node_is_lost_and_says_so(cluster: Any, tmp_path: Path) -> None:
    """The last test of the file: it takes the second node away."""
    (second,) = [node for node in cluster.list_all_nodes() if node != cluster.head_node]
    told = []

    def watch(episode: Any) -> None:
        told.append(episode)
        if len(told) == 4:
            cluster.remove_node(second, allow_graceful=False)
            cluster.add_node(num_cpus=1)

    found = train(of_toy(tmp_path, executor="ray", address=cluster.address), watch)
    assert found.lost == 1 and found.agent.n_updates == 96
    assert sum(episode.length for episode in found.episodes) >= 96 - 2 * 8
    assert any(episode.length < 8 for episode in found.episodes)
    assert json.loads((tmp_path / "bundle.json").read_text())["lost"] == 1
