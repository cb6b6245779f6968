"""The pytest plugin: generated tests can be left out of a run, and a failure says what to do.

pytest loads it in every environment that fitgym is installed in, so it imports little and does nothing unless there are
generated tests.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fitgym.suite.text.generated import is_generated

__all__ = ["IMPORTED", "Generated", "pytest_addoption", "pytest_configure"]

IMPORTED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Options of pytest for a process that has imported fitgym already: pytest would have rewritten the plugin's assertions, and
says so by a warning, which a project may turn into an error."""

CHOICES = ("run", "skip", "only")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--generated`."""
    parser.getgroup("fitgym").addoption(
        "--generated",
        choices=CHOICES,
        default="run",
        help="tests that fitgym generated: run them (default), skip them, or run only them",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin proper, once."""
    config.pluginmanager.register(Generated(config.getoption("--generated")), "fitgym-generated")


class Generated:
    """Chooses generated tests, and counts those that fail.

    Args:
        choice: "run", "skip" or "only".
    """

    def __init__(self, choice: str) -> None:
        self._choice = choice
        self._known: dict[Path, bool] = {}
        self._items: set[str] = set()
        self._failed = 0

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what is not chosen."""
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
        """Say what a failure of a generated test means."""
        if self._failed:
            tests = "1 generated test fails" if self._failed == 1 else f"{self._failed} generated tests fail"
            terminalreporter.write_line(
                f"fitgym: {tests}: the code behaves in another way than when they were made. If that is right, "
                "`fitgym update` replaces them."
            )

    def _is_generated(self, file: Path) -> bool:
        if file not in self._known:
            self._known[file] = is_generated(file)
        return self._known[file]
