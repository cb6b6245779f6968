"""The catalogue of actions follows the paper's rule and refuses what it cannot build."""

import pytest

from fitgym.envs.catalogue import catalogue, parse_action
from fitgym.errors import InputError
from fitgym.goals.exceptions import Exceptions

EIGHT = ("exception", "branch", "direct_branch", "line", "method", "method_no_exception", "output", "weak_mutation")


def test_the_paper_combines_the_exception_count_with_up_to_three_others_in_64_ways():
    # C(7,0) + C(7,1) + C(7,2) + C(7,3) = 1 + 7 + 21 + 35
    actions = catalogue("paper", EIGHT, ("exception",))
    assert len(actions) == len(set(actions)) == 64
    assert all("exception" in action and len(action) <= 4 for action in actions)
    assert actions[0] == ("exception",)


def test_without_weak_mutation_there_are_42():
    # C(6,0) + C(6,1) + C(6,2) + C(6,3) = 1 + 6 + 15 + 20
    assert len(catalogue("paper", EIGHT[:-1], ("exception",))) == 42
    assert len(catalogue(Exceptions.catalogue, Exceptions.functions, Exceptions.required)) == 42


def test_singles_pairs_and_upto_count_as_combinatorics_says():
    assert catalogue("singles", EIGHT) == [(name,) for name in EIGHT]
    assert len(catalogue("pairs", EIGHT)) == 8 + 28
    assert len(catalogue("upto:3", EIGHT)) == 8 + 28 + 56
    assert len(catalogue("upto:99", EIGHT)) == 2**8 - 1


def test_a_list_of_actions_is_taken_as_it_is():
    assert catalogue(["branch", "exception + line"], EIGHT) == [("branch",), ("exception", "line")]


def test_a_huge_catalogue_is_refused_with_the_alternatives():
    with pytest.raises(InputError, match=r"'upto:11' has 2047 actions, more than 1024: use singles"):
        catalogue("upto:11", [f"f{i}" for i in range(11)])


@pytest.mark.parametrize("kind", ["all", "upto:", "upto:0", "upto:x", ""])
def test_an_unknown_kind_is_refused(kind):
    with pytest.raises(InputError, match="is unknown: use paper, singles, pairs"):
        catalogue(kind, EIGHT)


def test_an_action_with_an_unknown_function_names_it():
    with pytest.raises(InputError, match=r"action 'branch\+brunch' cannot be used: 'brunch' is not one of"):
        parse_action("branch+brunch", EIGHT)


def test_an_empty_action_is_refused():
    with pytest.raises(InputError, match="it names no fitness function"):
        parse_action(" + ", EIGHT)
