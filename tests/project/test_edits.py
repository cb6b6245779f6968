"""Edits: the functions that differ between two versions of a source."""

from __future__ import annotations

import pytest

from fitgym.project.diff.edits import Edits, edits, imported_from, is_public, users

BASE = '''
"""Prices."""
import math

RATE = 20


def tax(price):
    """The tax."""
    # per cent
    return price * RATE // 100


def root(x):
    return math.sqrt(x)


class Price:
    currency = "EUR"

    def __init__(self, cents):
        self.cents = cents

    def text(self):
        return f"{self.cents} {self.currency}"
'''


def changed(old: str, new: str) -> Edits:
    """What differs when one place of the base is replaced."""
    assert BASE.count(old) == 1
    return edits(BASE, BASE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('    """The tax."""\n', '    """What is added to a price."""\n'),
        ('    """The tax."""\n', ""),
        ("    # per cent\n", ""),
        ("return price * RATE // 100", "return (\n        price * RATE\n        // 100\n    )"),
        ('"EUR"', "'EUR'"),
        ('"""Prices."""\n', ""),
        ("import math\n", "import math\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import decimal\n"),
    ],
)
def test_docstrings_comments_and_formatting_do_not_count(old: str, new: str) -> None:
    found = changed(old, new)
    assert (found.changed, found.added, found.removed) == ((), (), ())


def test_the_order_of_definitions_does_not_count() -> None:
    old = "import a\nimport b\ndef f():\n    return 1\ndef g():\n    return 2\n"
    new = "import b\nimport a\ndef g():\n    return 2\ndef f():\n    return 1\n"
    assert not edits(old, new).any


@pytest.mark.parametrize(
    ("old", "new", "functions"),
    [
        ("math.sqrt(x)", "math.cbrt(x)", ("root",)),
        ("def root(x)", "def root(x, y=1)", ("root",)),
        ("def root(x)", "@print\ndef root(x)", ("root",)),
        ("self.cents = cents", "self.cents = int(cents)", ("Price.__init__",)),
        ("RATE = 20", "RATE = 19", ("tax",)),
        ("import math", "import cmath as math", ("root",)),
        ('currency = "EUR"', 'currency = "USD"', ("Price", "Price.__init__", "Price.text")),
        ("class Price:", "class Price(int):", ("Price", "Price.__init__", "Price.text")),
    ],
)
def test_changed_code_and_its_users_are_named(old: str, new: str, functions: tuple[str, ...]) -> None:
    assert changed(old, new).changed == functions


def test_a_constant_made_of_a_changed_one_leads_to_its_users() -> None:
    old = "A = 1\nB = A + 1\ndef f():\n    return B\ndef g():\n    return 0\n"
    assert edits(old, old.replace("A = 1", "A = 2")) == Edits(changed=("f",))


def test_a_function_that_makes_objects_of_a_changed_class_is_named() -> None:
    old = "class A:\n    x: int = 1\ndef make():\n    return A()\ndef other():\n    return 0\n"
    assert edits(old, old.replace("= 1", "= 2")).changed == ("A", "make")


def test_new_and_removed_functions_methods_and_classes_are_told_apart() -> None:
    old = "def f():\n    pass\nclass A:\n    def m(self):\n        pass\nclass B:\n    def k(self):\n        pass\n"
    new = "def g():\n    pass\nclass A:\n    def n(self):\n        pass\nclass C:\n    def k(self):\n        pass\n"
    found = edits(old, new)
    assert found.added == ("A.n", "C", "C.k", "g")
    assert found.removed == ("A.m", "B", "B.k", "f")
    assert found.changed == ()


def test_a_function_that_is_imported_now_is_changed_not_removed() -> None:
    old, new = "def f():\n    return 1\n", "from other import f\n"
    assert edits(old, new) == Edits(changed=("f",))
    assert edits(new, old).changed == ("f",)


def test_a_method_that_may_be_inherited_now_is_changed_not_removed() -> None:
    old = "class A(B):\n    def m(self):\n        return 1\n    def n(self):\n        return 2\n"
    new = "class A(B):\n    def n(self):\n        return 2\n"
    found = edits(old, new)
    assert (found.changed, found.removed) == (("A.m",), ())


