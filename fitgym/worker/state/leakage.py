"""Leaks: detects state of the code under test that a test case has changed, and restores it.

A test case must start from the state that the import left, whatever ran before it. After each test case the near state
is compared with a snapshot. The near state is the globals of the module under test and everything reachable from them:
containers, attributes of objects and classes, closures and caches. Containers are compared item by item, and identical
objects count as equal. Most changes are undone in place, which takes microseconds. Changes that cannot be undone
exactly (most iterators, a thread, an open file) require a fresh process.

The far state is the state of the other modules of the package, and of the process (`fitgym.worker.state.process`).
Comparing it after each test case would cost too much, so the runner compares it after each batch.
"""

from __future__ import annotations

import _thread
import ast
import builtins
import collections
import functools
import itertools
import operator
import sys
import types
from builtins import id
from collections.abc import Callable, Iterable
from typing import Any

from fitgym.determinism.addresses import Addresses
from fitgym.determinism.chance import Chance, generator_state, reseed
from fitgym.determinism.clock import Clock
from fitgym.determinism.pids import Pids
from fitgym.determinism.uuids import Uuids
from fitgym.worker.state.containers import (
    CONTAINERS,
    EMPTY,
    Fix,
    comparable,
    differs,
    fix_class,
    fix_namespace,
    fix_set,
    is_copied_exactly,
    is_reordered,
    no_fix,
)

__all__ = ["State"]

_MAX_OBJECTS = 20_000
"""Maximal number of objects in one snapshot."""

_ATOMS = frozenset(
    {int, float, complex, str, bytes, bool, type(None), type(...), range, slice, object}
    | {types.ModuleType, types.CodeType, types.BuiltinFunctionType, types.WrapperDescriptorType}
    | {types.MethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType, types.FrameType}
)
# Replacements for library functions (random numbers, clock, ids); each test case resets them.
_OURS = (Addresses, Chance, Clock, Pids, Uuids)
_LRU = type(functools.lru_cache(lambda: None))
_LOCK = type(_thread.allocate_lock())
_RLOCK = type(_thread.RLock())
_FLAGS: Callable[[type], int] = type.__dict__["__flags__"].__get__
_PYTHON_CLASS = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a proxy of a Python class may have every special method
_CODE: Any = types.FunctionType.__dict__["__code__"]
_CONTENTS: Any = types.CellType.__dict__["cell_contents"]
_PROXY = types.MappingProxyType


Read = Callable[[], object]
Get = Callable[[object], object]
Write = Callable[[object], None]


