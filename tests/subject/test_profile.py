"""The profile of a program counts properties of its source without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fitgym.envs.features.program import HALVES, SHARES
from fitgym.execution.executor import Executor
from fitgym.subject.profile import profile
from fitgym.subject.source import locate
from fitgym.subject.subject import Subject

SOURCE = '''
"""A docstring is no constant."""
import os, re
from math import pi


class Base:
    """Nor is this one."""

    def __init__(self, size: int, name="a"):
        self.size = size
        self.name = "a"


class Child(Base):
    def grow(self, by: int) -> int:
        if by < 0:
            raise ValueError("negative")
        elif by == 7:
            return 1
        elif by in (1, 2):
            for _ in range(by):
                try:
                    self.size += 1
                except OverflowError:
                    pass
        assert isinstance(by, int)
        return self.size


def digits(text: str):
    yield [c for c in text if re.match("[0-9]+", c)]
'''


def described(folder: Path, source: str = SOURCE, of: str = "") -> Subject:
    file = folder / "grown.py"
    file.write_text(source, "utf-8")
    with Executor(locate(f"{file}{of}")) as executor:
        return executor.subject


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return described(tmp_path_factory.mktemp("grown"))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("imports", 3),
        ("classes", 2),
        ("subclasses", 1 / 2),
        ("functions", 3),
        ("longest_function", 13),
        ("nesting", 3),  # if, for, try; an elif is as deep as its if
        ("loops", 2 / 3),
        ("returns", 2 / 3),
        ("strings", 3),  # "a" twice, "negative" and the pattern
        ("numbers", 4),  # 0, 7, 1, 2
        ("patterns", 1),
        ("raises", 2),
        ("handlers", 1),
        ("type_checks", 1),
        ("attribute_writes", 3),
        ("yields", 1),
    ],
)
def test_counts_are_those_of_the_source(grown: Subject, key: str, expected: float) -> None:
    assert grown.profile[key] == pytest.approx(expected)


def test_conditions_are_shares_of_all_decisions(grown: Subject) -> None:
    kinds = ("ordering", "equality", "membership", "identity", "truth", "rounds")
    assert sum(grown.profile[kind] for kind in kinds) == pytest.approx(1.0)
    assert grown.profile["ordering"] == grown.profile["equality"] == grown.profile["membership"] > 0


def test_a_class_under_test_is_counted_alone(tmp_path: Path) -> None:
    found = described(tmp_path, of=":Child").profile
    assert (found["classes"], found["functions"], found["imports"], found["yields"]) == (1, 1, 0, 0)
    assert found["subclasses"] == 1.0


def test_types_are_counted_as_the_signatures_declare_them(grown: Subject) -> None:
    parameters = [parameter for operation in grown.under_test for parameter in operation.parameters]
    declared = sum(parameter.declared for parameter in parameters)
    assert grown.profile["typed_parameters"] == pytest.approx(declared / len(parameters))
    assert 0 < grown.profile["typed_parameters"] < 1


def test_a_long_chain_of_elif_is_not_deep(tmp_path: Path) -> None:
    chain = "".join(f"    elif x == {n}:\n        return {n}\n" for n in range(1, 150))
    found = described(tmp_path, f"def f(x):\n    if x == 0:\n        return 0\n{chain}").profile
    assert found["nesting"] == 1 and found["functions"] == 1


def test_an_almost_empty_module_has_a_profile(tmp_path: Path) -> None:
    found = described(tmp_path, "def f():\n    pass\n").profile
    assert all(value >= 0 for value in found.values()) and found["parameters"] == 0


def test_every_number_is_a_feature_and_is_explained(grown: Subject) -> None:
    assert sorted(grown.profile) == sorted([*HALVES, *SHARES]) and len(grown.profile) == 32
    assert all(0 <= grown.profile[name] <= 1 for name in SHARES)
    explained = profile.__doc__ or ""
    assert [name for name in grown.profile if f"| {name} |" not in explained] == []
