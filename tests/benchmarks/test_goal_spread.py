"""How well a goal distinguishes agents: the intraclass correlation, by hand."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def correlation(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("goal_spread").correlation


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([[1.0, 1.0], [2.0, 2.0]], 1.0),  # only the agent matters
        ([[1.0, 2.0], [1.0, 2.0]], -1.0),  # B = 0, W = 1/2
        ([[0.0, 2.0], [4.0, 6.0]], (16 - 2) / (16 + 2)),  # B = 2 * 8, W = 2
        ([[3.0, 3.0], [3.0, 3.0]], 0.0),
    ],
)
def test_the_share_of_variance_that_the_group_explains(correlation, groups, expected):
    assert correlation(groups) == pytest.approx(expected)