class State:
    """A snapshot of all state that is reachable from some modules.

    Args:
        modules: modules whose globals are the roots. Classes and functions are followed only if one of these defines
            them.
        also: further objects to include.
        around: related modules that another snapshot watches, so that their objects do not count as library objects.
        shallow: modules whose globals are restored, without following the values.
    """

    def __init__(
        self,
        modules: Iterable[types.ModuleType],
        also: Iterable[object] = (),
        around: Iterable[types.ModuleType] = (),
        shallow: Iterable[types.ModuleType] = (),
    ) -> None:
        roots = list(modules)
        self._names = frozenset(module.__name__ for module in roots)
        self._owned = self._names | {module.__name__ for module in around} | sys.stdlib_module_names
        self._live: list[Any] = []  # containers ...
        self._saved: list[Any] = []  # ... their contents; one comparison covers all ...
        self._fixes: list[Fix] = []  # ... and the functions that restore them
        self._reads: list[Read] = []  # state that has to be read ...
        self._values: list[object] = []
        self._writes: list[Write | None] = []
        # ... some of it by C descriptors, which raise if the value is gone ...
        self._gets: list[Get] = []
        self._holders: list[object] = []
        self._held: list[object] = []
        self._asked: list[Read] = []  # ... the rest by Python functions
        self._answers: list[object] = []
        self._caches: list[Any] = []
        self._generators: list[tuple[Any, object]] = []
        self._seen: set[int] = set()
        self._keep: list[object] = []  # keeps the objects, so that no id in `_seen` is reused
        queue: collections.deque[object] = collections.deque()
        for module in roots:
            self._container(vars(module), dict(vars(module)), fix_namespace)
            queue.extend(vars(module).values())
        for module in shallow:
            self._container(vars(module), dict(vars(module)), fix_namespace)
        queue.extend(also)
        self._follow(queue)
        self._probe_counts()
        generators: list[Any] = [thing for thing in self._keep if _has_state(thing)]
        self._generators = [(generator, generator_state(generator)) for generator in generators]
        self.reset()

    def reset(self) -> None:
        """Clear the caches and reseed the generators, which is cheaper than comparing them."""
        for cache in self._caches:
            cache.cache_clear()
        for generator, state in self._generators:
            reseed(generator, state)

    def changed(self) -> bool:
        """Return True if any state differs from the snapshot. Caches and random generators are handled by `reset`."""
        try:
            # Hot path, called after each test case: one comparison of two lists covers all containers.
            if self._live != self._saved:
                return True
            if self._gets and list(map(operator.call, self._gets, self._holders)) != self._held:
                return True
            return bool(self._asked) and [read() for read in self._asked] != self._answers
        except BaseException:  # an `__eq__` of the subject raises, or a value was deleted: both count as a change
            return True

    def changes(self) -> tuple[int, ...]:
        """Return the changed parts: containers by their number (from 0 up), values that are read from -1 down."""
        asked = [-1 - number for number in range(len(self._reads))]
        return tuple(part for part in (*range(len(self._live)), *asked) if self.changed_at([part]))

    def changed_at(self, parts: Iterable[int]) -> bool:
        """Return True if any of these parts differs from the snapshot."""
        try:
            return any(map(self._differs_at, parts))
        except BaseException:  # as in `changed`
            return True

    def restore_at(self, parts: Iterable[int]) -> bool:
        """Restore these parts. Returns False if one of them cannot be restored."""
        try:
            if not all(map(self._restore_part, parts)):
                return False
        except BaseException:
            return False
        return not self.changed_at(parts)

    def _differs_at(self, part: int) -> bool:
        if part < 0:
            return _differ(self._reads[-1 - part](), self._values[-1 - part])
        live, saved = self._live[part], self._saved[part]
        return bool(live != saved) or is_reordered(live, saved, self._fixes[part])

    def _restore_part(self, part: int) -> bool:
        """Restore one part if it has changed. Returns False if that is impossible."""
        if part < 0:
            read, value, write = self._reads[-1 - part], self._values[-1 - part], self._writes[-1 - part]
            if not _differ(read(), value):
                return True
            if write is not None:
                write(value)
            return write is not None
        live, saved, fix = self._live[part], self._saved[part], self._fixes[part]
        as_it_was = not differs(live, saved) and not is_reordered(live, saved, fix) and fix is not fix_set
        return as_it_was or fix(live, saved)

    def part(self, number: int) -> tuple[object, object]:
        """Return a container and its saved content."""
        return self._live[number], self._saved[number]

    def reordered(self) -> bool:
        """Return True if a dictionary has its items in another order.

        Slower than `changed`, which ignores the order.
        """
        return any(map(is_reordered, self._live, self._saved, self._fixes))

    def restore(self) -> bool:
        """Restore everything. Returns False if something cannot be restored; then only a fresh process is clean."""
        try:
            if not all(map(self._restore_part, (*range(len(self._live)), *range(-1, -1 - len(self._reads), -1)))):
                return False
        except BaseException:
            return False
        return not self.changed() and not self.reordered()

    # ------------------------------------------------------------------------------------------------- taking it

    def _follow(self, queue: collections.deque[object]) -> None:
        """Save the state of these objects, and of everything reachable from them."""
        while queue and len(self._seen) < _MAX_OBJECTS:
            thing = queue.popleft()
            if type(thing) in _ATOMS or id(thing) in self._seen or thing is vars(builtins):
                continue
            self._seen.add(id(thing))
            self._keep.append(thing)
            queue.extend(self._look(thing))

    def _probe_counts(self) -> None:
        """Save the state of each `itertools.count`, which often numbers the objects of a class.

        A count cannot be set back. If one namespace and nothing else refers to it, a new count can replace it there.
        """
        counts = [thing for thing in self._keep if type(thing) is itertools.count]
        places: dict[int, list[tuple[int, str]]] = {id(count): [] for count in counts}
        for part, saved in enumerate(self._saved) if counts else ():
            for name, value in saved.items() if type(saved) is dict else ():
                if type(value) is itertools.count and id(value) in places:
                    places[id(value)].append((part, name))
        while counts:
            count = counts.pop()
            held = places[id(count)]
            # Besides the namespace: its saved copy, the kept objects, the variable here, and the argument.
            if len(held) == 1 and sys.getrefcount(count) == 5 and self._fixes[held[0][0]] is not no_fix:
                part, name = held[0]
                live, saved, fix = self._live[part], self._saved[part], self._fixes[part]
                replace = functools.partial(_replace_count, live, saved, fix, name)
                self._probe(functools.partial(_count_in, saved, name), replace)
            else:
                self._probe(functools.partial(_iterator_state, count))

    def _container(self, live: object, saved: object, fix: Fix) -> None:
        self._live.append(live)
        self._saved.append(saved)
        self._fixes.append(fix)

    def _probe(self, read: Read, write: Write | None = None) -> None:
        value = read()
        self._reads.append(read)
        self._values.append(value)
        self._writes.append(write)
        self._asked.append(read)
        self._answers.append(value)

    def _probe_member(self, member: Any, holder: object, write: Write | None = None) -> object:
        """Save the value that a descriptor reads from an object. Returns the value or `EMPTY`."""
        read = functools.partial(_member_state, member, holder)
        value = read()
        if value is EMPTY:
            self._probe(read, write)
            return value
        self._reads.append(read)
        self._values.append(value)
        self._writes.append(write)
        self._gets.append(member.__get__)
        self._holders.append(holder)
        self._held.append(value)
        return value

    def _look(self, thing: Any) -> Iterable[object]:
        """Save the state of one object. Returns the objects that it refers to."""
        try:
            return self._look_at(thing)
        except Exception:  # an object that cannot be inspected is not tracked
            return ()

    def _look_at(self, thing: Any) -> Iterable[object]:
        cls = type(thing)
        if cls in _OURS:
            return ()
        if thing is sys.modules:  # the holder may count or remove modules, and these cannot be restored
            self._container(thing, dict(thing), no_fix)
            return ()
        if issubclass(cls, type):
            return self._look_at_class(thing)
        if cls is types.FunctionType:
            return self._look_at_function(thing)
        if cls is _LRU:
            self._caches.append(thing)
            return (thing.__wrapped__,)
        if cls in (staticmethod, classmethod, types.MethodType):
            return (thing.__func__, getattr(thing, "__self__", None))
        if cls is property:
            return (thing.fget, thing.fset, thing.fdel)
        if cls is functools.cached_property:
            return (thing.func,)
        if cls is functools.partial:
            return (thing.func, thing.args, thing.keywords)
        if cls in (_LOCK, _RLOCK):
            self._probe(functools.partial(_lock_state, thing))
            return ()
        if _has_state(thing):
            return ()
        if cls is itertools.count:
            return ()  # see `_probe_counts`
        if hasattr(cls, "__length_hint__") and hasattr(cls, "__next__") and not _FLAGS(cls) & _PYTHON_CLASS:
            self._probe(functools.partial(_iterator_state, thing))
            return ()
        if cls is types.GeneratorType:
            self._probe(functools.partial(_generator_state, thing))
            return ()
        return self._look_at_object(thing)

    def _look_at_class(self, cls: type) -> Iterable[object]:
        if cls.__module__ not in self._names:
            return ()
        proxy = type.__dict__["__dict__"].__get__(cls)
        self._container(proxy, dict(proxy), functools.partial(fix_class, cls))
        return [value for key, value in proxy.items() if key not in ("__dict__", "__weakref__", "__doc__")]

    def _look_at_function(self, function: types.FunctionType) -> Iterable[object]:
        if function.__module__ not in self._names and not function.__closure__:
            return ()
        found: list[object] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        attributes = function.__dict__
        if attributes:
            self._container(attributes, dict(attributes), fix_namespace)
            found.extend(attributes.values())
        if attributes and function.__module__ in self._names:  # a wrapper that may replace its own code
            self._probe_member(_CODE, function, functools.partial(setattr, function, "__code__"))
        for cell in function.__closure__ or ():
            found.append(cell.cell_contents)
            if function.__module__ in self._names:
                self._probe_member(_CONTENTS, cell, functools.partial(_fill_cell, cell))
        return found

    def _look_at_object(self, thing: Any) -> Iterable[object]:
        cls = type(thing)
        found: list[object] = [cls]
        # The invariants inside a library object are unknown here, so parts of it are never restored alone.
        owned = cls.__module__ in self._owned or str(cls.__module__).partition(".")[0] in self._owned
        for base, copy, fix in CONTAINERS:
            if issubclass(cls, base):
                saved = copy(thing)
                exact = owned and (base is not set or is_copied_exactly(thing, saved))
                self._container(comparable(thing, base), saved, fix if exact else no_fix)
                found.extend(saved.values() if isinstance(saved, dict) else saved)
                break
        if issubclass(cls, (tuple, frozenset)):
            found.extend(tuple.__iter__(thing) if issubclass(cls, tuple) else frozenset.__iter__(thing))
        elif cls is _PROXY:
            found.extend(thing.values())
        elif cls.__name__ == "ndarray" and cls.__module__ == "numpy":
            self._probe(thing.tobytes)
        elif cls.__name__ == "ContextVar":
            self._probe(functools.partial(thing.get, None), thing.set)
        namespace = _namespace(thing)
        if namespace is not None:
            self._container(namespace, dict.copy(namespace), fix_namespace if owned else no_fix)
            found.extend(dict.values(namespace))
        for member in _slots(cls):
            write = functools.partial(_fill_slot, thing, member)
            found.append(self._probe_member(member, thing, write if owned else None))
        return found


