"""No collection: a second copy of the plain module, to measure how much two equal things differ here."""

from __future__ import annotations

from workload import Test, module_from, run, source_of

from collectors.base import Collected

__all__ = ["collect", "version"]


class _Plain(Collected):
    def __init__(self, module: str) -> None:
        source, file = source_of(module)
        self.module = module_from(compile(source, file, "exec", dont_inherit=True), module)

    def together(self, tests: list[Test]) -> None:
        run(tests)

    def one_by_one(self, tests: list[Test]) -> None:
        run(tests)


def collect(module: str, options: dict[str, str]) -> Collected:
    """Return a copy without probes."""
    return _Plain(module)


def version() -> str:
    """Return an empty version."""
    return ""
