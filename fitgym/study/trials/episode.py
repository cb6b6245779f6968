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
from fitgym.run.repeat import is_absent
from fitgym.run.repetition import TIMED, Repetition, differences
from fitgym.run.replay import replay
from fitgym.run.setting import plain
from fitgym.study.statistics import area_under_curve
from fitgym.study.trials._setting import SettingTrial
from fitgym.study.trials.base import Measured
from fitgym.suite.finishing import finish

__all__ = ["Episode"]


@dataclass(frozen=True)
class Episode(SettingTrial):
    """One run of an agent.

    Attributes:
        env, agent: see `SettingTrial`; the options of the environment are settings as well.
        suite: also finish the suite, which takes a while, and keep its text in the record.
    """

    suite: bool = False

    metrics: ClassVar[dict[str, bool]] = {"value": True, "rewards": True, "area": True}
    course: ClassVar[str] = "value"
    units: ClassVar[str] = "xgs"

    def measure(self, subject: str, seed: int, budget: str, path: str | None) -> Measured:
        """Play the episode to its end.

        The measures are `value` of the goal, the sum of `rewards`, the `area` under the value over the executions (the
        mean value during the run), `executions`, `generations` and `steps`.
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
            stages = getattr(inner, "timings", {})  # environments without a search have no timings
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

    def check_again(self, record: Mapping[str, Any], path: str | None) -> Repetition:
        """Play the episode again, with the same agent.

        With a budget in seconds, or an agent whose folder is missing, the recorded decisions are repeated. The suite,
        if there is one, is then run in a fresh interpreter, and the series stay unchecked.
        """
        timed = not Budget.parse(record["budget"]).deterministic
        if not timed and not is_absent(self.agent):
            return super().check_again(record, path)
        found = replay(record["run"], path=path)
        agent = f"the saved agent '{self.agent}' is not here, so it cannot decide again"
        why = TIMED if timed else agent
        unchecked = dict.fromkeys(
            ("agent", "measures.area", "measures.executions", "measures.generations", "series"), why
        )
        return Repetition((*found.differences, *self._claims(record)), unchecked)

    def _claims(self, record: Mapping[str, Any]) -> list[str]:
        """Return the differences between the measures of a record and its own run."""
        run, measures, series = record["run"], record["measures"], record["series"]
        claimed = {
            "subject": record["subject"],
            "seed": record["seed"],
            "measures.value": measures["value"],
            "measures.rewards": measures["rewards"],
            "measures.steps": measures["steps"],
            "series.action": series["action"],
            "series.reward": series["reward"],
        }
        found = {
            "subject": run["subject"],
            "seed": run["seed"],
            "measures.value": run["goal_value"],
            "measures.rewards": float(sum(run["rewards"])),
            "measures.steps": len(run["actions"]),
            "series.action": run["actions"],
            "series.reward": run["rewards"],
        }
        if not is_absent(self.agent):
            meant = self.setting(record["subject"], record["seed"], record["budget"], None)
            for name in ("env", "agent", "budget"):
                claimed[name], found[name] = getattr(meant, name), run[name]
            if not meant.budget:  # episodes of an environment without a budget end by themselves
                del claimed["budget"], found["budget"]
            options = {**self.settings(record["settings"]), **plain(dict(meant.options))}
            for name, value in run["options"].items():
                if name in options and options[name] is not None:
                    claimed[f"options.{name}"], found[f"options.{name}"] = options[name], value
        return differences(claimed, found)
