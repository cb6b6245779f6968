"""Chance in the worker: the same numbers in every test case, or real ones.

A search has to find the same each time, so while it runs every generator that nobody has seeded draws from one fixed
stream, which starts anew in each test case. What a test asserts has to hold when nobody fixes anything, so values are
observed with real chance. Where objects lie in memory, what time it is and what the process and the host are called are chance
too, see `addresses`, `clock`, `pids` and `uuids` in this package.
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
"""How the names of private folders begin. How they go on is a matter of chance, so nothing is learnt from such a text."""


def generator_state(generator: Any) -> Any:
    """The state of a `random.Random`, in a form that can be put back without running code written in Python.

    That code may be instrumented: `random` can be the subject.
    """
    return (_random.Random.getstate(generator), generator.gauss_next)


def reseed(generator: Any, state: Any) -> None:
    """Put back what `generator_state` gave."""
    _random.Random.setstate(generator, state[0])
    generator.gauss_next = state[1]


_OTHER = _random.Random(1).getstate()


class Chance:
    """Where random numbers come from in this process, from now on.

    `os.urandom`, `os.getpid`, `id`, the clock and the generator of UUIDs are replaced, and `random.Random.seed` where it is called without a seed.
    The module `random` itself seems not to be imported until somebody imports it, because putting its generator back would
    cost each test case as much as a few calls of the subject.

    Args:
        subject: name of the module under test, which is left alone if it is `random`.
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
        self._other = False  # the stream runs that no search sees
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
        sys.meta_path.insert(0, _Again(module))

    def settle(self) -> None:
        """The import is over: no test case draws again what it has drawn."""
        self._start = self._stream.getstate()
        self._addresses.settle()
        self._clock.settle()

    def fix(self, *, other: bool = False) -> None:
        """Start the fixed stream anew; for the beginning of a test case.

        Args:
            other: start another one, always the same too: what differs then depends on chance.
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

    def free(self) -> None:
        """Let real chance in; for the beginning of a test case whose results are to be observed."""
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
        """Seed all generators that nobody has seeded."""
        for generator in (self._module._inst, *(reference() for reference in self._unseeded)):
            if generator is not None:
                self._seed(generator, seed)

    def _bytes(self, size: int, /) -> bytes:
        """Stands in for `os.urandom`."""
        if not self._fixed or size <= 0:
            return self._urandom(size)
        self._drawn = True
        number: int = self._stream.getrandbits(8 * size)
        return number.to_bytes(size, "little")

    def _seeding(self) -> Any:
        """Stands in for `random.Random.seed`."""
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


class _Again:
    """An import hook that hands out a module that exists already."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of the module, None for every other name."""
        if fullname != self._module.__name__:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=self._module.__file__)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        """The module itself."""
        return self._module

    def exec_module(self, module: types.ModuleType) -> None:
        """It has been executed before."""
        module.__spec__ = self._spec
