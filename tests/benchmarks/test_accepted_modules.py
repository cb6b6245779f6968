"""The benchmarks of unknown packages: drawn modules, outcome classes, and tables."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import blind_modules
import modules_accepted
from modules_accepted import NOT_IMPORTED, OPTION, REFUSED, TESTED, Row


@pytest.fixture
def packages(tmp_path):
    """A folder with an installed package."""
    folder = tmp_path / "packages"
    files = {
        "tiny/__init__.py": "",
        "tiny/good.py": "def f(x: int):\n    if x > 3:\n        return 1\n    return 2\n" + "y = 1\n" * 60,
        "tiny/broken.py": "import no_such_module\ndef f(x):\n    return x\n",
        "tiny/starts.py": "import subprocess\nsubprocess.check_output(['uname'])\ndef f(x: int):\n    return x\n",
        "tiny/far.py": "open('/etc/fitgym-test', 'w').close()\ndef f(x: int):\n    return x\n",
        "tiny/tests/test_good.py": "def f(x):\n    return x\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    info = folder / "tiny-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in files))
    return folder


def test_tests_are_not_drawn_and_the_same_seed_draws_the_same(packages):
    assert modules_accepted.modules_of("Tiny", packages) == [
        "tiny", "tiny.broken", "tiny.far", "tiny.good", "tiny.starts"
    ]  # fmt: skip
    assert modules_accepted.drawn("tiny", packages, 2, 1) == modules_accepted.drawn("tiny", packages, 2, 1)
    assert len(modules_accepted.drawn("tiny", packages, 2, 1)) == 2


@pytest.mark.parametrize(
    ("module", "outcome", "sentence"),
    [
        ("tiny.good", TESTED, ""),
        ("tiny.broken", NOT_IMPORTED, "No module named 'no_such_module'"),
        ("tiny.starts", OPTION, "--programs uname"),
    ],
)
def test_a_module_is_classed_by_what_fitgym_and_python_say(packages, module, outcome, sentence):
    options = modules_accepted.arguments(["--packages", str(packages)])
    row = modules_accepted.examine("tiny", module, options)
    assert row.outcome == outcome and sentence in row.sentence


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = [Row("a", "a.b", TESTED, "", "", 3, 4, 1.5), Row("a", "a.c", REFUSED, "it, 'says'", "x", 0, 0, 0.5)]
    for row in rows:
        modules_accepted.rows_file(tmp_path / "rows.csv").add([asdict(row)])
    assert modules_accepted.read(tmp_path / "rows.csv") == rows
    text = modules_accepted.summary(rows)
    assert "1 (50.0%)" in text and "| refused | 1 | it, '…' | `a.c` |" in text


def test_the_blind_module_has_enough_statements_and_can_be_imported(packages):
    assert blind_modules.drawn("tiny", packages, 1) == "tiny.good"


def test_the_blind_table_has_the_mean_and_the_median(tmp_path):
    rows = [
        blind_modules.Row("a", "a.b", 1, "20s", covered=1, total=2, rate=100.0),
        blind_modules.Row("b", "b.c", 1, "20s", total=4, problem="no suite"),
        blind_modules.Row("c", "c.d", 1, "20s", covered=3, total=3, rate=300.0),
    ]
    for row in rows:
        blind_modules.rows_file(tmp_path / "rows.csv").add([asdict(row)])
    assert blind_modules.read(tmp_path / "rows.csv") == rows
    text = blind_modules.summary(rows, "20s")
    assert "mean 0.500, median 0.500" in text and "median 200" in text and "Without a suite: 1" in text


def test_the_blind_packages_are_among_the_200_and_none_is_a_subject_of_development():
    blind = set(modules_accepted.pinned(blind_modules.REQUIREMENTS))
    known = {name.lower() for name in modules_accepted.pinned(modules_accepted.HERE / "requirements_subjects.txt")}
    everything = set(modules_accepted.pinned(modules_accepted.REQUIREMENTS))
    assert len(blind) == 50 and len(everything) == 200
    assert blind <= everything and not blind & known
