"""A fault: generate a suite for the fixed version of a subject and run it on the buggy one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fitgym.errors import InputError, UnknownName
from fitgym.evolution.budget import Budget
from fitgym.run.environment import has_subject
from fitgym.run.generation import Request, generate_request
from fitgym.run.repetition import TIMED, Repetition
from fitgym.run.replay import replay
from fitgym.study.faults import Fault as Pair
from fitgym.study.faults import cache_folder, detect, load
from fitgym.study.trials._setting import SettingTrial
from fitgym.study.trials.base import Measured
from fitgym.subject.source import locate

__all__ = ["Fault"]


@dataclass(frozen=True)
class Fault(SettingTrial):
    """One suite, generated for the fixed version of a subject and run on the buggy one.

    Its subjects are the ids of a list of faults, and its path is that list.

    Attributes:
        env, agent: see `SettingTrial`; the options of the environment are settings as well.
    """

    metrics: ClassVar[dict[str, bool]] = {"detected": True, "failing": True, "value": True}
    likelihoods: ClassVar[frozenset[str]] = frozenset({"detected"})
    units: ClassVar[str] = "xgs"

    def check(self, budget: str) -> None:
        """Check the settings; the environment must have a subject, because a suite is needed."""
        super().check(budget)
        if not has_subject(self.env):
            raise InputError(
                f"env: environment '{self.env}' has no subject, so no suite can be generated; use an "
                "environment with a subject"
            )

    def check_subject(self, subject: str, path: str | None) -> None:
        """Check that the fault is in the list; nothing is installed yet."""
        _pair(subject, path)

    def estimate(self, budget: str) -> float:
        """Return the estimated seconds of a run, including finishing the suite and running it eight times."""
        return super().estimate(budget) + 10.0

    def measure(self, subject: str, seed: int, budget: str, path: str | None) -> Measured:
        """Generate a suite for the fixed version, and run it on both versions.

        The measures are `detected`, 1 or 0, whose mean over the seeds is the likelihood of detection; `failing` tests;
        `tests` and `flaky`, see `fitgym.study.faults.Detection`; and `value` of the goal.
        """
        began = time.monotonic()
        pair = _pair(subject, path)
        fixed, buggy = pair.folders(cache_folder())
        ready = time.monotonic()
        setting = self.setting(pair.subject, seed, budget, str(fixed))
        run = generate_request(Request(setting, output=None))
        generated = time.monotonic()
        measures = {"detected": 0.0, "failing": 0, "tests": 0, "flaky": 0}
        if run.source:
            found = detect(run.source, locate(pair.subject, fixed), locate(pair.subject, buggy))
            measures = {
                "detected": float(found.detected),
                "failing": found.failing,
                "tests": found.tests,
                "flaky": found.flaky,
            }
        measures |= {"value": run.record["goal_value"], "executions": run.record["executions"]}
        record = {key: value for key, value in run.record.items() if key not in ("seconds", "runs")}
        return Measured(
            measures,
            {"action": run.record["actions"], "reward": run.record["rewards"]},
            {**record, "suite": run.source},
            {"install": ready - began, "generate": generated - ready, "detect": time.monotonic() - generated},
        )

    def check_again(self, record: Mapping[str, Any], path: str | None) -> Repetition:
        """Generate the suite again and run it on both versions.

        With a budget in seconds, the recorded decisions are repeated on the fixed version, and the recorded suite is
        run on both.
        """
        if Budget.parse(record["budget"]).deterministic:
            return super().check_again(record, path)
        pair, run = _pair(record["subject"], path), record["run"]
        fixed, buggy = pair.folders(cache_folder())
        said = list(replay(run, path=str(fixed)).differences)
        found = detect(run["suite"], locate(pair.subject, fixed), locate(pair.subject, buggy))
        if found.detected != bool(record["measures"]["detected"]):
            said.append(f"the suite {'detects' if found.detected else 'does not detect'} the fault")
        others = [f"measures.{name}" for name in record["measures"] if name != "detected"]
        return Repetition(tuple(said), dict.fromkeys(("agent", *others, "series"), TIMED))


def _pair(subject: str, path: str | None) -> Pair:
    """Return the fault with this id.

    Raises:
        UnknownName: the list has none.
        InputError: there is no list.
    """
    if path is None:
        raise InputError(f"there is no list of faults for '{subject}'; give the file with the faults as path")
    faults = load(Path(path))
    if subject not in faults:
        raise UnknownName("fault", subject, faults)
    return faults[subject]
