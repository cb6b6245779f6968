"""Settings: valid values, refused values, and their text form."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import Any

import pytest

from fitgym.errors import InputError
from fitgym.run.setting import EngineOptions, FitnessOptions, SearchOptions, Setting, defaults, option, read

ENV = "environment 'fitgym/X-v0'"


def test_options_have_the_defaults_of_their_declaration() -> None:
    assert read(FitnessOptions, {}, ENV) == FitnessOptions()
    assert defaults(FitnessOptions)["population"] == 50


def test_an_option_is_declared_once() -> None:
    own = [set(vars(kind)["__annotations__"]) for kind in (EngineOptions, SearchOptions, FitnessOptions)]
    assert not own[0] & own[1] and not own[1] & own[2] and not own[0] & own[2]


def test_lists_become_tuples_so_that_options_stay_what_they_are() -> None:
    given = ["branch", "line"]
    options = read(FitnessOptions, {"actions": given}, ENV)
    given.append("method")
    assert options.actions == ("branch", "line")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"population": 0}, "population is 0, expected a whole number of at least 1 and at most 100000"),
        ({"population": True}, "population is True, expected a whole number of at least 1 and at most 100000"),
        ({"population": "5"}, "population is '5', expected a whole number of at least 1 and at most 100000"),
        ({"smart": 1}, "smart is 1, expected true or false"),
        ({"timeout_s": 0}, "timeout_s is 0, expected a number above 0"),
        ({"populations": "own"}, "populations is 'own', expected 'shared' or 'per-action'"),
        ({"actions": [1]}, "actions is [1], expected text or a list (text each)"),
        ({"variants": "x"}, "variants is 'x', expected a table"),
    ],
)
def test_a_wrong_value_is_refused_in_one_sentence(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as found:
        read(FitnessOptions, given, ENV)
    assert str(found.value) == message


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"environment 'fitgym/X-v0' has no option 'popluation'; did you mean 'popul"):
        read(FitnessOptions, {"popluation": 3}, ENV)


def test_a_text_is_json_where_it_can_be() -> None:
    assert option(FitnessOptions, "population", "5") == 5
    assert option(FitnessOptions, "actions", '["branch", "line"]') == ("branch", "line")
    assert option(FitnessOptions, "actions", "upto:2") == "upto:2"
    with pytest.raises(InputError, match="population is 'five'"):
        option(FitnessOptions, "population", "five")


def test_a_setting_survives_json_and_pickling() -> None:
    setting = Setting(subject="shlex", agent="ucb:c=0.5", seed=3, budget="20x", options={"population": 5})
    assert Setting.of(json.loads(json.dumps(setting.to_json()))) == setting
    assert pickle.loads(pickle.dumps(setting)) == setting
    assert len({setting, dataclasses.replace(setting)}) == 1


def test_an_option_that_is_not_given_has_its_default() -> None:
    setting = Setting(options={"goal": "coverage"})
    assert (setting.option("goal"), setting.option("reward")) == ("coverage", "growth")


def test_records_hold_nothing_of_the_machine() -> None:
    assert not {"path", "timeout_s"} & set(FitnessOptions(path="somewhere").recorded())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"seed": 10**40},
            "seed is a number of 133 bits, expected a whole number of at least 0, at most 9223372036854775807",
        ),
        ({"seed": 10**5000}, "seed is a number of"),
        ({"population": 10**7}, "population is 10000000, expected a whole number of at least 1 and at most 100000"),
    ],
)
def test_a_number_that_no_run_could_use_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        setting = Setting.from_keywords(**values)
        read(FitnessOptions, setting.options, "env")
