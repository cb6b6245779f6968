"""The strict check of environments: fitgym's pass, and each kind of error is found."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from nightly import every

from fitgym.envs import ENVIRONMENTS, WITHOUT_SUBJECT
from fitgym.testing import check_env_strict, digest, episode
from fitgym.testing.environments import _check_record

# Small, because every one of some twenty episodes runs its mutants.
SUBJECT = """
def triangle(a: int, b: int, c: int) -> str:
    if a <= 0 or b <= 0 or c <= 0:
        raise ValueError("a side is longer than nothing")
    if a == b == c:
        return "equilateral"
    return "isosceles" if a == b or b == c or a == c else "scalene"
"""


@pytest.mark.parametrize("name", every(6, ENVIRONMENTS))
def test_every_environment_with_a_subject_passes(name: str, tmp_path: Path) -> None:
    subject = tmp_path / "triangles.py"
    subject.write_text(SUBJECT)
    check_env_strict(f"fitgym.envs:{name}", steps=3, subject=str(subject), budget="40g", population=4)


@pytest.mark.parametrize("name", every(4, WITHOUT_SUBJECT, 3))
def test_every_environment_without_a_subject_passes(name: str) -> None:
    check_env_strict(f"fitgym.envs:{name}", steps=10)


class Counter(gymnasium.Env[Any, Any]):
    """Counts; it does nothing wrong."""

    def __init__(self, limit: int = 100) -> None:
        self.limit = limit
        self.observation_space = spaces.Box(0, 1, (1,), np.float32)
        self.action_space = spaces.Discrete(3)
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self.seen(), self.info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self.seen(), float(self.np_random.random()), self.steps >= self.limit, False, self.info()

    def seen(self) -> Any:
        return np.array([self.steps / self.limit], np.float32)

    def info(self) -> dict[str, Any]:
        return {"steps": self.steps, "action_mask": self.action_masks()}

    def action_masks(self) -> Any:
        return np.ones(3, bool)


class Forgetful(Counter):
    """Draws from a generator that no seed reaches."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._np_random = np.random.default_rng()
        return super().step(action)


class Talkative(Counter):
    """Says more at every second step."""

    def info(self) -> dict[str, Any]:
        return {**super().info(), **({"more": 1} if self.steps % 2 else {})}


class Contradictory(Counter):
    """Its two masks differ."""

    def info(self) -> dict[str, Any]:
        return {**super().info(), "action_mask": np.array([True, False, True])}


class Forbidding(Counter):
    """Allows nothing."""

    def action_masks(self) -> Any:
        return np.zeros(3, bool)


class Outside(Counter):
    """Its second observation is not in the space."""

    def seen(self) -> Any:
        return np.array([2.0 if self.steps == 2 else 0.5], np.float32)


class Endless(Counter):
    """Its second reward is infinite."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen, reward, *rest = super().step(action)
        return seen, float("inf") if self.steps == 2 else reward, *rest  # type: ignore[return-value]


class Generous(Counter):
    """Pays more than it says."""

    reward_range = (0.0, 0.001)


class Unpicklable(Counter):
    """Comes back from pickling at another place."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, steps=0)


class BadFork(Counter):
    """Its fork begins again."""

    def fork(self) -> Counter:
        twin = BadFork()
        twin.reset(seed=0)
        return twin


class Hashing(Counter):
    """Its rewards depend on the hash seed."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen, _, *rest = super().step(action)
        return seen, float(hash("a") % 1000), *rest  # type: ignore[return-value]


class Littering(Counter):
    """Leaves a file behind."""

    def close(self) -> None:
        os.close(tempfile.mkstemp(prefix="litter-")[0])


class Holding(Counter):
    """Keeps a descriptor."""

    def close(self) -> None:
        os.open(os.devnull, os.O_RDONLY)


class Breeding(Counter):
    """Leaves a process behind."""

    children: list[subprocess.Popen[bytes]] = []  # noqa: RUF012  (so that the test can end it)

    def close(self) -> None:
        self.children.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))


@pytest.fixture
def registered(request: pytest.FixtureRequest) -> Iterator[str]:
    """The id of an environment of this file."""
    kind = request.param
    name = f"fitgym-tests/{kind.__name__}-v0"
    gymnasium.register(name, entry_point=f"{__name__}:{kind.__name__}")
    yield name
    del gymnasium.registry[name]
    for child in Breeding.children:
        child.kill()
        child.wait()
    Breeding.children.clear()


@pytest.mark.parametrize("registered", [Counter], indirect=True)
def test_an_environment_without_fault_passes(registered: str) -> None:
    check_env_strict(registered, processes=False, limit=50)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("registered", "complaint"),
    [
        (Talkative, "info has the keys"),
        (Contradictory, r"info\['action_mask'\] is not what action_masks\(\) says"),
        (Forbidding, "the action mask allows nothing"),
        (Outside, "an observation is not in its space"),
        (Endless, "a reward is inf"),
        (Generous, r"a reward is 0.\d+, expected 0.0 to 0.001"),
        (Unpicklable, "a pickled copy taken in the middle continues differently"),
        (BadFork, "a fork taken in the middle continues differently"),
        (Littering, "after closing there are temporary files: litter-"),
        (Holding, "still open after closing: descriptor"),
        (Breeding, "still open after closing: process"),
    ],
    indirect=["registered"],
)
def test_each_kind_of_carelessness_is_found(registered: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_env_strict(registered, processes=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("registered", [Forgetful], indirect=True)
def test_chance_that_no_seed_reaches_is_found(registered: str) -> None:
    with pytest.raises(AssertionError):
        check_env_strict(registered, processes=False)


def test_a_dependence_on_the_hash_seed_is_found(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hashing_env.py").write_text(
        "import gymnasium, sys\n"
        f"sys.path.insert(0, {str(os.path.dirname(__file__))!r})\n"
        "gymnasium.register('fitgym-tests/Hashing-v0', entry_point='test_testing:Hashing')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with pytest.raises(AssertionError, match="another episode in a process with hash seed"):
            check_env_strict("hashing_env:fitgym-tests/Hashing-v0")
    finally:
        gymnasium.registry.pop("fitgym-tests/Hashing-v0", None)


def test_episodes_differ_in_the_last_bit() -> None:
    a, b = (episode(Counter(), 2, seed) for seed in (0, 1))
    assert digest(a) != digest(b) and a[2][1] == float.hex(float.fromhex(a[2][1]))


class Forgetful(Counter):
    """Records a seed that is not the seed of the episode."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        found = super().reset(seed=seed)
        self.rewards: list[float] = []
        return found

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        found = super().step(action)
        self.rewards.append(found[1])
        return found

    def record(self) -> dict[str, Any]:
        return {"seed": 0, "actions": [0] * self.steps, "rewards": self.rewards}

    def action_of(self, recorded: Any) -> Any:
        return recorded


def test_a_record_that_does_not_repeat_the_episode_is_found() -> None:
    gymnasium.register("fitgym-tests/Forgetful-v0", entry_point=Forgetful)
    try:
        with pytest.raises(AssertionError, match="repeated from its record it gives another episode"):
            _check_record("Forgetful", gymnasium.make("fitgym-tests/Forgetful-v0"), 3, 0)
    finally:
        del gymnasium.registry["fitgym-tests/Forgetful-v0"]
