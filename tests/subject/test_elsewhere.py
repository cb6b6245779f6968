"""Constructors of other modules get arguments that their bodies, docstrings and base classes expect."""

from __future__ import annotations

import textwrap
import types
from pathlib import Path

import pytest

from fitgym.execution.executor import Executor
from fitgym.subject.introspection import elsewhere
from fitgym.subject.introspection.elsewhere import Elsewhere
from fitgym.subject.source import locate
from fitgym.subject.subject import Operation
from fitgym.subject.types.hints import NONE, Hint, choices

STR = Hint("class", "builtins.str")

BANK = """
    from decimal import Decimal

    class Account:
        def __init__(self, owner, currency="EUR", limit=None):
            '''Open an account.

            :param Decimal limit: how far it may be overdrawn
            '''
            self.owner = owner.strip()
            self.currency = currency
            self.limit = limit
            self.booked = []

        def book(self, amount):
            self.booked.append(amount)

    class Savings(Account):
        def __init__(self, rate, **options):
            super().__init__(**options)
            self.rate = rate * 2.5

    class Branch:
        def __init__(self, accounts, keeper):
            self.total = sum(len(one.booked) for one in accounts)
            self.keeper = keeper
            keeper.greet()

        def close(self):
            return self.keeper.greet("bye")
"""

TRANSFER = """
    from bank.accounts import Account, Branch, Savings

    class Joint(Account):
        def __init__(self, partner, **options):
            super().__init__(**options)
            self.partner = partner

    def transfer(source: Account, target: Savings, branch: Branch):
        return source.booked == target.booked
"""


def operations_of(folder: Path, kind: str, **modules: str) -> dict[str, Operation]:
    """The operations of the last of the modules of the package `bank`, by name."""
    package = folder / "bank"
    package.mkdir()
    (package / "__init__.py").touch()
    for name, source in modules.items():
        (package / f"{name}.py").write_text(textwrap.dedent(source))
    with Executor(locate(str(package / f"{name}.py"))) as executor:
        return {one.name: one for one in executor.subject.operations if one.kind == kind}


@pytest.fixture
def operations(tmp_path: Path) -> dict[str, Operation]:
    return operations_of(tmp_path, "constructor", accounts=BANK, transfer=TRANSFER)


def hints(operation: Operation) -> dict[str, tuple[Hint, ...]]:
    return {one.name: tuple(choices(one.hint)) for one in operation.parameters}


def test_the_body_of_a_constructor_of_another_module_says_what_it_takes(operations: dict[str, Operation]) -> None:
    assert STR in hints(operations["Account"])["owner"]
    (accounts,) = hints(operations["Branch"])["accounts"]
    assert accounts.kind in ("iterable", "list", "sequence")
    assert Hint("class", "bank.accounts.Account") in choices(accounts.args[0])


def test_its_docstring_does_too(operations: dict[str, Operation]) -> None:
    assert hints(operations["Account"])["limit"] == (Hint("class", "decimal.Decimal"), NONE)


def test_an_object_that_no_class_fits_is_a_plain_one(operations: dict[str, Operation]) -> None:
    assert "types.SimpleNamespace" in [hint.name for hint in hints(operations["Branch"])["keeper"]]


@pytest.mark.parametrize("name", ["Savings", "Joint"])
def test_so_does_the_constructor_that_gets_its_keywords(name: str, operations: dict[str, Operation]) -> None:
    found = hints(operations[name])
    assert STR in found["owner"] and STR in found["currency"]


def test_an_inherited_constructor_is_that_of_the_base() -> None:
    class Base:
        def __init__(self, name):
            self.name = name.upper()

    class Derived(Base):
        pass

    assert Elsewhere({}).demands(Derived) == Elsewhere({}).demands(Base.__init__) == {"name": STR}


class _Builtin(dict): ...


