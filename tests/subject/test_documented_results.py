"""Results that only a docstring declares."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from fitgym.execution.executor import Executor
from fitgym.subject.introspection import docstrings
from fitgym.subject.source import locate
from fitgym.subject.types.hints import ANY, NONE, Hint, union


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Load it.\n\n:param name: of the file\n:rtype: Tree", "Tree"),
        ("Load it.\n\n:rtype: :class:`~wood.Tree` or None", "wood.Tree | None"),
        ("Load it.\n\nReturns:\n    Tree: the tree.\n\nRaises:\n    OSError: no file.", "Tree"),
        ("Load it.\n\nReturns:\n    Optional[Tree]: the tree.", "Optional[Tree]"),
        ("Load it.\n\nReturns:\n    The tree.", ""),
        ("Load it.\n\nReturns:\n    The tree: with all its nodes.", ""),
        ("Load it.\n\nReturns\n-------\nTree\n    The tree.", "Tree"),
        ("Load it.\n\nReturns\n-------\ntree : Tree\n    The tree.", "Tree"),
        ("Load it.\n\nReturns\n-------\nlist of Tree\n", "list[Tree]"),
        ("Load it.", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_the_type_of_a_result_in_a_docstring(doc: str | None, expected: str) -> None:
    assert docstrings.result(doc) == expected


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("int: The status.", "int"),
        ("Mapping[str, str]: The headers: all of them.", "Mapping[str, str]"),
        ("The status: a number.", ""),
        ("The status.", ""),
        ("The status.\n\n:rtype: int", "int"),
    ],
)
def test_the_type_of_a_property_may_be_the_first_word_of_its_docstring(doc: str, expected: str) -> None:
    assert docstrings.result(doc, is_property=True) == expected
    assert docstrings.result(doc) in ("", "int" if "rtype" in doc else "")


SOURCE = '''
class Tree:
    def __init__(self): self.size = 0

def planted():
    """Plant one.

    Returns:
        Tree: a new one.
    """
    return Tree()

def found(name):
    """:rtype: Tree or None"""
    return Tree() if name else None

def counted():
    """:rtype: int"""
    return 3

def typed() -> int:
    """:rtype: Tree"""
    return 3

def unknown():
    """:rtype: Forest"""

def every():
    """:rtype: Tree"""
    yield Tree()
'''

TREE = Hint("class", "wood.Tree")


def test_a_documented_class_is_the_type_of_the_result_if_no_annotation_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "wood.py").write_text(textwrap.dedent(SOURCE))
    with Executor(locate("wood", str(tmp_path))) as executor:
        returns = {one.name: one.returns for one in executor.subject.operations if one.under_test}
    assert (returns["planted"], returns["found"]) == (TREE, union([TREE, NONE]))
    assert returns["typed"] == Hint("class", "builtins.int")
    assert returns["counted"] == returns["unknown"] == ANY
    assert returns["every"] != TREE


ABSTRACT = {
    "transport": '''
        import abc

        class Response(metaclass=abc.ABCMeta):
            @property
            @abc.abstractmethod
            def status(self):
                """int: the code."""

        class Request(metaclass=abc.ABCMeta):
            @abc.abstractmethod
            def __call__(self, url):
                """Make it.

                Returns:
                    Response: what came back.
                """
    ''',
    "client": '''
        from net.transport import Response

        def works(request):
            """Try it.

            Args:
                request (net.transport.Request): makes requests.
            """
            return request("a").status
    ''',
    "__init__": "",
}


@pytest.mark.parametrize(("word", "declared"), [("Response", True), ("Path", False), ("Unknown", False)])
def test_a_docstring_may_name_a_class_that_its_module_does_not_import(
    tmp_path: Path, word: str, declared: bool
) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "__init__.py").write_text("from net import shapes")
    (tmp_path / "net" / "shapes.py").write_text("class Response: pass\nclass Path: pass\n")
    (tmp_path / "net" / "use.py").write_text(f'def f(one):\n    """:param {word} one: it"""\n    return one.a\n')
    with Executor(locate("net.use", str(tmp_path))) as executor:
        (parameter,) = executor.subject.under_test[0].parameters
    assert parameter.declared is declared
    assert (parameter.hint == Hint("class", f"net.shapes.{word}")) is declared


def test_what_a_test_makes_an_abstract_method_return_has_the_documented_class(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    for name, source in ABSTRACT.items():
        (tmp_path / "net" / f"{name}.py").write_text(textwrap.dedent(source))
    with Executor(locate("net.client", str(tmp_path))) as executor:
        made = {one.name: one.parameters for one in executor.subject.operations if one.kind == "constructor"}
        (request,) = executor.subject.under_test[0].parameters
    assert (request.hint, request.declared) == (Hint("class", "net.transport.Request"), True)
    (call,) = made["Request"]
    assert (call.name, call.hint) == ("__call__", Hint("class", "net.transport.Response"))
    assert [(one.name, one.hint) for one in made["Response"]] == [("status", Hint("class", "builtins.int"))]
