"""fitgym: choose what a test generator optimises, as a reinforcement-learning problem.

In Python:

    import fitgym
    run = fitgym.generate("textwrap", goal="exceptions", agent="ucb", budget="60s")

As an environment:

    import gymnasium, fitgym.envs
    env = gymnasium.make("fitgym/ExceptionDiscovery-v0", subject="textwrap", budget="200g")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fitgym.run.generation import Run, generate

__all__ = ["Run", "__version__", "generate"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `Run` and `generate` on first use: the worker process imports this package and must stay small."""
    if name in ("Run", "generate"):
        from fitgym.run import generation

        return getattr(generation, name)
    raise AttributeError(f"module 'fitgym' has no attribute '{name}'")
