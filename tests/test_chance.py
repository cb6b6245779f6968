"""Chance: fixed while a search runs, real when results are observed, and always what the code under test expects."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from fitgym.execution.executor import Executor, Limits
from fitgym.subject.source import locate
from fitgym.testcase.statement import Statement, StatementTable

LIMITS = Limits(seconds=1.0, memory_mb=256)

DRAWS = {
    "global generator": "random.random()",
    "own generator": "random.Random().random()",
    "made at import": "OWN.random()",
    "function by name": "randint(0, 10**9)",
    "system generator": "random.SystemRandom().random()",
    "bytes of the system": "os.urandom(8)",
    "uuid": "str(uuid.uuid4())",
    "secrets": "secrets.token_hex(8)",
}

SOURCE = """
import os, random, secrets, uuid
from random import randint
OWN = random.Random()
SEEDED = random.Random(42)

def seeded() -> float:
    return SEEDED.random()

def kinds() -> list:
    return [isinstance(OWN, random.Random), random.Random(3).random() == random.Random(3).random(), len(os.urandom(5))]
"""


@pytest.fixture(scope="module")
def gambler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    folder = tmp_path_factory.mktemp("gambler")
    functions = [f"def draw_{i}():\n    return {draw}\n" for i, draw in enumerate(DRAWS.values())]
    (folder / "gambler.py").write_text(SOURCE + "\n".join(functions))
    with Executor(locate("gambler", str(folder)), LIMITS) as executor:
        yield executor


def observed(executor: Executor, name: str) -> object:
    table = StatementTable()
    operation = next(o.id for o in executor.subject.operations if o.name == name)
    testcase = table.testcase([Statement(operation)])
    return executor.observe([testcase], table)[0].observations


@pytest.mark.parametrize("number", range(len(DRAWS)), ids=list(DRAWS))
def test_what_is_observed_is_drawn_anew(gambler: Executor, number: int) -> None:
    assert observed(gambler, f"draw_{number}") != observed(gambler, f"draw_{number}")


def test_a_generator_that_the_subject_has_seeded_is_left_alone(gambler: Executor) -> None:
    assert "0.639426798457883" in str(observed(gambler, "seeded"))  # random.Random(42).random()
    assert observed(gambler, "seeded") == observed(gambler, "seeded")


def test_generators_are_what_they_were(gambler: Executor) -> None:
    assert str(observed(gambler, "kinds")).count("True") == 2


BRANCHES = """
import os, random, uuid
OWN = random.Random()

def gamble(n: int) -> int:
    found = 0
    for draw in (random.random(), random.Random().random(), OWN.random(), uuid.uuid4().int / 2**128, os.urandom(1)[0] / 256):
        if draw > 0.5:
            found += 1
    return found
"""


def test_a_search_sees_the_same_numbers_in_every_process_and_every_test_case(tmp_path: Path) -> None:
    (tmp_path / "gambler.py").write_text(BRANCHES)
    found = []
    for _ in range(2):
        with Executor(locate("gambler", str(tmp_path)), LIMITS) as executor:
            table = StatementTable()
            call = Statement(executor.subject.operations[0].id)
            once, twice = table.testcase([call]), table.testcase([call, call])
            first, _, third = executor.run([once, twice, once], table)
            assert first is third
            (alone,) = executor.verify([once], table, alone=True)
            assert alone is first
            found.append(first.reached)
    assert found[0] == found[1]


def test_the_module_seems_not_to_be_imported_until_it_is() -> None:
    script = """
    import sys
    from fitgym.execution.chance import Chance
    chance = Chance("something")
    assert "random" not in sys.modules
    chance.fix()
    import random
    import random as again
    assert random is again and random.__spec__.name == "random" and random.__spec__.origin.endswith("random.py")
    first = random.random()
    chance.fix()
    assert random.random() == first
    chance.free()
    assert random.random() != first
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)
