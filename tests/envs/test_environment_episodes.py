"""Seeded episodes are the same from version to version: digests of observations, rewards, flags and information.

After an intended change, `python tests/envs/test_environment_episodes.py` writes the digests anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.testing import digest, episode

TRIANGLE = str(Path(__file__).parents[1] / "programs" / "triangle.py")
GOLDEN = Path(__file__).parents[1] / "golden" / "episodes.json"
SEARCH = {"budget": "40g", "population": 6, "reward": "paper", "features": "paper-v1"}
KEYS = frozenset({"generation", "executions", "goal_value", "suite_size", "crashes", "action_mask", "rewards"})
EPISODES: dict[str, tuple[str, dict[str, Any]]] = {
    "exceptions": ("ExceptionDiscovery", SEARCH),
    "exceptions, full": ("ExceptionDiscovery", {**SEARCH, "features": "full-v1", "reward": "gain"}),
    "exceptions, full-v2": ("ExceptionDiscovery", {**SEARCH, "features": "full-v2", "reward": "gain"}),
    "exceptions, truncated": ("ExceptionDiscovery", {**SEARCH, "budget": "18g"}),
    "diversity": ("SuiteDiversity", SEARCH),
    "diversity, variant": ("SuiteDiversity", {**SEARCH, "variants": {"diversity": {"last_two": True}}}),
    "mutation": ("StrongMutation", {**SEARCH, "features": "full-v1"}),
    "coverage": ("BranchCoverage", {**SEARCH, "features": "full-v1", "generations_per_step": 1}),
    "coverage, smart": (
        "BranchCoverage",
        {**SEARCH, "generations_per_step": 1, "smart": True, "secondary": "performance"},
    ),
    "coverage, executions": (
        "BranchCoverage",
        {**SEARCH, "generations_per_step": 1, "budget": "400x", "search": "mosa", "actions": "upto:3"},
    ),
    "bits": ("ExceptionDiscovery", {**SEARCH, "actions": "bits", "features": "full-v1"}),
    "weights": ("WeightedFitness", {**SEARCH, "features": "full-v1"}),
    "own populations": (
        "ExceptionDiscovery",
        {**SEARCH, "actions": ["exception", "exception+line"], "populations": "per-action"},
    ),
    "algorithms": ("AlgorithmSelection", {**SEARCH, "features": "full-v1"}),
    "algorithms, full-v2": ("AlgorithmSelection", {**SEARCH, "features": "full-v2"}),
    "rates, full-v2": ("GeneratorRates", {**SEARCH, "features": "full-v2"}),
    "goals": ("MultiGoal", {**SEARCH, "weights": [1.0, 0.5]}),
    "goals, vector": ("MultiGoal", {**SEARCH, "features": "full-v1", "reward": "gain"}),
    "toy": ("Toy", {"noise": 0.1}),
    "artificial": ("Artificial", {}),
    "artificial, bits": ("Artificial", {"actions": "bits", "search": "mio", "budget": 600}),
}
"""Ids and arguments, defaults that matter written out."""


def seen(name: str, arguments: dict[str, Any]) -> list[Any]:
    """The episode, with those keys of the information that all versions have."""
    subject = {} if name in ("Toy", "Artificial") else {"subject": TRIANGLE}
    env = gymnasium.make(f"fitgym/{name}-v0", **subject, **arguments)
    try:
        (observation, info, *steps) = episode(env, 6, 3)
    finally:
        env.close()
    known = KEYS - {"executions"} if not subject else KEYS
    return [
        observation,
        *({key: i[key] for key in i if key in known} for i in (info, *(step[-1] for step in steps))),
    ] + [step[:-1] for step in steps]


@pytest.mark.parametrize("case", EPISODES)
def test_a_seeded_episode_is_the_recorded_one(case: str) -> None:
    assert digest(seen(*EPISODES[case])) == json.loads(GOLDEN.read_text("utf-8"))[case]


if __name__ == "__main__":
    found = {case: digest(seen(*EPISODES[case])) for case in EPISODES}
    GOLDEN.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
