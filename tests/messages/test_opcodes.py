"""Opcodes: a valid pickle passes, and an expensive one is refused before it is read."""

from __future__ import annotations

import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.messages.opcodes import MOST_DEPTH, MOST_OBJECTS, check
from fitgym.subject.types.hints import Hint

values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(1 << 80), 1 << 80), st.floats(), st.text(max_size=300), st.binary()
    ),
    lambda inner: st.one_of(
        st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(st.text(), inner), st.frozensets(st.text())
    ),
    max_leaves=30,
)


@given(values)
def test_built_in_values_pass(value: object) -> None:
    check(pickle.dumps(value, protocol=5))


def test_our_dataclasses_pass_and_share_what_they_like() -> None:
    hint = Hint("list", args=(Hint("class", "builtins.int"),))
    check(pickle.dumps([hint] * 1000 + [{"hint": hint, "text": "a" * 100_000, "bytes": b"b" * 100_000}], protocol=5))


def test_long_lists_that_are_filled_in_pieces_pass() -> None:
    check(pickle.dumps([list(range(5000)), {n: str(n) for n in range(5000)}, set(range(5000))], protocol=5))


def _nested(depth: int) -> bytes:
    return b"\x80\x05N" + b"\x85" * depth + b"."


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (_nested(MOST_DEPTH + 1), "nested"),
        (_nested(5_000_000), "nested"),
        (b"\x80\x05" + b"]" * 20_000_000, f"more than {MOST_OBJECTS}"),
        (b"\x80\x05(" + b"\x8f" * (MOST_OBJECTS // 2) + b"t.", f"more than {MOST_OBJECTS}"),
        (b"\x80\x05N2\x86.", "0x32 is not allowed"),
        (b"\x80\x05Nr\xff\xff\xff\x7f.", "0x72 is not allowed"),
        (b"\x80\x05Np2147483647\n.", "0x70 is not allowed"),
        (b"\x80\x05\x8b\xff\xff\xff\x7f.", "0x8b is not allowed"),
        (b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7f.", "0x96 is not allowed"),
        (b"\x80\x05B\xff\xff\xff\x7f.", "index out of range"),
        (b"\x80\x05]\x94h\x00a.", "changed after it was referenced"),
        (b"\x80\x05N.N.", "follow the message"),
        (b"\x80\x05t.", "pop from empty"),
        (b"", "out of range"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value[:12]!r}",
)
def test_an_expensive_pickle_is_refused(payload: bytes, why: str) -> None:
    with pytest.raises((ValueError, IndexError), match=why):
        check(payload)


def test_sharing_counts_as_often_as_it_is_used() -> None:
    level = b"\x80\x05N\x85\x94" + b"".join(b"h" + bytes([n]) + b"h" + bytes([n]) + b"\x86\x94" for n in range(60))
    start = time.process_time()
    with pytest.raises(ValueError, match="earlier objects"):
        check(level + b".")
    assert time.process_time() - start < 60  # reading it and hashing it takes years


def test_a_container_that_contains_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append((loop,))
    with pytest.raises(ValueError, match="changed after it was referenced"):
        check(pickle.dumps(loop, protocol=5))
