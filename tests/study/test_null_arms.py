"""Null arms: those missing from a table, and the best constant of a training split by hand."""

from __future__ import annotations

import pytest

from fitgym.errors import InputError
from fitgym.run.evaluation import Row
from fitgym.run.setting import Setting
from fitgym.study.null_arms import NULL_ARMS, best_constant, missing, notice


def rows(**agents: dict[str, list[float]]) -> list[Row]:
    """By constant and subject what the runs reached; `a_b` stands for `fixed:a+b`."""
    return [
        Row(Setting(agent=f"fixed:{name.replace('_', '+')}", subject=subject, seed=seed), value)
        for name, subjects in agents.items()
        for subject, found in subjects.items()
        for seed, value in enumerate(found)
    ]


def test_a_table_with_all_null_arms_lacks_none() -> None:
    arms = {
        "UCB": {"agent": "ucb", "search": "mosa"},
        "Random search": {"agent": "ucb", "search": "random_search:max_tests=9"},
        "Uniform": {"agent": "uniform", "search": "mosa"},
        "Random": {"agent": "random_fixed"},
        "Best constant of train": {"agent": "fixed:branch"},
    }
    assert missing(arms) == ()
    assert missing({"UCB": arms["UCB"]}) == tuple(NULL_ARMS)


def test_a_constant_is_the_best_one_only_by_its_name_and_a_name_alone_is_none() -> None:
    assert "best constant" in missing({"Branch": {"agent": "fixed:branch"}})
    assert "best constant" in missing({"best constant": {"agent": "ucb"}})


def test_the_notice_names_what_is_missing() -> None:
    text = notice(missing({"a": {"agent": "uniform"}, "b": {"agent": "random_fixed"}}))
    assert text.startswith("Null arms are missing: random search (") and "; best constant (" in text
    assert "uniform" not in text


def test_the_best_constant_has_the_largest_mean_share() -> None:
    """Shares on x: 10/20, 20/20, 18/20; on y: 1, 1/4, 3/4 of 4. Means: .75, .625, .825."""
    found = rows(a={"x": [10.0], "y": [4.0]}, b={"x": [20.0], "y": [1.0]}, a_b={"x": [18.0], "y": [3.0]})
    assert best_constant(found, ("x", "y")) == "fixed:a+b"


def test_the_mean_is_taken_over_seeds_before_subjects_and_other_agents_do_not_count() -> None:
    """a is best on both seeds of x and b on y: (1 + 0)/2 beside (.6 + 1)/2."""
    found = rows(a={"x": [10.0, 10.0], "y": [0.0, 0.0]}, b={"x": [6.0, 6.0], "y": [1.0, 0.0]})
    found.append(Row(Setting(agent="ucb", subject="x", seed=0), 1000.0))
    assert best_constant(found, ("x", "y")) == "fixed:b"


def test_ties_go_to_fewer_functions_and_then_to_the_first_name() -> None:
    assert best_constant(rows(b_c={"x": [1.0]}, c={"x": [1.0]}, b={"x": [1.0]}), ("x",)) == "fixed:b"
    assert best_constant(rows(b_c={"x": [0.0]}, c={"x": [0.0]}), ("x",)) == "fixed:c"


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (rows(a={"z": [1.0]}), "'z' is not in the training split"),
        (rows(a={"x": [1.0, 2.0]}, b={"x": [1.0]}), "'fixed:b' has 1 runs on other subjects or seeds"),
        ([Row(Setting(agent="ucb", subject="x"), 1.0)], "no run of an agent 'fixed:...'"),
    ],
)
def test_a_constant_is_not_chosen_by_test_subjects_or_unequal_runs(found: list[Row], message: str) -> None:
    with pytest.raises(InputError, match=message):
        best_constant(found, ("x",))
