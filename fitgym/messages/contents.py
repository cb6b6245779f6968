"""Contents: what objects of well-known library classes show by an attribute or a call, as their users would read them.

A text that was written into an `io.StringIO` is nowhere among its attributes; `file.getvalue()` shows it. Only exact
classes of the tables are read, so no code of the subject runs, unless one of these classes is the subject itself.
"""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from fitgym.determinism.fleeting import is_fleeting_text
from fitgym.messages.expressions import MAX_ITEMS, MAX_TEXT
from fitgym.messages.reflection import name_of
from fitgym.testcase.expression import Name

__all__ = ["contents", "elements", "following", "standard_text"]


def contents(value: object) -> Iterator[tuple[str, object]] | None:
    """Return what an object shows, each with its path from the object; None if its class is not known.

    A path is Python source such as `.getvalue()`. What cannot be read, as the text of a closed file, is left out.
    """
    if type(value) is types.ModuleType:  # not by its attribute: a module may have a `__getattr__`
        kept = types.ModuleType.__getattribute__(value, "__dict__")
        return iter([(".__name__", kept["__name__"])] if "__name__" in kept else [])
    name = _known_name(type(value), _PATHS)
    return None if name is None or _is_large(value) else _read(value, _PATHS[name])


def elements(value: Any) -> tuple[list[Any], int] | None:
    """Return the first items of a few containers of the standard library and their number, None for other objects."""
    if _known_name(type(value), _LISTED) is None:
        return None
    try:
        return list(itertools.islice(value, MAX_ITEMS + 1)), len(value)
    except BaseException:  # the type may be the subject itself, and may be out of fuel by now
        return None


def standard_text(value: object) -> str | None:
    """Return `str(value)` for a few standard types whose text describes them fully, None for other types."""
    if _known_name(type(value), _TEXTUAL) is None:
        return None
    try:
        text = str(value)
    except BaseException:  # the type may be the subject itself, and may be out of fuel by now
        return None
    return None if len(text) > MAX_TEXT or is_fleeting_text(text) else text


def _is_large(value: Any) -> bool:
    """Return whether an array or a table has so many items that a list of them takes long."""
    size = getattr(value, "size", 0)
    return type(size) is int and size > _MOST_ITEMS


@functools.lru_cache(maxsize=4096)
def following(path: str) -> Callable[[Any], Any]:
    """Compile a path such as `.name[0]` to a function from a result to the observed value."""
    found: Callable[[Any], Any] = eval(f"lambda value: value{path}", {"__builtins__": {}})
    return found


def _read(value: object, paths: Sequence[str]) -> Iterator[tuple[str, object]]:
    for path in paths:
        try:
            found = following(path)(value)
        except BaseException:  # a closed file; or the type is the subject itself, and out of fuel by now
            continue
        yield path, found


def _known_name(cls: type, names: Container[Name]) -> Name | None:
    """Return the importable name of a class if it is one of the names. Most classes have another name in any module."""
    if type.__dict__["__qualname__"].__get__(cls) not in _QUALNAMES:
        return None
    name = name_of(cls)
    return name if name in names else None


_PATHS: Mapping[Name, tuple[str, ...]] = {
    Name(*name.split(":")): paths
    for name, paths in {
        "click.testing:Result": (".exit_code", ".output"),
        "functools:partial": (".func", ".args", ".keywords"),
        "io:BytesIO": (".getvalue()",),
        "io:StringIO": (".getvalue()",),
        "builtins:memoryview": (".tobytes()",),
        "builtins:slice": (".start", ".stop", ".step"),
        "configparser:ConfigParser": (".sections()",),
        "configparser:RawConfigParser": (".sections()",),
        "numpy:ndarray": (".tolist()",),
        "pandas:DataFrame": ('.to_dict("list")',),
        "pandas:Series": (".tolist()",),
        "re:Match": (".group()", ".groups()", ".span()"),
        "re:Pattern": (".pattern",),
        "xml.dom.minidom:Document": (".toxml()",),
        "xml.dom.minidom:Element": (".toxml()",),
        "xml.etree.ElementTree:ElementTree": (".getroot()",),
        "xml.etree.ElementTree:Element": (".tag", ".attrib", ".text", "[0]", "[1]"),
    }.items()
}

_MOST_ITEMS = 1000  # of an array or a table

_LISTED = frozenset({Name("array", "array"), Name("sqlite3", "Row")})
"""Containers of C classes without an attribute that a test could read."""

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
        ("email.message", "EmailMessage"),
        ("email.message", "Message"),
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
_QUALNAMES = frozenset(name.qualname for name in (*_PATHS, *_LISTED, *_TEXTUAL))
"""Checks: the class of most values has another name."""
