"""Setters: operations that change the attributes on which uncovered conditions depend."""

import random

import numpy as np
import pytest

from fitgym.evolution.setters import Setters
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.rates import Rates
from fitgym.testcase.statement import Statement, StatementTable

DOCUMENT = """
class Document:
    def __init__(self):
        self._title = None
        self._parts = []

    def title(self, text):
        self._title = text

    def add(self, part):
        self._parts.append(part)

    def show(self):
        if self._title is None:
            raise ValueError("no title")
        return self._title + "".join(part for part in self._parts if part)

    def rest(self):
        return 1


def f(number):
    return 1 if number else 2
"""


@pytest.fixture
def subject(tmp_path):
    (tmp_path / "document.py").write_text(DOCUMENT)
    with Executor(locate(str(tmp_path / "document.py"))) as executor:
        yield executor.subject


def named(subject, name):
    return next(one for one in subject.operations if one.name == name)


def by_name(subject, found):
    name = {one.id: one.name for one in subject.operations}
    return {name[one]: [[name[setter] for setter in group] for group in groups] for one, groups in found.items()}


def test_an_operation_with_uncovered_conditions_has_setters_for_what_they_depend_on(subject):
    found = Setters(subject).feeding(np.zeros(len(subject.branches), dtype=bool))
    assert by_name(subject, found) == {"Document.show": [["Document.add"], ["Document.title"]]}


def test_nothing_needs_a_setter_when_its_conditions_are_covered(subject):
    setters = Setters(subject)
    lines = DOCUMENT.splitlines()
    covered = np.array(["_title is None" in lines[subject.sites[one.site].line - 1] for one in subject.branches])
    assert by_name(subject, setters.feeding(covered)) == {"Document.show": [["Document.add"]]}
    assert setters.feeding(np.ones(len(subject.branches), dtype=bool)) == {}


def test_a_module_without_methods_has_no_setters(tmp_path):
    (tmp_path / "plain.py").write_text("def f(a):\n    return 1 if a.b else 2\n")
    with Executor(locate(str(tmp_path / "plain.py"))) as executor:
        found = Setters(executor.subject).feeding(np.zeros(len(executor.subject.branches), dtype=bool))
    assert found == {}


def test_a_setter_is_inserted_before_the_call_that_needs_it(subject):
    table = StatementTable()
    factory = TestFactory(subject, table, Rates(setter_rate=1.0))
    made, show = Statement(named(subject, "Document").id), named(subject, "Document.show").id
    show = Statement(show, receiver=0)
    factory.selection.setters = Setters(subject).feeding(np.zeros(len(subject.branches), dtype=bool))
    wanted = {named(subject, "Document.title").id, named(subject, "Document.add").id}
    inserted = [factory.selection.insert([made, show], random.Random(seed), end=1) for seed in range(20)]
    assert {one[1].operation for one in inserted} == wanted
    assert all((one[1].receiver, one[2]) == (0, show) and len(one) == 3 for one in inserted)


def test_without_a_call_that_needs_a_setter_another_call_is_inserted(subject):
    factory = TestFactory(subject, StatementTable(), Rates(setter_rate=1.0))
    factory.selection.setters = Setters(subject).feeding(np.zeros(len(subject.branches), dtype=bool))
    call = Statement(named(subject, "f").id, args=(Literal("1"),))
    assert all(len(factory.selection.insert([call], random.Random(seed))) > 1 for seed in range(20))
