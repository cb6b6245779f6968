"""Changing fitness functions executes nothing: the needs of the whole catalogue are recorded from the start."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import every

from fitgym.agents.base import make as make_agent
from fitgym.engine import FITNESS, Engine
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.run.episode import play
from fitgym.run.generation import generate
from fitgym.subject.source import locate

ACCOUNT = str(Path(__file__).parents[1] / "programs" / "account.py")
EVERY = tuple(name for name in FITNESS.names() if name != "strong_mutation")  # runs mutants at each step: slow
SEARCHES = ("whole_suite", "mosa", "dynamosa", "mio", "random_search")


@pytest.fixture(scope="module")
def executor():
    with Executor(locate(ACCOUNT)) as running:
        yield running


class Counting(Engine):
    """Counts the distinct test cases that it was asked to execute, and the executions of each."""

    def __init__(self, *args, **options):
        self.proposed = set()
        super().__init__(*args, **options)

    def _evaluate(self, individuals):
        individuals = list(individuals)
        self.proposed.update(testcase for individual in individuals for testcase in individual.testcases)
        super()._evaluate(individuals)


def run(executor, actions, search, seed, budget="150x"):
    engine = Counting(
        executor, fitness=("branch",), usable=EVERY, search=search, seed=seed, population=6, budget=Budget.parse(budget)
    )
    engine.step()
    for functions in actions:
        before = engine.executions
        engine.activate(functions)
        assert engine.executions == before
        engine.step()
    return engine


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.sampled_from(EVERY), min_size=1, max_size=4, unique=True), min_size=1, max_size=8),
    st.sampled_from(SEARCHES),
    st.integers(0, 2**16),
)
def test_no_change_of_functions_executes_a_test_case_again(executor, actions, search, seed):
    changing = run(executor, actions, search, seed)
    fixed = run(executor, [("branch",)] * len(actions), search, seed)
    for engine in (changing, fixed):
        # One execution for each distinct test case; those that the budget cut off did not run.
        assert engine.executions == min(len(engine.proposed), 150)


@pytest.mark.parametrize("name", FITNESS.names())
def test_a_usable_function_is_known_before_it_is_active_and_costs_nothing_then(executor, name):
    engine = Engine(executor, fitness=("branch",), usable=(name,), seed=1, population=6)
    for _ in range(3):
        engine.step()
    before, value = engine.executions, engine.kept_fitness(name)
    engine.activate((name,))
    assert engine.executions == before
    if not FITNESS.load(name).reads_tests:  # these value the best suite, which is another one now
        assert engine.kept_fitness(name) <= value + 1e-9  # less where other individuals cover more of it
    assert 0.0 <= value <= 1.0


def test_the_archive_takes_over_what_kept_test_cases_cover_of_a_function_that_becomes_active(executor):
    engine = Engine(executor, fitness=("branch",), usable=("line",), seed=3, population=6)
    for _ in range(5):
        engine.step()
    assert not engine.covered("line").any()
    share = engine.kept_coverage("line")
    assert share > 0.3
    engine.activate(("line",))
    assert engine.covered("line").mean() >= share


def episode(agent, **options):
    env = FitnessSelection(ACCOUNT, population=10, generations_per_step=1, search="mosa", **options)
    try:
        played = play(make_agent(agent, env.action_space, action_names=env.action_names), env, seed=4)
        return env.engine.executions, env.engine.generation, played.steps
    finally:
        env.close()


def test_uniform_and_fixed_have_equal_executions_and_nearly_equal_generations():
    changing, fixed = episode("uniform", budget="600x"), episode("fixed:exception", budget="600x")
    assert changing[0] == fixed[0] == 600
    # Not exactly: what guides decides how many of a generation have run before, and those cost nothing.
    assert abs(changing[1] - fixed[1]) <= 0.2 * fixed[1]


def test_the_look_ahead_of_the_oracle_executes_for_proposals_only():
    env = FitnessSelection(ACCOUNT, population=6, budget="120x", generations_per_step=1)
    try:
        env.reset(seed=0)
        fork = env.fork(share_worker=True)
        for action in range(4):
            before = fork.engine.executions
            fork.engine.activate(env.actions.read(action).functions)
            assert fork.engine.executions == before
    finally:
        env.close()


@pytest.mark.parametrize("functions", every(3, ["branch+weak_mutation", "branch", "direct_branch+output"]))
def test_generate_with_a_fixed_agent_records_only_what_it_needs_and_finds_the_same(functions, tmp_path):
    env = FitnessSelection(
        ACCOUNT, goal="coverage", actions=(functions,), functions=functions.replace("+", ","), budget="200x"
    )
    try:
        env.settle(0)
        observation, _ = env.reset(seed=0)
        needed = (*functions.split("+"), *env.goal.kept)
        assert env.engine.probes == frozenset().union(*(FITNESS.load(name).needs for name in needed))
        assert not observation.any()
    finally:
        env.close()
    own = {"goal": "coverage", "functions": functions.replace("+", ","), "search": "whole_suite"}
    settled = generate(ACCOUNT, agent=f"fixed:{functions}", budget="200x", **own)
    env = FitnessSelection(
        ACCOUNT, goal="coverage", actions=(functions,), functions=functions.replace("+", ","), budget="200x"
    )
    try:
        play(make_agent("fixed", env.action_space, action_names=env.action_names), env, seed=0)
        assert settled.record["rewards"] == pytest.approx(env.rewards)
        assert np.isclose(settled.record["goal_value"], env.goal.value(env.engine))
    finally:
        env.close()