def _differ(value: object, saved: object) -> bool:
    """Return True if two values differ. An object is equal to itself, even if it is an array or says that it is not."""
    return value is not saved and bool(value != saved)


def _namespace(thing: object) -> dict[str, object] | None:
    """Return the instance dictionary, None if there is none. Runs no code of the subject."""
    if isinstance(thing, types.ModuleType):
        return None
    try:
        namespace = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        return None
    return namespace if type(namespace) is dict else None


def _slots(cls: type) -> list[Any]:
    """Return the descriptors of the slots that a Python class declares."""
    found = []
    for owner in cls.__mro__[:-1]:
        if "__slots__" in vars(owner):
            found += [member for member in vars(owner).values() if type(member) is types.MemberDescriptorType]
    return found


def _has_state(thing: object) -> bool:
    random = sys.modules.get("random")
    cls = type(thing)
    return random is not None and issubclass(cls, random.Random) and not issubclass(cls, random.SystemRandom)


def _member_state(member: Any, holder: object) -> object:
    try:
        return member.__get__(holder)
    except (AttributeError, ValueError):  # an empty slot, an empty cell
        return EMPTY


def _fill_slot(thing: object, member: Any, value: object) -> None:
    if value is EMPTY:
        member.__delete__(thing)
    else:
        member.__set__(thing, value)


def _lock_state(lock: Any) -> object:
    return lock.locked() if hasattr(lock, "locked") else lock._is_owned()


def _count_in(namespace: dict[str, object], name: str) -> str:
    return repr(namespace[name])


def _replace_count(live: object, saved: dict[str, object], fix: Fix, name: str, state: str) -> None:
    """Replace the count in a namespace by a new one with this state, such as `count(3)`."""
    arguments = ast.literal_eval(f"({state.removeprefix('count(').removesuffix(')')},)")
    saved[name] = itertools.count(*arguments)
    fix(live, saved)


def _iterator_state(iterator: Any) -> object:
    return repr(iterator) if type(iterator) is itertools.count else iterator.__length_hint__()


def _generator_state(generator: Any) -> object:
    return None if generator.gi_frame is None else generator.gi_frame.f_lasti


def _fill_cell(cell: Any, value: object) -> None:
    cell.cell_contents = value
