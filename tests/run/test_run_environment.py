"""Environments by id: found, refused in one sentence, and made with their options."""

from __future__ import annotations

from pathlib import Path

import pytest

from fitgym.errors import InputError
from fitgym.run.environment import agent_of, check, has_subject, make, options_of, resolved
from fitgym.run.setting import Setting


def test_an_environment_is_found_by_id_short_id_and_class() -> None:
    for env in ("fitgym/Toy-v0", "Toy-v0", "fitgym.envs.toy:Toy", "fitgym.envs:fitgym/Toy-v0"):
        made = make(Setting(env=env, options={"horizon": 7}))
        made.reset(seed=0)
        assert made.unwrapped.horizon == 7, env  # type: ignore[attr-defined]
        assert not has_subject(env)


def test_an_environment_of_another_library_can_be_played() -> None:
    made = make(Setting(env="CartPole-v1"))
    made.reset(seed=0)
    assert not made.step(0)[2]
    made.close()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (Setting(env="fitgym/Toi-v0"), "no environment named 'fitgym/Toi-v0'; did you mean 'fitgym/Toy-v0'"),
        (Setting(env="no_such_module:Thing"), "environment 'no_such_module:Thing' cannot be imported"),
        (Setting(env="pathlib:Path"), "'pathlib:Path' is not an environment class"),
        (Setting(env="fitgym/Toy-v0", subject="html"), "has no subject, but 'html' was given: leave the subject out"),
        (Setting(env="fitgym/Toy-v0", options={"search": "mio"}), "no option of environment fitgym/Toy-v0 named 'search'"),
        (Setting(options={"horizon": 3}), "has no option 'horizon'"),
        (Setting(options={"goal": "coverag"}), "did you mean 'coverage'"),
        (Setting(env="fitgym/AlgorithmSelection-v0", options={"search": "mio"}), "the agent chooses the search algorithm"),
        (Setting(budget="soon"), "budget 'soon' cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_refused_in_one_sentence(setting: Setting, message: str) -> None:
    with pytest.raises(InputError) as found:
        make(setting)
    assert message in str(found.value) and "\n" not in str(found.value)


def test_options_hold_what_a_registration_fixes() -> None:
    assert options_of("fitgym/StrongMutation-v0")["goal"] == "strong_mutation"
    assert options_of("fitgym/Toy-v0") == {"horizon": 40, "noise": 0.0}


def test_the_default_agent_is_that_of_the_goal() -> None:
    assert resolved(Setting()).agent == "ucb"
    assert resolved(Setting(options={"goal": "coverage"})).agent == "fixed:branch"
    assert resolved(Setting(env="fitgym/AlgorithmSelection-v0")).agent == "ucb"


def test_a_fixed_combination_that_no_catalogue_has_is_a_catalogue_of_its_own() -> None:
    setting = resolved(Setting(agent="fixed:branch+line", options={"goal": "exceptions"}))
    assert setting.options["actions"] == ("branch+line",)
    check(setting)
    bits = resolved(Setting(env="fitgym/FitnessBits-v0", agent="fixed:branch+line"))
    assert "actions" not in bits.options
    check(bits)


def test_an_agent_that_cannot_act_there_is_refused_before_anything_runs() -> None:
    with pytest.raises(InputError, match=r"UCB cannot act in MultiBinary\(8\)"):
        check(Setting(env="fitgym/FitnessBits-v0", agent="ucb"))
    with pytest.raises(InputError, match="agent 'ppo' knows nothing yet"):
        check(Setting(agent="ppo"))


def test_a_policy_for_another_catalogue_is_refused_by_name(tmp_path: Path) -> None:
    saved = Setting(agent="linucb", options={"goal": "coverage", "actions": "singles"})
    env = make(saved)
    folder = str(agent_of(saved, env).save(tmp_path / "policy"))
    check(Setting(agent=folder, options=saved.options))
    with pytest.raises(InputError, match=r"catalogue 'singles of coverage'.*'singles of exceptions'"):
        check(Setting(agent=folder, options={"actions": "singles"}))
    with pytest.raises(InputError, match=r"features 'full-v2'.*'paper-v1'"):
        check(Setting(agent=folder, options={**saved.options, "features": "paper-v1"}))


def test_a_trained_agent_brings_the_features_that_it_was_trained_on(tmp_path: Path) -> None:
    saved = Setting(agent="linucb", options={"goal": "coverage", "features": "paper-v1"})
    env = make(saved)
    folder = str(agent_of(saved, env).save(tmp_path / "policy"))
    plain = Setting(agent=folder, options={"goal": "coverage"})
    check(plain)
    for made in (plain, resolved(plain)):
        assert make(made).unwrapped.options.features == "paper-v1"  # type: ignore[attr-defined]
    assert resolved(plain).options["features"] == "paper-v1"
    assert make(Setting(agent="pretrained")).unwrapped.options.features == "full-v1"  # type: ignore[attr-defined]
    named = Setting(agent="pretrained", options={"features": "full-v2"})
    assert make(named).unwrapped.options.features == "full-v2"  # type: ignore[attr-defined]
    assert "features" not in resolved(Setting(agent="ucb")).options


def test_an_environment_without_a_subject_says_so_when_it_is_needed() -> None:
    env = make(Setting())
    with pytest.raises(InputError, match="there is no subject yet"):
        env.reset(seed=0)
    observation, _ = env.reset(seed=0, options={"subject": "colorsys"})
    assert env.observation_space.contains(observation)
    env.close()
