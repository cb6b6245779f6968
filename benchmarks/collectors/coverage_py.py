"""coverage.py with branches, in memory; a context for each test separates the data."""

from __future__ import annotations

import coverage
from workload import Test, module_from, run, source_of

from collectors.base import Collected

__all__ = ["collect", "version"]


class _Traced(Collected):
    def __init__(self, module: str) -> None:
        source, file = source_of(module)
        self._coverage = coverage.Coverage(branch=True, include=[file], data_file=None, config_file=False)
        self.module = module_from(compile(source, file, "exec", dont_inherit=True), module)

    def together(self, tests: list[Test]) -> None:
        self._coverage.start()
        run(tests)
        self._coverage.stop()

    def one_by_one(self, tests: list[Test]) -> None:
        measured = self._coverage
        measured.erase()
        measured.start()
        for number, test in enumerate(tests):
            measured.switch_context(str(number))
            try:  # noqa: SIM105  (suppress() costs as much as a small test)
                test()
            except Exception:
                pass
        measured.stop()


def collect(module: str, options: dict[str, str]) -> Collected:
    """Return a plain copy, traced while tests run."""
    return _Traced(module)


def version() -> str:
    """Return the version of coverage.py, with the core that it has chosen for this Python."""
    measured = coverage.Coverage(branch=True, data_file=None, config_file=False)
    measured.start()
    measured.stop()
    core = dict(measured.sys_info()).get("core", "unknown core")
    return f"{coverage.__version__} ({core})"
