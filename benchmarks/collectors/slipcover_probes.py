"""SlipCover with branches. Its probes remove themselves after a while, so it cannot separate tests."""

from __future__ import annotations

import ast

import slipcover
from slipcover.branch import preinstrument
from workload import Test, module_from, run, source_of

from collectors.base import Collected

__all__ = ["collect", "version"]


class _Probed(Collected):
    def __init__(self, module: str) -> None:
        source, file = source_of(module)
        self._slipcover = slipcover.Slipcover(branch=True)
        code = compile(preinstrument(ast.parse(source)), file, "exec", dont_inherit=True)
        self.module = module_from(self._slipcover.instrument(code), module)
        self._slipcover.register_module(self.module)

    def together(self, tests: list[Test]) -> None:
        run(tests)

    def one_by_one(self, tests: list[Test]) -> None:
        raise NotImplementedError("its probes report each place once for a process, not for a test")


def collect(module: str, options: dict[str, str]) -> Collected:
    """Return an instrumented copy."""
    return _Probed(module)


def version() -> str:
    """Return the version of SlipCover."""
    return str(slipcover.__version__)
