"""Observations: facts that a test can assert about returned values, as immutable data.

A value is described by facts that hold again in a fresh interpreter: a literal, a container of literals, the public
attributes that an object stores, a length, or as a last resort its class. Values that differ between runs give no fact:
addresses, times, file names of this machine, the text of an unordered set.

Describing a value runs no code of the subject. It calls no `__repr__`, `__eq__`, `__str__`, `__len__`, `__iter__` or
property of the subject's classes, and consumes no iterators. It reads exact standard library types and stored
attributes. A few standard library types (`Fraction`, `date`, ...) are described by their `str`, even if one of them is
the subject.
"""

from __future__ import annotations

import collections
import dis
import itertools
import math
import sys
import types
from builtins import id
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args
from typing import Literal as OneOf

from fitgym.determinism.fleeting import is_fleeting_text, without_addresses
from fitgym.immutable import immutable
from fitgym.instrument.trace import Failure
from fitgym.messages.captured import Captured, CapturedKind, facts
from fitgym.messages.expressions import (
    ATOMS,
    CONTAINERS,
    DICTS,
    MAX_ITEMS,
    MAX_TEXT,
    atom,
    enum_member,
    expression_of,
    has_float,
    is_flat_numbers,
)
from fitgym.messages.likeness import Likeness
from fitgym.messages.reflection import among, constant, is_class, mro, name_of, owner_of, static, stored_attributes
from fitgym.testcase.expression import Expression, Literal, Name, Ref

__all__ = [
    "CAPTURED",
    "NOT_RUN",
    "Observation",
    "ObservationKind",
    "Observed",
    "agreement",
    "describe",
    "observe",
]

ObservationKind = (
    OneOf["equal", "is", "is not", "approx", "nan", "text", "list", "length", "isinstance", "truth", "message"]
    | CapturedKind
)
CAPTURED: tuple[CapturedKind, ...] = get_args(CapturedKind)
"""The kinds of facts about the output of a test case."""

MAX_KEY = 24  # characters of a key in a path
MAX_DEPTH = 3  # nesting of containers
MAX_FACTS = 12  # facts per value
MAX_WHOLE = 500  # characters of the source text of a result that is a text
MAX_END = 40  # characters of the beginning and of the end of a long text


@immutable
class Observation(NamedTuple):
    """One fact about the result of one statement.

    A named tuple, because thousands of them are sent by the workers; `_replace` returns a changed copy.

    Attributes:
        position: index of the statement in its test case.
        path: path from the result to the observed value, as Python source: "" or `.name`, `[0]`, `["key"]` and
            sequences of these; `[:40]` and `[-40:]` are the ends of a long text.
        kind: form of the assertion, for the value v and the expected expression e:
            "equal"       `v == e`; a `Ref` in `e` is an earlier result with the same content
            "is"          `v is e` (None, booleans, enum members, classes, functions, objects of a module, other results)
            "is not"      `v is not e`; never observed, because another fact always says more
            "approx"      `v == pytest.approx(e)`: a number, or a flat list, tuple or dict of numbers
            "nan"         `math.isnan(v)`
            "text"        `str(v) == e`: values of a few types of the standard library
            "list"        `list(v) == e`: views, ranges, deques, and the keys of a dict
            "length"      `len(v) == e`
            "isinstance"  `isinstance(v, e)`
            "truth"       `v` or `not v`, for the result of a comparison; never observed as a fact
            "message"     `re.search(e, str(v))` for the exception v that ended the test case; never observed as a fact
            "stdout", "stderr", "logged"  `v == e` for the output v of the test case; `position` is its number of statements
            "warned"      the last statement gives a warning with the class and the text of `e`; `position` as for output
        expression: the expected value; a `Ref` is the result of another statement.
    """

    position: int
    path: str
    kind: ObservationKind
    expression: Expression