def _without_source() -> types.FunctionType:
    space: dict[str, types.FunctionType] = {"__name__": __name__}  # type: ignore[dict-item]
    exec("def f(x): return x.upper()", space)
    return space["f"]


OTHERS = {
    "builtin": len,
    "standard library": textwrap.dedent,
    "inherited from a builtin": _Builtin,
    "class without a constructor": int,
    "None": None,
    "no callable": 3,
    "without source": _without_source(),
}


@pytest.mark.parametrize("target", OTHERS.values(), ids=OTHERS)
def test_without_source_and_in_the_standard_library_nothing_is_inferred(target: object) -> None:
    assert Elsewhere({}).demands(target) == {}


def test_only_so_many_files_are_read_and_no_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def shout(text):
        return text.upper()

    assert Elsewhere({}).demands(shout) == {"text": STR}
    with monkeypatch.context() as patch:
        patch.setattr(elsewhere, "_MOST_LETTERS", 10)
        assert Elsewhere({}).demands(shout) == {}
    monkeypatch.setattr(elsewhere, "_MOST_FILES", 0)
    assert Elsewhere({}).demands(shout) == {}


PASSING = """
    import base64
    import datetime as dt
    from json import loads

    from bank import accounts
    from bank.accounts import Account

    def parse(text):
        return loads(text)

    def day(text):
        return dt.datetime.strptime(text, "%Y")

    def raw(data):
        return base64.b64decode(data, validate=True)

    def opened(name, places, **more):
        return accounts.Account(name, limit=places, **more)

    def savings(percent, who):
        return accounts.Savings(percent, owner=who)

    def number(value):
        return Account(int(value))

    def anything(value):
        return missing(value), accounts.missing(value), value.loads(value)
"""


@pytest.fixture
def passing(tmp_path: Path) -> dict[str, Operation]:
    return operations_of(tmp_path, "function", accounts=BANK, passing=PASSING)


@pytest.mark.parametrize(
    ("name", "parameter", "expected"),
    [
        ("parse", "text", STR),
        ("day", "text", STR),
        ("raw", "data", STR),
        ("opened", "name", STR),
        ("opened", "places", Hint("class", "decimal.Decimal")),
        ("savings", "percent", Hint("class", "builtins.float")),
        ("savings", "who", STR),
        ("number", "value", Hint("class", "builtins.int")),
    ],
)
def test_an_argument_has_the_type_of_the_parameter_that_it_is_passed_to(
    name: str, parameter: str, expected: Hint, passing: dict[str, Operation]
) -> None:
    assert expected in hints(passing[name])[parameter]


def test_a_name_that_cannot_be_followed_says_nothing(passing: dict[str, Operation]) -> None:
    assert passing["anything"].parameters[0].hint.kind != "class" or passing["anything"].parameters[0].hint != STR


def test_a_class_elsewhere_may_pass_its_keywords_back_to_the_module_under_test(tmp_path: Path) -> None:
    derived = """
        from bank.base import Base

        class Derived(Base):
            def __init__(self, size, **options):
                super().__init__(**options)
                self.size = size * 2.5
    """
    base = """
        class Base:
            def __init__(self, name):
                self.name = name.upper()

        from bank import derived

        def derive(size, name):
            return derived.Derived(size, name=name)
    """
    derive = operations_of(tmp_path, "function", derived=derived, base=base)["derive"]
    assert hints(derive)["name"] == (STR,)


def test_an_object_that_cannot_be_inspected_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        textwrap.dedent(
            """
            import textwrap

            class Odd:
                __module__ = "elsewhere"
                __qualname__ = "Odd"

                @property
                def __signature__(self):
                    raise SystemError

                def __call__(self, text):
                    return text

            odd = Odd()

            def use(text):
                return odd(text)
            """
        )
    )
    with Executor(locate(str(tmp_path / "odd.py"))) as executor:
        (use,) = (one for one in executor.subject.operations if one.name == "use")
    assert [one.name for one in use.parameters] == ["text"]
