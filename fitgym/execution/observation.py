"""Observations: what a test can assert about the values that came back, as immutable data.

A value is described by facts that hold again in any fresh interpreter: a literal, a container of literals, the public
attributes an object stores, a length, in the last resort a class. What is different the next time gives no fact:
addresses, times, file names of this machine, text of an unordered set.

Describing runs no code of the subject: no `__repr__`, `__eq__`, `__str__`, `__len__`, `__iter__` or property of its
classes is called, and iterators are not consumed. Everything is read through the exact types of the standard library
and through what objects store. A few types of the standard library (`Fraction`, `date`, ...) are told by their `str`,
even if one of them is the subject.
"""

from __future__ import annotations

import collections
import dis
import enum
import itertools
import math
import os
import re
import sys
import tempfile
import types
from builtins import id
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import localtime, strftime, time
from typing import Any, TypeGuard
from typing import Literal as OneOf

from fitgym.execution.addresses import END_OF_NUMBERS
from fitgym.execution.clock import MOMENTS
from fitgym.execution.pids import PIDS
from fitgym.instrument.trace import Failure
from fitgym.testcase.expression import Collection, CollectionKind, Expression, Literal, Name, Ref

__all__ = [
    "NOT_RUN",
    "Observation",
    "ObservationKind",
    "Observed",
    "agreement",
    "describe",
    "is_fleeting",
    "name_of",
    "observe",
]

ObservationKind = OneOf[
    "equal", "is", "is not", "approx", "nan", "text", "list", "length", "isinstance", "truth", "message"
]

MAX_ITEMS = 12  # a longer container is described by its length
MAX_TEXT = 200  # characters of the source text of one expected value
MAX_KEY = 24  # characters of a key on the way to an element
MAX_DEPTH = 3  # containers in containers
MAX_FACTS = 12  # per value


@dataclass(frozen=True, slots=True)
class Observation:
    """One fact about the result of one statement.

    Attributes:
        position: index of the statement in its test case.
        path: what leads from its result to the observed value, as Python text: "" or `.name`, `[0]`, `["key"]` and
            sequences of these.
        kind: how the fact is written, for the value v and the expected expression e:
            "equal"       `v == e`
            "is"          `v is e` (None, True, False, enum members, classes, functions, the result of another statement)
            "is not"      `v is not e`; never observed, because there is always something better to say
            "approx"      `v == pytest.approx(e)`: a number, or a flat list, tuple or dict of numbers
            "nan"         `math.isnan(v)`
            "text"        `str(v) == e`: values of a few types of the standard library
            "list"        `list(v) == e`: views, ranges and deques
            "length"      `len(v) == e`
            "isinstance"  `isinstance(v, e)`
            "truth"       `v` or `not v`, for what a comparison gives; never observed as a fact
            "message"     `re.search(e, str(v))` for the exception v that ended the test case; never observed as a fact
        expression: the expected value; a `Ref` is the result of another statement.
    """

    position: int
    path: str
    kind: ObservationKind
    expression: Expression


@dataclass(frozen=True, slots=True)
class Observed:
    """What one execution of a test case let a test see when it was over.

    Attributes:
        observations: facts about the results of its statements, by position.
        raises: the importable classes of the exception that ended it, nearest first; empty if none did.
        position: index of the statement that raised, -1 for none.
        failure: why the execution cannot be trusted; then nothing was observed.
        message: of the exception, if a `raise` or `assert` chose it and it will be the same the next time (addresses in
            it will not); else "".
    """

    observations: tuple[Observation, ...] = ()
    raises: tuple[Name, ...] = ()
    position: int = -1
    failure: Failure = ""
    message: str = ""


NOT_RUN: Any = object()
"""Stands for the result of a statement that has none, because it was not reached or raised."""


