"""The catalogue of actions follows the paper's rule and refuses impossible actions."""

import pytest

from fitgym.envs.catalogue import catalogue, parse_action
from fitgym.errors import InputError
from fitgym.goals.diversity import Diversity
from fitgym.goals.exceptions import Exceptions

EIGHT = ("exception", "branch", "direct_branch", "line", "method", "method_no_exception", "output", "weak_mutation")


def test_the_paper_combines_the_exception_count_with_up_to_three_others_in_64_ways():
    # C(7,0) + C(7,1) + C(7,2) + C(7,3) = 1 + 7 + 21 + 35
    actions = catalogue("paper", EIGHT, ("exception",))
    assert len(actions) == len(set(actions)) == 64
    assert all("exception" in action and len(action) <= 4 for action in actions)
    assert actions[0] == ("exception",)


def test_the_exception_goal_has_all_64_and_the_diversity_goal_all_44():
    assert set(Exceptions.functions) == set(EIGHT)
    assert len(catalogue(Exceptions.catalogue, Exceptions.functions, Exceptions.required)) == 64
    assert len(catalogue(Diversity.catalogue, Diversity.functions, Diversity.required)) == 44


DIVERSITY = (
    "diversity",
    "exception",
    "branch",
    "direct_branch",
    "method",
    "method_no_exception",
    "output",
    "weak_mutation",
)
MUTATION = ("strong_mutation", "branch", "output", "exception", "method_no_exception", "weak_mutation")
LETTERS = {
    "D": "diversity",
    "SM": "strong_mutation",
    "E": "exception",
    "B": "branch",
    "CB": "direct_branch",
    "M": "method",
    "MNE": "method_no_exception",
    "O": "output",
    "WM": "weak_mutation",
}


def sets(text):
    """What the released code lists, as sets of names."""
    return [frozenset(LETTERS[letter] for letter in chosen.split(",")) for chosen in text.split()]


def test_diversity_is_combined_in_the_44_ways_of_the_released_code():
    listed = sets("""
        D,B,E D,B,WM D,B,O D,B,M D,B,CB D,B,MNE D,CB,M D,CB,E D,CB,MNE D,CB,WM D,CB,O D,E,MNE D,E,WM D,E,O D,MNE,WM
        D,MNE,O D,WM,O
        D,B,WM,O D,B,WM,CB D,B,WM,MNE D,B,WM,E D,B,E,O D,B,E,CB D,B,E,MNE D,B,MNE,O D,B,MNE,CB D,B,CB,O D,WM,E,O
        D,WM,E,CB D,WM,E,MNE D,WM,MNE,O D,WM,MNE,CB D,WM,CB,O D,E,MNE,O D,E,MNE,CB D,E,CB,O D,MNE,CB,O
        D,B D,WM D,E D,MNE D,O D,CB D
    """)
    actions = catalogue("paper-diversity", DIVERSITY, ("diversity",))
    assert len(actions) == 1 + 6 + 15 + 20 + 2 == 44
    assert set(map(frozenset, actions)) == set(listed)
    assert actions[0] == ("diversity",) and [len(action) for action in actions] == sorted(map(len, actions))


def test_strong_mutation_is_combined_in_the_31_ways_of_the_released_code():
    listed = sets("""
        SM B,O B,E B,MNE B,WM B,SM O,E O,MNE O,WM O,SM E,MNE E,WM E,SM MNE,WM MNE,SM WM,SM
        B,O,E B,O,MNE B,O,WM B,O,SM B,E,MNE B,E,WM B,E,SM B,MNE,WM B,MNE,SM B,WM,SM
        B WM E MNE O
    """)
    actions = catalogue("paper-mutation", MUTATION)
    assert len(actions) == 6 + 15 + 10 == 31
    assert set(map(frozenset, actions)) == set(listed)


def test_a_catalogue_for_another_goal_is_refused():
    with pytest.raises(
        InputError, match="catalogue 'paper-diversity' combines 'diversity', which is not a function of the goal"
    ):
        catalogue("paper-diversity", EIGHT)
    with pytest.raises(InputError, match="catalogue 'paper-mutation' combines 'strong_mutation'"):
        catalogue("paper-mutation", EIGHT)


def test_the_goals_combine_the_functions_of_the_lists():
    assert Diversity.functions == DIVERSITY
    assert Diversity.catalogue == "paper-diversity"


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
    with pytest.raises(InputError, match="is unknown: use paper, paper-diversity, paper-mutation, singles, pairs"):
        catalogue(kind, EIGHT)


def test_an_action_with_an_unknown_function_names_it():
    with pytest.raises(
        InputError, match=r"action 'branch\+brunch' cannot be used: there is no fitness function 'brunch'"
    ):
        parse_action("branch+brunch", EIGHT)


def test_an_empty_action_is_refused():
    with pytest.raises(InputError, match="it names no fitness function"):
        parse_action(" + ", EIGHT)