@dataclass(frozen=True, slots=True)
class Observed:
    """The facts that a test could assert after one execution of a test case.

    Attributes:
        observations: facts about the results of its statements, by position.
        raises: importable classes of the exception that ended it, nearest first; empty if there was none.
        position: index of the statement that raised, -1 for none.
        failure: why the execution cannot be trusted; then nothing was observed.
        message: message of the exception if a `raise` or `assert` set it and it is the same in every run (it contains
            no addresses); else "".
    """

    observations: tuple[Observation, ...] = ()
    raises: tuple[Name, ...] = ()
    position: int = -1
    failure: Failure = ""
    message: str = ""


NOT_RUN: Any = object()
"""Represents the missing result of a statement that raised or was not reached."""


def observe(
    results: Sequence[object],
    raised: BaseException | None = None,
    *,
    home: str = "",
    captured: Captured | None = None,
) -> Observed:
    """Return the facts that a test can assert after its last statement.

    Args:
        results: the result of each statement in order, `NOT_RUN` for statements without one. Iterators are drained and
            coroutines awaited if the operation says so.
        raised: the exception that ended the test case. The first statement without a result raised it.
        home: name of the module under test. Its names are preferred to re-exports elsewhere.
        captured: what the test case printed, logged and warned of, None if that is not observed.
    """
    found: list[Observation] = []
    owners: dict[int, int] = {}
    likeness = Likeness(lambda value: _content(value, home))
    for position, value in enumerate(results):
        if value is NOT_RUN:
            continue
        first = owners.setdefault(id(value), position)
        if first != position and _has_identity(value):
            found.append(Observation(position, "", "is", Ref(first)))
            continue
        if (like := likeness.of(value)) is not None:
            found.append(Observation(position, "", "equal", like))
        found.extend(describe(value, position, home=home))
        likeness.add(value, position)
    if captured is not None:
        said = [(kind, e) for kind, e in facts(captured, home) if raised is None or kind != "warned"]
        found += [Observation(len(results), "", kind, expected) for kind, expected in said]
    if raised is None:
        return Observed(tuple(found))
    position = next((i for i, value in enumerate(results) if value is NOT_RUN), len(results))
    classes = (name_of(cls, home) for cls in mro(type(raised)) if cls is not object)
    names = tuple(name for name in classes if name is not None)
    return Observed(tuple(found), names, position, message=_message(raised, home))


def agreement(observed: Sequence[Observed]) -> Observed | None:
    """Return the facts common to several executions of one test case, None if they ended differently.

    Facts that are missing in some execution are left out.
    """
    first = observed[0]
    if any((o.raises, o.position, o.failure) != (first.raises, first.position, first.failure) for o in observed):
        return None
    shared = [fact for fact in first.observations if all(fact in other.observations for other in observed[1:])]
    message = first.message if all(other.message == first.message for other in observed) else ""
    return Observed(tuple(shared), first.raises, first.position, first.failure, message)


def describe(value: object, position: int, *, home: str = "") -> list[Observation]:
    """Return the facts about `value` that a test can assert, most specific first; at most 12, possibly none.

    Args:
        value: the value that the statement returned.
        position: index of the statement.
        home: name of the module under test, see `name_of`.
    """
    return list(itertools.islice(_facts(value, position, "", home, MAX_DEPTH), MAX_FACTS))


def _content(value: object, home: str) -> list[tuple[object, ...]]:
    """Return the known content of an object in a comparable form; nothing if there may be unknown content."""
    facts = list(itertools.islice(_facts(value, 0, "", home, MAX_DEPTH), MAX_FACTS + 1))
    partial = any(fact.kind in ("isinstance", "length", "list") for fact in facts)
    return [] if partial or len(facts) > MAX_FACTS else [(fact.path, fact.kind, fact.expression) for fact in facts]


