"""Registries: a file in an extension folder is enough to add an extension."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fitgym.agents.base import agents
from fitgym.errors import FitgymError, InputError, UnknownName
from fitgym.registry import Registry, parse_options

BASE = "class Base: pass\n"
ONE = "from {package}.base import Base\nclass {name}(Base): pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, str]], Registry[Any]]]:
    """Makes an extension folder with the given files and opens a registry on it."""
    numbers = itertools.count()
    made = []

    def make(files: dict[str, str]) -> Registry[Any]:
        package = f"extensions_{tmp_path.name}_{next(numbers)}"
        made.append(package)
        (tmp_path / package).mkdir()
        for name, text in {"__init__.py": "", "base.py": BASE, **files}.items():
            path = tmp_path / package / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace("{package}", package).replace("{name}", path.stem.title()))
        importlib.invalidate_caches()
        base = importlib.import_module(f"{package}.base").Base
        return Registry(package, base, "extension")

    monkeypatch.syspath_prepend(str(tmp_path))
    yield make
    for name in [name for name in sys.modules if name.split(".")[0] in made]:
        del sys.modules[name]


def test_names_are_the_files_sorted(folder: Callable[[dict[str, str]], Registry[Any]]) -> None:
    assert folder({"zebra.py": ONE, "ant.py": ONE}).names() == ["ant", "zebra"]


def test_base_sub_packages_and_underscored_files_are_no_extensions(
    folder: Callable[[dict[str, str]], Registry[Any]],
) -> None:
    assert folder({"_hidden.py": ONE, "ant.py": ONE, "inner/__init__.py": ""}).names() == ["ant"]


def test_listing_imports_no_extension(folder: Callable[[dict[str, str]], Registry[Any]]) -> None:
    assert folder({"broken.py": "1 / 0"}).names() == ["broken"]


def test_an_extension_is_the_class_that_its_file_defines(folder: Callable[[dict[str, str]], Registry[Any]]) -> None:
    registry = folder({"ant.py": ONE, "bee.py": "from {package}.ant import Ant\n" + ONE})
    assert registry.load("ant").__name__ == "Ant"
    assert registry.load("bee").__name__ == "Bee"


def test_a_file_that_appears_later_is_found(folder: Callable[[dict[str, str]], Registry[Any]], tmp_path: Path) -> None:
    registry = folder({"ant.py": ONE})
    assert registry.names() == ["ant"]
    text = ONE.replace("{package}", registry.package).replace("{name}", "Bee")
    (tmp_path / registry.package / "bee.py").write_text(text)
    importlib.invalidate_caches()
    assert registry.names() == ["ant", "bee"]
    assert registry.load("bee").__name__ == "Bee"


@pytest.mark.parametrize("name", ["base", "_hidden", "inner", "", "ant.py"])
def test_what_is_no_extension_is_not_loaded(name: str, folder: Callable[[dict[str, str]], Registry[Any]]) -> None:
    registry = folder({"ant.py": ONE, "_hidden.py": ONE, "inner/__init__.py": ""})
    with pytest.raises(UnknownName, match=f"no extension named '{name}'"):
        registry.load(name)


def test_an_unknown_name_is_answered_with_the_nearest(folder: Callable[[dict[str, str]], Registry[Any]]) -> None:
    with pytest.raises(UnknownName) as caught:
        folder({"ant.py": ONE, "bee.py": ONE}).load("atn")
    assert str(caught.value) == "no extension named 'atn'; did you mean 'ant'? (there are: ant, bee)"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("from {package}.base import Base", 0),
        ("from {package}.base import Base\nclass _Ant(Base): pass", 0),
        (ONE + "class Second(Base): pass", 2),
    ],
)
def test_a_file_without_exactly_one_class_says_so(
    text: str, number: int, folder: Callable[[dict[str, str]], Registry[Any]]
) -> None:
    with pytest.raises(FitgymError, match=rf"ant\.py defines {number} public subclasses of Base, expected exactly one"):
        folder({"ant.py": text}).load("ant")


def test_an_underscored_class_may_stand_beside_the_extension(
    folder: Callable[[dict[str, str]], Registry[Any]],
) -> None:
    assert folder({"ant.py": ONE + "class _Helper(Base): pass"}).load("ant").__name__ == "Ant"


def test_linked_folders_are_registries_too() -> None:
    assert agents().load("ucb").__module__ == "fitgym.agents.ucb"


def test_a_file_that_is_named_as_a_part_is_no_extension() -> None:
    assert "transition" not in agents().names()
    with pytest.raises(UnknownName, match="no agent named 'transition'"):
        agents().load("transition")


def test_options_are_read_as_json():
    assert parse_options("c=0.5,normalise=true", ["c", "normalise"], "agent 'ucb'") == {"c": 0.5, "normalise": True}
    assert parse_options("", ["c"], "agent 'ucb'") == {}


def test_options_that_are_words_need_no_quotation_marks():
    assert parse_options("kind=near,c=1", ["c", "kind"], "x", words=["kind"]) == {"kind": "near", "c": 1}


@pytest.mark.parametrize(("text", "message"), [("d=1", "has no option 'd=1'"), ("c", "has no option 'c'")])
def test_an_option_that_does_not_exist_is_named_with_those_that_do(text, message):
    with pytest.raises(InputError, match=message) as caught:
        parse_options(text, ["c"], "agent 'ucb'")
    assert "after the colon: c=..." in str(caught.value)


def test_a_value_that_is_not_json_is_named():
    with pytest.raises(InputError, match="agent 'ucb': c is 'much', expected a number, true or false"):
        parse_options("c=much", ["c"], "agent 'ucb'")
