"""Evidence: observed uses of a value of unknown type, and the type that they suggest.

`reader` collects evidence from the syntax tree. `Evidence.hint` checks in this order: classes named by `isinstance`,
known types that have all used attributes, calls, arithmetic, indexing, iteration, comparison. Without any evidence the
type remains `ANY`.
"""

from __future__ import annotations

import ast
import collections
import datetime
import decimal
import io
import pathlib
import re
from builtins import id
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from fitgym.subject.types.hints import ANY, CALLABLE, NAMESPACES, NONE, PATH, PATH_TEXT, SEVERAL, Hint, union

__all__ = ["Evidence", "Uses"]

Uses = str
"""One kind of use of a value.

"iterated", "length", "indexed" (by an integer), "sliced", "subscripted" (by a value of unknown type), "stored" (an item
was set or deleted), "contained" (`in`), "unpacked", "number", "integer", "real", "text", "bytes", "ordered", "truth",
"file" (the path of a file or folder), "none" (compared with None), "advanced" (`next`), "mapped" (`**`), "raised",
"entered" (`with`), "escaped" (passed where it could not be followed), "optional" (an item that may be missing), "list",
"tuple", "set", "dict" (combined with such a display), "read" and "written" (an open text file, as by its methods).
"""


class Evidence:
    """The evidence about one value. Mutable; parts are created on first access.

    Attributes:
        attributes: names of the used attributes, in order of first use; True if the attribute was called.
        uses: see `Uses`.
        literals: constants that it was compared with, or looked up among, as source text.
        contents: the constants that it contains, if they are known.
        classes: types that it was tested for.
        seen: types that it was observed with, for example constant arguments of calls.
        arities: numbers of arguments that it was called with, -1 for an unknown number.
        keys: evidence about its items under constant string keys.
        members: evidence about its attributes.
        asked: the calls of its methods, as (name, call, evidence about the arguments).
        made: the classes of the source whose constructor created it.
        inside: the containers that it is an item of.
        links: evidence about values that are the same object, or receive it.
    """

    def __init__(self, contents: tuple[str, ...] = ()) -> None:
        self.attributes: dict[str, bool] = {}
        self.uses: dict[Uses, None] = {}
        self.literals: dict[str, None] = {}
        self.contents = contents
        self.classes: dict[Hint, None] = {}
        self.seen: dict[Hint, None] = {}
        self.arities: list[int] = []
        self.keys: dict[str, Evidence] = {}
        self.parts: list[Evidence] = []
        self.links: list[Evidence] = []
        self.members: dict[str, Evidence] = {}
        self.asked: list[tuple[str, ast.Call, list[Evidence]]] = []
        self.made: list[ast.ClassDef] = []
        self.inside: list[Evidence] = []
        self._element: Evidence | None = None
        self._key: Evidence | None = None
        self._value: Evidence | None = None
        self._result: Evidence | None = None

    def use(self, *uses: Uses) -> None:
        """Record uses of the value."""
        for use in uses:
            if use in _OF_FILES:
                self.attributes[_OF_FILES[use]] = True
            else:
                self.uses.setdefault(use)

    def link(self, other: Evidence) -> None:
        """Record that the value flows into `other`: every use of `other` is then a use of this value."""
        if other is not self and all(other is not known for known in self.links):
            self.links.append(other)

    def look_up(self, other: Evidence) -> None:
        """Record that `other` is looked up among the constants that this value contains."""
        other.literals.update(dict.fromkeys(self.contents))

    def contains(self, other: Evidence) -> bool:
        """`other` is this value, or an item, a key or a result of it."""
        return other is self or any(
            other is part
            for part in (self._element, self._key, self._value, self._result, *self.parts, *self.keys.values())
        )

    @property
    def element(self) -> Evidence:
        """The evidence about an item, by iteration or index."""
        if self._element is None:
            self.element = Evidence()
        assert self._element is not None
        return self._element

    @element.setter
    def element(self, other: Evidence) -> None:
        self._element = other
        other.inside.append(self)

    @property
    def key(self) -> Evidence:
        """The evidence about a key of a mapping."""
        if self._key is None:
            self._key = Evidence()
        return self._key

    @property
    def value(self) -> Evidence:
        """The evidence about an item of a mapping."""
        if self._value is None:
            self._value = Evidence()
        return self._value

    @property
    def result(self) -> Evidence:
        """The evidence about the result of a call."""
        if self._result is None:
            self._result = Evidence()
        return self._result

    def part(self, index: int) -> Evidence:
        """Return the evidence about the item at one position of an unpacked value."""
        while len(self.parts) <= index:
            self.parts.append(Evidence())
        return self.parts[index]

    def group(self) -> list[Evidence]:
        """Return this evidence and everything linked to it, each once."""
        return list(_group(self))

    def hint(
        self,
        known: Mapping[str, frozenset[str]] = MappingProxyType({}),
        depth: int = 3,
        far: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ) -> Hint:
        """Return the type that the evidence suggests; a union has the most likely type first.

        Args:
            known: candidate classes besides the built-in ones, as a mapping from class name to the attributes of its
                objects.
            depth: levels of elements, keys and results to look into.
            far: further candidate classes, used only if no class in `known` has the attributes, and only for at least
                two attributes.
        """
        return _Judge(list(_group(self)), known, depth, far).hint()

    def double(self) -> Hint | None:
        """Return the hint of a plain object with the attributes in use, None if the value is also used otherwise."""
        judge = _Judge(list(_group(self)), {}, _DEEPEST_DOUBLE, {})
        wanted = {name for name in judge.attributes if name not in _OF_OBJECT}
        if not wanted or len(wanted) > _MOST_ATTRIBUTES or judge.shaped():
            return None
        return judge.namespace()


