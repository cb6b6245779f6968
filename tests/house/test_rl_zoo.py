"""The hyper-parameters for RL Baselines3 Zoo: the library accepts them for registered environments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from nightly import nightly

import fitgym.envs  # noqa: F401  (registers the environments)

yaml = pytest.importorskip("yaml", reason="PyYAML comes with the extra 'notebooks'")

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "examples" / "rl_zoo").glob("*.yml"))
ALGORITHMS = {"ppo": "stable_baselines3:PPO", "dqn": "stable_baselines3:DQN", "ppo_lstm": "sb3_contrib:RecurrentPPO"}
OF_THE_ZOO = ("n_envs", "n_timesteps", "policy")
"""What the zoo itself reads; the rest is given to the algorithm."""

CASES = [(file, env) for file in FILES for env in yaml.safe_load(file.read_text())]


def test_there_is_a_file_for_each_algorithm() -> None:
    assert [file.stem for file in FILES] == sorted(ALGORITHMS)


@pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")  # here is one environment, not n_envs
@pytest.mark.parametrize(("file", "env"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_the_library_accepts_the_hyper_parameters(file: Path, env: str) -> None:
    package, _, name = ALGORITHMS[file.stem].partition(":")
    algorithm: Any = getattr(pytest.importorskip(package, reason="it is in the extra 'deep'"), name)
    given = yaml.safe_load(file.read_text())[env]
    own = {name: value for name, value in given.items() if name not in OF_THE_ZOO}
    if isinstance(own.get("policy_kwargs"), str):
        own["policy_kwargs"] = eval(own["policy_kwargs"], {"dict": dict})  # as the zoo does
    assert given["n_envs"] >= 1 and given["n_timesteps"] >= 1e4
    if "n_steps" in own:
        assert given["n_envs"] * own["n_steps"] % own["batch_size"] == 0
    model = algorithm(given["policy"], gymnasium.make(env), device="cpu", **own)
    model.get_env().close()


@nightly
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_zoo_trains_with_the_file(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("rl_zoo3", reason="the zoo is in no extra: pip install rl_zoo3")
    options = ["--algo", file.stem, "--env", "fitgym/Landscapes-v0", "--gym-packages", "fitgym.envs", "-n", "1500"]
    more = ["--conf-file", str(file), "--log-folder", str(tmp_path), "--eval-freq", "-1"]
    done = subprocess.run(
        [sys.executable, "-m", "rl_zoo3.train", *options, *more],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob(f"{file.stem}/*/*.zip"))