def observe(results: Sequence[object], raised: BaseException | None = None, *, home: str = "") -> Observed:
    """What a test can assert when its last statement is over.

    Args:
        results: the result of each statement in order (drained or awaited where the operation says so), `NOT_RUN` for
            those that have none.
        raised: the exception that ended the test case; the statement that raised is the first one without a result.
        home: name of the module under test; its own names are preferred to re-exports elsewhere.
    """
    found: list[Observation] = []
    owners: dict[int, int] = {}
    for position, value in enumerate(results):
        if value is NOT_RUN:
            continue
        first = owners.setdefault(id(value), position)
        if first != position and _has_identity(value):
            found.append(Observation(position, "", "is", Ref(first)))
        else:
            found.extend(describe(value, position, home=home))
    if raised is None:
        return Observed(tuple(found))
    position = next((i for i, value in enumerate(results) if value is NOT_RUN), len(results))
    classes = (name_of(cls, home) for cls in _mro(type(raised)) if cls is not object)
    names = tuple(name for name in classes if name is not None)
    return Observed(tuple(found), names, position, message=_message(raised, home))


def agreement(observed: Sequence[Observed]) -> Observed | None:
    """What several executions of one test case have in common, None if they ended differently.

    Facts that are not in all of them are left out.
    """
    first = observed[0]
    if any((o.raises, o.position, o.failure) != (first.raises, first.position, first.failure) for o in observed):
        return None
    shared = [fact for fact in first.observations if all(fact in other.observations for other in observed[1:])]
    message = first.message if all(other.message == first.message for other in observed) else ""
    return Observed(tuple(shared), first.raises, first.position, first.failure, message)


def describe(value: object, position: int, *, home: str = "") -> list[Observation]:
    """The facts about `value` that a test can assert, the most telling first; at most 12, possibly none.

    Args:
        value: what the statement returned.
        position: index of the statement.
        home: name of the module under test, see `name_of`.
    """
    return list(itertools.islice(_facts(value, position, "", home, MAX_DEPTH), MAX_FACTS))


def name_of(thing: object, home: str = "") -> Name | None:
    """Where a class or function is imported from, None if it cannot be.

    It is importable if the dotted path in `__qualname__` leads to it in a loaded module. Of several modules the
    first of these is taken: `home` if it is the thing's own module or a package around it, then, when a part of its
    module's name starts with an underscore, the name without leading underscores (`csv` for `_csv`) and the parent
    packages, then its own module.
    """
    namespace = type.__getattribute__(thing, "__dict__") if _is_class(thing) else {}
    module = namespace.get("__module__") if _is_class(thing) else getattr(thing, "__module__", None)
    if _is_class(thing) and type(module) is not str:
        module = type.__dict__["__module__"].__get__(thing)  # builtins and C classes keep it elsewhere
    qualname = type.__dict__["__qualname__"].__get__(thing) if _is_class(thing) else _qualname(thing)
    if type(module) is not str or type(qualname) is not str or not _is_path(qualname):
        return None
    if module == "__main__":
        return None
    candidates = [home] if home and f"{module}.".startswith(f"{home}.") else []
    parts = module.split(".")
    if any(part.startswith("_") for part in parts):
        candidates.append(".".join(part.lstrip("_") for part in parts))
        candidates += [".".join(parts[:size]) for size in range(len(parts) - 1, 0, -1)]
        candidates = [name for name in candidates if not name.startswith("_")]
    candidates.append(module)
    for candidate in candidates:
        if _resolve(candidate, qualname) is thing:
            return Name(candidate, qualname)
    return None


def _message(error: BaseException, home: str) -> str:
    """The text that a `raise` or `assert` gave the exception, "" if there is none or none that can be relied on.

    What the interpreter and the standard library say differs from one version of Python to the next. The `__str__` of
    the subject's own classes is not called.
    """
    traceback = BaseException.__dict__["__traceback__"].__get__(error)
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None or traceback.tb_frame.f_code.co_code[traceback.tb_lasti] != _RAISE:
        return ""
    module = traceback.tb_frame.f_globals.get("__name__")
    top = module.partition(".")[0] if type(module) is str else ""
    if top in sys.stdlib_module_names and top != home.partition(".")[0]:
        return ""
    given = BaseException.__dict__["args"].__get__(error)
    if len(given) != 1 or type(given[0]) is not str:
        return ""
    owner = _owner(type(error), "__str__")
    if owner is None or not _among(owner, _PLAIN_ERRORS):
        return ""
    text = repr(given[0]) if owner is KeyError else given[0]
    return "" if _is_fleeting_text(_ADDRESS.sub("", text)) else text[:MAX_TEXT]


