"""Names that the code builds, and the parts that complete them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import fitgym
from fitgym.subject.code.built_names import completions

CLASS = """
class Visitor:
    {statement}
    def visit_name(self, node): pass
    def visit_Call(self, node): pass
    def leave_name(self, node): pass
    def name_visitor(self, node): pass
"""


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("'visit_' + kind", ("name", "Call")),
        ("f'visit_{kind}'", ("name", "Call")),
        ("f'{kind}_visitor'", ("name",)),
        ("f'le{kind}e'", ("ave_nam",)),
        ("'_' + kind", ()),  # almost any name
        ("'v' + kind", ()),
        ("'visit_%s' % kind", ("name", "Call")),
        ("'visit_{}'.format(kind)", ("name", "Call")),
        ("'visit_{kind}'.format(kind=kind)", ("name", "Call")),
        ("kind + '_visitor'", ("name",)),
        ("'visit_' + kind.lower()", ("name", "Call")),
        ("f'{kind}_{other}'", ()),  # two values
        ("'visit a ' + kind", ()),  # no name
        ("kind", ()),
        ("''.format(kind)", ()),
    ],
)
def test_names_of_the_module_complete_the_names_that_it_builds(expression: str, found: tuple[str, ...]) -> None:
    for statement in (
        f"def go(self, kind, other=''): return getattr(self, {expression}, None)",
        f"def go(self, kind, other=''):\n        name = {expression}\n        return hasattr(self, name)",
    ):
        assert completions(ast.parse(CLASS.format(statement=statement))) == found


def test_texts_count_only_where_something_is_looked_up_by_name() -> None:
    assert completions(ast.parse(CLASS.format(statement="def go(self, kind): return 'visit_' + kind"))) == ()


def test_variables_and_classes_are_names_too() -> None:
    source = "MODE_FAST = 1\n\nclass mode_slow: pass\n\ndef mode(kind): return globals()['mode_' + kind]\n"
    assert completions(ast.parse(source)) == ("slow",)
    assert completions(ast.parse(source.replace("['mode_' + kind]", "['MODE_' + kind]"))) == ("FAST",)


def test_the_search_reaches_what_is_looked_up_by_a_built_name(tmp_path: Path) -> None:
    (tmp_path / "desk.py").write_text(
        "class Desk:\n"
        "    def send(self, command: str) -> str:\n"
        "        handler = getattr(self, f'_on_{command}', None)\n"
        "        return handler() if handler else 'unknown'\n"
        "    def _on_shutdown(self):\n"
        "        return 'bye'\n"
    )
    run = fitgym.generate(str(tmp_path / "desk.py"), goal="coverage", budget="300x", seed=1)
    assert 'desk.send("shutdown")' in run.source
