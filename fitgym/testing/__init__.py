"""Checks for extensions of fitgym: whether an environment or an agent meets the same requirements as the included ones.

    from fitgym.testing import check_agent, check_env_strict

    check_env_strict("fitgym/ExceptionDiscovery-v0", subject="textwrap", budget="20g")
    check_agent("ucb:c=0.5")

Each check raises `AssertionError` with one sentence that states the expected behaviour.
"""

from __future__ import annotations

from fitgym.testing.agents import check_agent
from fitgym.testing.environments import check_env_strict, digest, episode

__all__ = ["check_agent", "check_env_strict", "digest", "episode"]