def _group(evidence: Evidence, items: bool = True) -> Iterator[Evidence]:
    """Yield this evidence and everything linked to it, each once.

    An item of a container is also an item of everything that the container is linked to. Example: after `self.parts =
    list(parts)`, a loop over `self.parts` uses the items of `parts`.
    """
    queue = [evidence]
    found: dict[int, Evidence] = {}
    while queue and len(found) < 60:
        item = queue.pop(0)
        if id(item) not in found:
            found[id(item)] = item
            yield item
            queue += item.links
            for container in item.inside if items else ():
                queue += [other._element for other in _group(container, items=False) if other._element is not None]


def _names(*classes: type) -> frozenset[str]:
    found: set[str] = set()
    for cls in classes:
        found |= set(dir(cls))
    return frozenset(found)


_OF_FILES: Mapping[Uses, str] = MappingProxyType({"read": "read", "written": "write"})
"""The method that a function calls which reads or writes a file."""

_CONTAINER = {"list": list, "dict": dict, "set": set, "tuple": tuple}
_BUILT_IN: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "builtins.str": _names(str),
        "list": _names(list),
        "dict": _names(dict),
        "set": _names(set),
        "tuple": _names(tuple),
        "builtins.int": _names(int),
        "builtins.float": _names(float),
        "builtins.bytes": _names(bytes),
        "io.StringIO": _names(io.StringIO) | {"encoding", "errors", "name", "mode"},
        "datetime.datetime": _names(datetime.datetime),
        "datetime.date": _names(datetime.date),
        "datetime.timedelta": _names(datetime.timedelta),
        "decimal.Decimal": _names(decimal.Decimal),
        "re.Match": _names(re.Match),
        "re.Pattern": _names(re.Pattern),
        "pathlib.Path": _names(pathlib.Path),
        "collections.deque": _names(collections.deque),
        "collections.OrderedDict": _names(collections.OrderedDict),
        "collections.Counter": _names(collections.Counter),
        "builtins.Exception": _names(Exception),
        "iterator": _names(type(iter([]))) | {"__next__"},
    }
)
_OF_OBJECT = _names(object)
_MOST_ATTRIBUTES = 24  # of a namespace object
_MANY = 4  # attributes in use that suffice to recognise a class by most of them
_MOST_LITERALS = 30  # values that a parameter may be one of
_MOST_OF = 0.75  # share of the attributes in use that such a class has
_DEEPEST_DOUBLE = 5  # levels of attributes, keys and elements in a plain object that replaces another one
_OF_FUNCTIONS = _names(type(lambda: None)) - _OF_OBJECT
_INT, _FLOAT, _STR, _BYTES, _BOOL = (Hint("class", f"builtins.{n}") for n in ("int", "float", "str", "bytes", "bool"))


