"""Rates exchanged during a search act as if they had been set from the start."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fitgym.engine import Engine
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.rates import DEFAULT, ONE_CALL, Rates
from fitgym.testcase.statement import StatementTable

ACCOUNT = str(Path(__file__).parents[1] / "programs" / "account.py") + ":Account"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """A search that has learnt something about its subject."""
    with Executor(locate(ACCOUNT)) as executor:
        found = Engine(executor, seed=1, population=8)
        for _ in range(4):
            found.step()
        yield found


def made(factory: TestFactory) -> list[str]:
    """What it makes next, as text."""
    rng = random.Random(3)
    tests = [factory.random_test(rng) for _ in range(12)]
    tests += [factory.mutate(test, rng) for test in tests]
    return [repr(factory.table.statements(test)) for test in tests]


def other(field: str) -> Any:
    """A value of a rate that is not the default."""
    value = getattr(DEFAULT, field)
    if field == "initial_length":
        return (2, 4)
    return value // 2 if isinstance(value, int) else (value + 0.9) / 2 if value < 0.8 else value / 3


def test_an_exchange_and_its_reversal_leave_everything_as_it_was(engine: Engine) -> None:
    exchanged, untouched = copy.deepcopy(engine.factory), copy.deepcopy(engine.factory)
    exchanged.set_rates(replace(ONE_CALL, dynamic_size=DEFAULT.dynamic_size))
    exchanged.set_rates(DEFAULT)
    assert made(exchanged) == made(untouched)


def test_all_parts_share_the_rates_of_their_factory(engine: Engine) -> None:
    factory = copy.deepcopy(engine.factory)
    parts = (factory.calls, factory.calls.values, factory.calls.values.forms, factory.literals, factory.variation)
    assert all(part.rates is factory.rates for part in parts)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_new_factory_and_one_with_exchanged_rates_make_the_same(engine: Engine, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.sampled_from([each.name for each in fields(Rates)]), max_size=8))
    rates = replace(DEFAULT, **{name: other(name) for name in chosen})
    exchanged = TestFactory(engine.subject, StatementTable(), DEFAULT)
    exchanged.set_rates(rates)
    assert made(exchanged) == made(TestFactory(engine.subject, StatementTable(), rates))


def test_a_smaller_pool_forgets_the_oldest_constants(engine: Engine) -> None:
    factory = copy.deepcopy(engine.factory)
    known = list(factory.literals._dynamic_texts)
    assert len(known) > 3
    factory.set_rates(replace(DEFAULT, dynamic_size=3))
    assert list(factory.literals._dynamic_texts) == known[-3:]


def test_a_floor_that_is_exchanged_reaches_what_failed_before(engine: Engine) -> None:
    factory = copy.deepcopy(engine.factory)
    factory.set_rates(replace(DEFAULT, floor=0.9))
    assert all(factory.knowledge.usefulness(one.id) >= 0.9 for one in factory.subject.operations)


def test_rates_of_one_search_are_not_those_of_another(engine: Engine) -> None:
    factory = TestFactory(engine.subject, StatementTable(), DEFAULT)
    factory.set_rates(ONE_CALL)
    assert Rates() == DEFAULT and factory.rates == ONE_CALL
    assert TestFactory(engine.subject, StatementTable()).rates == DEFAULT


def test_an_engine_sets_the_rates_of_its_factory(engine: Engine) -> None:
    running = copy.deepcopy(engine)
    running.set_rates(replace(DEFAULT, max_length=3))
    running.step()
    running.step()
    assert running.factory.rates.max_length == 3 and engine.factory.rates.max_length == 40
