"""Corpus-v0: real modules without arguments, drawn from a split."""

from pathlib import Path

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.envs.corpus import CorpusEnv
from fitgym.errors import InputError, SubjectError, UnknownName
from fitgym.subject.corpus import Corpus

PROGRAMS = Path(__file__).parents[1] / "programs"
LIST = """
path = "{folder}"

[[subject]]
subject = "triangle"
split = "train"

[[subject]]
subject = "account"
split = "train"

[[subject]]
subject = "no_such_module"
split = "train"

[[subject]]
subject = "nowhere"
split = "test"
"""


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(LIST.format(folder=PROGRAMS))
    return str(path)


def test_it_is_made_without_arguments_and_draws_from_the_training_split():
    env = gymnasium.make("fitgym/Corpus-v0", budget="2g")
    subjects = Corpus.load("stdlib-v1:train").subjects
    assert {env.reset(seed=seed)[1]["task"] for seed in range(3)} <= set(subjects)
    assert env.action_space.n == 6
    env.close()


def test_gymnasium_accepts_it():
    env = CorpusEnv(task="colorsys", budget="6g")
    check_env(env, skip_render_check=True)
    env.close()


def test_a_module_that_cannot_be_used_is_noted_and_another_one_drawn(corpus):
    env = CorpusEnv(corpus=corpus, budget="2g")
    drawn = {env.reset(seed=seed)[1]["task"] for seed in range(8)}
    assert drawn == {"triangle", "account"}
    assert list(env.failures) == ["no_such_module"]
    env.close()


def test_a_module_can_be_named_for_one_episode(corpus):
    env = CorpusEnv(corpus=corpus, budget="2g")
    assert env.reset(seed=0, options={"task": "account"})[1]["task"] == "account"
    with pytest.raises(SubjectError):
        env.reset(options={"task": "no_such_module"})
    with pytest.raises(InputError, match="expected a module"):
        env.reset(options={"task": 3})
    assert env.reset(seed=0)[1]["task"] in ("triangle", "account")
    env.close()


def test_a_split_without_a_usable_module_says_so(corpus):
    env = CorpusEnv(corpus=corpus, split="test", budget="2g")
    with pytest.raises(SubjectError, match="none of the modules"):
        env.reset(seed=0)
    env.close()


def test_a_record_names_the_module(corpus):
    env = CorpusEnv(corpus=corpus, budget="8g", generations_per_step=1)
    env.reset(seed=5)
    rewards = [env.step(1)[1]]  # a small module is covered soon
    found = env.record()
    assert found["options"]["task"] == env.task and found["subject"] == ""
    again = CorpusEnv(budget=found["budget"], path=str(PROGRAMS), **found["options"])
    again.reset(seed=found["seed"])
    assert [again.step(again.action_of(name))[1] for name in found["actions"]] == rewards
    env.close()
    again.close()


def test_a_module_that_comes_back_keeps_its_worker(corpus):
    env = CorpusEnv(corpus=corpus, budget="2g")
    env.reset(seed=0, options={"task": "triangle"})
    first = env.executor
    env.reset(seed=0, options={"task": "account"})
    env.reset(seed=1, options={"task": "triangle"})
    assert env.executor is first
    env.close()


def test_a_corpus_or_split_that_there_is_not_is_refused():
    with pytest.raises(UnknownName):
        CorpusEnv(corpus="stdlib-v0")
    with pytest.raises(UnknownName):
        CorpusEnv(split="exam")
