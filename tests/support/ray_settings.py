"""Settings of a Ray cluster for one test."""

from __future__ import annotations

__all__ = ["QUICK"]

QUICK = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "2",
}
"""Use no token and no statistics, and detect a lost node within seconds."""
