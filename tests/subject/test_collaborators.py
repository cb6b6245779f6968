"""Modules that the module under test does not import, but whose objects it works on."""

import textwrap
from pathlib import Path

import pytest
from nightly import nightly

from fitgym.execution.executor import Executor
from fitgym.subject.collaborators import collaborators
from fitgym.subject.source import locate
from fitgym.subject.types.hints import Hint

WALKER = """
class Walker:
    limit: int = 3

    def __init__(self, text):
        self.text = text

    async def rest(self):
        pass

    def token(self):
        return self.text[0]
"""


def written(folder: Path, **files: str) -> Path:
    """A package with these modules, and the path of its module `parser`."""
    package = folder / "lexis"
    package.mkdir()
    for name, text in {"__init__": "", "walker": WALKER, **files}.items():
        (package / f"{name}.py").write_text(textwrap.dedent(text))
    return package / "parser.py"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def f(w): return w.text + w.token()", ["lexis.walker"]),
        ("def f(w): return w.limit, w.rest()", ["lexis.walker"]),
        ("def f(w: typing.Any): return w.text + w.token()", ["lexis.walker"]),
        ("class A:\n    def __init__(self, w): self.w = w; self.w.text, self.w.token", ["lexis.walker"]),
        ("def f(w): return w.text, w.token, w.limit, w.other", ["lexis.walker"]),  # three of four
        ("def f(w): return w.text, w.other", []),
        ("def f(w): return w.token()", []),  # one attribute identifies no class
        ("def f(walker): return walker.token()", ["lexis.walker"]),  # but the name does
        ("def f(walker): return walker.strip()", []),  # it is a text
        ("def f(w: str): return w.text + w.token()", []),  # it is declared
        ("def f(w): return w.split(), w.strip()", []),
        ("def f(:", []),
    ],
)
def test_a_module_is_found_by_the_class_that_a_parameter_needs(tmp_path: Path, code: str, found: list[str]) -> None:
    path = written(tmp_path, parser=code)
    assert collaborators("lexis.parser", str(path), code, ()) == found


@pytest.mark.parametrize("name", ["Grid_View", "GridView", "GRIDVIEW"])
def test_underscores_and_capitals_make_no_other_name(tmp_path: Path, name: str) -> None:
    code = "def f(grid_view): return grid_view.cells()"
    path = written(tmp_path, parser=code, view=f"class {name}:\n    def cells(self): return []\n")
    assert collaborators("lexis.parser", str(path), code, ()) == ["lexis.view"]


def test_no_module_is_searched_for_a_class_that_is_loaded(tmp_path: Path) -> None:
    code = "def f(w): return w.text + w.token()"
    path = written(tmp_path, parser=code, other=WALKER)
    assert collaborators("lexis.parser", str(path), code, ()) == ["lexis.other", "lexis.walker"]
    assert collaborators("lexis.parser", str(path), code, {"lexis.other"}) == []


def test_tests_and_private_classes_are_no_collaborators(tmp_path: Path) -> None:
    code = "def f(w): return w.text + w.token()"
    hidden = WALKER.replace("class Walker", "class _Walker")
    path = written(tmp_path, parser=code, walker=hidden, test_walker=WALKER, conftest=WALKER)
    assert collaborators("lexis.parser", str(path), code, ()) == []


def test_a_module_without_a_package_has_no_collaborators(tmp_path: Path) -> None:
    (tmp_path / "walker.py").write_text(WALKER)
    assert collaborators("parser", str(tmp_path / "parser.py"), "def f(w): return w.text + w.token()", ()) == []


def parameter(path: Path) -> Hint:
    with Executor(locate(str(path))) as executor:
        return next(one for one in executor.subject.operations if one.name == "first").parameters[0].hint


def test_an_object_of_a_module_that_was_never_imported_is_built(tmp_path: Path) -> None:
    path = written(tmp_path, parser="def first(w): return w.text + w.token()")
    assert parameter(path) == Hint("class", "lexis.walker.Walker")


def test_a_collaborator_may_build_objects_of_the_subject_at_its_import(tmp_path: Path) -> None:
    code = "class Rule:\n    def __init__(self, n): self.n = n\ndef first(w): return w.text + w.token()"
    user = "from lexis.parser import Rule\nRULES = [Rule(1)]\n" + WALKER
    path = written(tmp_path, parser=code, walker=user)
    assert parameter(path) == Hint("class", "lexis.walker.Walker")


@pytest.mark.parametrize(
    "harm", ["from lexis import parser; parser.known.append(1)", "raise ValueError", "import sys; sys.exit()"]
)
def test_a_collaborator_that_changes_the_subject_or_fails_is_left_out(tmp_path: Path, harm: str) -> None:
    code = "known = []\ndef first(w): return w.text + w.token()"
    path = written(tmp_path, parser=code, walker=f"{harm}\n{WALKER}")
    assert "Walker" not in repr(parameter(path))


@nightly  # it takes the 10 s that collaborators may take
def test_a_collaborator_that_hangs_at_its_import_delays_the_start_but_does_not_prevent_it(tmp_path: Path) -> None:
    path = written(
        tmp_path, parser="def first(w): return w.text + w.token()", walker=f"while True:\n    pass\n{WALKER}"
    )
    assert "Walker" not in repr(parameter(path))
