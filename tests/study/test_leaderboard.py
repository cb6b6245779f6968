"""The leaderboard: valid records only, comparable settings, the best first."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from fitgym.study.leaderboard import boards, markdown
from fitgym.study.trials.episode import Episode
from fitgym.study.validation import Claim, Validity
from fitgym.subject.corpus import Corpus

SUBJECTS = Corpus.load("stdlib-v1:test").subjects


def answer(
    arm: str, value: float, seed: int = 0, subject: str = SUBJECTS[0], why: str = "", **changes: Any
) -> Validity:
    record = {
        **{"trial": "episode", "arm": arm, "subject": subject, "seed": seed, "budget": "100x", "error": ""},
        **{"settings": {**Episode.settings(), **changes}, "measures": {"value": value}},
    }
    made = {"measures": {"value": value}, "run": {"agent": changes.get("agent", arm)}}
    return Validity(Claim(arm, record), (why,) if why else (), made=made)


def test_agents_stand_in_the_order_of_their_shares() -> None:
    answers = [answer("ucb", 6.0), answer("ucb", 10.0, 1), answer("uniform", 5.0), answer("uniform", 4.0, 1)]
    (board,) = boards(answers)
    assert board.goal == "exceptions" and board.conditions.startswith("100x, reward growth, search whole_suite")
    assert [(agent, round(share.value, 3), runs) for agent, share, runs, _ in board.lines()] == [
        ("ucb", 0.8, 2),
        ("uniform", 0.45, 2),
    ]
    lines = markdown([board]).splitlines()
    assert f"| 1 | ucb | 0.800 [0.600, 1.000] | 2 | 1 of {len(SUBJECTS)} | - | - | - |" in lines
    assert (
        f"| 2 | uniform | 0.450 [0.400, 0.500] | 2 | 1 of {len(SUBJECTS)} | 0.00 [0.00, 0.00] | 0.33 | no difference shown |"
        in lines
    )


def test_an_agent_is_worse_than_the_first_only_by_the_rule() -> None:
    """Eight subjects, all in the same order: p = 2/2^8, times the three pairs of agents."""
    answers = [
        answer(name, 10.0 * (place + 1) + gain, seed, subject)
        for name, gain in (("ucb", 5.0), ("uniform", 0.0), ("linucb", 4.95))
        for place, subject in enumerate(SUBJECTS[:8])
        for seed in range(4)
    ]
    (board,) = boards(answers)
    judged = board.judged()
    assert set(judged) == {"uniform", "linucb"} and judged["uniform"].verdict == "worse"
    assert judged["uniform"].p == pytest.approx(3 * 2 / 2**8)


def test_a_board_names_the_null_arms_that_it_lacks() -> None:
    def one(arm: str, agent: str) -> Validity:
        return answer(arm, 6.0, agent=agent)

    assert "Null arms are missing: random search (" in markdown(boards([one("ucb", "ucb"), one("uniform", "uniform")]))
    some = [one("uniform", "uniform"), one("random_fixed", "random_fixed"), one("best constant", "fixed:exception")]
    (board,) = boards(some)
    assert board.missing == ("random search",)


def test_one_seed_has_no_interval() -> None:
    text = markdown(boards([answer("ucb", 6.0), answer("uniform", 3.0)]))
    assert f"| 2 | uniform | 0.500 | 1 | 1 of {len(SUBJECTS)} |" in text.splitlines()
    assert "One seed: no verdict." in text and "Holm-adjusted p" not in text
    several = boards([answer("ucb", 6.0), answer("ucb", 5.0, 1), answer("uniform", 3.0)])
    assert "One seed" not in markdown(several) and "| 2 | uniform | 0.500 | 1 |" in markdown(several)
    assert "| - | one seed: no verdict |" in markdown(several)


def test_what_is_not_valid_failed_or_elsewhere_does_not_count() -> None:
    failed = dataclasses.replace(answer("ucb", 9.0), made={})
    failed.claim.record["error"] = "it broke"  # type: ignore[index]
    others = [answer("ucb", 9.0, why="the reward is another one"), answer("ucb", 9.0, subject="my.own.module"), failed]
    assert boards(others) == []
    assert "There is no valid record" in markdown([])


def test_only_runs_under_the_same_conditions_stand_together() -> None:
    answers = [answer("ucb", 6.0), answer("ucb", 6.0, population=5), answer("ucb", 0.5, goal="coverage")]
    assert [(board.goal, len(board.values)) for board in boards(answers)] == [
        *(("coverage", 1), ("exceptions", 1), ("exceptions", 1))
    ]


def test_a_subject_on_which_nobody_reached_anything_is_reached_by_all() -> None:
    (board,) = boards([answer("ucb", 0.0), answer("uniform", 0.0)])
    assert [share.value for _, share, _, _ in board.lines()] == [1.0, 1.0]


def test_an_agent_stands_by_what_was_run_whatever_the_arm_is_called() -> None:
    answers = [answer("mybest", 6.0, agent="ucb"), answer("theirs", 5.0, agent="uniform", features="core-v1")]
    (board,) = boards(answers)
    assert [agent for agent, *_ in board.lines()] == ["ucb", "uniform (features core-v1)"]


def test_the_value_is_the_one_that_was_measured_again() -> None:
    claimed = answer("ucb", 6.0)
    claimed.claim.record["measures"]["value"] = 99.0
    assert boards([claimed])[0].values == {"ucb": {SUBJECTS[0]: {0: 6.0}}}


def test_a_run_that_was_not_made_again_is_on_no_board() -> None:
    assert boards([dataclasses.replace(answer("ucb", 6.0), made={})]) == []
