"""Why a suite misses a fault: the lines it reaches, and the outcomes of its calls in both versions."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from fitgym.study.faults import Fault

ROOT = Path(__file__).parents[2]

FIXED = """
class Tank:
    def __init__(self):
        self.litres = 0
        self.log = []

    def fill(self, litres):
        if litres < 0:
            raise ValueError(litres)
        self.litres += litres
        self.log.append(litres)
        return litres <= 10

    def names(self):
        return sorted(self.log, key=lambda litres: litres <= 10)
"""


@pytest.fixture(scope="module")
def script() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(ROOT / "benchmarks" / "faults.py")))


def versions(folder: Path, old: str, new: str) -> tuple[Fault, Path, Path]:
    places = []
    for name, text in (("fixed", FIXED), ("buggy", FIXED.replace(old, new))):
        places.append(folder / name)
        places[-1].mkdir()
        places[-1].joinpath("tank.py").write_text(text)
    return Fault("one", "tank", *map(str, places)), *places


@pytest.mark.parametrize(
    ("old", "new", "body", "reason"),
    [
        ("raise ValueError(litres)", "return False", "tank.fill(1)", "not reached"),
        ("return litres <= 10", "return litres < 10", "assert tank.fill(1)", "not infected"),
        ("return litres <= 10", "return litres < 10", "tank.fill(10)", "not asserted"),
        ("self.log.append(litres)", "self.log.append(0)", "assert tank.fill(5)", "not asserted"),
        ("key=lambda litres: litres <= 10", "key=lambda litres: 1", "tank.log = [3]; tank.names()", "not infected"),
    ],
)
def test_a_missed_fault_has_a_reason(
    script: SimpleNamespace, tmp_path: Path, old: str, new: str, body: str, reason: str
) -> None:
    suite = tmp_path / "test_tank.py"
    suite.write_text(f"from tank import Tank\n\ndef test_fill():\n    tank = Tank()\n    {body}\n")
    assert script.missed(*versions(tmp_path, old, new), suite)["reason"] == reason


def test_the_lines_that_differ_are_found_in_both_versions(script: SimpleNamespace, tmp_path: Path) -> None:
    _, fixed, buggy = versions(
        tmp_path, "            raise ValueError(litres)\n", "            pass\n            pass\n"
    )
    assert script.changed_lines(fixed / "tank.py", buggy / "tank.py") == ({9}, {9, 10})


def test_the_suite_loses_the_paths_of_the_fixed_version(script: SimpleNamespace) -> None:
    long = 'import sys\n\nsys.path.insert(\n    0,\n    "a",\n)\n\nimport b\n'
    assert script.PATHS.sub("", 'import sys\nsys.path.insert(0, "a")\nimport b\n') == "import sys\nimport b\n"
    assert script.PATHS.sub("", long) == "import sys\n\n\nimport b\n"


def test_the_table_counts_by_reason(script: SimpleNamespace) -> None:
    rows = [
        {"id": "a", "goal": "tests", "seed": 0, "reason": "detected", "tests": 3, "assertions": 4},
        {"id": "b", "goal": "tests", "seed": 0, "reason": "no suite"},
    ]
    assert script.table(rows).splitlines()[-1] == "| tests | 0 | 2 | 1 | 1 | 0 | 0 | 0 | 3 | 4 |"
