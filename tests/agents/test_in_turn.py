"""`in_turn` takes its actions one after the other, each as long as the value grows."""

from __future__ import annotations

import pytest
from gymnasium.spaces import Discrete

from fitgym.agents.base import make
from fitgym.agents.in_turn import InTurn
from fitgym.errors import InputError, UnknownName

NAMES = ["branch", "line", "branch+line"]


def agent(text: str) -> InTurn:
    found = make(text, Discrete(3), action_names=NAMES)
    assert isinstance(found, InTurn)
    return found


def played(one: InTurn, values: list[tuple[int, float]]) -> list[object]:
    one.begin_episode(None, {})
    return [one.act(None, {"executions": executions, "goal_value": value}) for executions, value in values]


def test_an_action_ends_when_the_value_has_stood_still_for_half_of_what_it_took() -> None:
    one = agent("in_turn:line,branch+line,patience=0.5,least=10")
    values = [(50, 0.1), (100, 0.2), (149, 0.2), (150, 0.2), (400, 0.2)]
    assert played(one, values) == [1, 1, 1, 2, 2]
    assert played(one, values) == [1, 1, 1, 2, 2]  # a new episode begins anew


def test_every_action_has_a_chance() -> None:
    one = agent("in_turn:branch,line,branch+line,least=100")
    assert played(one, [(0, 0.0), (99, 0.0), (100, 0.0), (199, 0.0), (200, 0.0), (900, 0.0)]) == [0, 0, 1, 1, 2, 2]


def test_growth_gives_an_action_more_time() -> None:
    one = agent("in_turn:branch,line,least=100")
    assert played(one, [(0, 0.0), (90, 0.1), (180, 0.1), (190, 0.1)]) == [0, 0, 0, 1]


def test_where_nothing_is_told_decisions_are_counted() -> None:
    one = agent("in_turn:branch,line,least=2")
    one.begin_episode(None, {})
    assert [one.act(None, {}) for _ in range(4)] == [0, 0, 1, 1]


def test_what_it_never_takes_is_known_beforehand() -> None:
    assert agent("in_turn:line,branch").repertoire() == [1, 0]
    assert agent("in_turn").repertoire() == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "error"),
    [("in_turn:lines", UnknownName), ("in_turn:line,patience=0", InputError), ("in_turn:x=1", InputError)],
)
def test_an_argument_that_makes_no_sense_is_refused(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        agent(text)
