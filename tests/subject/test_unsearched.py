"""Unsearched operations: what shows the state of objects in finished tests, and what sets it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

from fitgym import generate
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.subject.subject import Subject
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.statement import StatementTable

BANK = {
    "__init__": "",
    "accounts": """
        from functools import cached_property

        class Base:
            @property
            def owner(self): return self._owner

        class Account(Base):
            def __init__(self, owner: str) -> None:
                self._owner, self._entries = owner, []

            def book(self, amount: int) -> None:
                self._entries.append(amount)

            @property
            def balance(self) -> int: return sum(self._entries)

            @cached_property
            def size(self): return len(self._entries)

            @property
            def _secret(self): return 1

            def __len__(self): return len(self._entries)
            def __repr__(self): return f"Account of {self._owner}"

        class Unrelated:
            @property
            def balance(self): return 0
    """,
    "transfer": """
        from bank.accounts import Account

        class Plan:
            @property
            def steps(self): return []

        def opened(owner: str, amount: int) -> Account:
            account = Account(owner)
            if amount > 100:
                account.book(amount)
            return account
    """,
}


def written(folder: Path, package: str, modules: dict[str, str]) -> Path:
    """Write a package into a folder, and return the folder."""
    (folder / package).mkdir()
    for name, source in modules.items():
        (folder / package / f"{name}.py").write_text(textwrap.dedent(source))
    return folder


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    return written(tmp_path, "bank", BANK)


def unsearched(subject: Subject) -> list[str]:
    return [one.name for one in subject.operations if one.unsearched]


def test_what_shows_the_state_of_a_returned_object_is_known(bank: Path) -> None:
    with Executor(locate("bank.transfer", str(bank))) as executor:
        subject = executor.subject
    assert unsearched(subject) == [
        "Account.__repr__",
        "Account.__len__",
        "Account.owner",
        "Account.balance",
        "Account.size",
    ]
    assert all(
        not one.is_entry_point and one.owner == "bank.accounts.Account" for one in subject.operations if one.unsearched
    )


def test_a_search_never_calls_what_only_observes(bank: Path) -> None:
    with Executor(locate("bank.transfer", str(bank))) as executor:
        table = StatementTable()
        factory = TestFactory(executor.subject, table)
        rng = np.random.default_rng(1)
        called = {one.operation for _ in range(500) for one in table.statements(factory.random_test(rng))}
        assert called
        assert not any(executor.subject.operations[number].unsearched for number in called)


def test_a_test_checks_the_content_of_a_returned_object(bank: Path) -> None:
    text = generate("bank.transfer", path=str(bank), budget="600x", goal="coverage", output=bank / "tests").source
    assert any(shown in text for shown in ("account.size == ", "account.balance == ", "len(account) == "))
    assert "isinstance" not in text


PARCELS = {
    "__init__": "",
    "shapes": """
        from dataclasses import dataclass

        class Parcel:
            def __init__(self) -> None:
                self.weight = 1
                self.label = None

            @property
            def size(self): return 3

        @dataclass(frozen=True)
        class Seal:
            text: str = ""
    """,
    "price": """
        from parcels.shapes import Parcel, Seal

        def price(parcel: Parcel, seal: Seal) -> int:
            if seal.text == "fragile":
                return 50
            if parcel.weight > 20 and parcel.label is not None:
                return 9 + parcel.size
            return 2
    """,
}


@pytest.fixture
def parcels(tmp_path: Path) -> Path:
    return written(tmp_path, "parcels", PARCELS)


def test_attributes_that_code_uses_of_its_arguments_can_be_set(parcels: Path) -> None:
    with Executor(locate("parcels.price", str(parcels))) as executor:
        setters = [one for one in executor.subject.operations if one.kind == "setter"]
    assert sorted(one.name for one in setters) == ["Parcel.label", "Parcel.weight"]
    assert all(one.unsearched for one in setters)


def test_a_test_sets_attributes_of_an_object_instead_of_making_a_stand_in(parcels: Path) -> None:
    text = generate("parcels.price", path=str(parcels), budget="2000x", seed=1, output=parcels / "tests").source
    assert "parcel = Parcel()" in text
    assert "parcel.weight = " in text
