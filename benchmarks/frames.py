#!/usr/bin/env python3
"""Can any message of a worker make the parent hang, fail, or fill its memory?

    python benchmarks/frames.py                      # 100,000 mutated messages; about four minutes
    python benchmarks/frames.py --messages 10000

Valid messages are recorded during a search, mutated at random and read as the parent reads them. Reading a message must
succeed or raise `ProtocolError`. The exit code is 1 if another error was raised, if one message took longer than 5
seconds, or if the process needed more than 500 MB.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import numpy as np

from fitgym.messages.answer import read_answer
from fitgym.messages.news import read_news
from fitgym.messages.protocol import FrameReader, ProtocolError, frame, read_untrusted
from fitgym.messages.traces import Traces
from fitgym.run.generation import generate

MOST_S, MOST_MB = 5.0, 500
TOKEN = b"a token of frame"
_SOURCE = """
def price(weight: int, name: str, sizes: list[float]) -> int:
    if weight > 1000 or not name:
        raise ValueError("too heavy")
    return sum(1 for size in sizes if size > weight) + len(name)
"""
_COSTLY = b"]})\x8f(\x85\x86\x87t\x94\x91h\x00j\xff\xff\xff\x7fr\xff\xff\xff\x7f2e\x90u\x8d\x8e\x96\x81Rb"


def honest() -> list[bytes]:
    """Record the messages of a short search: the description of the subject, answers, and the end of a process."""
    found: list[bytes] = []

    def record(payload: bytes) -> object:
        found.append(payload)
        return read_untrusted(payload)

    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "parcels.py")
        file.write_text(_SOURCE, "utf-8")
        with (
            mock.patch("fitgym.messages.answer.read_untrusted", record),
            mock.patch("fitgym.messages.news.read_untrusted", record),
        ):
            generate(str(file), goal="coverage", budget="300x", output=Path(place, "suite"))
    return found


def mutated(payloads: Sequence[bytes], rng: np.random.Generator) -> bytes:
    """Return one of the messages with a few random changes."""
    data = bytearray(payloads[rng.integers(len(payloads))])
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(data) + 1))
        match rng.integers(6):
            case 0:
                data[at : at + 1] = rng.bytes(1)
            case 1:
                del data[at : at + int(rng.integers(1, 9))]
            case 2:
                data[at:at] = data[at : at + int(rng.integers(1, 99))]
            case 3:
                start = int(rng.integers(len(_COSTLY)))
                data[at:at] = _COSTLY[start : start + int(rng.integers(1, 6))]
            case 4:
                data[at:at] = _COSTLY[int(rng.integers(11)) :][:1] * int(10 ** rng.uniform(0, 5))
            case _:
                other = payloads[rng.integers(len(payloads))]
                data[at:] = other[int(rng.integers(len(other) + 1)) :]
    return bytes(data)


def read(payload: bytes) -> str:
    """Read a message as the parent does. Returns "read", "refused", or the class of another error."""
    try:
        reader = FrameReader(TOKEN)
        reader.feed(frame(TOKEN, payload))
        whole = reader.next()
        assert whole == payload
        try:
            read_news(payload)
        except ProtocolError:
            answer = read_answer(payload, 100)
            traces = Traces()
            for wire in answer.fresh:
                traces.decoded(wire)
    except ProtocolError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:100]
    return "read"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    payloads, rng = honest(), np.random.default_rng(options.seed)
    became: Counter[str] = Counter()
    longest = 0.0
    for _ in range(options.messages):
        payload = mutated(payloads, rng)
        start = time.perf_counter()
        became[read(payload)] += 1
        longest = max(longest, time.perf_counter() - start)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for what, count in became.most_common():
        sys.stdout.write(f"{count:7} {what}\n")
    sys.stdout.write(
        f"longest {1e3 * longest:.1f} ms, at most {1e3 * MOST_S:.0f}; memory {memory:.0f} MB, at most {MOST_MB}\n"
    )
    return int(set(became) > {"read", "refused"} or longest > MOST_S or memory > MOST_MB)


if __name__ == "__main__":
    raise SystemExit(main())
