"""The pytest plugin: select or skip generated tests, and explain their failures.

pytest loads it in every environment where fitgym is installed. It therefore imports little, and does nothing without
generated tests.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fitgym.suite.text.generated import is_generated

__all__ = ["IMPORTED", "Generated", "pytest_addoption", "pytest_configure"]

IMPORTED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Pytest options for a process that has already imported fitgym.

pytest then cannot rewrite the assertions of the plugin and warns about it; a project may turn warnings into errors.
"""

CHOICES = ("run", "skip", "only")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--generated`."""
    parser.getgroup("fitgym").addoption(
        "--generated",
        choices=CHOICES,
        default="run",
        help="tests that fitgym generated: run them (default), skip them, or run only them",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin object."""
    config.pluginmanager.register(Generated(config.getoption("--generated")), "fitgym-generated")


class Generated:
    """Selects generated tests, and counts their failures.

    Args:
        choice: "run", "skip" or "only".
    """

    def __init__(self, choice: str) -> None:
        self._choice = choice
        self._known: dict[Path, bool] = {}
        self._items: set[str] = set()
        self._failed = 0

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect tests that are not chosen."""
        generated = [item for item in items if self._is_generated(item.path)]
        self._items = {item.nodeid for item in generated}
        if self._choice == "run":
            return
        wanted = self._choice == "only"
        left_out = [item for item in items if (item.nodeid in self._items) != wanted]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if (item.nodeid in self._items) == wanted]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count generated tests that fail."""
        self._failed += report.when == "call" and report.failed and report.nodeid in self._items

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Explain what a failure of a generated test means."""
        if self._failed:
            tests = "1 generated test fails" if self._failed == 1 else f"{self._failed} generated tests fail"
            terminalreporter.write_line(
                f"fitgym: {tests}: the code behaves differently than when they were generated. If the new behaviour is "
                "right, run `fitgym update` to replace them."
            )

    def _is_generated(self, file: Path) -> bool:
        if file not in self._known:
            self._known[file] = is_generated(file)
        return self._known[file]
