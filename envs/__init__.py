"""The search as an environment: importing this package registers the environments with Gymnasium.

    import gymnasium, fitgym.envs
    env = gymnasium.make("fitgym/ExceptionDiscovery-v0", subject="shlex", budget="200g")

`gymnasium.make("fitgym.envs:fitgym/ExceptionDiscovery-v0", ...)` works without the import.
"""

from __future__ import annotations

import gymnasium

__all__ = ["ENVIRONMENTS"]

ENVIRONMENTS = {
    "fitgym/ExceptionDiscovery-v0": "exceptions",
    "fitgym/BranchCoverage-v0": "coverage",
}
"""The registered environments and the goal that each pursues."""

for _id, _goal in ENVIRONMENTS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="fitgym.envs.fitness_selection:FitnessSelection",
            kwargs={"goal": _goal},
        )
