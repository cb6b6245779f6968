"""Functions that another function defines and returns are operations: tests call them."""

import ast
import textwrap

import pytest

from fitgym.execution.executor import Executor
from fitgym.run.generation import generate
from fitgym.subject.introspection.codes import Found
from fitgym.subject.introspection.inner import returned_function
from fitgym.subject.source import locate
from fitgym.subject.types.hints import Hint


def inner_of(body: str) -> Found | None:
    """The function that `outer` returns, found without a call."""
    source = "def outer(a, b=None):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    space: dict[str, object] = {"__name__": "tiny"}
    exec(source, space)
    function = space["outer"]
    return returned_function(Found(function, function.__code__, ast.parse(source).body[0]), space)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "signature"),
    [
        ("def inner(x, y=3): return x + a\nreturn inner", "(x, y=3)"),
        ("def inner(x: 'int', *args: str) -> int: pass\nreturn inner", "(x: \"'int'\", *args: 'str') -> 'int'"),
        ("def inner(*, key=b, other=2): pass\nreturn inner", "(*, key=None, other=2)"),
        ("return lambda x: x", "(x)"),
        ("import functools\n@functools.wraps(a)\ndef inner(*args): pass\nreturn inner", "(*args)"),
        ("if a:\n    return inner\ndef inner(): pass\nreturn inner", "()"),
        ("async def inner(x): pass\nreturn inner", "(x)"),
        ("def inner(x): pass\nif a: return inner(a)\nreturn inner", "(x)"),
        ("import functools\ndef inner(x): pass\nreturn functools.wraps(a)(inner)", "(x)"),
        ("def inner(x): pass\nreturn update_wrapper(inner, a)", "(x)"),
    ],
)
def test_the_returned_function_has_its_signature(body: str, signature: str) -> None:
    import inspect

    found = inner_of(body)
    assert found is not None and str(inspect.signature(found.target)) == signature


PASSED_ON = """
def _decorator(size):
    def decorator(function):
        def wrapper(key):
            return function(key) * size
        return wrapper
    return decorator

def cached(function=None, size=3):
    if function is not None:
        return cached(size=size)(function)
    return _decorator(size)

def twice(size):
    return cached(size=size)

def either(size):
    return cached(size) if size else None

def around(size):
    return there(size)

def there(size):
    return around(size)
"""


def test_a_function_that_passes_the_result_of_another_on_returns_what_that_one_does(inspected) -> None:
    found = {one.name: one.returns.name for one in inspected(PASSED_ON).operations if one.under_test}
    decorator = "tiny._decorator.<locals>.decorator"
    assert found["cached"] == found["twice"] == decorator
    assert found["cached.__call__"] == f"{decorator}.<locals>.wrapper"
    assert found["cached.__call__.__call__"] == found["either"] == found["around"] == ""


@pytest.mark.parametrize(
    "body",
    [
        "return a",
        "def inner(): pass",
        "def inner(): pass\nreturn inner()",
        "def inner(): pass\nif a: return other(a)\nreturn inner",
        "return outer(a)",
        "return unknown(a)",
        "def inner(): pass\nif a: return None\nreturn inner",
        "def inner(): pass\nyield inner\nreturn inner",
        "import contextlib\n@contextlib.contextmanager\ndef inner(): yield\nreturn inner",
        "if a:\n    def inner(): pass\nelse:\n    def inner(x): pass\nreturn inner",
        "class Inner: pass\nreturn Inner",
        "def other():\n    def inner(): pass\n    return inner\nreturn a",
    ],
)
def test_a_function_that_returns_something_else_has_no_returned_function(body: str) -> None:
    assert inner_of(body) is None


SCALE = """
def make_scale(factor: int):
    def scale(value: int) -> int:
        if value < 0:
            raise ValueError("negative")
        return value * factor
    return scale


def limited(most):
    def decorator(function):
        def wrapper(*args):
            return function(*args) if most > 2 else None
        return wrapper
    return decorator
"""


def test_a_call_of_a_returned_function_is_an_operation_on_results_of_its_factory(tmp_path):
    (tmp_path / "scales.py").write_text(SCALE)
    with Executor(locate(str(tmp_path / "scales.py"))) as executor:
        subject = executor.subject
    make, call, _, *chain = subject.under_test
    assert (call.name, call.operator, call.owner) == ("make_scale.__call__", "__call__", make.returns.name)
    assert subject.functions[call.function].name.endswith("scale") and call.function != make.function
    assert [parameter.hint for parameter in call.parameters] == [Hint("class", "builtins.int")]
    assert [one.name for one in chain] == ["limited.__call__", "limited.__call__.__call__"]


def test_tests_call_what_a_factory_returns_and_check_the_result(tmp_path):
    (tmp_path / "scales.py").write_text(SCALE)
    run = generate(str(tmp_path / "scales.py"), budget="1000x", output=tmp_path / "tests")
    assert run.record["mutants"]["killed"] >= 0.9 * run.record["mutants"]["total"]
    assert "scale = make_scale(" in run.source and "assert scale(" in run.source
    assert "wrapper = decorator(" in run.source and "is not None" not in run.source
