"""Families: names of existing objects of classes, enum members and other instances."""

from __future__ import annotations

from collections.abc import Iterable

from fitgym.subject.subject import Class
from fitgym.testcase.expression import Name

__all__ = ["instances", "members"]


def members(classes: Iterable[Class]) -> tuple[Name, ...]:
    """Return the members of the enums among the classes."""
    return tuple(Name(one.module, f"{one.qualname}.{member}") for one in classes for member in one.members)


def instances(classes: Iterable[Class]) -> tuple[Name, ...]:
    """Return the module-level objects of the classes, which exist once the subject is imported."""
    paths = [path.partition(":") for one in classes for path in one.instances]
    return tuple(Name(module, qualname) for module, _, qualname in paths)