def _owner(cls: type, name: str) -> type | None:
    """The first of the classes that `cls` inherits from which has an attribute of its own of that name."""
    return next((one for one in _mro(cls) if name in type.__getattribute__(one, "__dict__")), None)


def _facts(value: Any, position: int, path: str, home: str, depth: int) -> Iterator[Observation]:
    """All facts about one value, lazily; at most one level of stored objects is looked into."""
    cls = type(value)
    if value is None or value is True or value is False:
        yield Observation(position, path, "is", Literal(repr(value)))
    elif _among(cls, _ATOMS):
        yield from _atom_facts(value, position, path)
    elif (member := _enum_member(value, home)) is not None:
        yield Observation(position, path, "is", member)
    elif _among(cls, _CONTAINERS):
        yield from _container_facts(value, position, path, home, depth)
    elif _among(cls, _LISTED):
        expected = _expected(list(itertools.islice(value, MAX_ITEMS + 1)), home, MAX_DEPTH - 1)
        if expected is not None and not _has_float(expected):
            yield Observation(position, path, "list", expected)
        else:
            yield Observation(position, path, "length", Literal(str(len(value))))
    elif _is_class(value) or _among(cls, _FUNCTIONS):
        name = name_of(value, home)
        if name is not None:
            yield Observation(position, path, "is", name)
    elif (text := _standard_text(value)) is not None:
        yield Observation(position, path, "text", Literal(repr(text)))
    else:
        yield from _object_facts(value, position, path, home, depth)


def _atom_facts(value: Any, position: int, path: str) -> Iterator[Observation]:
    """Facts about a number or a text."""
    cls = type(value)
    if cls is float and math.isnan(value):
        yield Observation(position, path, "nan", Literal('float("nan")'))
        return
    literal = _atom(value)
    if literal is not None:
        inexact = (cls is float and math.isfinite(value)) or cls is complex
        yield Observation(position, path, "approx" if inexact else "equal", literal)
    elif _among(cls, (str, bytes, bytearray)) and len(value) > MAX_TEXT // 2:
        yield Observation(position, path, "length", Literal(str(len(value))))


def _container_facts(value: Any, position: int, path: str, home: str, depth: int) -> Iterator[Observation]:
    """Facts about an exact container of the standard library: equal, approximately equal, by element, or its length."""
    expected = _expected(value, home, MAX_DEPTH)
    if expected is not None and not _has_float(expected):
        yield Observation(position, path, "equal", expected)
    elif expected is not None and _is_flat_numbers(expected):
        yield Observation(position, path, "approx", expected)
    else:
        yield Observation(position, path, "length", Literal(str(len(value))))
        if depth > 0 and len(value) <= MAX_ITEMS:
            for step, item in _elements(value):
                yield from _facts(item, position, path + step, home, depth - 1)


def _elements(container: Any) -> Iterator[tuple[str, object]]:
    """The elements that can be reached by an index or by a text or integer key, with the way to them."""
    if _among(type(container), (list, tuple)):
        for index, item in enumerate(container):
            yield f"[{index}]", item
    elif _among(type(container), _DICTS):
        for key, item in container.items():
            if _among(type(key), (str, int)) and (literal := _atom(key)) is not None and len(literal.text) <= MAX_KEY:
                yield f"[{literal.text}]", item


def _object_facts(value: Any, position: int, path: str, home: str, depth: int) -> Iterator[Observation]:
    """The public attributes that an object stores; its class only if there are none."""
    silent = True
    if depth > 1:
        for name, stored in _stored(value):
            for fact in _facts(stored, position, f"{path}.{name}", home, min(depth, 2) - 1):
                silent = False
                yield fact
    cls = type(value)
    for base, size in ((list, list.__len__), (tuple, tuple.__len__), (dict, dict.__len__), (set, set.__len__)):
        if _among(base, _mro(cls)) and _static(cls, "__len__") is size and _static(cls, "_fields") is None:
            silent = False
            yield Observation(position, path, "length", Literal(str(size(value))))
    if silent and not path:
        for ancestor in _mro(cls):
            known = name_of(ancestor, home) if ancestor is not object else None
            if known is not None:
                yield Observation(position, path, "isinstance", known)
                return


