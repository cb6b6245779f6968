"""The search as an environment: importing this package registers the environments with Gymnasium.

    import gymnasium, fitgym.envs
    env = gymnasium.make("fitgym/ExceptionDiscovery-v0", subject="shlex", budget="200g")

`gymnasium.make("fitgym.envs:fitgym/ExceptionDiscovery-v0", ...)` works without the import.
"""

from __future__ import annotations

import gymnasium

__all__ = ["ENVIRONMENTS", "VARIANTS", "WITHOUT_SUBJECT"]

ENVIRONMENTS = {
    "fitgym/ExceptionDiscovery-v0": "exceptions",
    "fitgym/SuiteDiversity-v0": "diversity",
    "fitgym/StrongMutation-v0": "strong_mutation",
    "fitgym/BranchCoverage-v0": "coverage",
}
"""The registered environments with a subject, and the goal that each pursues."""

WITHOUT_SUBJECT = {
    "fitgym/Toy-v0": "fitgym.envs.toy:Toy",
    "fitgym/Artificial-v0": "fitgym.envs.artificial:Artificial",
}
"""The registered environments that are formulas, and where they are."""

VARIANTS = {
    "fitgym/WeightedFitness-v0": ("fitgym.envs.fitness_selection:FitnessSelection", {"actions": "weights"}),
    "fitgym/AlgorithmSelection-v0": ("fitgym.envs.algorithm_selection:AlgorithmSelection", {}),
    "fitgym/MultiGoal-v0": ("fitgym.envs.multi_goal:MultiGoal", {}),
}
"""Registered environments with a subject and any goal, in which something else is chosen or rewarded: where they are, and
their arguments."""

for _id, _goal in ENVIRONMENTS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="fitgym.envs.fitness_selection:FitnessSelection",
            kwargs={"goal": _goal},
        )

for _id, (_entry_point, _kwargs) in VARIANTS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(_id, entry_point=_entry_point, kwargs=_kwargs)

for _id, _entry_point in WITHOUT_SUBJECT.items():
    if _id not in gymnasium.registry:
        gymnasium.register(_id, entry_point=_entry_point)
