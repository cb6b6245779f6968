"""A different subject in every episode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.agents.base import make
from fitgym.envs.across_subjects import AcrossSubjects
from fitgym.errors import InputError, SubjectError

THREE = ("colorsys", "html", "string")


def across(subjects: Any = THREE, budget: str = "3g", **arguments: Any) -> AcrossSubjects:
    env = gymnasium.make("fitgym/ExceptionDiscovery-v0", subject="colorsys", budget=budget, population=4, **arguments)
    return AcrossSubjects(env, subjects)


@pytest.fixture(scope="module")
def env() -> Iterator[AcrossSubjects]:
    env = across()
    yield env
    env.close()


def drawn(env: AcrossSubjects, n: int, seed: int | None = None) -> list[str]:
    """The subjects of the next episodes."""
    return [env.reset(seed=seed if i == 0 else None)[1]["subject"] for i in range(n)]


def test_every_subject_is_drawn(env: AcrossSubjects) -> None:
    assert set(drawn(env, 6, seed=0)) == set(THREE)


def test_the_seed_decides_which_subjects_come(env: AcrossSubjects) -> None:
    first = drawn(env, 4, seed=3)
    assert drawn(env, 4, seed=3) == first
    assert any(drawn(env, 4, seed=seed) != first for seed in range(3))


def test_the_same_seed_gives_the_same_episode_on_the_drawn_subject(env: AcrossSubjects) -> None:
    episodes = []
    for _ in range(2):
        seen, info = env.reset(seed=5)
        after, reward, *_, news = env.step(np.int64(3))
        episodes.append((seen.tolist(), after.tolist(), reward, info["subject"], news["executions"]))
    assert episodes[0] == episodes[1]


def test_info_names_the_subject_at_every_step(env: AcrossSubjects) -> None:
    _, info = env.reset(seed=1)
    _, _, _, _, news = env.step(np.int64(0))
    assert info.keys() == news.keys() and info["subject"] == news["subject"] in THREE


def test_a_named_subject_is_taken(env: AcrossSubjects) -> None:
    assert env.reset(options={"subject": "html"})[1]["subject"] == "html"


def test_a_subject_that_cannot_be_used_is_noted_and_another_one_drawn(tmp_path: Any) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    env = across((str(tmp_path / "broken.py"), "no.such.module", "html"))
    assert set(drawn(env, 8, seed=0)) == {"html"}
    assert env.failures.keys() == {str(tmp_path / "broken.py"), "no.such.module"}
    assert "ZeroDivisionError" in env.failures[str(tmp_path / "broken.py")]
    env.close()


def test_nothing_but_broken_subjects_is_an_error_that_names_the_first() -> None:
    env = across(("no.such.module",))
    with pytest.raises(SubjectError, match=r"none of the 1 subjects can be used; the first is 'no\.such\.module'"):
        env.reset()
    env.close()


def test_a_corpus_or_a_split_of_one_can_be_named() -> None:
    env = across("stdlib-v1:validation")
    assert drawn(env, 1, seed=0)[0] in env.subjects and len(env.subjects) >= 8
    env.close()


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_gymnasium_accepts_it(env: AcrossSubjects) -> None:
    check_env(env, skip_render_check=True)


def test_an_agent_learns_across_subjects(env: AcrossSubjects) -> None:
    agent = make("ucb", env.action_space, action_names=env.unwrapped.action_names)  # type: ignore[attr-defined]
    assert agent.learn(env, episodes=4, seed=0).n_updates == 4


def test_another_kind_of_environment_is_refused() -> None:
    with pytest.raises(InputError, match="Toy has no subject, expected an environment with a search on a subject"):
        AcrossSubjects(gymnasium.make("fitgym/Toy-v0"), THREE)


def test_no_subjects_are_too_few() -> None:
    with pytest.raises(InputError, match="there are no subjects to choose from"):
        across(())
