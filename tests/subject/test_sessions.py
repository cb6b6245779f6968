"""Code in prose: after prompts and in fenced blocks."""

import ast

import pytest

from fitgym.subject.sessions import blocks, session


def text_of(statements):
    return "; ".join(ast.unparse(statement) for statement in statements)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, ""),
        ("no prompts", ""),
        (">>> f(1)\n2", "f(1)"),
        (">>> g = Graph()\n>>> g.add(1)\n>>> g.size\n1", "g = Graph(); g.add(1); g.size"),
        (">>> for x in a:\n...     f(x)\n1\n", "for x in a:\n    f(x)"),
        (">>> f(1\n>>> f(2)", "f(2)"),  # what cannot be parsed is left out
        ("text\n    >>> f('a')\n    'a'\n\n    more text\n    >>> f('b')", "f('a'); f('b')"),
        (">>> f(1)\n... is what we call it", ""),
    ],
)
def test_the_statements_after_prompts(text, expected):
    assert text_of(session(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```python\nf(1)\n```", ["f(1)"]),
        ("```py\nf(1)\n```\ntext\n~~~python\ng = f(2)\ng\n~~~", ["f(1)", "g = f(2); g"]),
        ("```\nf(1)\n```", []),  # of no language
        ("```sh\npip install x\n```", []),
        ("```python\n>>> f(1)\n```", []),  # a session has its own turn
        ("```python\nf(1\n```\n```python\nf(2)\n```", ["f(2)"]),
        (".. code-block:: python\n\n    f(1)\n    f(2)\n\ntext", ["f(1); f(2)"]),
        (".. code:: python\n\n   f(1)\n", ["f(1)"]),
        (".. code-block:: console\n\n    f(1)\n", []),
    ],
)
def test_the_blocks_of_a_text(text, expected):
    assert [text_of(block) for block in blocks(text)] == expected
