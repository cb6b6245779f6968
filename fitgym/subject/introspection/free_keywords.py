"""Free keywords: keyword arguments that a class accepts without naming them.

A class whose constructor takes `**values` usually keeps them: as attributes, or in a dict that is called like the
parameter. So the attributes that the code under test reads from its objects, and the keys that it looks up in that
dict, are keyword arguments that make a difference.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Container, Iterator

from fitgym.subject.introspection.callables import asked
from fitgym.subject.subject import Parameter
from fitgym.subject.types.hints import ANY, Hint, choices, name_of, union

__all__ = ["FreeKeywords"]

_MOST = 12  # keywords of a class
_CALLED = (types.FunctionType, classmethod, staticmethod)


class FreeKeywords:
    """The attributes and keys that the code under test reads from arguments, by the declared class of the argument."""

    def __init__(self) -> None:
        self._read: dict[str, dict[str, Hint]] = {}

    def see(self, declared: Hint, used: Hint) -> None:
        """Note what is read from a parameter.

        Args:
            declared: its type.
            used: a plain object with the attributes that are read.
        """
        for choice in choices(declared):
            if choice.kind == "class":
                known = self._read.setdefault(choice.name, {})
                for name, hint in zip(used.texts, used.args, strict=True):
                    known[name] = union([known[name], hint]) if name in known else hint

    def of(self, cls: type, free: str, taken: Container[str]) -> Iterator[Parameter]:
        """Yield the free keywords of a class whose constructor collects them in the parameter `free`.

        Those that are `taken` by other parameters are left out, and so are classes of the standard library.
        """
        if str(asked(cls, "__module__")).partition(".")[0] in sys.stdlib_module_names:
            return
        found: dict[str, Hint] = {}
        for base in reversed(cls.__mro__):
            read = dict(self._read.get(name_of(base), {}))
            kept = read.pop(free, ANY)
            found |= {name: hint for name, hint in read.items() if not _is_called(cls, name)}
            found |= {text[1:-1]: hint for record in choices(kept) for text, hint in _entries(record)}
        for name, hint in list(found.items())[:_MOST]:
            if name.isidentifier() and name not in taken:
                yield Parameter(name, "keyword_only", hint, required=False)


def _entries(record: Hint) -> Iterator[tuple[str, Hint]]:
    return zip(record.texts, record.args, strict=True) if record.kind == "record" else iter(())


def _is_called(cls: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(cls, name, None), _CALLED)
