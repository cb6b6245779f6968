"""Mutated messages: the parent reads or refuses them, without side effects."""

from __future__ import annotations

import numpy as np
import pytest
from nightly import nightly

from benchmarks import frames
from fitgym.messages.news import read_news
from fitgym.messages.protocol import ProtocolError, dumps


@nightly
def test_ten_thousand_mutated_messages_are_read_or_refused() -> None:
    payloads, rng = frames.honest(), np.random.default_rng(0)
    assert {frames.read(payload) for payload in payloads} == {"read"}
    assert {frames.read(frames.mutated(payloads, rng)) for _ in range(10_000)} == {"read", "refused"}


@pytest.mark.parametrize(
    "message",
    [
        None,
        (),
        ("child",),
        ("child", "1"),
        ("child", True),
        ("child", -1),
        ("child", 1 << 40),
        ("gone", 1),
        ("gone", 1, [2]),
        ("ready", "a subject"),
        ("failed", "why"),
        ("of no kind", 1),
        ["child", 1],
        ([], 1),
    ],
    ids=repr,
)
def test_news_of_another_shape_are_refused(message: object) -> None:
    with pytest.raises(ProtocolError):
        read_news(dumps(message))


def test_news_are_read() -> None:
    for message in (("child", 7), ("gone", 7, 256), ("warm", 0), ("refused", "no memory"), ("failed", "why", "")):
        assert read_news(dumps(message)) == message
