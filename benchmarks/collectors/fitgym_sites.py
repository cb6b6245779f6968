"""fitgym's probes, as a worker uses them: begin, run, record where an exception left, take a snapshot."""

from __future__ import annotations

from workload import Test, module_from, run, source_of

from collectors.base import Collected
from fitgym import __version__
from fitgym.instrument.factories import in_use
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import instrument

__all__ = ["collect", "version"]


class _Probed(Collected):
    """A module with fitgym's probes.

    Args:
        module: the module.
        needs: what is recorded beyond counts and distances.
    """

    def __init__(self, module: str, needs: frozenset[str]) -> None:
        source, file = source_of(module)
        instrumented = instrument(source, file, leading=in_use() == "c")
        self._needs = needs
        self._recorder = Recorder(instrumented.plan.sites, fuel=1 << 40)
        self.module = module_from(instrumented.code(self._recorder.probe), module)
        self._recorder.settle()

    def together(self, tests: list[Test]) -> None:
        self._recorder.begin(self._needs)
        run(tests)

    def one_by_one(self, tests: list[Test]) -> None:
        recorder, needs = self._recorder, self._needs
        for test in tests:
            recorder.begin(needs)
            try:
                test()
            except Exception as error:
                recorder.stopped(error.__traceback__)
            recorder.snapshot_key()


def collect(module: str, options: dict[str, str]) -> Collected:
    """Return a copy with probes; `options["needs"]` names what they record, separated by commas."""
    return _Probed(module, frozenset(filter(None, options.get("needs", "").split(","))))


def version() -> str:
    """Return the version of fitgym, with the factory of probes in use."""
    return f"{__version__} ({in_use()})"
