"""The simulated other machine: which folders have other entries there."""

from __future__ import annotations

import sys

import pytest

from fitgym.suite.runs.other_machine import SHARED, is_shared


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/", True),
        ("/etc/cron.d", True),
        ("/var/lib/things", True),
        ("/opt/other", True),
        ("/opt/application/data", False),
        ("/opt/application-2", True),
        ("/somewhere/else", False),
        ("/etcetera", False),
    ],
)
def test_folders_of_the_system_differ_except_those_of_the_code(
    folder: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, "/opt/application", ""])
    assert is_shared(folder, frozenset(SHARED)) is expected
