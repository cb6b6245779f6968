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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args
from typing import Literal as OneOf

from fitgym.determinism.fleeting import is_fleeting_text, without_addresses
from fitgym.immutable import immutable
from fitgym.instrument.trace import Failure
from fitgym.messages.captured import Captured, CapturedKind, facts
from fitgym.messages.contents import contents, elements, standard_text
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
from fitgym.testcase.expression import Collection, Expression, Literal, Name, Ref

__all__ = [
    "CAPTURED",
    "FEW_FACTS",
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
MAX_FACTS = 48  # facts per value
FEW_FACTS = 12  # facts per value that are worth checking, if none of them has changed
_NONE_KNOWN: Mapping[int, int] = types.MappingProxyType({})
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
    for position, value in enumerate(results):
        if value is not NOT_RUN and _has_identity(value):
            owners.setdefault(id(value), position)
    likeness = Likeness(lambda value: _content(value, home))
    for position, value in enumerate(results):
        if value is NOT_RUN:
            continue
        first = owners.get(id(value), position)
        if first != position:
            found.append(Observation(position, "", "is", Ref(first)))
            continue
        if (like := likeness.of(value)) is not None:
            found.append(Observation(position, "", "equal", like))
        found.extend(describe(value, position, home=home, known=owners))
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


def describe(
    value: object, position: int, *, home: str = "", known: Mapping[int, int] = _NONE_KNOWN
) -> list[Observation]:
    """Return the facts about `value` that a test can assert; at most 48, possibly none.

    The most specific are first, and those about an attribute come before those about what its objects store. The latter
    are read only if there are fewer than 12.

    Args:
        value: the value that the statement returned.
        position: index of the statement.
        home: name of the module under test, see `name_of`.
        known: positions of statements by the `id` of the objects that they returned. An attribute that is one of these
            objects is told by it.
    """
    reader = _Reader(position, home, known)
    found = list(itertools.islice(reader.facts(value), MAX_FACTS))
    if len(found) < FEW_FACTS and reader.is_cut:
        shallow = frozenset(found)
        deeper = _Reader(position, home, known, levels=2).facts(value)
        found += itertools.islice((fact for fact in deeper if fact not in shallow), FEW_FACTS - len(found))
    return found


def _content(value: object, home: str) -> list[tuple[object, ...]]:
    """Return the known content of an object in a comparable form; nothing if there may be unknown content."""
    facts = list(itertools.islice(_Reader(0, home).facts(value), MAX_FACTS + 1))
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
    text = _given_text(error)
    return "" if text is None or is_fleeting_text(without_addresses(text)) else text[:MAX_TEXT]


def _given_text(error: BaseException) -> str | None:
    """Return `str(error)` for an exception with one argument, a text, and no `__str__` of its own; None for others."""
    given = BaseException.__dict__["args"].__get__(error)
    owner = owner_of(type(error), "__str__")
    if len(given) != 1 or type(given[0]) is not str or owner is None or not among(owner, _PLAIN_ERRORS):
        return None
    return f"{given[0]!r}" if owner is KeyError else given[0]


class _Reader:
    """Reads what a test can assert about one value.

    Args:
        position: index of the statement that returned the value.
        home: name of the module under test.
        known: see `describe`.
        levels: how many stored objects are followed, each inside the one before.

    Attributes:
        is_cut: an object was not followed.
    """

    def __init__(self, position: int, home: str, known: Mapping[int, int] = _NONE_KNOWN, levels: int = 1) -> None:
        self._position = position
        self._home = home
        self._known = known
        self._levels = levels
        self.is_cut = False

    def facts(self, value: object) -> Iterator[Observation]:
        """Yield all facts about the value, lazily."""
        return self._facts(value, "", MAX_DEPTH, self._levels)

    def _fact(self, path: str, kind: ObservationKind, expected: Expression) -> Observation:
        return Observation(self._position, path, kind, expected)

    def _facts(self, value: Any, path: str, depth: int, levels: int) -> Iterator[Observation]:
        """Yield all facts about a part of the value.

        Args:
            value: the part.
            path: to the part.
            depth: levels of containers that may be followed.
            levels: levels of stored objects that may be followed.
        """
        cls = type(value)
        if value is None or value is True or value is False:
            yield self._fact(path, "is", Literal(f"{value!r}"))
        elif among(cls, ATOMS):
            yield from self._of_atom(value, path)
        elif (member := enum_member(value, self._home)) is not None:
            yield self._fact(path, "is", member)
        elif among(cls, CONTAINERS):
            yield from self._of_container(value, path, depth, levels)
        elif among(cls, _LISTED):
            yield self._of_elements(list(itertools.islice(value, MAX_ITEMS + 1)), path, len(value))
        elif is_class(value) or among(cls, _FUNCTIONS):
            yield from self._of_definition(value, path)
        elif among(BaseException, mro(cls)):
            text = _given_text(value)
            if text is not None and len(text) <= MAX_TEXT and not is_fleeting_text(text):
                yield self._fact(path, "text", Literal(f"{text!r}"))
            yield from self._of_object(value, path, depth, levels)
        elif (text := standard_text(value)) is not None:
            yield self._fact(path, "text", Literal(f"{text!r}"))
        elif (found := elements(value)) is not None:
            yield self._of_elements(found[0], path, found[1])
        elif path and (same := self._known.get(id(value))) is not None:
            if same != self._position:
                yield self._fact(path, "is", Ref(same))
        else:
            yield from self._of_object(value, path, depth, levels)

    def _length(self, path: str, length: int) -> Observation:
        return self._fact(path, "length", Literal(str(length)))

    def _of_definition(self, value: Any, path: str) -> Iterator[Observation]:
        """Yield the importable name of a class or function, or the name that it was defined with."""
        name = name_of(value, self._home)
        if name is not None:
            yield self._fact(path, "is", name)
        elif (not is_class(value) or type(value) is type) and value.__name__.isidentifier():  # no metaclass defines it
            yield self._fact(f"{path}.__name__", "equal", Literal(f"{value.__name__!r}"))

    def _of_elements(self, items: list[Any], path: str, length: int) -> Observation:
        """Return the fact about a container that a test compares as a list: its items, else its length."""
        expected = expression_of(items, self._home, MAX_DEPTH - 1)
        if expected is None or has_float(expected):
            return self._length(path, length)
        return self._fact(path, "list", expected)

    def _of_atom(self, value: Any, path: str) -> Iterator[Observation]:
        """Yield facts about a number or a text."""
        cls = type(value)
        if cls is float and math.isnan(value):
            yield self._fact(path, "nan", Literal('float("nan")'))
            return
        literal = atom(value)
        if literal is not None:
            yield self._fact(path, "approx" if has_float(literal) else "equal", literal)
        elif among(cls, (str, bytes, bytearray)) and len(value) > MAX_TEXT // 2:
            is_whole = not path or path.endswith("()")
            is_lasting = cls is str and not is_fleeting_text(value) and "0x" not in value
            if is_lasting and is_whole and len(value) <= MAX_WHOLE and len(text := f"{value!r}") <= MAX_WHOLE:
                yield self._fact(path, "equal", Literal(text))
                return
            if is_lasting:
                for step, end in ((f"[:{MAX_END}]", value[:MAX_END]), (f"[-{MAX_END}:]", value[-MAX_END:])):
                    if (literal := atom(end)) is not None:
                        yield self._fact(path + step, "equal", literal)
            yield self._length(path, len(value))

    def _of_container(self, value: Any, path: str, depth: int, levels: int) -> Iterator[Observation]:
        """Yield facts about an exact standard container: equal, approximately equal, or the keys or length and elements."""
        expected = expression_of(value, self._home, MAX_DEPTH)
        is_dict = among(type(value), DICTS)
        if expected is not None and not has_float(expected):
            yield self._fact(path, "equal", expected)
        elif path and expected is None and (results := self._of_results(value)) is not None:
            yield self._fact(path, "equal", results)
        elif expected is not None and is_flat_numbers(expected):
            yield self._fact(path, "approx", expected)
        else:
            keys = expression_of(list(value), self._home, 2) if is_dict else None
            if is_dict and len(value) > MAX_ITEMS and depth > 0:
                for step, item in _content_first(_elements(value))[: FEW_FACTS - 1]:
                    yield from itertools.islice(self._facts(item, path + step, 0, 0), 1)
                depth = 0
            if keys is not None and not has_float(keys):
                yield self._fact(path, "list", keys)
            else:
                yield self._length(path, len(value))
            if depth > 0:
                for step, item in _elements(value) if len(value) <= MAX_ITEMS else _ends(value):
                    yield from self._facts(item, path + step, depth - 1, levels)

    def _of_results(self, value: Any) -> Expression | None:
        """Return a list or tuple whose items are results of other statements or values, None if there are other items."""
        if not among(type(value), (list, tuple)) or not 0 < len(value) <= MAX_ITEMS:
            return None
        found: list[Expression] = []
        for item in value:
            same = self._known.get(id(item))
            part = expression_of(item, self._home, 1) if same is None else Ref(same)
            if part is None or same == self._position or has_float(part):
                return None
            found.append(part)
        return Collection("list" if among(type(value), (list,)) else "tuple", tuple(found))

    def _parts(self, value: Any, depth: int, levels: int) -> Iterator[tuple[str, object, int, int]]:
        """Yield what an object shows or stores: the step of the path, the part, and the depth and levels inside it."""
        if (shown := contents(value)) is not None:
            yield from ((step, part, depth - 1, 0) for step, part in (shown if depth > 0 else ()))
            return
        self.is_cut = self.is_cut or levels <= 0
        if levels > 0:
            stores = list(stored_attributes(value))
            for name, stored in stores if len(stores) <= FEW_FACTS else _content_first(stores):
                yield f".{name}", stored, 1, levels - 1

    def _of_object(self, value: Any, path: str, depth: int, levels: int) -> Iterator[Observation]:
        """Yield facts about the public attributes that an object stores. Its class only if there are none."""
        silent = True
        kept = constant(value, self._home)
        if kept is not None:
            silent = False
            yield self._fact(path, "is", kept)
        for step, part, rest, below in self._parts(value, depth, levels):
            for fact in self._facts(part, path + step, rest, below):
                silent = False
                yield fact
        cls = type(value)
        for base in _BASES:
            if among(base, mro(cls)) and static(cls, "__len__") is base.__len__ and static(cls, "_fields") is None:
                silent = False
                if all(static(cls, name) is static(base, name) for name in ("__eq__", "__getitem__", "__iter__")):
                    yield from self._of_container(_plain(value, base), path, min(depth, 1), levels)
                else:
                    yield self._length(path, base.__len__(value))
        if silent and not path:
            for ancestor in mro(cls):
                known = name_of(ancestor, self._home) if ancestor is not object else None
                if known is not None:
                    yield self._fact(path, "isinstance", known)
                    return


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


def _is_empty(value: Any) -> bool:
    if value is None or value is False or (among(type(value), ATOMS) and not value):
        return True
    base = next(
        (one for one in _BASES if among(one, mro(type(value)))), None
    )  # the length of the base runs no own code
    return base is not None and base.__len__(value) == 0


def _plain(value: Any, base: type) -> Any:
    """Return an exact container with the content of one of a subclass, without running code of the subclass."""
    return base(dict.items(value) if base is dict else base.__iter__(value))  # type: ignore[attr-defined]


def _has_identity(value: object) -> bool:
    """Return True if the identity of the object is worth asserting: it is mutable and not a literal."""
    return not (
        value is None or among(type(value), ATOMS) or among(type(value), (bool, tuple, frozenset, range))
    ) and not (is_class(value) or among(type(value), _FUNCTIONS) or enum_member(value, "") is not None)


_RAISE = dis.opmap["RAISE_VARARGS"]  # `raise` and `assert` compile to it, and nothing else does
_PLAIN_ERRORS = (BaseException, KeyError, OSError, ImportError, AttributeError, NameError)  # `str` gives the argument
_BASES: tuple[Any, ...] = (list, tuple, dict, set, frozenset)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)

_DICTS: tuple[Mapping[str, object], ...] = ({}, collections.OrderedDict())
_VIEWS = tuple(type(view) for one in _DICTS for view in (one.keys(), one.values(), one.items()))
_LISTED: tuple[type, ...] = (collections.deque, range, *_VIEWS)
