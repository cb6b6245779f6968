"""Signatures of callables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fitgym.subject.introspection.callables import signature_of


def joined(values, sep="", *, len=len, _str=str): ...  # type: ignore[no-untyped-def]
def open_files(names, open=None, max=3): ...  # type: ignore[no-untyped-def]
def with_more(values, len=len, *more): ...  # type: ignore[no-untyped-def]
def cast(value, type=int): ...  # type: ignore[no-untyped-def]
def flagged(value, none=None): ...  # type: ignore[no-untyped-def]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (joined, ["values", "sep"]),
        (open_files, ["names", "open", "max"]),
        (with_more, ["values", "len", "more"]),
        (cast, ["value", "type"]),
        (flagged, ["value", "none"]),
    ],
)
def test_a_parameter_that_makes_a_builtin_a_local_name_is_left_out(
    function: Callable[..., Any], expected: list[str]
) -> None:
    signature = signature_of(function)
    assert signature is not None
    assert list(signature.parameters) == expected