def _stored(value: Any) -> Iterator[tuple[str, object]]:
    """The public attributes of an object that can be read without running its code: instance dictionary, slots and
    fields of a named tuple.

    An attribute that the class shadows by a property, and every attribute of a class with its own `__getattribute__`,
    is left out, because reading it in a test would run code.
    """
    cls = type(value)
    if type(_static(cls, "__getattribute__")) is not types.WrapperDescriptorType:
        return
    fields = _static(cls, "_fields")
    if _among(tuple, _mro(cls)) and type(fields) is tuple:
        for index, field in enumerate(fields):
            getter = _static(cls, field) if type(field) is str else None
            if type(getter).__name__ == "_tuplegetter" and index < tuple.__len__(value):
                yield field, tuple.__getitem__(value, index)
    dictionary = _static(cls, "__dict__")  # anything but these two kinds may be the subject's own property
    plain = type(dictionary) in (types.GetSetDescriptorType, types.MemberDescriptorType)
    namespace = dictionary.__get__(value, cls) if plain else {}
    if type(namespace) is dict:
        for name, item in list(namespace.items()):
            if type(name) is str and _is_public(name) and not _is_data_descriptor(_static(cls, name)):
                yield name, item
    for owner in _mro(cls):
        members = type.__getattribute__(owner, "__dict__")
        for name, member in list(members.items()) if "__slots__" in members else ():
            if type(member) is types.MemberDescriptorType and _is_public(name) and _static(cls, name) is member:
                try:
                    item = member.__get__(value, cls)
                except AttributeError:
                    continue  # the slot is empty
                yield name, item


def _expected(value: object, home: str, depth: int) -> Expression | None:
    """An expression that is equal to `value`, None if there is none of bounded size that can be trusted."""
    expression = _expression(value, home, depth)
    return expression if expression is not None and _size(expression) <= MAX_TEXT else None


def _expression(value: Any, home: str, depth: int) -> Expression | None:
    cls = type(value)
    if value is None or cls is bool:
        return Literal(repr(value))
    if _among(cls, _ATOMS):
        return None if cls is float and math.isnan(value) else _atom(value)
    if _among(cls, _CONTAINERS):
        if depth == 0 or len(value) > MAX_ITEMS:
            return None
        parts: Iterable[object] = itertools.chain.from_iterable(value.items()) if _among(cls, _DICTS) else value
        items: list[Expression] = []
        for part in parts:
            item = _expression(part, home, depth - 1)
            if item is None:
                return None
            items.append(item)
        if _among(cls, (set, frozenset)):
            if any(_has_float(item) for item in items):
                return None  # no tolerance is possible inside a set
            items.sort(key=repr)  # the order of iteration depends on the hash seed
        return Collection(_CONTAINERS[cls], tuple(items))
    if _is_class(value):
        return name_of(value, home)
    return _enum_member(value, home)


def _atom(value: Any) -> Literal | None:
    """A number or text as a literal, None if it is too long or will be different the next time."""
    cls = type(value)
    if cls is int:
        if value.bit_length() > 3 * MAX_TEXT or _is_fleeting_number(value):
            return None
        return Literal(repr(value))
    if cls is float:
        return None if _is_fleeting_number(value) else Literal(_float_text(value))
    if cls is complex:
        finite = math.isfinite(value.real) and math.isfinite(value.imag)
        return Literal(repr(value)) if finite else None
    if cls is bytearray:
        value = bytes(value[: MAX_TEXT + 1])
    if len(value) > MAX_TEXT or len(text := repr(value)) > MAX_TEXT:
        return None
    if _is_fleeting_text(value if cls is str else value.decode("latin-1")):
        return None
    return Literal(text)


