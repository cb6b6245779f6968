"""What does collecting cost? Runs the same calls with and without probes, and with three other tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workload import SUBJECTS

from questions.answer import Answer, Settings, Table, Target
from questions.estimate import Ratio, geometric_mean, ratio

__all__ = ["answer"]

HERE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Way:
    """One collector with its options.

    Attributes:
        name: in tables.
        collector: a file of `collectors/`.
        peer: the tool whose Python runs it, "" for fitgym's.
        options: for the collector.
        environment: further variables.
        always: also in quick runs.
    """

    name: str
    collector: str
    peer: str = ""
    options: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    always: bool = True


C, PYTHON, PYNGUIN = "fitgym, C sites", "fitgym, Python sites", "Pynguin, branch and line"

WAYS = (
    Way("plain copy", "nothing"),
    Way(C, "fitgym_sites", environment={"FITGYM_SITES": "c"}),
    Way(f"{C}, operands", "fitgym_sites", "", {"needs": "constants"}, {"FITGYM_SITES": "c"}, always=False),
    Way(PYTHON, "fitgym_sites", environment={"FITGYM_SITES": "python"}),
    Way(f"{PYTHON}, operands", "fitgym_sites", "", {"needs": "constants"}, {"FITGYM_SITES": "python"}, always=False),
    Way("built-in functions that record nothing", "floor", "", {"floor": "c"}, {"FITGYM_SITES": "c"}),
    Way("Python functions that only count", "floor", "", {"floor": "python"}),
    Way("coverage.py, branch", "coverage_py", "coverage"),
    Way("SlipCover, branch", "slipcover_probes", "slipcover"),
    Way("Pynguin, branch", "pynguin_tracer", "pynguin", {"metrics": "BRANCH"}, always=False),
    Way(PYNGUIN, "pynguin_tracer", "pynguin", {"metrics": "BRANCH,LINE"}),
)

KINDS = {"one_by_one": "per test", "together": "probes only"}
"""The measurements besides bare calls; see `collectors/base.py`."""

LIMITS = {C: (1.35, 1.8, 30.0), PYTHON: (2.0, 3.5, 15.0)}
"""For each factory of sites: limits of the geometric mean, of the worst subject, and of the ratio to Pynguin."""


class CollectorFailed(Exception):
    """The process of a collector has ended; with its last output."""


class Collector:
    """The process of one collector."""

    def __init__(self, way: Way, settings: Settings) -> None:
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "PYTHONPATH": os.pathsep.join([str(HERE), *([] if way.peer else [str(HERE.parent)])]),
            "PYTHONHASHSEED": "0",
            "PYNGUIN_DANGER_AWARE": "1",
            **way.environment,
        }
        python = settings.peers[way.peer] if way.peer else sys.executable
        self._process = subprocess.Popen(
            [python, str(HERE / "collect.py"), way.collector, str(settings.subjects), json.dumps(way.options)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return the answer.

        Raises:
            CollectorFailed: there is none.
        """
        assert self._process.stdin and self._process.stdout and self._process.stderr
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            said = self._process.stderr.read().strip().splitlines()
            raise CollectorFailed(said[-1] if said else f"ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@dataclass
class Costs:
    """Repeats of one collector on one subject, in nanoseconds per round of all tests."""

    tests: int
    version: str
    bare: list[float] = field(default_factory=list)
    together: list[float] = field(default_factory=list)
    one_by_one: list[float] = field(default_factory=list)
    why: str = ""


def measure(ways: list[Way], subject: str, settings: Settings) -> tuple[dict[str, Costs], dict[str, str]]:
    """Return the costs of each collector, repeated in turns, and the reason for each without costs.

    The position of code and data in memory differs between processes and changes times by up to a tenth. So each
    collector runs in several processes, one after the other.
    """
    processes, repeats, least = settings.choose((1, 3, 2_000_000), (4, 6, 10_000_000))
    costs: dict[str, Costs] = {}
    failed: dict[str, str] = {}
    for _ in range(processes):
        _measure([way for way in ways if way.name not in failed], subject, settings, repeats, least, costs, failed)
    return {name: found for name, found in costs.items() if name not in failed}, failed


def _measure(
    ways: list[Way],
    subject: str,
    settings: Settings,
    repeats: int,
    least: int,
    costs: dict[str, Costs],
    failed: dict[str, str],
) -> None:
    """Run some repeats in one process per collector; add their costs, and processes that end early as failed."""
    collectors: dict[str, Collector] = {}
    try:
        for way in ways:
            collector = collectors[way.name] = Collector(way, settings)
            try:
                introduced = collector.ask(subject=subject)
                costs.setdefault(way.name, Costs(introduced["tests"], introduced["version"]))
            except CollectorFailed as reason:
                failed[way.name] = str(reason)
        for number in range(repeats):
            for name in [name for name in collectors if name not in failed][:: -1 if number % 2 else 1]:
                try:
                    answer = collectors[name].ask(repeat=True, least=least)
                except CollectorFailed as reason:
                    failed[name] = str(reason)
                    continue
                for kind in ("bare", *KINDS):
                    if kind in answer:
                        getattr(costs[name], kind).append(answer[kind])
                costs[name].why = answer["why"]
    finally:
        for collector in collectors.values():
            collector.close()


def answer(settings: Settings) -> Answer:
    """Return ratios of every collector on every subject."""
    subjects = settings.pick(("semver", "numeric"), SUBJECTS)
    wanted = [way for way in WAYS if way.always or not settings.quick]
    ways = [way for way in wanted if way.peer not in settings.absent]
    measured: dict[str, dict[str, Costs]] = {}
    notes = {f"{way.name}: {settings.absent[way.peer]}": None for way in wanted if way not in ways}
    for subject in subjects:
        measured[subject], failed = measure(ways, subject, settings)
        notes |= {f"{name} on {subject}: {reason}": None for name, reason in failed.items()}
        notes |= {f"{name}: no data for each test: {c.why}": None for name, c in measured[subject].items() if c.why}
    ratios = {
        (way.name, kind): {
            subject: ratio(getattr(costs[way.name], kind), costs[way.name].bare)
            for subject, costs in measured.items()
            if way.name in costs and getattr(costs[way.name], kind)
        }
        for way in ways
        for kind in KINDS
    }
    bare = [min(min(c.bare) / c.tests / 1000 for c in measured[subject].values()) for subject in subjects]
    table = Table(
        "Collected / bare, processor time, least of all repeats over least of all repeats",
        ("", *subjects, "geo. mean", "worst", "median repeat of the geo. mean"),
        [("a bare test, us", *(f"{microseconds:.2f}" for microseconds in bare), "", "", "")],
    )
    table.rows.extend(_row(name, kind, found, subjects) for (name, kind), found in ratios.items() if found)
    figures = {
        "garbage_collector": "off while tests run",
        "ratios": {
            f"{name}, {KINDS[kind]}": {s: vars(r) | {"median": vars(r.median)} for s, r in found.items()}
            for (name, kind), found in ratios.items()
        },
        "nanoseconds_per_round": {s: {name: vars(c) for name, c in costs.items()} for s, costs in measured.items()},
    }
    return Answer([table], _targets(ratios), figures, list(notes))


def _row(name: str, kind: str, found: dict[str, Ratio], subjects: list[str]) -> tuple[str, ...]:
    """Return a row of a table; the means are over the subjects with figures."""
    least = {subject: r.least for subject, r in found.items()}
    ends = [geometric_mean([getattr(r.median, end) for r in found.values()]) for end in ("value", "low", "high")]
    return (
        f"{name}, {KINDS[kind]}",
        *(f"{least[subject]:.2f}" if subject in least else "-" for subject in subjects),
        *(f"{value:.2f}" for value in (geometric_mean(list(least.values())), max(least.values()))),
        "{:.2f} [{:.2f}, {:.2f}]".format(*ends),
    )


def _targets(ratios: dict[tuple[str, str], dict[str, Ratio]]) -> list[Target]:
    targets = []
    for name, (mean, worst, below) in LIMITS.items():
        for kind, label in KINDS.items():
            least = {subject: r.least for subject, r in ratios[name, kind].items()}
            others = ratios.get((PYNGUIN, kind), {})
            times = [r.least / least[subject] for subject, r in others.items() if subject in least]
            value, most = (geometric_mean(list(least.values())), max(least.values())) if least else (None, None)
            targets += [
                Target(f"{name}, {label}: geometric mean of collected / bare", mean, value),
                Target(f"{name}, {label}: worst subject", worst, most),
                Target(
                    f"{name}, {label}: times below Pynguin",
                    below,
                    geometric_mean(times) if times else None,
                    at_least=True,
                ),
            ]
    return targets
