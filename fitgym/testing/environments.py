"""Checks of an environment: it must meet the same requirements as those that come with fitgym."""

from __future__ import annotations

import gc
import hashlib
import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import fitgym.envs  # noqa: F401  (registers the environments of fitgym, so that callers need not import it)

__all__ = ["check_env_strict", "digest", "elsewhere", "episode"]

Step = tuple[Any, float, bool, bool, dict[str, Any]]


def check_env_strict(
    name: str,
    /,
    *,
    steps: int = 5,
    seed: int = 0,
    processes: bool = True,
    checkers: bool = True,
    **arguments: Any,
) -> None:
    """Check that a registered environment meets the requirements of training and replay.

    - Gymnasium's checker accepts it, and that of Stable-Baselines3 if it is installed.
    - Its spec can be written as JSON and read back.
    - The same seed and actions give the same episode: in the same object, in another one made from the spec, in new
      processes under two hash seeds, in a pickled copy, and in a fork taken in the middle.
    - Observations are in their space at every step. Rewards are finite, and in `reward_range` if it has one.
    - If it has `record` and `action_of`, its record is JSON and repeats the episode.
    - `info` has the same keys at every step. If there is an `info["action_mask"]`, it equals `action_masks()` and
      allows at least one action.
    - Closing it leaves no process, no descriptor and no temporary folder behind; closing it twice is allowed.

    Args:
        name: a registered id, with its module (`package.module:id`) if the module must be imported first.
        steps: number of steps of the compared episodes; at least 2, and the environment must not end before.
        seed: seed of these episodes, and of the actions.
        processes: also compare with new processes, which takes some seconds.
        checkers: also run Gymnasium's checker and that of Stable-Baselines3.
        arguments: arguments of the environment, JSON values only.

    Raises:
        AssertionError: a requirement is not met.
    """
    before = _open()
    with _own_temporary_folder() as folder:
        _check(name, steps, seed, processes, checkers, arguments)
        gc.collect()
        left = sorted(entry.name for entry in folder.iterdir())
        assert not left, f"{name}: after closing there are temporary files: {', '.join(left)}"
    deadline = time.monotonic() + 2.0
    while (more := _open() - before) and time.monotonic() < deadline:
        time.sleep(0.02)  # ending a process may take a moment
    assert not more, f"{name}: still open after closing: {', '.join(sorted(more))}"


def _check(name: str, steps: int, seed: int, processes: bool, checkers: bool, arguments: dict[str, Any]) -> None:
    env = gymnasium.make(name, **arguments)
    try:
        spec = env.spec
        assert spec is not None, f"{name} has no spec"
        if checkers:
            check_env(env.unwrapped, skip_render_check=True)
            _check_with_stable_baselines(env)
        expected = episode(env, steps, seed)
        assert episode(env, steps, seed) == expected, f"{name}: the same seed and actions gave another episode"
        _check_steps(name, env, steps, seed)
        _check_copies(name, env, steps, seed)
        if hasattr(env.unwrapped, "record") and hasattr(env.unwrapped, "action_of"):
            _check_record(name, env, steps, seed)
        text = spec.to_json()
        copied = gymnasium.make(EnvSpec.from_json(text))
        try:
            assert episode(copied, steps, seed) == expected, f"{name}: made from its JSON spec it gives another episode"
        finally:
            copied.close()
        if processes:
            module = name.partition(":")[0] if ":" in name else type(env.unwrapped).__module__
            for hash_seed in (1, 2):
                theirs = _in_new_process(module, text, steps, seed, hash_seed)
                assert theirs == digest(expected), f"{name}: another episode in a process with hash seed {hash_seed}"
    finally:
        env.close()
        env.close()  # a second call must be allowed


def episode(env: gymnasium.Env[Any, Any], steps: int, seed: int) -> list[Any]:
    """Return the first steps of an episode as plain values: observations, rewards, flags and infos."""
    observation, info = env.reset(seed=seed)
    seen: list[Any] = [_plain(observation), _plain(info)]
    for action in _actions(env, steps, seed):
        seen.append(_plain(env.step(action)))
    return seen


def digest(seen: Sequence[Any]) -> str:
    """Return a hash of an episode; different episodes have different hashes."""
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()


def _actions(env: gymnasium.Env[Any, Any], steps: int, seed: int) -> list[Any]:
    """Draw actions that are the same for every environment with this action space."""
    space = pickle.loads(pickle.dumps(env.action_space))
    space.seed(seed)
    return [space.sample() for _ in range(steps)]