def test_functions_in_blocks_count_with_their_conditions() -> None:
    old = "import sys\nif sys.version_info > (3, 11):\n    def f():\n        return 1\nelse:\n    def f():\n        return 2\n"
    assert edits(old, old.replace("(3, 11)", "(3, 12)")).changed == ("f",)
    assert edits(old, old.replace("return 2", "return 3")).changed == ("f",)


def test_a_change_inside_an_inner_function_is_one_of_the_outer_function() -> None:
    old = "def outer():\n    def inner():\n        '''Doc.'''\n        return 1\n    return inner\n"
    assert edits(old, old.replace("return 1", "return 2")).changed == ("outer",)
    assert not edits(old, old.replace("'''Doc.'''", "'''Other.'''")).any


def test_an_entry_of_a_table_is_a_change_of_the_table() -> None:
    old = "T = {}\nT['a'] = 1\ndef f():\n    return T\n"
    assert edits(old, old.replace("= 1", "= 2")) == Edits(changed=("f",))
    table = "T = [" + ", ".join(map(str, range(5000))) + "]\ndef f():\n    return T\n"
    assert edits(table, table.replace(" 4321,", " 1234,")).changed == ("f",)


def test_a_changed_name_that_no_function_uses_is_only_named() -> None:
    old = "__all__ = ['f']\nRATE = 1\ndef f():\n    pass\n"
    assert edits(old, old.replace("= 1", "= 2")) == Edits(names=("RATE",))


def test_the_list_of_exported_names_and_the_imports_of_new_functions_are_not_named() -> None:
    old = "__all__ = ['f']\ndef f():\n    pass\n"
    new = "import math\n__all__ = ['f', 'g']\ndef f():\n    pass\ndef g():\n    return math.pi\n"
    assert edits(old, new) == Edits(added=("g",))


@pytest.mark.parametrize("source", ["def f(:\n", "x = '\0'\n", "if True:\nx\n"])
def test_what_cannot_be_parsed_is_a_syntax_error(source: str) -> None:
    with pytest.raises(SyntaxError):
        edits("x = 1\n", source)


def test_deep_code_is_compared() -> None:
    deep = "def f(x):\n    return " + " + ".join(["x"] * 3000) + "\n"
    assert edits(deep, deep.replace("x + x", "x - x", 1)).changed == ("f",)


@pytest.mark.parametrize(
    ("name", "public"),
    [("f", True), ("_f", False), ("A._m", False), ("_A.m", False), ("A.__init__", True), ("A.__m", False)],
)
def test_special_methods_are_public_and_other_underscores_are_not(name: str, public: bool) -> None:
    assert is_public(name) is public


@pytest.mark.parametrize(
    ("source", "module", "is_package", "names"),
    [
        ("import shop.prices\n", "till", False, {"shop"}),
        ("import shop.prices as p\n", "till", False, {"p"}),
        ("from shop.prices import tax as t, root\n", "till", False, {"t", "root"}),
        ("from shop import prices\n", "till", False, {"prices"}),
        ("from .prices import tax\n", "shop.till", False, {"tax"}),
        ("from . import prices\n", "shop.till", False, {"prices"}),
        ("from .prices import tax\n", "shop", True, {"tax"}),
        ("from ..prices import tax\n", "shop.desk.till", False, {"tax"}),
        ("def f():\n    from shop.prices import tax\n", "till", False, {"tax"}),
        ("import prices\nfrom shop.stock import tax\n", "till", False, set()),
        ("from .... import prices\n", "shop.till", False, set()),
    ],
)
def test_imports_of_a_module_are_found(source: str, module: str, is_package: bool, names: set[str]) -> None:
    assert imported_from(source, module, is_package, ["shop.prices"]) == names


def test_users_of_a_name_are_found_by_way_of_other_names() -> None:
    source = "from shop import tax\nT = tax(1)\ndef f():\n    return T\ndef g():\n    return tax(2)\ndef h():\n    return 0\n"
    assert users(source, ["tax"]) == ("f", "g")
