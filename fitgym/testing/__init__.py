"""Checks for those who extend fitgym: is an environment, or an agent, as strict as those that come with it?

    from fitgym.testing import check_agent, check_env_strict

    check_env_strict("fitgym/ExceptionDiscovery-v0", subject="textwrap", budget="20g")
    check_agent("ucb:c=0.5")

Each check raises `AssertionError` with one sentence that says what was expected.
"""

from __future__ import annotations

from fitgym.testing.agents import check_agent
from fitgym.testing.environments import check_env_strict, digest, episode

__all__ = ["check_agent", "check_env_strict", "digest", "episode"]
