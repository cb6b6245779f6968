"""The bundled numeric subjects compute correct values."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

BUNDLED = Path(__file__).parents[2] / "benchmarks" / "bundled"


@pytest.fixture(scope="module", autouse=True)
def place() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BUNDLED))
        yield


def load(name: str) -> Any:
    return importlib.import_module(name)


@pytest.mark.parametrize(
    ("n", "x", "value"),
    [  # Abramowitz and Stegun, tables 5.1 and 5.4
        (1, 0.5, 0.559773595),
        (1, 1.0, 0.219383934),
        (1, 2.0, 0.048900511),
        (2, 0.5, 0.3266439),
        (2, 1.0, 0.1484955),
        (3, 0.5, 0.2216044),
        (3, 2.0, 0.0301334),
        (0, 2.0, math.exp(-2.0) / 2.0),
        (5, 0.0, 0.25),
    ],
)
def test_the_exponential_integral(n: int, x: float, value: float) -> None:
    assert load("expint").expint(n, x) == pytest.approx(value, rel=1e-6)


@given(st.integers(1, 10), st.floats(0.01, 40.0))
def test_the_exponential_integral_follows_its_recurrence(n: int, x: float) -> None:
    expint = load("expint").expint
    assert n * expint(n + 1, x) == pytest.approx(math.exp(-x) - x * expint(n, x), rel=1e-6, abs=1e-12)


@given(st.floats(0.01, 80.0))
def test_the_incomplete_gamma_function_where_it_is_elementary(x: float) -> None:
    gammq = load("gammq").gammq
    assert gammq(1.0, x) == pytest.approx(math.exp(-x), rel=1e-9, abs=1e-12)
    assert gammq(0.5, x) == pytest.approx(math.erfc(math.sqrt(x)), rel=1e-7, abs=1e-12)
    assert gammq(3.0, x) == pytest.approx(math.exp(-x) * (1 + x + x * x / 2), rel=1e-9, abs=1e-12)


@given(st.floats(0.05, 100.0))
def test_the_logarithm_of_the_gamma_function(a: float) -> None:
    assert load("gammq").log_gamma(a) == pytest.approx(math.lgamma(a), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("sides", "kind"),
    [((3, 4, 5), 1), ((2, 2, 3), 2), ((2, 3, 2), 2), ((3, 2, 2), 2), ((7, 7, 7), 3), ((0, 1, 1), 0), ((1, 2, 3), 0)],
)
def test_triangles(sides: tuple[int, int, int], kind: int) -> None:
    classify = load("triangle").classify
    assert classify(*sides) == kind
    assert all(classify(*sides[shift:], *sides[:shift]) == kind for shift in range(3))


@pytest.mark.parametrize(("name", "arguments"), [("expint", (-1, 1.0)), ("expint", (1, 0.0)), ("gammq", (0.0, 1.0))])
def test_what_is_not_defined_is_refused(name: str, arguments: tuple[float, ...]) -> None:
    with pytest.raises(ValueError):
        getattr(load(name), name)(*arguments)
