#!/usr/bin/env python3
"""What is the overhead of a campaign, and does every run end exactly once if its driver is killed repeatedly?

    python benchmarks/campaign_check.py                          # 2,000 runs, twice; about two minutes
    python benchmarks/campaign_check.py --cells 400 --kills 20

`fitgym study run` runs a study of many cheap runs with two local processes, twice. The first time it is not
interrupted, and the driver's processor time and memory are measured from outside. The second time the driver receives
SIGKILL after a random number of runs, as often as requested, and then runs to the end. Each row of the table is one
promise. The exit code is 1 if one of them does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

OVERHEAD_MS = 5.0
GROWTH = 0.1
_POLL_S = 0.02
_PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A sample of the driver: completed runs, processor time and memory."""

    made: int
    cpu_s: float
    memory: int


def study(folder: Path, cells: int) -> list[str]:
    """Write a study of so many runs; returns the command that runs it."""
    arms = "".join(f'[[arms]]\nname = "{search}"\nsearch = "{search}"\n' for search in ("mio", "random_search"))
    head = f'name = "campaign"\ntrial = "artificial"\nsubjects = ["gradient:2"]\nseeds = {cells // 2}\nbudget = "30x"\n'
    file = folder / "campaign.toml"
    file.write_text(head + arms, "utf-8")
    place = folder / "results"
    return [sys.executable, "-m", "fitgym", "study", "run", str(file), "--folder", str(place), "--workers", "2"]


def records(folder: Path) -> list[Path]:
    """Return the records of completed runs."""
    return list((folder / "results").glob("records/*/*.json"))


def watched(command: Sequence[str], folder: Path) -> Iterator[Reading]:
    """Start the driver and sample it until it ends."""
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    while driver.poll() is None:
        fields = Path(f"/proc/{driver.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        memory = int(fields[21]) * page
        if memory:  # a process that is about to end has no memory left
            yield Reading(len(records(folder)), (int(fields[11]) + int(fields[12])) / tick, memory)
        time.sleep(_POLL_S)


def killed(command: Sequence[str], folder: Path, times: int, most: int, rng: np.random.Generator) -> int:
    """Start the driver and kill it after 1 to `most` more runs, repeatedly.

    Returns:
        How often it was alive when it was killed.
    """
    kills = 0
    for _ in range(times):
        goal = len(records(folder)) + int(rng.integers(1, most + 1))
        driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + _PATIENCE_S
        while len(records(folder)) < goal and driver.poll() is None and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        if driver.poll() is None:
            driver.send_signal(signal.SIGKILL)
            kills += 1
        driver.wait()
    return kills


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="seed of the kill times")
    options = parser.parse_args(arguments)
    cells = options.cells // 2 * 2
    lines: list[tuple[bool, str]] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        readings = list(watched(study(folder, cells), folder))
        done = len(records(folder))
        lines.append((done == cells, f"uninterrupted: {done} of {cells} runs"))
        start = next(one for one in readings if one.made >= min(cells // 4, readings[-1].made))
        end = readings[-1]
        each = 1e3 * (end.cpu_s - start.cpu_s) / max(1, end.made - start.made)
        lines.append(
            (each <= OVERHEAD_MS, f"processor time of the driver for each run: {each:.2f} ms, at most {OVERHEAD_MS:g}")
        )
        growth = end.memory / start.memory - 1.0
        sizes = f"{start.memory / 1e6:.0f} MB after {start.made} runs, {end.memory / 1e6:.0f} MB after {end.made}"
        lines.append((growth <= GROWTH, f"memory of the driver: {sizes}"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command = study(folder, cells)
        kills = killed(
            command, folder, options.kills, max(1, cells // (options.kills + 2)), np.random.default_rng(options.seed)
        )
        cut = len(records(folder))
        lines.append(
            (kills == options.kills and cut < cells, f"killed {kills} times, with {cut} runs ended at the last")
        )
        said = subprocess.run(command, capture_output=True, text=True).stdout.strip().rpartition(": ")[2]
        found = [json.loads(file.read_text("utf-8")) for file in records(folder)]
        once = len({(one["arm"], one["seed"]) for one in found})
        lines.append((len(found) == once == cells, f"then: {said}; {len(found)} records of {once} different runs"))
    for holds, text in lines:
        sys.stdout.write(f"{'✓' if holds else '✗'} {text}\n")
    return int(not all(holds for holds, _ in lines))


if __name__ == "__main__":
    raise SystemExit(main())
