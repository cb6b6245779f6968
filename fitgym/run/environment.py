"""The environment of a setting: find it by its id, check its options, and make it."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.agents._saved import description_of
from fitgym.agents.base import Agent, agents, is_saved, trained
from fitgym.agents.base import make as make_agent
from fitgym.envs.base import SearchEnv
from fitgym.errors import InputError, UnknownName
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.registry import keywords
from fitgym.run.setting import Options, Setting, defaults, hints

__all__ = ["agent_of", "check", "has_subject", "has_tasks", "kind", "make", "options_of", "resolved"]

Env = gymnasium.Env[Any, Any]


def kind(env: str) -> type[Env]:
    """Return the class of an environment.

    Args:
        env: id of a registered environment, `module:id` to import a module first, or `module:Class`.

    Raises:
        InputError: there is no such environment.
    """
    return _found(env)[1]


def has_subject(env: str) -> bool:
    """Whether the environment searches on a subject that the user names, so that it can produce a suite."""
    cls = kind(env)
    return issubclass(cls, SearchEnv) and not cls.draws


def has_tasks(env: str) -> bool:
    """Whether the environment has numbered tasks, see `fitgym.envs.tasks`."""
    if (declared := _declared(kind(env))) is None or "task" not in (known := hints(declared)):
        return False
    return any(int in (part, *get_args(part)) for part in get_args(known["task"]))


def options_of(env: str) -> dict[str, Any]:
    """Return the options of an environment with their defaults, including those that its registration fixes.

    Raises:
        InputError: there is no such environment.
    """
    spec, cls = _found(env)
    known = defaults(declared) if (declared := _declared(cls)) is not None else keywords(cls)
    return {**known, **({} if spec is None else spec.kwargs)}


def make(setting: Setting, *, executor: Executor | None = None, render_mode: str | None = None) -> Env:
    """Make the environment of a setting; nothing is started before its `reset`.

    The environment has no budget if the setting's budget is in seconds; the caller must stop the episode. An agent that
    was trained on a feature set gets this feature set, unless the setting names another one.

    Args:
        setting: the setting of the run.
        executor: the executor of the subject, if it has already been started.
        render_mode: as for `gymnasium.make`.

    Raises:
        InputError: the environment does not exist or does not have these options.
        SubjectError: the subject cannot be found.
    """
    spec, cls = _found(setting.env)
    options = {**_as_trained(setting).options}
    for name in ("subject", "budget", "render_mode", "executor"):
        if name in options:
            raise InputError(f"'{name}' is not an option of an environment: remove it from the options")
    if setting.budget:
        options["budget"] = setting.budget if Budget.parse(setting.budget).deterministic else None
    if setting.subject and not has_subject(setting.env):
        raise InputError(
            f"environment '{setting.env}' has no subject, but '{setting.subject}' was given: leave the subject out"
        )
    if issubclass(cls, SearchEnv):
        given = {**({} if spec is None else spec.kwargs), **options}
        env = cls(setting.subject, render_mode=render_mode, executor=executor, **cls.for_agents(given))
        env.spec = spec
        return env
    known = options_of(setting.env)
    for name in options:
        if name not in known:
            raise InputError(f"{UnknownName(f'option of environment {setting.env}', name, known)}")
    if render_mode is not None:
        options["render_mode"] = render_mode
    return cls(**options) if spec is None else gymnasium.make(spec.id, disable_env_checker=True, **options)


def resolved(setting: Setting) -> Setting:
    """Fill in the defaults of a setting: its agent, the agent's features, and a fixed agent's catalogue.

    A fixed agent may use any combination of the functions, including one that is in no catalogue.

    Raises:
        InputError: see `make`.
    """
    with_agent = _as_trained(setting if setting.agent else replace(setting, agent=_default_agent(setting)))
    name, _, combination = with_agent.agent.partition(":")
    if name != "fixed" or not combination or is_saved(with_agent.agent):
        return with_agent
    if "actions" not in (known := options_of(setting.env)) or (known | dict(setting.options))["actions"] is not None:
        return with_agent
    if not has_subject(setting.env):
        return with_agent
    return replace(with_agent, options={**setting.options, "actions": (combination,)})


def _as_trained(setting: Setting) -> Setting:
    """Add the features that the agent was trained on, unless the setting names features."""
    if not setting.agent or "features" in setting.options or not has_subject(setting.env):
        return setting
    if is_saved(setting.agent):
        found = description_of(Path(setting.agent)).get("environment", {}).get("features")
        known: tuple[str, ...] = () if found is None else (found,)
    else:
        name = setting.agent.partition(":")[0]
        known = agents().load(name).trained_on if name in agents().names() else ()
    if not known or options_of(setting.env)["features"] in known:
        return setting
    return replace(setting, options={**setting.options, "features": known[0]})


def agent_of(setting: Setting, env: Env) -> Agent:
    """Make the agent of a setting for an environment, and check that it can act there.

    Raises:
        InputError: there is no such agent, it cannot act there, or it has to be trained first.
    """
    inner = env.unwrapped
    return trained(
        make_agent(
            setting.agent,
            inner.action_space,
            action_names=getattr(inner, "action_names", None),
            seed=setting.seed,
            reseed=True,
            environment=getattr(inner, "environment", None),
        )
    )


def check(setting: Setting) -> None:
    """Check that the environment has these options and that the agent can act there; the subject is not checked.

    Raises:
        InputError: see `make` and `agent_of`.
    """
    blank = make(replace(setting, subject=""))
    try:
        agent_of(setting, blank)
    finally:
        blank.close()


def _default_agent(setting: Setting) -> str:
    blank = replace(setting, subject="")
    env = make(blank)
    try:
        return str(getattr(env.unwrapped, "default_agent", "uniform"))
    finally:
        env.close()


def _declared(cls: type[Env]) -> type[Options] | None:
    found: type[Options] | None = getattr(cls, "Options", None)
    return found


def _found(env: str) -> tuple[EnvSpec | None, type[Env]]:
    module, colon, name = env.rpartition(":")
    try:
        if colon:
            importlib.import_module(module)
        if colon and not name.rpartition("-v")[2].isdigit():
            return None, _class(env)
        if name not in gymnasium.registry and f"fitgym/{name}" in gymnasium.registry:
            name = f"fitgym/{name}"
        spec = gymnasium.spec(name)
        return spec, _class(spec.entry_point)
    except gymnasium.error.Error as problem:
        known = [one for one in gymnasium.registry if one.startswith("fitgym/")]
        raise InputError(f"{UnknownName('environment', env, known)}") from problem
    except (ImportError, AttributeError) as problem:
        raise InputError(f"environment '{env}' cannot be imported: {problem}") from problem


def _class(entry_point: Any) -> type[Env]:
    found: Any = load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point
    if not (isinstance(found, type) and issubclass(found, gymnasium.Env)):
        raise InputError(f"'{entry_point}' is not an environment class, expected a subclass of gymnasium.Env")
    return found