def _plain(value: Any) -> Any:
    """Convert a value to its JSON form, exact to the last bit."""
    if isinstance(value, Mapping):
        return {str(key): _plain(value[key]) for key in value}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return value.hex() if isinstance(value, float) else value


def _check_with_stable_baselines(env: gymnasium.Env[Any, Any]) -> None:
    with suppress(ImportError):
        from stable_baselines3.common import env_checker

        env_checker.check_env(env.unwrapped, warn=False)


def _check_steps(name: str, env: gymnasium.Env[Any, Any], steps: int, seed: int) -> None:
    lowest, highest = getattr(env.unwrapped, "reward_range", (-math.inf, math.inf))
    observation, first = env.reset(seed=seed)
    assert env.observation_space.contains(observation), f"{name}: the first observation is not in its space"
    infos = [first]
    for action in _actions(env, steps, seed):
        observation, received, _, _, info = env.step(action)
        infos.append(info)
        reward = float(received)
        assert env.observation_space.contains(observation), f"{name}: an observation is not in its space"
        assert math.isfinite(reward), f"{name}: a reward is {reward}"
        assert lowest <= reward <= highest, f"{name}: a reward is {reward}, expected {lowest} to {highest}"
        mask = info.get("action_mask")
        if mask is not None and isinstance(env.action_space, spaces.Discrete):
            masks = env.get_wrapper_attr("action_masks")()
            assert list(masks) == list(mask), f"{name}: info['action_mask'] is not what action_masks() says"
            assert any(mask), f"{name}: the action mask allows nothing"
    for info in infos:
        assert info.keys() == first.keys(), f"{name}: info has the keys {sorted(info)}, at first {sorted(first)}"


def _check_copies(name: str, env: gymnasium.Env[Any, Any], steps: int, seed: int) -> None:
    actions = _actions(env, steps, seed)
    env.reset(seed=seed)
    env.step(actions[0])
    inner: Any = env.unwrapped
    copies = {"a pickled copy": pickle.loads(pickle.dumps(inner))}
    if hasattr(inner, "fork"):
        copies["a fork"] = inner.fork()
    expected = [_plain(inner.step(action)) for action in actions[1:]]
    for what, copied in copies.items():
        try:
            found = [_plain(copied.step(action)) for action in actions[1:]]
        finally:
            copied.close()
        assert found == expected, f"{name}: {what} taken in the middle continues differently"


def _check_record(name: str, env: gymnasium.Env[Any, Any], steps: int, seed: int) -> None:
    """Play an episode without a seed, and repeat it from its record."""
    inner: Any = env.unwrapped
    inner.reset()
    for action in _actions(env, steps, seed):
        inner.step(action)
    record = json.loads(json.dumps(inner.record()))
    inner.reset(seed=record["seed"])
    for action in record["actions"]:
        inner.step(inner.action_of(action))
    assert json.loads(json.dumps(inner.record())) == record, (
        f"{name}: repeated from its record it gives another episode"
    )


def _in_new_process(module: str, spec: str, steps: int, seed: int, hash_seed: int) -> str:
    """Return the digest of the episode in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "fitgym.testing", module, str(steps), str(seed)],
        input=spec,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, f"an episode in a new process failed: {done.stderr.strip()[-500:]}"
    return done.stdout.strip()


@contextmanager
def _own_temporary_folder() -> Iterator[Path]:
    """Redirect the temporary files of this process to a separate folder during the block."""
    before = tempfile.gettempdir()
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = before


def _open() -> set[str]:
    """Return the child processes and open descriptors of this process, as far as the system reports them."""
    found: set[str] = set()
    with suppress(OSError):
        for task in Path("/proc/self/task").iterdir():
            found |= {f"process {pid}" for pid in (task / "children").read_text().split()}
    with suppress(OSError):
        for entry in Path("/proc/self/fd").iterdir():
            with suppress(OSError):
                found.add(f"descriptor {entry.name} ({os.readlink(entry)})")
    return found


def elsewhere(module: str, steps: str, seed: str) -> None:
    """Read a spec from stdin and write the digest of its episode; runs in a new process."""
    __import__(module)
    env = gymnasium.make(EnvSpec.from_json(sys.stdin.read()))
    try:
        sys.stdout.write(digest(episode(env, int(steps), int(seed))) + "\n")
    finally:
        env.close()
