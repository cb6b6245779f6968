"""aDynaMOSA: the choice of the heuristic, and of the test cases in the archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fitgym.engine import Engine, parse_search
from fitgym.errors import InputError
from fitgym.evolution.proxies import performance_score
from fitgym.execution.executor import Executor
from fitgym.search.adynamosa import CROWDING, PERFORMANCE, ADynaMOSA
from fitgym.subject.source import locate

PROGRAMS = Path(__file__).parents[1] / "programs"


def search(**options: Any) -> ADynaMOSA:
    nothing: Any = None
    return ADynaMOSA(nothing, nothing, np.random.default_rng(0), **options)


def heuristics(stagnates: str, **options: Any) -> list[str]:
    """The heuristic of each generation, as a letter; in the text an s is a generation that stagnates."""
    algorithm = search(**options)
    found = ""
    for letter in stagnates:
        algorithm._switch(letter == "s")
        found += algorithm.heuristic[0]
    return list(found)


@pytest.mark.parametrize(
    ("stagnates", "used"),
    [
        ("....", "pppp"),  # nothing stagnates: as it began
        ("s", "c"),  # counters 1, 0
        ("ss", "cp"),  # 1, 1: performance if its counter is not the larger one
        ("sss", "cpc"),  # 2, 1
        ("s.s", "ccp"),  # 1, 0; kept and set to 0; 1, 1
        ("ss.s", "cppp"),  # 1, 1; performance kept and set to 0; 1, 1
        ("ss.ss", "cpppc"),
    ],
)
def test_the_switch_by_hand(stagnates: str, used: str) -> None:
    assert heuristics(stagnates) == list(used)


def test_the_released_switch_waits_for_two() -> None:
    assert heuristics("sssss", hysteresis=True) == list("pccpp")  # 1, 0; 2, 0; 2, 1; 2, 2; 3, 2


def test_without_adaptation_it_is_always_performance() -> None:
    with Executor(locate(str(PROGRAMS / "triangle.py"))) as executor:
        engine = Engine(executor, search="adynamosa:adaptive=false", population=6)
        for _ in range(12):
            engine.step()
            assert isinstance(engine.search, ADynaMOSA) and engine.search.heuristic == PERFORMANCE


def test_a_search_that_stagnates_uses_both_heuristics() -> None:
    with Executor(locate(str(PROGRAMS / "triangle.py"))) as executor:
        engine = Engine(executor, search="adynamosa", population=6)
        used = set()
        for _ in range(40):
            engine.step()
            assert isinstance(engine.search, ADynaMOSA)
            used.add(engine.search.heuristic)
        assert used == {PERFORMANCE, CROWDING}


def test_the_archive_keeps_what_scores_least() -> None:
    with Executor(locate(str(PROGRAMS / "triangle.py"))) as executor:
        engine = Engine(executor, search="adynamosa", population=10)
        best: dict[int, float] = {}
        for _ in range(15):
            engine.step()
            for column, testcase in engine.archive.best("branch").items():
                score = float(performance_score(engine.proxies([testcase]))[0])
                assert score <= best.get(column, np.inf)
                best[column] = score
        assert best


def test_options_of_mosa_are_options_of_it() -> None:
    assert parse_search("adynamosa:adaptive=false,distance=epsilon,fresh=0.2")[1] == {
        "adaptive": False,
        "distance": "epsilon",
        "fresh": 0.2,
    }
    with pytest.raises(InputError, match=r"after the colon: adaptive=\.\.\., hysteresis=\.\.\., population=\.\.\."):
        parse_search("adynamosa:adaptation=false")
