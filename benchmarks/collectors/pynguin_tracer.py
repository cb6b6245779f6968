"""Pynguin's instrumentation and tracer, used as its executor uses them: a fresh trace, run, take the trace."""

from __future__ import annotations

import pynguin.configuration as config
from pynguin.__version__ import __version__
from pynguin.instrumentation.machinery import build_transformer
from pynguin.instrumentation.tracer import SubjectProperties
from workload import Test, module_from, run, source_of

from collectors.base import Collected

__all__ = ["collect", "version"]


class _Traced(Collected):
    def __init__(self, module: str, metrics: list[str]) -> None:
        source, file = source_of(module)
        properties = SubjectProperties()
        wanted = {config.CoverageMetric[metric] for metric in metrics}
        transformer = build_transformer(properties, wanted, config.ToCoverConfiguration())
        code = compile(source, file, "exec", dont_inherit=True)
        self._tracer = properties.instrumentation_tracer
        with self._tracer:
            self.module = module_from(transformer.instrument_code(code, module), module)
        self._tracer.store_import_trace()

    def together(self, tests: list[Test]) -> None:
        self._tracer.init_trace()
        with self._tracer:
            run(tests)

    def one_by_one(self, tests: list[Test]) -> None:
        tracer = self._tracer
        for test in tests:
            tracer.init_trace()
            with tracer:
                try:  # noqa: SIM105  (suppress() costs as much as a small test)
                    test()
                except Exception:
                    pass
            tracer.get_trace()


def collect(module: str, options: dict[str, str]) -> Collected:
    """Return an instrumented copy; `options["metrics"]` names coverage metrics, separated by commas."""
    return _Traced(module, options["metrics"].split(","))


def version() -> str:
    """Return the version of Pynguin."""
    return str(__version__)
