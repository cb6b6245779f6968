"""Probes in all modules of a project at once, for existing tests, which run outside the sandbox.

Each module gets its own recorder and is instrumented when first imported. The probes have practically unlimited fuel
unless a mutant runs.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from fitgym.errors import SubjectError
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import Instrumented
from fitgym.instrument.trace import Infected, Raised, Reached, Stop, Trace
from fitgym.subject.dependence import branches, dependences
from fitgym.subject.source import read
from fitgym.subject.subject import Reference, Site, Subject
from fitgym.worker.preparation import instrumented

__all__ = ["AMPLE", "PROBES", "Probed", "Probes", "WireRecord", "trace_of"]

PROBES = frozenset({"infection"})
"""Data to record in addition to counts and distances."""

AMPLE = 1 << 60
"""More fuel than any test burns."""

WireRecord = tuple[Reached, tuple[tuple[int, int, int], ...], Infected | None, int]
"""Record of one test in one module, as built-in values: reached sites, stops, infected mutants, and burnt fuel."""


class Probed:
    """One module with probes.

    Args:
        reference: the module.
        recorders: of all modules; the recorder of this one is added.

    Attributes:
        source: its text.
        instrumented: its source with places for probes.
        recorder: receives the data of the probes.
        imported: whether the module has been imported.

    Raises:
        SubjectError: the source cannot be read or instrumented.
    """

    def __init__(self, reference: Reference, recorders: list[Recorder]) -> None:
        self.reference = reference
        self.source = read(reference)
        try:
            self.instrumented: Instrumented = instrumented(reference, self.source, infection=True)
        except (SyntaxError, ValueError) as problem:
            raise SubjectError(f"'{reference.module}' cannot be instrumented: {problem}") from None
        self.recorder = _Recorder(self.instrumented.plan.sites, recorders)
        self.recorder.begin(PROBES)
        self.imported = False
        self._base: object = None

    def begin(self, fuel: int = AMPLE) -> None:
        """Reset the records before the next test."""
        self.recorder.fuel = fuel
        self.recorder.begin(PROBES)
        # The first snapshot after the import contains only the record of the import.
        if self._base is None:
            self._base = self.recorder.snapshot_key()

    def record(self) -> WireRecord | None:
        """Return the record since `begin`; None if it contains only the import."""
        key = self.recorder.snapshot_key()
        return None if key == self._base else self._wire(key)

    def base(self) -> WireRecord:
        """Return the record of the import."""
        self.begin()
        return self._wire(self.recorder.snapshot_key())

    def settle(self) -> None:
        """Mark the import as finished: the records of later tests start with those of the import."""
        self.recorder.settle()
        self._base = None
        self.imported = True

    def subject(self) -> Subject:
        """Return the module as a subject without operations: enough for the targets of branches, lines and mutants."""
        plan = self.instrumented.plan
        places = (plan.at, plan.blocks, plan.entries, plan.sites, plan.functions, plan.infection)
        return Subject(
            self.reference,
            self.source,
            plan.sites,
            plan.functions,
            branches(plan.sites, plan.functions, self.reference.class_name),
            dependences(self.instrumented.tree, *places),
            (),
            {},
        )

    def raised(self, error: BaseException) -> tuple[str, int] | None:
        """Return class and innermost function of an exception, None if it did not pass through the module."""
        innermost, traceback = -1, error.__traceback__
        while traceback is not None:
            function = self.recorder.function_of(traceback.tb_frame.f_code)
            innermost = function if function >= 0 else innermost
            traceback = traceback.tb_next
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        return None if innermost < 0 else (name, innermost)

    def _wire(self, key: tuple[Reached, Reached | None, tuple[Stop, ...], Infected | None]) -> WireRecord:
        return key[0], tuple((stop.site, stop.line, stop.count) for stop in key[2]), key[3], self.recorder.burnt


class Probes(MetaPathFinder):
    """An import hook that inserts probes into the modules of a project.

    Modules that are already imported are removed from `sys.modules`, so that the next import gets the version with
    probes.

    Args:
        references: the modules.

    Attributes:
        modules: the modules imported so far, by name.
        failed: why modules have no probes, by name.
    """

    def __init__(self, references: Sequence[Reference]) -> None:
        self._references = {reference.module: reference for reference in references}
        self.modules: dict[str, Probed] = {}
        self.failed: dict[str, str] = {}
        self._recorders: list[Recorder] = []
        tops = {name.partition(".")[0] for name in self._references}
        for name in [name for name in sys.modules if name.partition(".")[0] in tops]:
            del sys.modules[name]

    def install(self) -> None:
        """Install the import hook."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module with probes, None for other names."""
        reference = self._references.get(fullname)
        if reference is None or fullname in self.failed:
            return None
        try:
            probed = self.modules.get(fullname) or Probed(reference, self._recorders)
        except SubjectError as problem:
            self.failed[fullname] = str(problem)
            return None
        self.modules[fullname] = probed
        is_package = os.path.basename(reference.path) == "__init__.py"
        return importlib.util.spec_from_file_location(
            fullname,
            reference.path,
            loader=_Loader(probed),
            submodule_search_locations=[os.path.dirname(reference.path)] if is_package else None,
        )

    def begin(self) -> None:
        """Reset the records before the next test."""
        for probed in self.modules.values():
            probed.begin()

    def records(self) -> dict[str, WireRecord]:
        """Return the records since `begin`, by module; modules that were not reached are left out."""
        found = {name: probed.record() for name, probed in self.modules.items()}
        return {name: record for name, record in found.items() if record is not None}

    def watch(self, tell: Callable[[str, str, int], None]) -> None:
        """Report exceptions that tests expect, from now on: module, class, and function of the module.

        Args:
            tell: called when `pytest.raises` or `assertRaises` catches an exception that passed through a module.
        """
        import unittest.case

        import pytest

        context: Any = vars(unittest.case)["_AssertRaisesContext"]
        for kind in (type(pytest.raises(ValueError)), context):
            kind.__exit__ = self._watched(kind.__exit__, tell)  # type: ignore[method-assign]

    def _watched(self, leave: Callable[..., Any], tell: Callable[[str, str, int], None]) -> Callable[..., Any]:
        def __exit__(
            context: Any,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> Any:
            # Before `leave`, because `assertRaises` clears the frames of the traceback.
            found = [] if error is None else self._noted(error)
            expected = leave(context, kind, error, traceback)
            for one in found if expected else ():
                tell(*one)
            return expected

        return __exit__

    def _noted(self, error: BaseException) -> list[tuple[str, str, int]]:
        """Record where the exception left blocks, and return the modules that it passed through."""
        found = []
        for name, probed in self.modules.items():
            raised = probed.raised(error)
            if raised is not None:
                probed.recorder.stopped(error.__traceback__)
                found.append((name, *raised))
        return found


class _Recorder(Recorder):
    """A recorder that reports exceptions to all other recorders: one module may catch an exception of another."""

    def __init__(self, sites: Sequence[Site], recorders: list[Recorder]) -> None:
        self._recorders = recorders
        super().__init__(sites, AMPLE)
        recorders.append(self)

    def stopped(self, traceback: TracebackType | None) -> None:
        for recorder in self._recorders:
            Recorder.stopped(recorder, traceback)


class _Loader(SourceFileLoader):
    """Loads the instrumented code; otherwise behaves like the loader of the source file."""

    def __init__(self, probed: Probed) -> None:
        super().__init__(probed.reference.module, probed.reference.path)
        self._probed = probed

    def get_code(self, fullname: str) -> CodeType:
        return self._probed.instrumented.code(self._probed.recorder.probe)

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self._probed.settle()


def trace_of(record: WireRecord, raised: tuple[str, int] | None = None) -> Trace:
    """Return the trace of a test in one module.

    Args:
        record: of the test in the module.
        raised: class and function of an exception that the test expects.
    """
    reached, stops, infected, fuel = record
    exception = None if raised is None else Raised(raised[0], raised[1], -1, -1, "implicit", True)
    return Trace(
        reached,
        stops=tuple(Stop(*stop) for stop in stops),
        raised=exception,
        fuel=fuel,
        infected=infected,
    )
