"""The surroundings of a test case: all state that must be as the import of the subject left it.

There are three kinds of state: the near state of the module under test, the far state of the modules around it, and the
state of the process. The care level says how much is compared after each test case: 0 the near state, 1 also the far
state, 2 also the process. Watched parts (`fitgym.messages.watched`) are always compared after each test case. The rest
is compared after each batch.
"""

from __future__ import annotations

import _thread
import builtins
import gc
import sys
import types
from time import monotonic  # the real one, see `fitgym.determinism.clock`

from fitgym.instrument.recorder import Recorder
from fitgym.sandbox.overlay import Overlay
from fitgym.sandbox.sandbox import Guard
from fitgym.worker import preparation
from fitgym.worker.state.leakage import State
from fitgym.worker.state.process import Process
from fitgym.worker.state.warming import MOST_SECONDS, import_all, only_modules_added, roots, succeeds_in_a_fork

__all__ = ["Found", "Surroundings"]

Found = tuple[tuple[int, ...], tuple[int, ...]]
"""Changed parts: numbers of parts of the far state, and numbers of facts about the process."""

_NOTHING: Found = ((), ())
_GATHERING_S = 10.0  # an import that hangs must not use up the time in which the worker has to start


class Surroundings:
    """Compares state with a snapshot and restores it.

    Args:
        module: the module under test.
        before: names of the modules that existed before its import.
        guard: the sandbox guard, which refuses actions.
        recorder: the recorder of the module's probes.
    """

    def __init__(self, module: types.ModuleType, before: frozenset[str], guard: Guard, recorder: Recorder) -> None:
        self._module = module
        self._before = before
        self._guard = guard
        self._recorder = recorder
        self._process: Process | None = None
        self._far_watched: tuple[int, ...] = ()
        self._facts_watched: tuple[int, ...] = ()
        self._near: State
        self._far: State
        self._loaded: frozenset[str]
        self._n_modules: int

    def take(self) -> None:
        """Take the snapshot, in the process from which all others are forked."""
        around = preparation.neighbours(self._module, self._before)
        self._near = self._far = State(())  # an old snapshot refers to objects whose references the new one counts
        self._near = State([self._module], around=around, shallow=[builtins])
        self._far = State(around, preparation.shared_objects(), around=[self._module])
        self._loaded = frozenset(sys.modules)
        self._n_modules = len(sys.modules)

    def watch(self, found: Found) -> None:
        """Set the parts that are compared after each test case at any care level."""
        self._far_watched, self._facts_watched = found

    def enter(self, overlay: Overlay | None) -> None:
        """Take the snapshot of this process if there is none."""
        if self._process is None:
            self._process = Process(overlay, self._guard.off)

    def forget_process(self) -> None:
        """Drop the snapshot of this process, because the runner itself has changed the process."""
        self._process = None

    def imported(self) -> list[str]:
        """Return the names of the modules imported since the last call, in the order of import."""
        found = [name for name in sys.modules if name not in self._loaded and type(name) is str]
        self._loaded = self._loaded.union(found)
        return found

    def has_unknown_modules(self) -> bool:
        """Return True if another module of the package was imported, whose state no snapshot holds."""
        if len(sys.modules) == self._n_modules:
            return False
        self._n_modules = len(sys.modules)
        package = self._module.__name__.partition(".")[0]
        return any(name.partition(".")[0] == package for name in set(sys.modules) - self._loaded if type(name) is str)

    # ------------------------------------------------------------------------------------------------- comparing

    def is_dirty(self, care: int) -> bool:
        """Return True if state was left behind that cannot be restored."""
        # Order: parts that are reset without a comparison, then cheap comparisons, then expensive ones.
        self._near.reset()
        self._far.reset()
        process = self._process
        if process is not None and process.threads_left():
            return True
        if self._near.changed() and not self._near.restore():
            return True
        far, facts = self._far_watched, self._facts_watched
        if far and self._far.changed_at(far) and not self._far.restore_at(far):
            return True
        if facts and process is not None and process.changed_at(facts):
            # What is not watched may hold what is: an event loop holds descriptors.
            restored = process.restore_at(facts) or process.restore_at(process.changes())
            if not restored:
                return True
        return (care > 0 and self._is_far_dirty(undo=True)) or (care > 1 and self._has_changed())

    def is_different(self) -> bool:
        """Compare the rest after a batch. Returns True if something cannot be restored."""
        return self._has_changed() or self._is_far_dirty(undo=True)

    def unclear(self, care: int) -> tuple[int, Found]:
        """Compare the rest after a batch whose test cases may have left state behind.

        Returns:
            The care level that finds the test case that did (0 if none did), and the changed parts.
        """
        assert self._process is not None
        redo, (far, facts) = 0, _NOTHING
        if care < 1 and self._is_far_dirty(undo=False):
            redo, far = 1, self._far.changes()
        if care < 2 and self._has_changed():
            redo, facts = 2, self._process.changes()
            if self._process.left_processes():
                far, facts = _NOTHING
        return redo, (far, facts)

    def has_grown(self) -> bool:
        """Return True if this process uses so much memory that another one should continue."""
        return self._process is not None and self._process.grown()

    def _has_changed(self) -> bool:
        assert self._process is not None
        return self._process.changed()

    def _is_far_dirty(self, undo: bool) -> bool:
        if self._near.reordered() and not (undo and self._near.restore()):
            return True
        return (self._far.changed() or self._far.reordered()) and not (undo and self._far.restore())

    # ------------------------------------------------------------------------------------------------- warm state

    def gather(self, names: list[str]) -> None:
        """Import modules whose classes test cases may use, each if that changes no state of the subject.

        Unlike in `warm`, an import may run code of the module under test, because many collaborators build objects of
        it. The recorder does not count this code: a suite need not import these modules.
        """
        if names:
            self.take()
        end = monotonic() + _GATHERING_S
        for name in names:
            if (left := end - monotonic()) > 0:
                self._import([name], may_run=True, seconds=left)

    def warm(self, names: list[str]) -> int:
        """Import modules here for all later children, if that changes nothing that test cases can see.

        Takes a new snapshot if any module was imported. Returns the number of imported modules.
        """
        groups = roots(names)
        found = self._import([name for group in groups for name in group])
        if not found and len(groups) > 1:  # only some packages are harmful: try each separately
            found = sum(map(self._import, groups))
        if found:
            self.take()
            gc.collect()
            gc.freeze()
        return found

    def _import(self, names: list[str], *, may_run: bool = False, seconds: float = MOST_SECONDS) -> int:
        """Import modules if that is harmless. Returns their number."""
        guard = self._guard
        with guard.off():
            if not succeeds_in_a_fork(lambda: self._is_harmless(names, may_run), seconds):
                return 0
        mode, guard.mode = guard.mode, "polite"
        try:
            return import_all(names)
        finally:
            guard.mode = mode

    def _is_harmless(self, names: list[str], may_run: bool) -> bool:
        """Return True if importing the modules changes no state of the subject, and runs no code of it unless it may.

        Called in a fork.
        """
        before = self._recorder.snapshot()
        self._guard.mode = "polite"
        if not import_all(names):
            return False
        self._guard.mode = "off"
        if _thread._count() or not (may_run or self._recorder.snapshot() == before):
            return False
        return all(
            part >= 0 and only_modules_added(*state.part(part))
            for state in (self._near, self._far)
            for part in state.changes()
        )
