"""The benchmark that judges arguments by their annotations."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from typed_arguments import Counts, counted, judged, search_path, summary

OUTPUT = """\
test_a.py:3: error: Argument 1 to "f" has incompatible type "int"; expected "str"  [arg-type]
test_a.py:4: error: Argument 1 to "f" has incompatible type "SimpleNamespace"; expected "Box"  [arg-type]
test_a.py:5: error: List item 0 has incompatible type "int"; expected "Box"  [list-item]
test_a.py:6: error: Item "None" of "Box | None" has no attribute "size"  [union-attr]
test_a.py:7: error: Argument 1 to "f" has incompatible type "Match[str] | None"; expected "Match[str]"  [arg-type]
test_a.py:7: note: See the documentation
"""


def test_errors_about_arguments_count_and_stand_ins_apart() -> None:
    found = counted("shop", 4, OUTPUT)
    assert (found.module, found.tests, found.wrong, found.doubles) == ("shop", 4, 2, 1)
    assert [line.partition(":")[2][:1] for line in found.shown] == ["3", "5"]


def test_the_summary_adds_up_and_leaves_out_suites_without_errors() -> None:
    lines = summary([Counts("a", 3, 1, 0), Counts("b", 5, 0, 0), Counts("c", 2, 0, 4)]).splitlines()
    assert lines[0] == "10 tests of 3 typed modules: 1 arguments of another type than declared, 4 stand-ins."
    assert lines[-2:] == ["| `a` | 3 | 1 | 0 |", "| `c` | 2 | 0 | 4 |"]


def test_mypy_judges_a_real_suite(tmp_path: Path) -> None:
    packages, links, suites = (tmp_path / name for name in ("packages", "links", "suites"))
    for folder in (packages, links, suites):
        folder.mkdir()
    (packages / "tiny_typed.py").write_text("def f(text: str, number: int = 3) -> str:\n    return text\n")
    (packages / "typing_extensions.py").write_text("")
    (packages / "tiny-1.dist-info").mkdir()
    suite = suites / "test_tiny_typed.py"
    suite.write_text(
        "from tiny_typed import f\n\n\ndef test_a():\n    assert f(3) == 3\n\n\ndef test_b():\n    f('a', 4)\n"
    )
    path = search_path(packages, links)
    assert sorted(one.name for one in path.iterdir()) == ["tiny_typed.py"]
    found = judged(suite, "tiny_typed", path, tmp_path / "cache")
    assert (found.tests, found.wrong, found.doubles) == (2, 1, 0)
