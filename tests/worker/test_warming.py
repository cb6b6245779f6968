"""Warm state: imports of test cases stay for the next ones, and their changes are undone."""

from __future__ import annotations

import logging
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fitgym.execution.executor import Executor, Limits
from fitgym.execution.zygote import Zygote
from fitgym.messages.protocol import ProtocolError
from fitgym.messages.watched import Watched
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable, TestCase
from fitgym.worker.state.warming import only_modules_added, roots, succeeds_in_a_fork

LIMITS = Limits(seconds=2.0, batch=20)
Shop = Callable[..., Executor]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """Writes a package `shop` with a module `front` and others, and starts an executor of `front`."""
    started: list[Executor] = []

    def make(front: str, **others: str) -> Executor:
        folder = tmp_path / "shop"
        folder.mkdir()
        for name, source in {"__init__": "", "front": front, **others}.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(source))
        executor = Executor(locate("shop.front", str(tmp_path)), LIMITS)
        started.append(executor)
        return executor

    yield make
    for executor in started:
        executor.close()


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The process ids of all children."""
    made: list[int] = []
    fork = Zygote.fork

    def counted(self: Zygote) -> object:
        child = fork(self)
        made.append(child.pid)
        return child

    monkeypatch.setattr(Zygote, "fork", counted)
    return made


def called(executor: Executor, table: StatementTable, name: str, *arguments: int) -> TestCase:
    operation = next(one for one in executor.subject.operations if one.name == name)
    return table.testcase([Statement(operation.id, -1, tuple(Literal(str(number)) for number in arguments))])


def returned(executor: Executor, table: StatementTable, testcase: TestCase) -> str:
    """What the last call gave, as text."""
    (seen,) = executor.observe([testcase], table)
    return str([fact.expression for fact in seen.observations])


LAZY = """
    import os, sys

    def lazy(n: int) -> int:
        from shop import heavy
        return heavy.SIZE + n

    def leak(n: int) -> int:
        os.open("/dev/null", os.O_RDONLY)
        return n

    def is_there() -> bool:
        return "shop.heavy" in sys.modules

    STATE = []
    """


def test_a_module_that_a_test_case_imports_is_there_in_the_next_process(shop: Shop) -> None:
    executor, table = shop(LAZY, heavy="SIZE = 3"), StatementTable()
    lazy, is_there = called(executor, table, "lazy", 1), called(executor, table, "is_there")
    assert "False" in returned(executor, table, is_there)
    before = executor.run([lazy], table)
    assert "True" in returned(executor, table, is_there)
    assert executor.run([lazy, called(executor, table, "leak", 1), lazy], table)[0::2] == 2 * before


@pytest.mark.parametrize(
    "heavy",
    [
        "SIZE = 3\nfrom shop import front\nfront.STATE.append(1)",
        "SIZE = 3\nfrom shop import front\nfront.leak(2)",
        "SIZE = 3\nimport threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
    ],
    ids=["changes the state of the subject", "runs its code", "starts a thread"],
)
def test_a_module_whose_import_does_something_to_the_subject_is_not_imported_beforehand(shop: Shop, heavy: str) -> None:
    executor, table = shop(LAZY, heavy=heavy), StatementTable()
    executor.run([called(executor, table, "lazy", 1)], table)
    assert "False" in returned(executor, table, called(executor, table, "is_there"))


def test_what_a_lazily_imported_module_holds_is_as_new_in_each_test_case(shop: Shop) -> None:
    front = """
        from shop import front

        def count(n: int) -> int:
            from shop import till
            till.TOTAL += n
            if till.TOTAL > n:
                return -1
            return till.TOTAL
        """
    executor, table = shop(front, till="TOTAL = 0\nfrom shop import front\nfront.SEEN = 1"), StatementTable()
    traces = executor.run([called(executor, table, "count", n) for n in range(1, 9)], table)
    assert len({trace.reached for trace in traces}) == 1


def test_what_is_changed_in_another_module_is_put_back_without_another_process(shop: Shop, forks: list[int]) -> None:
    front = """
        from shop import store

        def put(n: int) -> int:
            store.ITEMS[n] = n
            store.COUNT += 1
            return len(store.ITEMS) * 100 + store.COUNT
        """
    executor, table = shop(front, store="ITEMS = {}\nCOUNT = 0"), StatementTable()
    traces = executor.run([called(executor, table, "put", n) for n in range(100)], table)
    assert {trace.calls[0].returned for trace in traces} == {True}
    assert len(forks) <= 3
    assert "101" in returned(executor, table, called(executor, table, "put", 7))


def test_what_is_changed_in_the_process_is_put_back_without_another_process(shop: Shop, forks: list[int]) -> None:
    front = """
        import os, sys, warnings

        def change(n: int) -> int:
            found = (len(os.environ.get("SHOP", "")) + len(sys.path[0])) * 10 + len(warnings.filters)
            os.environ["SHOP"] = "open"
            sys.path.insert(0, "a" * 1000)
            warnings.simplefilter("ignore")
            if found > 5000:
                return n
            return -1
        """
    executor, table = shop(front), StatementTable()
    traces = executor.run([called(executor, table, "change", n) for n in range(60)], table)
    assert len({trace.reached for trace in traces}) == 1 and len(forks) <= 3


def test_a_wrapper_that_exchanges_its_own_code_is_put_back(shop: Shop) -> None:
    front = """
        def work(n: int) -> int:
            work.__code__ = ready.__code__
            globals()["helper"] = lambda n: n + 1
            return helper(n)

        def ready(n: int) -> int:
            return helper(n)

        work.kept = True
        """
    executor, table = shop(front), StatementTable()
    testcases = [called(executor, table, "work", n) for n in range(5)]
    assert [trace.raised for trace in executor.run(testcases, table)] == [None] * 5


@pytest.mark.parametrize(
    ("act", "succeeds"),
    [(lambda: True, True), (lambda: False, False), (lambda: 1 / 0, False), (lambda: bool(time.sleep(60)), False)],
)
def test_an_attempt_in_a_fork_succeeds_fails_or_is_ended(act: Callable[[], bool], succeeds: bool) -> None:
    assert succeeds_in_a_fork(act, 0.2) is succeeds


def test_names_are_grouped_by_their_package_without_what_is_there_and_what_is_ours() -> None:
    assert roots(["shop.a", "till", "json", "fitgym.x", "shop.b"]) == [["shop.a", "shop.b"], ["till"]]


def test_a_package_that_got_a_submodule_is_as_it_was() -> None:
    saved = {"a": 1}
    assert only_modules_added({"a": 1, "json": textwrap}, saved)
    assert only_modules_added({"a": 1, "shop": logging.getLogger("shop")}, saved)
    assert only_modules_added({logging.getLogger("shop.front"): None}, {})  # in the placeholder of its parent
    assert not only_modules_added({"a": 1, "b": 2}, saved)
    assert not only_modules_added({"a": 2}, saved)
    assert not only_modules_added({}, saved)
    assert not only_modules_added([1], [1])


def test_only_numbers_are_watched_and_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    assert watched.add((3, -1), (2,)) and not watched.add((3,), ())
    assert watched.wire() == ((3, -1), (2,))
    for wrong in ([3], ("3",), (True,)):
        with pytest.raises(ProtocolError):
            watched.add(wrong, ())
    monkeypatch.setattr("fitgym.messages.watched._MOST", 3)
    assert watched.add((5, 6), ()) and watched.wire() == ((3, -1, 5), (2,))