class _Judge:
    """Infers a type from one group of evidence."""

    def __init__(
        self,
        group: Sequence[Evidence],
        known: Mapping[str, frozenset[str]],
        depth: int,
        far: Mapping[str, frozenset[str]],
    ) -> None:
        self.group = group
        self.far = far
        self.known = known
        self.depth = depth
        self.uses = {use for item in group for use in item.uses}
        self.attributes = [name for item in group for name in item.attributes]
        self.literals = list(dict.fromkeys(text for item in group for text in item.literals))

    def hint(self) -> Hint:
        tested = list(dict.fromkeys(hint for item in self.group for hint in item.classes))
        found = list(self.likely())
        if tested:
            # A tested type is only one side of the test: values of another type must be possible too.
            found = [*tested, *found] if found else [*tested, ANY]
        if not found:
            found = list(dict.fromkeys(hint for item in self.group for hint in item.seen))
        if not found and self.uses - {"optional"} == {"truth"}:
            found = [_BOOL]
        if found and "none" in self.uses:
            found.append(NONE)
        return union(found[:6])

    def likely(self) -> Iterator[Hint]:
        """Yield the types that fit the uses."""
        wanted = {name for name in self.attributes if name not in _OF_OBJECT}
        if wanted:
            fitting = list(self.types_having(wanted))
            if _STR in fitting and len(self.literals) >= SEVERAL:
                yield from self.compared()
            yield from fitting
            if _STR in fitting and "file" in self.uses:
                yield PATH_TEXT
            if fitting:
                return
            if self.depth > 0 and len(wanted) <= _MOST_ATTRIBUTES and not self.shaped():
                yield self.namespace()
                yield ANY
                return
        if self.calls():
            yield self.callable()
        if self.literals:
            yield from self.compared()
        if "file" in self.uses:
            yield PATH
            yield PATH_TEXT
        if self.uses & {"file", "text"}:
            yield _STR
        if "bytes" in self.uses:
            yield _BYTES
        yield from self.numeric()
        yield from self.container()
        if "raised" in self.uses:
            yield Hint("class", "builtins.Exception")

    def types_having(self, wanted: set[str]) -> Iterator[Hint]:
        """Yield types whose objects have all `wanted` attributes: classes of the subject first, then built-in ones."""
        own = [name for name, attributes in self.known.items() if wanted <= attributes]
        yield from (Hint("class", name) for name in own[:4])
        if not own and len(wanted) > 1:
            own = [name for name, attributes in self.far.items() if wanted <= attributes][:3] or self.closest(wanted)
            yield from (Hint("class", name) for name in own)
        names = [name for name, attributes in _BUILT_IN.items() if wanted <= attributes and self.allows(name)]
        for name in names[: 2 if own else 3]:
            # Both have the attributes; str alone is tried.
            if name == "builtins.bytes" and "builtins.str" in names:
                continue
            if name in ("collections.deque", "collections.OrderedDict", "collections.Counter") and len(names) > 1:
                continue
            yield self.named(name)
        if not own and not names and wanted <= _OF_FUNCTIONS:
            yield self.callable()

    def closest(self, wanted: set[str]) -> list[str]:
        """Return the class with most of many `wanted` attributes: others may be optional, or set on the object."""
        if len(wanted) < _MANY:
            return []
        classes = [*self.known.items(), *self.far.items()]
        counts = {name: len(wanted & attributes) for name, attributes in classes}
        best = max(counts.values(), default=0)
        fitting = [name for name, count in counts.items() if count == best]
        return fitting if best >= _MOST_OF * len(wanted) and len(fitting) <= 3 else []

    def allows(self, name: str) -> bool:
        """No other use contradicts this built-in type."""
        has = _BUILT_IN[name]
        needs = {"iterated": "__iter__", "length": "__len__", "sliced": "__getitem__", "indexed": "__getitem__"}
        needs |= {"subscripted": "__getitem__", "stored": "__setitem__", "contained": "__contains__"}
        if any(use in self.uses and method not in has for use, method in needs.items()):
            return False
        if "sliced" in self.uses and name in ("dict", "collections.OrderedDict", "collections.Counter"):
            return False
        if self.string_keys() and "keys" not in has:
            return False
        return not (self.calls() and "__call__" not in has)

    def named(self, name: str) -> Hint:
        if name in ("list", "set"):
            return Hint(name, args=(self.element(),))
        if name == "tuple":
            return Hint("tuple", args=(self.element(), Hint("ellipsis")))
        if name == "iterator":
            return Hint("iterator", args=(self.element(),))
        if name == "dict":
            return self.mapping()
        return Hint("class", name)

    def namespace(self) -> Hint:
        """Return the hint for an object with exactly the used attributes."""
        called = {name for item in self.group for name, is_called in item.attributes.items() if is_called}
        names = tuple(sorted({name for name in self.attributes if name not in _OF_OBJECT}))
        hints = []
        for name in names:
            hint = self.inner(item.members.get(name) for item in self.group)
            hints.append(CALLABLE if name in called and hint.kind != "callable" else hint)
        return Hint("class", NAMESPACES[0], tuple(hints), names)

    def calls(self) -> list[int]:
        return [arity for item in self.group for arity in item.arities]

    def callable(self) -> Hint:
        arities = self.calls()
        result = self.inner(item._result for item in self.group)
        if not arities or -1 in arities:
            return Hint("callable", args=(Hint("ellipsis"), result))
        return Hint("callable", args=(*(ANY for _ in range(max(arities))), result))

    def compared(self) -> Iterator[Hint]:
        kinds = {text[0] for text in self.literals}
        yield Hint("literal", texts=tuple(self.literals[:_MOST_LITERALS]))
        if kinds & set("\"'"):
            yield _STR
        elif kinds & set("0123456789-") and not {"number", "integer", "real"} & self.uses:
            yield _INT

    def numeric(self) -> Iterator[Hint]:
        if "integer" in self.uses:
            yield _INT
        elif "real" in self.uses:
            yield _FLOAT
            yield _INT
        elif "number" in self.uses or ("ordered" in self.uses and not self.shaped()):
            yield _INT
            yield _FLOAT

    def shaped(self) -> bool:
        """It was used as a container, text, or function."""
        shapes = {"iterated", "length", "indexed", "sliced", "subscripted", "stored", "unpacked", "mapped", "text"}
        shapes |= {"list", "dict", "tuple", "set", "contained", "advanced"}
        return bool(shapes & self.uses or self.calls() or self.string_keys())

    def container(self) -> Iterator[Hint]:
        uses = self.uses
        if self.string_keys() or uses & {"mapped", "dict"}:
            yield self.mapping()
            return
        for name in ("list", "set", "tuple"):
            if name in uses:
                yield self.named(name)
        if uses & {"list", "set", "tuple"}:
            return
        if "advanced" in uses:
            yield Hint("iterator", args=(self.element(),))
            return
        if any(item.parts for item in self.group):
            yield self.unpacked()
        elif uses & {"indexed", "sliced"}:
            if "stored" in uses:
                yield Hint("list", args=(self.element(),))
            else:
                yield Hint("sequence", args=(self.element(),))
                if self.element().kind == "any" and "integer" not in uses:
                    yield _STR
        elif "stored" in uses:
            yield self.mapping()
            yield Hint("list", args=(self.element(),))
        elif uses & {"iterated", "unpacked"}:
            sized = uses & {"length", "subscripted", "contained"}
            yield Hint("list" if sized else "iterable", args=(self.element(),))
            if "subscripted" in uses:
                yield self.mapping()
        elif "subscripted" in uses:
            yield self.mapping()
            yield Hint("list", args=(self.element(),))
        elif "length" in uses:
            yield _STR
            yield Hint("list", args=(self.element(),))
        elif "contained" in uses:
            element = self.element()
            yield Hint("list", args=(element,))
            if element.kind == "any" or element == _STR:
                yield _STR

    def unpacked(self) -> Hint:
        width = max(len(item.parts) for item in self.group)
        parts = (self.inner(item.parts[i] for item in self.group if i < len(item.parts)) for i in range(width))
        return Hint("tuple", args=tuple(parts))

    def string_keys(self) -> list[str]:
        return list(dict.fromkeys(key for item in self.group for key in item.keys))

    def mapping(self) -> Hint:
        keys = self.string_keys()
        if keys and self.depth > 0:
            hints = tuple(self.inner(item.keys.get(key) for item in self.group) for key in keys)
            return Hint("record", "", hints, tuple(map(repr, keys)))
        key = self.inner(item._key for item in self.group)
        return Hint("dict", args=(key, self.inner(item._value for item in self.group)))

    def element(self) -> Hint:
        return self.inner(item._element for item in self.group)

    def inner(self, items: Iterable[Evidence | None]) -> Hint:
        """Return the hint of a part, from the evidence of the whole group."""
        whole = Evidence()
        for item in items:
            if item is not None:
                whole.link(item)
        return whole.hint(self.known, self.depth - 1, self.far) if whole.links and self.depth > 0 else ANY


def type_of(value: Any) -> tuple[Uses, ...]:
    """Return the use that a combination with a constant of this type implies."""
    if isinstance(value, bool) or value is None:
        return ()
    if isinstance(value, int | float | complex):
        return ("number",)
    if isinstance(value, str):
        return ("text",)
    if isinstance(value, bytes):
        return ("bytes",)
    return (type(value).__name__,) if type(value).__name__ in _CONTAINER else ()