def _message(error: BaseException, home: str) -> str:
    """Return the message that a `raise` or `assert` gave the exception, "" if there is none that is stable.

    Messages of the interpreter and the standard library differ between Python versions, so they are left out. The
    `__str__` of the subject's own classes is not called.
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
    owner = owner_of(type(error), "__str__")
    if owner is None or not among(owner, _PLAIN_ERRORS):
        return ""
    text = f"{given[0]!r}" if owner is KeyError else given[0]
    return "" if is_fleeting_text(without_addresses(text)) else text[:MAX_TEXT]


def _facts(value: Any, position: int, path: str, home: str, depth: int) -> Iterator[Observation]:
    """Yield all facts about one value, lazily. Follows at most one level of stored objects."""
    cls = type(value)
    if value is None or value is True or value is False:
        yield Observation(position, path, "is", Literal(f"{value!r}"))
    elif among(cls, ATOMS):
        yield from _atom_facts(value, position, path)
    elif (member := enum_member(value, home)) is not None:
        yield Observation(position, path, "is", member)
    elif among(cls, CONTAINERS):
        yield from _container_facts(value, position, path, home, depth)
    elif among(cls, _LISTED):
        expected = expression_of(list(itertools.islice(value, MAX_ITEMS + 1)), home, MAX_DEPTH - 1)
        if expected is not None and not has_float(expected):
            yield Observation(position, path, "list", expected)
        else:
            yield Observation(position, path, "length", Literal(str(len(value))))
    elif is_class(value) or among(cls, _FUNCTIONS):
        name = name_of(value, home)
        if name is not None:
            yield Observation(position, path, "is", name)
    elif (text := _standard_text(value)) is not None:
        yield Observation(position, path, "text", Literal(f"{text!r}"))
    else:
        yield from _object_facts(value, position, path, home, depth)


def _atom_facts(value: Any, position: int, path: str) -> Iterator[Observation]:
    """Yield facts about a number or a text."""
    cls = type(value)
    if cls is float and math.isnan(value):
        yield Observation(position, path, "nan", Literal('float("nan")'))
        return
    literal = atom(value)
    if literal is not None:
        yield Observation(position, path, "approx" if has_float(literal) else "equal", literal)
    elif among(cls, (str, bytes, bytearray)) and len(value) > MAX_TEXT // 2:
        is_lasting = cls is str and not is_fleeting_text(value) and "0x" not in value
        if is_lasting and not path and len(value) <= MAX_WHOLE and len(text := f"{value!r}") <= MAX_WHOLE:
            yield Observation(position, path, "equal", Literal(text))
            return
        if is_lasting:
            for step, end in ((f"[:{MAX_END}]", value[:MAX_END]), (f"[-{MAX_END}:]", value[-MAX_END:])):
                if (literal := atom(end)) is not None:
                    yield Observation(position, path + step, "equal", literal)
        yield Observation(position, path, "length", Literal(str(len(value))))


def _container_facts(value: Any, position: int, path: str, home: str, depth: int) -> Iterator[Observation]:
    """Yield facts about an exact standard container: equal, approximately equal, or the keys or length and elements."""
    expected = expression_of(value, home, MAX_DEPTH)
    if expected is not None and not has_float(expected):
        yield Observation(position, path, "equal", expected)
    elif expected is not None and is_flat_numbers(expected):
        yield Observation(position, path, "approx", expected)
    else:
        keys = expression_of(list(value), home, 2) if among(type(value), DICTS) else None
        if among(type(value), DICTS) and len(value) > MAX_ITEMS and depth > 0:
            for step, item in _content_first(_elements(value))[: MAX_FACTS - 1]:
                yield from itertools.islice(_facts(item, position, path + step, home, 0), 1)
            depth = 0
        if keys is not None and not has_float(keys):
            yield Observation(position, path, "list", keys)
        else:
            yield Observation(position, path, "length", Literal(str(len(value))))
        if depth > 0:
            for step, item in _elements(value) if len(value) <= MAX_ITEMS else _ends(value):
                yield from _facts(item, position, path + step, home, depth - 1)


def _elements(container: Any) -> Iterator[tuple[str, object]]:
    """Yield the elements that an index, or a text or integer key, reaches, each with its path step."""
    if among(type(container), (list, tuple)):
        for index, item in enumerate(container):
            yield f"[{index}]", item
    elif among(type(container), DICTS):
        for key, item in container.items():
            if among(type(key), (str, int)) and (literal := atom(key)) is not None and len(literal.text) <= MAX_KEY:
                yield f"[{literal.text}]", item


def _ends(container: Any) -> Iterator[tuple[str, object]]:
    """Yield the first two elements and the last one of a long list or tuple, each with its path step."""
    if among(type(container), (list, tuple)):
        yield from ((f"[{index}]", container[index]) for index in (0, 1, -1))


def _content_first(members: Iterable[tuple[str, object]]) -> list[tuple[str, object]]:
    """Return the members with None, False, zero and what is empty at the end.

    In a large object, such as the options of a command line, most of these are defaults.
    """
    return sorted(members, key=lambda member: _is_empty(member[1]))


def _is_empty(value: object) -> bool:
    return value is None or value is False or (among(type(value), (*ATOMS, *CONTAINERS)) and not value)


def _object_facts(value: Any, position: int, path: str, home: str, depth: int) -> Iterator[Observation]:
    """Yield facts about the public attributes that an object stores. Its class only if there are none."""
    silent = True
    kept = constant(value, home)
    if kept is not None:
        silent = False
        yield Observation(position, path, "is", kept)
    reported = _REPORTS.get(_known_name(type(value), _REPORTS) or _NOTHING)
    if reported is not None:
        for name in reported:
            yield from _facts(getattr(value, name), position, f"{path}.{name}", home, 1)
        return
    if depth > 1:
        stores = list(stored_attributes(value))
        for name, stored in stores if len(stores) <= MAX_FACTS else _content_first(stores):
            for fact in _facts(stored, position, f"{path}.{name}", home, min(depth, 2) - 1):
                silent = False
                yield fact
    cls = type(value)
    for base in (list, tuple, dict, set):
        if among(base, mro(cls)) and static(cls, "__len__") is base.__len__ and static(cls, "_fields") is None:
            silent = False
            if all(static(cls, name) is static(base, name) for name in ("__eq__", "__getitem__", "__iter__")):
                yield from _container_facts(_plain(value, base), position, path, home, min(depth, 1))
            else:
                yield Observation(position, path, "length", Literal(str(base.__len__(value))))
    if silent and not path:
        for ancestor in mro(cls):
            known = name_of(ancestor, home) if ancestor is not object else None
            if known is not None:
                yield Observation(position, path, "isinstance", known)
                return


def _standard_text(value: object) -> str | None:
    """Return `str(value)` for a few standard types whose text describes them fully, None for other types."""
    if _known_name(type(value), _TEXTUAL) is None:
        return None
    try:
        text = str(value)
    except BaseException:  # the type may be the subject itself, and may be out of fuel by now
        return None
    return None if len(text) > MAX_TEXT or is_fleeting_text(text) else text


def _plain(value: Any, base: type) -> Any:
    """Return an exact container with the content of one of a subclass, without running code of the subclass."""
    return base(dict.items(value) if base is dict else base.__iter__(value))  # type: ignore[attr-defined]


def _known_name(cls: type, names: Container[Name]) -> Name | None:
    """Return the importable name of a class if it is one of the names. Most classes have another name in any module."""
    if type.__dict__["__qualname__"].__get__(cls) not in _QUALNAMES:
        return None
    name = name_of(cls)
    return name if name in names else None


def _has_identity(value: object) -> bool:
    """Return True if the identity of the object is worth asserting: it is mutable and not a literal."""
    return not (
        value is None or among(type(value), ATOMS) or among(type(value), (bool, tuple, frozenset, range))
    ) and not (is_class(value) or among(type(value), _FUNCTIONS) or enum_member(value, "") is not None)


_RAISE = dis.opmap["RAISE_VARARGS"]  # `raise` and `assert` compile to it, and nothing else does
_PLAIN_ERRORS = (BaseException, KeyError, OSError, ImportError, AttributeError, NameError)  # `str` gives the argument
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


_NOTHING = Name("", "")
_REPORTS: Mapping[Name, tuple[str, ...]] = {Name("click.testing", "Result"): ("exit_code", "output")}
"""Attributes to describe, for library objects that report a result."""

_LISTED: tuple[type, ...] = (collections.deque, range, type({}.keys()), type({}.values()), type({}.items()))
_TEXTUAL = frozenset(
    Name(module, qualname)
    for module, qualname in (
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
    )
)
_QUALNAMES = frozenset(name.qualname for name in (*_TEXTUAL, *_REPORTS))