def _float_text(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'float("{value!r}")'


def _is_fleeting_number(value: int | float) -> bool:
    """The number looks like the clock, the year, an address or the id of the process."""
    return (isinstance(value, int) and value == localtime().tm_year) or _is_of_this_run(value)


def _is_of_this_run(value: int | float) -> bool:
    if isinstance(value, int) and (_LOWEST_ADDRESS <= value < END_OF_NUMBERS or value in PIDS):
        return True
    scales = (1, 1_000, 1_000_000, 1_000_000_000)
    return any(abs(value - now * scale) < 172_800 * scale for now in (time(), *MOMENTS) for scale in scales)


# Linux on 64 bits: the heap of position-independent programs starts at 0x55..., mappings end at 0x7f...; those that stand
# in for them follow.
_LOWEST_ADDRESS = 0x5500_0000_0000
_DIGIT = re.compile(r"\d")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{8,}")
_SET_TEXT = re.compile(r"""\{b?(?P<a>['"])[^:{}]*(?P=a), b?(?P<b>['"])[^:{}]*(?P=b)[,}]""")


def is_fleeting(literal: str) -> bool:
    """The literal, as source text, is such a number, except for the year, or a text with an address, a process id or the date."""
    try:
        return _is_of_this_run(int(literal) if literal.isdecimal() else float(literal))
    except (ValueError, OverflowError):  # not a number, or one with too many digits
        return _tells_of_this_run(literal)


def _is_fleeting_text(text: str) -> bool:
    """The text shows an address, a process id, today's date, a folder of this machine or a set of texts in its chance order."""
    if _tells_of_this_run(text) or _SET_TEXT.search(text):
        return True
    return any(folder in text for folder in _folders())


def _tells_of_this_run(text: str) -> bool:
    if not _DIGIT.search(text):
        return False
    return bool(_ADDRESS.search(text)) or any(part in text for part in (*_days(time()), *_FIXED))


def _folders() -> list[str]:
    try:
        here = os.getcwd()
    except OSError:  # the subject removed it
        here = "/"
    places = (tempfile.gettempdir(), here, os.path.expanduser("~"), sys.prefix, sys.base_prefix)
    return [place for place in places if place.count("/") >= 2 or place == tempfile.gettempdir()]


def _days(now: float) -> list[str]:
    """The dates from the day before to the day after in the usual spellings."""
    days = []
    for shift in (-86_400, 0, 86_400):
        day = localtime(now + shift)
        days += [strftime(form, day) for form in ("%Y-%m-%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y")]
        days += [strftime("%b ", day) + f"{day.tm_mday:2d}", strftime("%d %b %Y", day)]
    return days


_FIXED = (*(day for moment in MOMENTS for day in _days(moment)), *map(str, PIDS))


def _standard_text(value: object) -> str | None:
    """`str(value)` for values of a few types of the standard library whose text says all, None for other types."""
    cls = type(value)
    name = name_of(cls)
    if name is None or (name.module, name.qualname) not in _TEXTUAL:
        return None
    try:
        text = str(value)
    except BaseException:  # the type may be the subject itself, out of fuel by now
        return None
    return None if len(text) > MAX_TEXT or _is_fleeting_text(text) else text


def _enum_member(value: object, home: str) -> Name | None:
    """The member of an enumeration as an importable name."""
    cls = type(value)
    if not _among(enum.Enum, _mro(cls)):
        return None
    members = _static(cls, "_member_map_")
    owner = name_of(cls, home)
    if type(members) is not dict or owner is None:
        return None
    for name, member in members.items():
        if member is value and type(name) is str and name.isidentifier():
            return Name(owner.module, f"{owner.qualname}.{name}")
    return None


def _has_identity(value: object) -> bool:
    """Two results that are this object are worth saying so: it is mutable and no mere literal."""
    return not (
        value is None or _among(type(value), _ATOMS) or _among(type(value), (bool, tuple, frozenset, range))
    ) and not (_is_class(value) or _among(type(value), _FUNCTIONS) or _enum_member(value, "") is not None)


def _has_float(expression: Expression) -> bool:
    if isinstance(expression, Collection):
        return any(_has_float(item) for item in expression.items)
    return isinstance(expression, Literal) and _is_inexact(expression.text)


def _is_inexact(text: str) -> bool:
    """The literal is a finite float or a complex number; infinities compare exactly."""
    if text[:1] in "'\"bB" or text.startswith("float("):
        return False
    return text.endswith("j") or text.endswith("j)") or (any(c in text for c in ".e") and text not in _WORDS)


def _is_flat_numbers(expression: Expression) -> bool:
    """`pytest.approx` takes the expression: a list, a tuple or the values of a dict, all numbers."""
    if not isinstance(expression, Collection) or expression.kind not in ("list", "tuple", "dict"):
        return False
    numbers = expression.items[1::2] if expression.kind == "dict" else expression.items
    keys = expression.items[::2] if expression.kind == "dict" else ()
    return all(
        isinstance(n, Literal) and n.text not in _WORDS and n.text[:1] not in "'\"b" for n in numbers
    ) and not any(_has_float(key) for key in keys)


def _size(expression: Expression) -> int:
    """About how many characters the expression takes."""
    if isinstance(expression, Collection):
        return 2 + sum(_size(item) + 2 for item in expression.items)
    if isinstance(expression, Literal):
        return len(expression.text)
    return len(expression.qualname) if isinstance(expression, Name) else 4


def _among(cls: type, classes: Iterable[type]) -> bool:
    """One of `classes` is `cls`; `in` would call the `__eq__` and `__hash__` of its metaclass."""
    return any(cls is other for other in classes)


def _is_class(thing: object) -> TypeGuard[type]:
    """The thing is a class; `isinstance` would ask for its attribute `__class__`."""
    return _among(type, _mro(type(thing)))


def _mro(cls: type) -> tuple[type, ...]:
    """The classes that `cls` inherits from, itself first, past any metaclass."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(cls)
    return found


def _static(cls: type, name: str) -> Any:
    """The class attribute `name` as it is stored, found without running a descriptor; None if there is none."""
    for owner in _mro(cls):
        namespace = type.__getattribute__(owner, "__dict__")
        if name in namespace:
            return namespace[name]
    return None


def _is_data_descriptor(attribute: object) -> bool:
    return any(_static(type(attribute), name) is not None for name in ("__set__", "__delete__"))


def _is_public(name: str) -> bool:
    return not name.startswith("_") and name.isidentifier()


def _is_path(qualname: str) -> bool:
    return all(part.isidentifier() for part in qualname.split("."))


def _qualname(thing: object) -> object:
    return getattr(thing, "__qualname__", None)


def _resolve(module: str, qualname: str) -> object:
    """What the dotted path means in the loaded module, None if it leads nowhere; descriptors are not run."""
    loaded = sys.modules.get(module)
    if not _among(types.ModuleType, _mro(type(loaded))):
        return None
    first, *rest = qualname.split(".")
    found: Any = types.ModuleType.__getattribute__(loaded, "__dict__").get(first)
    for part in rest:
        if not _is_class(found):
            return None
        found = _static(found, part)
        if type(found) is staticmethod:
            found = found.__func__
    return found


_RAISE = dis.opmap["RAISE_VARARGS"]  # what `raise` and `assert` compile to, and nothing else does
_PLAIN_ERRORS = (BaseException, KeyError, OSError, ImportError, AttributeError, NameError)  # `str` gives the argument
_WORDS = ("True", "False", "None")
_ATOMS = (int, float, complex, str, bytes, bytearray)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


_CONTAINERS: dict[type, CollectionKind] = {
    list: "list",
    tuple: "tuple",
    set: "set",
    frozenset: "frozenset",
    dict: "dict",
    collections.OrderedDict: "dict",
    collections.defaultdict: "dict",
    collections.Counter: "dict",
    types.MappingProxyType: "dict",
}
_DICTS = tuple(cls for cls, kind in _CONTAINERS.items() if kind == "dict")


_LISTED: tuple[type, ...] = (collections.deque, range, type({}.keys()), type({}.values()), type({}.items()))
_TEXTUAL = frozenset(
    {
        ("decimal", "Decimal"),
        ("fractions", "Fraction"),
        ("datetime", "date"),
        ("datetime", "datetime"),
        ("datetime", "time"),
        ("datetime", "timedelta"),
        ("datetime", "timezone"),
        ("ipaddress", "IPv4Address"),
        ("ipaddress", "IPv4Network"),
        ("ipaddress", "IPv6Address"),
        ("ipaddress", "IPv6Network"),
        ("pathlib", "PosixPath"),
        ("pathlib", "PurePosixPath"),
        ("pathlib", "PureWindowsPath"),
        ("uuid", "UUID"),
    }
)
