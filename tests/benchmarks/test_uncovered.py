"""The benchmark of uncovered branches: their classes, on small programs."""

import sys
import textwrap
from pathlib import Path

from fitgym.execution.executor import Executor
from fitgym.subject.source import locate

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import uncovered

CONDITIONS = {
    "sys.platform == 'win32'": "platform",
    "os.path.exists(x)": "environment",
    "isinstance(x, int)": "type",
    "x.startswith('a')": "string",
    "x == 'a'": "string",
    "x in y": "member",
    "x.size": "object",
    "x > 3": "number",
    "x is None": "missing",
    "x": "missing",
    "x == y": "other",
}


def explained(folder, source, entered=True):
    """Each uncovered branch once, as (line, open, class), when functions were at most entered."""
    (folder / "tiny.py").write_text(textwrap.dedent(source))
    with Executor(locate(str(folder / "tiny.py"))) as executor:
        subject = executor.subject
    covered = [branch.root and entered for branch in subject.branches]
    found = uncovered.explain(subject, covered)
    return list(dict.fromkeys((line, is_open, kind) for line, is_open, kind, _ in found))


def test_the_classes_of_conditions(tmp_path):
    functions = [f"def f{n}(x, y):\n    if {text}: pass\n" for n, text in enumerate(CONDITIONS)]
    found = explained(tmp_path, "import os, sys\n" + "".join(functions))
    assert [kind for _, _, kind in found] == list(CONDITIONS.values())


def test_a_branch_behind_another_one_has_its_class_and_some_code_is_dead(tmp_path):
    source = """
        TYPE_CHECKING = False
        if TYPE_CHECKING:
            import os
        def f(x, y):
            if x > 3:
                if y == "a":
                    return 1
        def g(x):
            for y in x:
                pass
        """
    assert explained(tmp_path, source) == [
        (3, True, "dead"),
        (6, True, "number"),
        (7, False, "number"),
        (10, True, "loop"),
    ]


def test_overloads_are_dead_and_other_functions_are_uncalled(tmp_path):
    source = "from typing import overload\n@overload\ndef f(x: int): ...\ndef f(x): return lambda: x\n"
    found = explained(tmp_path, source, entered=False)
    assert [kind for line, _, kind in found if line > 1] == ["dead", "uncalled", "callback"]


def test_the_table_counts_branches_by_class():
    row = {
        **dict.fromkeys(uncovered.CLASSES, "0"),
        "covered": "6",
        "total": "9",
        "error": "",
        "string": "2",
        "loop": "1",
    }
    text = uncovered.table([row, {**row, "error": "no module"}])
    assert "# Uncovered branches of 1 searches" in text and "0.667" in text
    assert text.index("| string |") < text.index("| loop |") < text.index("| dead |")
