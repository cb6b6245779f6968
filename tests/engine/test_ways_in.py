"""Other entries to the code under test: private operations, late, and inherited methods that call overridden ones."""

import textwrap

import pytest

from fitgym.engine import Engine
from fitgym.engine.guidance import PATIENCE
from fitgym.execution.executor import Executor
from fitgym.subject.introspection.templates import template_methods
from fitgym.subject.source import locate

PRIVATE = """
    def double(x: int):
        return 2 * x


    def _scaled(x: int, factor: int = 3):
        if factor > 2:
            return x * factor
        return x


    class _Hidden:
        def __init__(self, size: int = 1):
            self.size = size

        def grow(self, by: int):
            self.size += by
            return self.size

        def __secret(self):
            return self.size


    class Shown:
        def open(self):
            return "open"

        def _close(self, hard: bool):
            return "slammed" if hard else "closed"
    """

HOOKS = """
    from html.parser import HTMLParser


    class Titles(HTMLParser):
        def __init__(self):
            super().__init__()
            self.titles = []

        def handle_starttag(self, tag, attrs):
            if tag == "h1":
                self.titles.append(dict(attrs).get("id"))
    """


@pytest.fixture
def described(tmp_path):
    """Writes a program as module `tiny` and returns what an executor says of it, and the executor."""
    running = []

    def describe(source, part=""):
        (tmp_path / "tiny.py").write_text(textwrap.dedent(source))
        executor = Executor(locate(str(tmp_path / "tiny.py") + part))
        running.append(executor)
        return executor.__enter__()

    yield describe
    for executor in running:
        executor.close()


def ways(executor):
    return {operation.name: operation.entry_kind for operation in executor.subject.operations if operation.entry_kind}


def called(engine):
    """The names of all operations that test cases of the population and the archive call."""
    testcases = [*engine.archived_testcases(), *(t for i in engine.population for t in i.testcases)]
    operations = engine.subject.operations
    return {operations[one.operation].name for t in testcases for one in engine.table.statements(t)}


def test_private_functions_classes_and_methods_are_ways_in_and_not_under_test(described):
    executor = described(PRIVATE)
    assert ways(executor) == dict.fromkeys(["_scaled", "_Hidden", "_Hidden.grow", "Shown._close"], "private")
    assert [operation.name for operation in executor.subject.under_test] == ["double", "Shown", "Shown.open"]


def test_of_a_class_under_test_only_its_own_private_methods_are_ways_in(described):
    assert ways(described(PRIVATE, ":Shown")) == {"Shown._close": "private"}


def test_where_everything_is_private_everything_is_under_test(described):
    executor = described("def _only(x: int):\n    return x\n")
    assert ways(executor) == {}
    assert [operation.name for operation in executor.subject.under_test] == ["_only"]


def test_a_method_that_calls_what_the_class_overrides_is_a_way_in(described):
    found = ways(described(HOOKS))
    assert found["Titles.feed"] == "inherited" and found["Titles.close"] == "inherited"
    assert "Titles.handle_data" not in found and "Titles.getpos" not in found


def test_template_methods_lead_to_what_is_overridden_at_once_or_through_others():
    class Base:
        def run(self):
            return self.prepare()

        def prepare(self):
            return self.hook()

        def hook(self):
            return 0

        def other(self):
            return 1

        def _inner(self):
            return self.hook()

    def found(*overridden):
        return [name for name, _ in template_methods(overridden, [Base])]

    assert found("hook") == ["run", "prepare"]
    assert found("hook", "prepare") == ["run"]
    assert found("run") == found("nothing") == found() == []


def test_private_operations_are_called_only_after_nothing_new_was_covered_for_some_time(described):
    engine = Engine(described(PRIVATE), fitness=("branch",), tracked=("line",), search="mosa", population=10, seed=1)
    private = set(ways(engine.executor))
    covered, grown_at = -1, 0
    while engine.executions - grown_at < PATIENCE:
        assert not called(engine) & private
        engine.step()
        now = engine.coverage()["branch"][0] + engine.coverage()["line"][0]
        covered, grown_at = (now, engine.executions) if now > covered else (covered, grown_at)
    before = engine.coverage()["branch"]
    for _ in range(30):
        engine.step()
    assert called(engine) & private
    assert engine.coverage()["branch"][0] > before[0]


def test_private_operations_are_never_called_if_the_user_says_so(described):
    engine = Engine(described(PRIVATE), fitness=("branch",), search="mosa", population=10, private="never")
    while engine.executions < 3 * PATIENCE:
        engine.step()
    assert not called(engine) & set(ways(engine.executor))


def test_the_archive_prefers_a_longer_test_case_that_calls_nothing_private(described):
    source = """
        def _half(x: int):
            return x // 2


        def third(x: int):
            return _half(x) + 1 if x > 100 else 0
        """
    engine = Engine(described(source), fitness=("branch",), search="mosa", population=10, seed=3)
    while engine.executions < 6 * PATIENCE:
        engine.step()
    operations = engine.subject.operations
    best = engine.archive.best("branch").values()
    assert {operations[one.operation].name for t in best for one in engine.table.statements(t)} == {"third"}


DOUBLES = """
    class Device:
        def __init__(self):
            raise OSError("there is no device")
    """

USER = """
    from device import Device


    def level(device: Device):
        if device.voltage > 3:
            return "high"
        return "low"


    def twice(x: int):
        return 2 * x
    """


def test_plain_objects_replace_those_that_cannot_be_built_once_nothing_else_helps(described, tmp_path):
    (tmp_path / "device.py").write_text(textwrap.dedent(DOUBLES))
    engine = Engine(described(USER), fitness=("branch",), search="mosa", population=10, seed=1)
    while engine.executions < PATIENCE:
        engine.step()
        assert "SimpleNamespace" not in called(engine)
    while engine.executions < 5 * PATIENCE:
        engine.step()
    assert "SimpleNamespace" in called(engine)
    assert engine.coverage()["branch"][0] == engine.coverage()["branch"][1]


def test_no_plain_object_replaces_another_one_if_the_user_wants_no_private_operations(described, tmp_path):
    (tmp_path / "device.py").write_text(textwrap.dedent(DOUBLES))
    engine = Engine(described(USER), fitness=("branch",), search="mosa", population=10, seed=1, private="never")
    while engine.executions < 3 * PATIENCE and not engine.over:
        engine.step()
    assert "SimpleNamespace" not in called(engine)
