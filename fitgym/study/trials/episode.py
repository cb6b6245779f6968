"""An episode: an agent acts in an environment, as in `fitgym evaluate`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fitgym.envs.base import SearchEnv
from fitgym.evolution.budget import Budget
from fitgym.run.environment import agent_of, make
from fitgym.run.episode import Curve, Deadline, Hook, play
from fitgym.run.record import record as written
from fitgym.run.replay import replay
from fitgym.study.statistics import area_under_curve
from fitgym.study.trials._setting import SettingTrial
from fitgym.study.trials.base import Measured
from fitgym.suite.finishing import finish

__all__ = ["Episode"]


@dataclass(frozen=True)
class Episode(SettingTrial):
    """One run of an agent.

    Attributes:
        env, agent: see `SettingTrial`; the options of the environment are settings too.
        suite: finish the suite too, which takes a while, and keep its text in the record.
    """

    suite: bool = False

    metrics: ClassVar[dict[str, bool]] = {"value": True, "rewards": True, "area": True}
    course: ClassVar[str] = "value"
    units: ClassVar[str] = "xgs"

    def measure(self, subject: str, seed: int, budget: str, path: str | None) -> Measured:
        """Play the episode to its end.

        Measured are `value` of the goal, the sum of `rewards`, the `area` under the value over the executions (the mean value
        while the run lasted), `executions`, `generations` and `steps`.
        """
        setting, spent = self.setting(subject, seed, budget, path), Budget.parse(budget)
        began = time.monotonic()
        env = make(setting)
        inner: Any = env.unwrapped
        try:
            curve = Curve()
            hooks: list[Hook] = [curve]
            if not spent.deterministic:
                inner.deadline = began + spent.amount
                hooks.append(Deadline(inner.deadline))
            played = play(agent_of(setting, env), env, seed=seed, hooks=hooks)
            ended = time.monotonic()
            stages = getattr(inner, "timings", {})  # which an environment without a search has not
            timings = {name: stages[name] for name in ("execute", "measure", "search") if name in stages}
            run = written(env, setting, played.info)
            if self.suite and isinstance(inner, SearchEnv) and inner.engine is not None:
                finished = finish(inner.engine, inner.goal.kept)
                run |= {"suite": finished.source, "tests": len(finished.tests)}
            return Measured(
                {
                    "value": curve.values[-1],
                    "rewards": float(sum(curve.rewards)),
                    "area": area_under_curve(curve.executions, curve.values),
                    "executions": curve.executions[-1],
                    "generations": curve.generations[-1],
                    "steps": played.steps,
                },
                {
                    "action": list(run["actions"]),
                    "reward": curve.rewards,
                    "value": curve.values,
                    "executions": curve.executions,
                    "generation": curve.generations,
                },
                run,
                {"deciding": played.deciding, "run": ended - began, **timings},
            )
        finally:
            env.close()

    def check_again(self, record: Mapping[str, Any], path: str | None) -> list[str]:
        """The actions are taken again, whoever chose them, and the suite, if there is one, is run in a fresh interpreter."""
        return [*replay(record["run"], path=path).differences, *self._claims(record)]

    def _claims(self, record: Mapping[str, Any]) -> list[str]:
        """Differences between what a record claims and its own run."""
        run, measures = record["run"], record["measures"]
        meant = self.setting(record["subject"], record["seed"], record["budget"], None)
        claimed = dict(record["settings"])
        if "features" in claimed:  # a trained agent brings its own
            claimed["features"] = meant.options.get("features", claimed["features"])
        said = [
            f"{key} of the run is {run[key]!r}, claimed is {value!r}"
            for key, value in (
                ("env", meant.env),
                ("subject", meant.subject),
                ("seed", meant.seed),
                ("agent", meant.agent),
                ("budget", meant.budget),
            )
            if run[key] != value and (key != "budget" or value)  # an environment without a budget has its own end
        ]
        said += [
            f"{name} of the run is {run['options'][name]!r}, claimed is {value!r}"
            for name, value in claimed.items()
            if value is not None and name in run["options"] and run["options"][name] != value
        ]
        found = {"value": run["goal_value"], "rewards": float(sum(run["rewards"])), "steps": len(run["actions"])}
        return said + [
            f"{name} is {value!r} in the run, claimed is {measures[name]!r}"
            for name, value in found.items()
            if measures[name] != value
        ]
