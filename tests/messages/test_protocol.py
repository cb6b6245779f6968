"""The wire format: a round trip preserves messages, and messages from elsewhere are refused."""

from __future__ import annotations

import os
import pickle
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.instrument.trace import Call, Raised, Stop
from fitgym.messages.observation import Observation, Observed
from fitgym.messages.protocol import (
    MAX_FRAME,
    FrameReader,
    ProtocolError,
    decode_trace,
    dumps,
    encode_statement,
    frame,
    read_untrusted,
)
from fitgym.subject.types.hints import Hint
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement

TOKEN = bytes(range(16))

expressions: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(
        st.builds(Literal, st.sampled_from(["1", "-0.0", "'a'", 'float("nan")', "None"])),
        st.builds(Ref, st.integers(-3, 5)),
        st.builds(Name, st.just("m.n"), st.just("C.d")),
    ),
    lambda inner: st.one_of(
        st.builds(
            Collection,
            st.sampled_from(["list", "tuple", "set", "frozenset", "dict", "iter"]),
            st.lists(inner, max_size=4).map(tuple),
        ),
        st.builds(Lambda, st.integers(-1, 3), inner),
    ),
    max_leaves=8,
)
statements = st.tuples(
    st.integers(0, 99),
    st.integers(-1, 5),
    st.lists(expressions, max_size=3).map(tuple),
    st.lists(st.tuples(st.sampled_from("ab"), expressions), max_size=2).map(tuple),
    st.booleans(),
).map(lambda fields: Statement(*fields))


@given(statements, statements)
def test_statements_are_sent_as_built_in_values_different_ones_differently(one: Statement, other: Statement) -> None:
    wire = encode_statement(one)
    assert read_untrusted(dumps(wire)) == wire
    assert (encode_statement(other) == wire) is (other == one)


@given(st.lists(st.binary(max_size=40), max_size=5), st.integers(1, 30))
def test_payloads_arrive_whole_however_the_stream_is_cut(payloads: list[bytes], size: int) -> None:
    stream = b"".join(frame(TOKEN, payload) for payload in payloads)
    reader = FrameReader(TOKEN)
    found = []
    for start in range(0, len(stream), size):
        reader.feed(stream[start : start + size])
        while (payload := reader.next()) is not None:
            found.append(payload)
    assert found == payloads


@pytest.mark.parametrize("garbage", [b"g", b"hello", TOKEN[:5] + b"x", b"\0" * 64])
def test_output_that_is_no_frame_is_noticed_at_once(garbage: bytes) -> None:
    with pytest.raises(ProtocolError):
        FrameReader(TOKEN).feed(garbage)


def test_garbage_after_a_frame_is_noticed() -> None:
    reader = FrameReader(TOKEN)
    reader.feed(frame(TOKEN, b"fine") + b"x" * 20)
    assert reader.next() == b"fine"
    with pytest.raises(ProtocolError, match="token"):
        reader.next()


def test_a_frame_that_claims_to_be_huge_is_refused_before_it_arrives() -> None:
    reader = FrameReader(TOKEN)
    reader.feed(TOKEN + (MAX_FRAME + 1).to_bytes(4, "little"))
    with pytest.raises(ProtocolError, match="longer than"):
        reader.next()


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (os.system, ("true",))


@pytest.mark.parametrize(
    "message",
    [
        _Bomb(),
        os.path.join,
        Statement,
        ProtocolError,
        array("d", [1.0]),
        Call(1, True),
        complex(1, 2),
    ],
    ids=["code", "function", "foreign class", "exception", "array", "trace part", "complex"],
)
def test_only_our_own_data_is_unpickled(message: object) -> None:
    with pytest.raises(ProtocolError):
        read_untrusted(pickle.dumps(message, protocol=5))


def test_a_name_that_is_imported_by_one_of_our_modules_is_not_ours() -> None:
    stolen = b"\x80\x05cfitgym.messages.observation\nos\n."
    with pytest.raises(ProtocolError, match="is not allowed"):
        read_untrusted(stolen)


@given(st.binary(max_size=60).filter(lambda payload: pickle.LONG_BINPUT not in payload))  # it may ask for 64 GB
def test_no_bytes_crash_the_reader(payload: bytes) -> None:
    try:
        read_untrusted(payload)
    except ProtocolError:
        return


def test_hints_and_observations_are_admitted() -> None:
    hint = Hint("list", args=(Hint("class", "builtins.int"),))
    observed = Observed((Observation(0, ".x", "equal", Literal("1")),), (Name("builtins", "ValueError"),), 1)
    assert read_untrusted(dumps((hint, observed))) == (hint, observed)


def test_a_trace_is_rebuilt_from_built_in_values() -> None:
    raised = ("ValueError", 2, 1, 0, "explicit", True, ("ValueError", "Exception"))
    sites, counts, distances = array("I", [4, 9]), array("I", [3, 1]), array("d", [0.0, 1.5])
    reached = (sites.tobytes(), counts.tobytes(), distances.tobytes())
    calls: dict[object, Call] = {}
    wire = (
        reached,
        None,
        ((1, False, (), (("n", "int:zero", 0.0),)),),
        raised,
        ((4, 7, 2),),
        "fuel",
        9,
        (b"1234", b"5678"),
    )
    trace = decode_trace(wire, calls)
    assert (trace.reached, trace.direct) == (reached, None)
    assert trace.calls == (Call(1, False, (), (("n", "int:zero", 0.0),)),)
    assert trace.raised == Raised(*raised)  # type: ignore[arg-type]
    assert trace.stops == (Stop(4, 7, 2),)
    assert (trace.failure, trace.fuel, trace.infected) == ("fuel", 9, (b"1234", b"5678"))
    assert decode_trace(wire, calls).calls[0] is trace.calls[0]


NOTHING = (b"", b"", b"")


@pytest.mark.parametrize(
    "wire",
    [
        (),
        (b"x",) * 8,
        (NOTHING, None, (), None, (), "", 0),
        (NOTHING, None, 5, None, (), "", 0, None),
        ((b"1234", b"1234", "12345678"), None, (), None, (), "", 0, None),
        ((b"1234", b"", b""), None, (), None, (), "", 0, None),
        ((b"123", b"123", b""), None, (), None, (), "", 0, None),
        (NOTHING, (b"1234", b"1234", b"1234"), (), None, (), "", 0, None),
        (NOTHING, None, (), None, (), "", 0, (b"1234", b"")),
        (NOTHING, None, (), None, (), "", 0, (b"1234",)),
        (NOTHING, None, (), None, (), "", 0, 5),
        None,
    ],
)
def test_what_is_not_a_trace_is_refused(wire: object) -> None:
    with pytest.raises(ProtocolError):
        decode_trace(wire, {})  # type: ignore[arg-type]
