"""Reinforcement-learning environments around the search; importing the package registers them with Gymnasium.

    import gymnasium, fitgym.envs
    env = gymnasium.make("fitgym/ExceptionDiscovery-v0", subject="shlex", budget="200g")

`gymnasium.make("fitgym.envs:fitgym/ExceptionDiscovery-v0", ...)` works without the import.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import gymnasium

__all__ = ["ENVIRONMENTS", "REGISTERED", "VARIANTS", "WITHOUT_SUBJECT", "Registered"]


@dataclass(frozen=True, slots=True)
class Registered:
    """An environment that this package registers with Gymnasium.

    Attributes:
        entry_point: the class as `module:Class`.
        summary: a one-sentence description.
        kwargs: the arguments that the id fixes.
        has_subject: whether the user names a module or class under test.
        max_episode_steps: the maximum number of decisions in an episode with the default arguments; None if it varies.
        reward_threshold: the sum of rewards at which the task counts as solved; None if there is no such threshold.
        vector_entry_point: `module:Class` of the vectorised environment; None if there is none.
    """

    entry_point: str
    summary: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    has_subject: bool = True
    max_episode_steps: int | None = None
    reward_threshold: float | None = None
    vector_entry_point: str | None = None


_FITNESS: Final = "fitgym.envs.fitness_selection:FitnessSelection"

REGISTERED: Final[Mapping[str, Registered]] = {
    **{
        f"fitgym/{name}-v0": Registered(_FITNESS, f"Choose fitness functions for the goal '{goal}'.", {"goal": goal})
        for name, goal in {
            "ExceptionDiscovery": "exceptions",
            "SuiteDiversity": "diversity",
            "MeanDiversity": "mean_diversity",
            "StrongMutation": "strong_mutation",
            "BranchCoverage": "coverage",
            "Tests": "tests",
        }.items()
    },
    "fitgym/FitnessSelection-v0": Registered(_FITNESS, "Choose fitness functions for any goal."),
    "fitgym/FitnessBits-v0": Registered(
        _FITNESS, "Switch each fitness function of a goal on or off.", {"actions": "bits"}
    ),
    "fitgym/WeightedFitness-v0": Registered(
        "fitgym.envs.weighted_fitness:WeightedFitness", "Weigh the fitness functions of a goal."
    ),
    "fitgym/AlgorithmSelection-v0": Registered(
        "fitgym.envs.algorithm_selection:AlgorithmSelection", "Choose the search algorithm that runs next."
    ),
    "fitgym/GeneratorRates-v0": Registered(
        "fitgym.envs.generator_rates:GeneratorRates", "Set the rates of random test generation."
    ),
    "fitgym/MultiGoal-v0": Registered(
        "fitgym.envs.multi_goal:MultiGoal",
        "Choose fitness functions with a reward for each of several goals.",
        vector_entry_point="fitgym.envs.multi_goal:MultiGoalVector",
    ),
    "fitgym/Focus-v0": Registered("fitgym.envs.focus:Focus", "Choose the part of a module to search next."),
    "fitgym/Corpus-v0": Registered(
        "fitgym.envs.corpus:CorpusEnv",
        "Choose fitness functions; every episode has another real module.",
        has_subject=False,
    ),
    **{
        f"fitgym/Programs{name}-v0": Registered(
            "fitgym.envs.programs:Programs",
            f"Choose the part of a generated program to search next; every episode has another program{what}.",
            {"level": level},
            has_subject=False,
            max_episode_steps=30,
            reward_threshold=threshold,
        )
        for name, level, what, threshold in (("", "hard", "", 0.5), ("-easy", "easy", " (easy level)", 0.6))
    },
    "fitgym/Toy-v0": Registered(
        "fitgym.envs.toy:Toy", "Choose among five formulas; the best policy is known.", has_subject=False
    ),
    "fitgym/Landscapes-v0": Registered(
        "fitgym.envs.landscapes:LandscapesEnv",
        "Make the decisions of Programs on formulas, thousands of times as fast.",
        has_subject=False,
        max_episode_steps=30,
        reward_threshold=0.75,
        vector_entry_point="fitgym.envs.landscapes:LandscapesVector",
    ),
    "fitgym/ProjectBudget-v0": Registered(
        "fitgym.envs.project_budget:ProjectBudget",
        "Choose the module of a project that gets the next slice of its budget.",
        has_subject=False,
    ),
    "fitgym/LeadingOnes-v0": Registered(
        "fitgym.envs.leading_ones:LeadingOnes",
        "Choose how many bits to flip; the best policy is known.",
        has_subject=False,
    ),
    "fitgym/Artificial-v0": Registered(
        "fitgym.envs.artificial:Artificial", "Choose groups of artificial targets in a real search.", has_subject=False
    ),
}
"""All registered environments by id."""

ENVIRONMENTS: Final[Mapping[str, str]] = {
    name: str(one.kwargs["goal"]) for name, one in REGISTERED.items() if "goal" in one.kwargs
}
"""The ids that fix a goal, each with its goal."""

WITHOUT_SUBJECT: Final[Mapping[str, str]] = {
    name: one.entry_point for name, one in REGISTERED.items() if not one.has_subject
}
"""The ids of environments for which the user names no subject, each with its `module:Class`."""

VARIANTS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    name: (one.entry_point, one.kwargs)
    for name, one in REGISTERED.items()
    if name not in ENVIRONMENTS and name not in WITHOUT_SUBJECT
}
"""The ids with a subject and any goal, each with its `module:Class` and fixed arguments."""

for _id, _one in REGISTERED.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point=_one.entry_point,
            kwargs=dict(_one.kwargs),
            max_episode_steps=_one.max_episode_steps,
            reward_threshold=_one.reward_threshold,
            vector_entry_point=_one.vector_entry_point,
        )
