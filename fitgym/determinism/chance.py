"""Random numbers in the worker: the same in every test case, or real ones.

A search must be reproducible. So during the search every generator without a seed draws from one fixed stream, which
restarts in each test case. A test's assertions must hold with any random numbers, so values are observed with real
ones. Addresses, the time, process ids and the host's address are random too, see `addresses`, `clock`, `pids` and
`uuids` in this package.
"""

from __future__ import annotations

import _random
import functools
import importlib
import importlib.util
import os
import sys
import types
import weakref
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from fitgym.determinism.addresses import Addresses
from fitgym.determinism.clock import Clock
from fitgym.determinism.pids import Pids
from fitgym.determinism.uuids import Uuids

__all__ = ["PRIVATE", "Chance", "generator_state", "reseed"]

PRIVATE = "fitgym-private-"
"""Prefix of the names of private folders. The rest is random, so such a text is not used as feedback."""


def generator_state(generator: Any) -> Any:
    """Return the state of a `random.Random` in a form that can be restored without running Python code.

    Python code may be instrumented, because `random` can be the subject.
    """
    return (_random.Random.getstate(generator), generator.gauss_next)


def reseed(generator: Any, state: Any) -> None:
    """Restore a state returned by `generator_state`."""
    _random.Random.setstate(generator, state[0])
    generator.gauss_next = state[1]


_OTHER = _random.Random(1).getstate()


class Chance:
    """Replaces the sources of random numbers in this process from now on.

    The replaced functions are `os.urandom`, `os.getpid`, `id`, the clock, the generator of UUIDs, and
    `random.Random.seed` if it is called without a seed. The module `random` is removed from `sys.modules` until it is
    imported: restoring its generator in each test case would cost as much as a few calls of the subject.

    Args:
        subject: name of the module under test. If it is `random`, it is not changed.
    """

    def __init__(self, subject: str) -> None:
        self._addresses = Addresses()
        self._clock = Clock(subject)
        self._pids = Pids()
        self._uuids = Uuids(self._clock)
        self._fixed = True
        self._stream: Any = _random.Random(0)
        self._start = self._stream.getstate()
        self._drawn = False
        self._other = False  # the other stream is active, which no search uses
        self._unseeded: list[weakref.ref[Any]] = []
        self._urandom = os.urandom
        os.urandom = self._bytes
        self._module: Any = None
        self._state: Any = None
        if subject == "random":
            return
        module: Any = importlib.import_module("random")
        self._module = module
        self._seed = module.Random.seed
        module.Random.seed = self._seeding()
        module._urandom = self._bytes
        module.seed = module._inst.seed
        module._inst.seed(0)
        self._state = generator_state(module._inst)
        del sys.modules["random"]
        sys.meta_path.insert(0, _ExistingModule(module))

    def settle(self) -> None:
        """End the import: test cases continue the stream after the numbers drawn by the import."""
        self._start = self._stream.getstate()
        self._addresses.settle()
        self._clock.settle()

    def fix(self, *, other: bool = False) -> None:
        """Restart the fixed stream at the beginning of a test case.

        Args:
            other: start the other fixed stream. Facts that differ between the two streams depend on random numbers.
        """
        self._addresses.fix(other=other)
        self._clock.fix(other=other)
        self._pids.fix(other=other)
        self._uuids.fix()
        self._fixed = True
        if self._drawn or other or self._other:
            self._stream.setstate(_OTHER if other else self._start)
            self._drawn, self._other = False, other
        if "random" in sys.modules and self._module is not None:
            reseed(self._module._inst, self._state)
            if other:
                self._seed_all(1)
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed(int(other))

    def freeze(self, moment: str, *, time: bool = False, datetime: bool = False) -> None:
        """Stop the clock at a moment until the test case ends, see `Clock.freeze`."""
        self._clock.freeze(moment, time=time, datetime=datetime)

    def free(self) -> None:
        """Use real random numbers from now on. Called at the beginning of a test case whose results are observed."""
        self._addresses.free()
        self._clock.free()
        self._pids.free()
        self._uuids.free()
        self._fixed = False
        if self._module is not None:
            self._seed_all(None)
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed(None)

    def _seed_all(self, seed: int | None) -> None:
        """Seed all generators that were created without a seed."""
        for generator in (self._module._inst, *(reference() for reference in self._unseeded)):
            if generator is not None:
                self._seed(generator, seed)

    def _bytes(self, size: int, /) -> bytes:
        """Replacement for `os.urandom`."""
        if not self._fixed or size <= 0:
            return self._urandom(size)
        self._drawn = True
        number: int = self._stream.getrandbits(8 * size)
        return number.to_bytes(size, "little")

    def _seeding(self) -> Any:
        """Return the replacement for `random.Random.seed`."""
        original = self._seed

        @functools.wraps(original)
        def seed(generator: Any, a: Any = None, version: int = 2) -> None:
            if a is None and self._fixed:
                self._drawn = True
                a = self._stream.getrandbits(64)
                self._unseeded = [reference for reference in self._unseeded if reference() is not None]
                self._unseeded.append(weakref.ref(generator))
            original(generator, a, version)

        return seed


class _ExistingModule:
    """Import hook that returns an existing module."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of the module, None for every other name."""
        if fullname != self._module.__name__:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=self._module.__file__)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """Return the existing module."""
        return self._module

    def exec_module(self, module: types.ModuleType) -> None:
        """Restore the specification. The module was executed before."""
        module.__spec__ = self._spec
