"""Groups: public functions and classes with the helpers that they alone call."""

from pathlib import Path

import pytest

from fitgym.evolution.groups import groups
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

SHARED = """
def first(x):
    return _help(x) + _own(x)

def second(x):
    return _help(x) if x else 0

def _help(x):
    return 1 if x > 3 else 2

def _own(x):
    return 1 if x else 2

class Box:
    def __init__(self, n):
        self.n = n

    def put(self, x):
        if x:
            self.n += 1
        return first(x)
"""


def found(tmp_path: Path, source: str, owner: str = ""):
    path = tmp_path / "module.py"
    path.write_text(source)
    with Executor(locate(f"{path}{owner}")) as executor:
        subject = executor.subject
        return subject, {group.name: group for group in groups(subject)}


def names(subject, group):
    return {subject.functions[number].name for number in group.functions}


def test_a_group_has_its_own_code_and_the_helpers_that_it_leads_to(tmp_path):
    subject, by_name = found(tmp_path, SHARED)
    assert list(by_name) == ["first", "second", "Box"]
    assert names(subject, by_name["first"]) >= {"first", "_help", "_own"}
    assert names(subject, by_name["second"]) >= {"second", "_help"} and "_own" not in names(subject, by_name["second"])


def test_another_group_is_not_part_of_a_group_that_calls_it(tmp_path):
    subject, by_name = found(tmp_path, SHARED)
    assert "first" not in names(subject, by_name["Box"])
    assert names(subject, by_name["Box"]) >= {"Box.__init__", "Box.put"}


def test_the_operations_of_a_class_belong_to_its_group(tmp_path):
    subject, by_name = found(tmp_path, SHARED)
    kinds = {subject.operations[number].name for number in by_name["Box"].operations}
    assert kinds == {"Box", "Box.put"}


def test_every_operation_under_test_belongs_to_one_group(tmp_path):
    subject, by_name = found(tmp_path, SHARED)
    numbers = [number for group in by_name.values() for number in group.operations]
    assert sorted(numbers) == [one.id for one in subject.under_test]


def test_the_branches_of_a_group_are_those_of_its_functions(tmp_path):
    subject, by_name = found(tmp_path, SHARED)
    for group in by_name.values():
        inside = [subject.sites[branch.site].function in group.functions for branch in subject.branches]
        assert group.branches.tolist() == inside and group.size == sum(inside)


def test_of_a_class_under_test_each_method_is_a_group(tmp_path):
    subject, by_name = found(tmp_path, SHARED, ":Box")
    assert "Box.put" in by_name
    assert all(subject.operations[n].name == "Box.put" for n in by_name["Box.put"].operations)


@pytest.mark.parametrize("source", ["def f(x):\n    return x\n", "class A:\n    def m(self):\n        return 1\n"])
def test_a_module_of_one_thing_has_one_group(tmp_path, source):
    assert len(found(tmp_path, source)[1]) == 1
