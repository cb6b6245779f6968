"""Base class of trials with an environment and an agent, whose settings include the environment's options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from fitgym.errors import FitgymError, InputError
from fitgym.evolution.budget import Budget
from fitgym.run.environment import check, has_subject, make, options_of, resolved
from fitgym.run.setting import DEFAULT_ENV, Options, Setting, plain
from fitgym.study.trials.base import Trial, about, convert

__all__ = ["SettingTrial"]

_NOT_SETTINGS = {*Options.local, "budget", "render_mode", "executor"}
"""Options of environments that a study file sets elsewhere, or not at all."""


@dataclass(frozen=True)
class SettingTrial(Trial):
    """A trial of an agent in an environment; the options of the environment are also settings of the trial.

    Attributes:
        env: id of the environment.
        agent: `name` or `name:argument`; "" for the environment's default, "own" for the goal's own fitness function in
            every step (current practice), "all" for all of the goal's fitness functions together.
        options: of the environment; not a setting itself, but each option is one.
    """

    env: str = DEFAULT_ENV
    agent: str = "ucb"
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def settings(cls, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return its own settings and the options of the given environment, with their defaults.

        Raises:
            InputError: there is no such environment; the message begins with `env` and a colon.
        """
        own = {name: value for name, value in super().settings().items() if name != "options"}
        with about("env"):
            env = convert("env", (given or {}).get("env", own["env"]), str)
            options = options_of(env)
        found: dict[str, Any] = plain(options)
        return {**own, **{name: value for name, value in found.items() if name not in _NOT_SETTINGS}}

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Return the trial with these settings, see `Trial.of`."""
        own = {name: value for name, value in super().settings().items() if name != "options"}
        mine = {name: convert(name, value, type(own[name])) for name, value in settings.items() if name in own}
        usual = cls.settings(settings)
        options = {name: value for name, value in settings.items() if name not in own and value != usual.get(name)}
        return cls(**mine, options=options)

    def setting(self, subject: str, seed: int, budget: str, path: str | None) -> Setting:
        """Return the setting of one run."""
        options = dict(self.options)
        if path is not None and has_subject(self.env):
            options["path"] = path
        agent = self.agent
        if agent in ("own", "all") and has_subject(self.env):
            blank: Any = make(Setting(env=self.env, options=options)).unwrapped
            functions = blank.goal.functions
            agent = f"fixed:{functions[0] if agent == 'own' else '+'.join(functions)}"
        own = "" if "budget" not in options_of(self.env) else budget
        return resolved(Setting(env=self.env, subject=subject, agent=agent, seed=seed, budget=own, options=options))

    def check(self, budget: str) -> None:
        """Check that the environment has these options, and that the agent can act in it."""
        blank = Setting(env=self.env, options=self.options)
        _check_options(blank)
        with about("agent"):
            check(self.setting("", 0, budget, None))

    def check_subject(self, subject: str, path: str | None) -> None:
        """Check that the subject exists if the environment has one."""
        if has_subject(self.env):
            super().check_subject(subject, path)
        elif subject:
            raise InputError(f"environment '{self.env}' has no subject; use the empty text '' for it")

    def estimate(self, budget: str) -> float:
        """Return the estimated seconds of a run; test cases that are run on mutants take ten times as long."""
        found = Budget.parse(budget)
        if found.unit == "s" or self.options.get("goal") != "strong_mutation":
            return super().estimate(budget)
        return super().estimate(str(Budget(10 * found.amount, found.unit)))


def _check_options(setting: Setting) -> None:
    """Create the environment of a setting; name the wrong option in the error.

    Raises:
        InputError: the options cannot be used; the message begins with the name of one and a colon.
    """
    try:
        make(setting).close()
        return
    except FitgymError as problem:
        message = str(problem)
    for name in setting.options:
        try:
            make(replace(setting, options={key: v for key, v in setting.options.items() if key != name})).close()
        except FitgymError:
            continue
        raise InputError(f"{name}: {message.removeprefix(f'{name} is ')}")
    raise InputError(f"env: {message}")
