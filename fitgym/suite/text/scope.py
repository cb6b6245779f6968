"""Scope: the imported names of a test file, and its import lines."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Container

__all__ = ["Scope", "snake_case"]

_BUILTINS = frozenset(dir(builtins))
_COLLECTED = re.compile(r"[tT]est|pytest|setup|teardown|setUp|tearDown|load_tests$")
"""Names that pytest would collect as tests or fixtures of the file that imports them."""


_VAGUE = ("error", "Error")  # `zlib.error`, `binascii.Error`


def snake_case(name: str) -> str:
    """Convert a name to snake case: `HTTPServer` to `http_server`, `IPv4Address` to `ipv4_address`."""
    name = name.replace("IPv", "Ipv")
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return split.strip("_").lower()


class Scope:
    """The imported names of one test file.

    Call `text` for everything that is needed before choosing names of variables: each import adds taken names.

    Args:
        reserved: further names that must not be bound.
    """

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self._reserved = reserved
        self._names: dict[str, str] = {}  # bound name: module it is imported from
        self._modules: dict[str, str] = {}  # module: text that stands for it

    def taken(self, name: str) -> bool:
        """Return whether a variable must not have this name: it is bound, a builtin, a keyword or reserved."""
        return (
            name in self._names
            or name in _BUILTINS
            or keyword.iskeyword(name)
            or name in self._reserved
            or any(text.partition(".")[0] == name for text in self._modules.values())
        )

    def text(self, module: str, qualname: str) -> str:
        """Return the source for an object of a module, and remember its import.

        It is imported by name unless the name is already bound, hides a builtin, is meaningless without its module, or
        would be collected by pytest; then the module is imported.
        """
        if module == "builtins":
            return qualname
        name = qualname.partition(".")[0]
        if self._names.get(name) == module:
            return qualname
        if self.taken(name) or _COLLECTED.match(name) or name.startswith("__") or name in _VAGUE:
            return f"{self.module(module)}.{qualname}"
        self._names[name] = module
        return qualname

    def module(self, name: str) -> str:
        """Return the source for a module, and remember its import."""
        text = self._modules.get(name)
        if text is None:
            text = name
            first = name.partition(".")[0]
            if first in self._names or first in _BUILTINS or first in self._reserved:
                text = name.replace(".", "_") + "_module"
            self._modules[name] = text
        return text

    def imports(self, width: int = 88, *, first_party: Container[str] = (), runner: Container[str] = ()) -> list[str]:
        """Return the import lines in blocks: standard library, third party, first party; sorted as by ruff and isort.

        Args:
            width: maximal length of a line.
            first_party: top-level names of packages that belong to the project of the file.
            runner: third-party packages that have a block of their own, before the others.
        """
        blocks: tuple[list[str], ...] = ([], [], [], [])

        def block(module: str) -> list[str]:
            top = module.partition(".")[0]
            return blocks[0 if _is_standard(module) else 3 if top in first_party else 1 if top in runner else 2]

        for name in sorted(self._modules, key=_natural):
            text = self._modules[name]
            line = f"import {name}" if name == text else f"import {name} as {text}"
            block(name).append(line)
        members: dict[str, list[str]] = {}
        for name, module in self._names.items():
            members.setdefault(module, []).append(name)
        for module in sorted(members, key=_natural):
            block(module).extend(_from(module, members[module], width))
        lines = [line for lines in blocks if lines for line in ("", *lines)]
        return lines[1:]


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _natural(name: str) -> tuple[list[str | int], str]:
    """Sort key of isort: ignores case, and compares numbers in names by value."""
    parts = re.split(r"(\d+)", name.lower())
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name


def _member(name: str) -> tuple[int, tuple[list[str | int], str]]:
    """Sort key of imported names: constants before classes before everything else."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, _natural(name)


def _from(module: str, names: list[str], width: int) -> list[str]:
    ordered = sorted(names, key=_member)
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= width:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in ordered), ")"]
