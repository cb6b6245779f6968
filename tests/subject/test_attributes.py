"""Attributes that functions set, and attributes that their conditions depend on."""

import ast
import textwrap

import pytest

from fitgym.instrument.rewriting.plan import plan
from fitgym.subject.attributes import accesses

CLASS = """
class Box:
    def __init__(self): self.items = []
    def add(self, item): self.items.append(item)
    def name_it(self, name): self.name, self.size[0] = name, 1
    def rename(self, name): self.name_it(name)
    def empty(self): return not self.items
"""


def known(body):
    """The accesses of the method `go` with this body, in a class with some more methods."""
    source = f"{CLASS}    def go(self, other):\n{textwrap.indent(textwrap.dedent(body).strip(), ' ' * 8)}\n"
    tree = plan(ast.parse(source))
    positions = [set() for _ in tree.functions]
    for site in tree.sites:
        positions[site.function].add(site.span or (site.line,))
    found = accesses(source, tuple(tree.functions), tuple(map(frozenset, positions)))
    return next(found[one.id] for one in tree.functions if one.name == "Box.go")


SETS = [
    ("self.a = 1", {"a"}),
    ("self.a: int = 1", {"a"}),
    ("self.a += 1", {"a"}),
    ("del self.a", {"a"}),
    ("self.a[0] = 1", {"a"}),
    ("del self.a['x']", {"a"}),
    ("self.a.append(1)", {"a"}),
    ("other.a = 1", {"a"}),
    ("for self.a in other: pass", {"a"}),
    ("setattr(self, 'a', 1)", {"a"}),
    ("self.rename(1)", {"name", "size"}),
    ("return self.a", set()),
    ("self.a.strip()", set()),
    ("def inner(): self.a = 1", set()),
    ("setattr(self, other, 1)", set()),
]


@pytest.mark.parametrize(("body", "expected"), SETS, ids=[body for body, _ in SETS])
def test_a_function_sets_what_it_assigns_or_changes_in_place(body, expected):
    assert known(body).sets == expected


CONDITIONS = [
    ("if self.a: pass", {"a"}),
    ("while not self.a: pass", {"a"}),
    ("return 1 if self.a > 3 else 2", {"a"}),
    ("for item in self.a: pass", {"a"}),
    ("for item in self.a:\n    if item == 1: pass", {"a"}),
    ("found = self.a\nif found: pass", {"a"}),
    ("found = other\nrest = found.b\nif rest: pass", {"b"}),
    ("with self.a as stream:\n    if stream: pass", {"a"}),
    ("if self.empty(): pass", {"empty", "items"}),
    ("if other: pass", set()),
]


@pytest.mark.parametrize(("body", "expected"), CONDITIONS, ids=[body for body, _ in CONDITIONS])
def test_a_condition_depends_on_attributes_directly_or_through_variables_and_methods(body, expected):
    assert set().union(*known(body).conditions.values()) == expected


def test_each_condition_has_its_own_attributes():
    found = known("if self.a:\n    return self.b\nif self.c: pass")
    assert {frozenset(names) for names in found.conditions.values()} == {frozenset("a"), frozenset("c")}


def test_a_method_belongs_to_the_methods_of_the_same_object_that_call_it():
    assert len(known("self.rename(1)").functions) == 3, "go, rename and name_it"
    assert len(known("other.rename(1)").functions) == 1
