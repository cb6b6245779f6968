"""LinUCB: ridge regression by hand and against a direct solution of the equations."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.agents.base import Transition, make
from fitgym.agents.linucb import LinUCB
from fitgym.errors import InputError


def told(agent: LinUCB, *steps: tuple[list[float], int, float]) -> LinUCB:
    for seen, action, reward in steps:
        agent.observe(Transition(np.array(seen), action, reward, None))
    return agent


def test_the_bounds_are_those_worked_out_by_hand() -> None:
    agent = told(LinUCB(2, alpha=0.5, normalise="none", features="observation"), ([1.0], 0, 3.0))
    # x = (1, 1): A = [[2, 1], [1, 2]], its inverse is [[2, -1], [-1, 2]] / 3, b = (3, 3), theta = (1, 1).
    # At (0, 1): theta . x = 1, x A^-1 x = 2 / 3. The other action: 0 and x . x = 1.
    assert agent.bounds(np.array([0.0])) == pytest.approx([1 + 0.5 * math.sqrt(2 / 3), 0.5])


@given(
    st.lists(st.tuples(st.lists(st.floats(0, 1), min_size=2, max_size=2), st.floats(-5, 5)), min_size=1, max_size=20),
    st.floats(0.1, 10),
)
def test_the_running_inverse_is_the_inverse(steps: list[tuple[list[float], float]], ridge: float) -> None:
    agent = told(
        LinUCB(1, ridge=ridge, normalise="none", features="observation"), *((seen, 0, reward) for seen, reward in steps)
    )
    x = np.array([[*seen, 1.0] for seen, _ in steps])
    a = ridge * np.eye(3) + x.T @ x
    theta = np.linalg.solve(a, x.T @ np.array([reward for _, reward in steps]))
    assert agent.model.inverses[0] @ a == pytest.approx(np.eye(3), abs=1e-8)
    assert agent.bounds(np.array([0.5, 0.5]), 0.0)[0] == pytest.approx(theta @ [0.5, 0.5, 1.0], abs=1e-8)


def test_the_bounds_are_those_of_the_formula() -> None:
    rng = np.random.default_rng(2)
    agent = LinUCB(5, alpha=0.7, features="observation")
    for _ in range(60):
        agent.observe(Transition(rng.random(7), int(rng.integers(4)), float(rng.normal()), None))
    for seen in rng.random((5, 7)):
        x = np.append(seen, 1.0)
        expected = [
            theta @ x / agent.scale.value + 0.7 * math.sqrt(x @ inverse @ x)
            for inverse, theta in zip(
                agent.model.inverses, np.einsum("aij,aj->ai", agent.model.inverses, agent.model.sums), strict=True
            )
        ]
        assert agent.bounds(seen) == pytest.approx(expected, rel=1e-10)


def test_what_is_best_depends_on_what_is_seen() -> None:
    agent = LinUCB(2, alpha=0.3, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(300):
        seen = rng.random(1)
        action = agent.act(seen, {})
        agent.observe(Transition(seen, action, float(seen[0] if action else 1 - seen[0]), None))
    assert agent.predict(np.array([0.1]), deterministic=True)[0] == 0
    assert agent.predict(np.array([0.9]), deterministic=True)[0] == 1


def test_an_environment_that_shows_nothing_makes_it_a_plain_bandit() -> None:
    agent = LinUCB(2, alpha=1.0, normalise="none", features="observation")
    for action, reward in ((0, 1.0), (1, 0.0), (0, 1.0)):
        agent.observe(Transition(None, action, reward, None))
    # A = ridge + N, b = sum of rewards: 2 / 3 + sqrt(1 / 3), 0 + sqrt(1 / 2).
    assert agent.bounds(None) == pytest.approx([2 / 3 + math.sqrt(1 / 3), math.sqrt(1 / 2)])


def test_an_observation_of_another_length_is_an_error() -> None:
    agent = told(LinUCB(2), ([0.5], 0, 1.0))
    with pytest.raises(InputError, match="the observation has 2 entries, this agent has learnt from 1"):
        agent.bounds(np.array([0.5, 0.5]))


NAMES = ["goal", "goal+a", "goal+b", "goal+a+b"]


def fitted(features: str, **options: object) -> tuple[LinUCB, list[tuple[np.ndarray[Any, Any], int, float]]]:
    """An agent after 30 random steps, and the steps."""
    rng = np.random.default_rng(3)
    agent = LinUCB(4, NAMES, alpha=0.7, normalise="none", features=features, **options)  # type: ignore[arg-type]
    steps = [(rng.random(2), int(rng.integers(4)), float(rng.normal())) for _ in range(30)]
    for seen, action, reward in steps:
        agent.observe(Transition(seen, action, reward, None))
    return agent, steps


@pytest.mark.parametrize("options", [{}, {"discount": 0.8}, {"window": 7}], ids=str)
@pytest.mark.parametrize("features", ["action", "both"])
def test_bounds_on_features_of_actions_are_the_regression_written_out(features: str, options: dict[str, Any]) -> None:
    agent, steps = fitted(features, **options)
    bits = np.array([[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]], float)

    def x(action: int, seen: Any) -> Any:
        return np.kron(bits[action], np.append(seen, 1.0)) if features == "both" else bits[action]

    kept = steps[-7:] if "window" in options else steps
    weights = options.get("discount", 1.0) ** np.arange(len(kept))[::-1]
    rows = np.array([x(action, seen) for seen, action, _ in kept])
    a = np.eye(rows.shape[1]) + (rows * weights[:, None]).T @ rows
    theta = np.linalg.solve(a, (rows * weights[:, None]).T @ np.array([reward for _, _, reward in kept]))
    seen = np.array([0.3, 0.9])
    for action, bound in enumerate(agent.bounds(seen)):
        one = x(action, seen)
        assert bound == pytest.approx(theta @ one + 0.7 * math.sqrt(one @ np.linalg.solve(a, one)), abs=1e-9)


def test_where_actions_share_no_function_both_is_observation() -> None:
    rng = np.random.default_rng(5)
    one, other = (LinUCB(3, ["a", "b", "c"], features=features) for features in ("both", "observation"))
    for _ in range(40):
        seen = rng.random(2)
        action = one.act(seen, {})
        assert action == other.act(seen, {})
        for agent in (one, other):
            agent.observe(Transition(seen, action, float(seen[0] if action else seen[1]), None))


@pytest.mark.parametrize("options", [{}, {"discount": 0.8}, {"window": 7}], ids=str)
def test_a_saved_agent_goes_on(options: dict[str, Any], tmp_path: Path) -> None:
    agent, _ = fitted("both", **options)
    loaded = LinUCB.load(agent.save(tmp_path / "agent"))
    for one in (agent, loaded):
        one.observe(Transition(np.array([0.1, 0.2]), 2, 1.5, None))
    assert loaded.bounds(np.ones(2)) == pytest.approx(agent.bounds(np.ones(2)), rel=1e-9)


def test_unknown_features_are_explained() -> None:
    with pytest.raises(InputError, match="features is 'bits', expected action, both or observation"):
        make("linucb:features=bits", 3)
