"""The benchmark of suites in bare environments."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from bare_environments import DESIGNED, Row, environment, interpreter, main, read_report, summary

REPORT = """<testsuites><testsuite>
<testcase name="test_a"/>
<testcase name="test_b"><skipped message="could not import"/></testcase>
<testcase name="test_c"><failure message="assert 1 ==\n 2"/></testcase>
<testcase name="test_d[x]"><error message="no module"/></testcase>
</testsuite></testsuites>"""


def test_a_report_says_what_passed_was_skipped_and_failed(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").write_text(REPORT)
    row = read_report(tmp_path / "junit.xml", Row("3.11", "shop"), "")
    assert (row.passed, row.skipped, row.failing) == (1, 1, 2)
    assert row.failures == "test_c: assert 1 == 2 | test_d[x]: no module"


@pytest.mark.parametrize(("said", "problem"), [("", "pytest wrote no report"), ("killed", "killed")])
def test_without_a_report_the_row_says_why(tmp_path: Path, said: str, problem: str) -> None:
    assert read_report(tmp_path / "junit.xml", Row("3.11", "shop"), said).problem == problem


def test_the_summary_counts_for_each_version_and_lists_what_fails() -> None:
    rows = [
        Row("3.11", "shop", passed=3),
        Row("3.11", "toys", passed=1, skipped=1, failing=1, failures="test_a: x | y"),
        Row("3.12", "shop", problem="it cannot be installed"),
    ]
    lines = summary(rows).splitlines()
    assert "| 3.11 | 2 | 4 | 1 | 1 | 0 |" in lines
    assert "| 3.12 | 0 | 0 | 0 | 0 | 1 |" in lines
    assert lines[-2:] == [
        "| 3.11 | `toys` | 1 | test_a: x \\| y |",
        "| 3.12 | `shop` | 0 | it cannot be installed |",
    ]


def test_environments_hold_nothing_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    assert set(environment(tmp_path)) == {"PATH", "LANG", "HOME", "TMPDIR"}
    assert (tmp_path / "home").is_dir()


def test_a_version_of_python_without_an_interpreter_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert interpreter("2.0") == ""
    monkeypatch.setattr(sys, "argv", ["bare_environments.py", str(tmp_path), "--pythons", DESIGNED, "2.0"])
    monkeypatch.setattr("bare_environments.interpreter", lambda version: "" if version == "2.0" else sys.executable)
    with pytest.raises(SystemExit):
        main()
    assert "no interpreter of Python 2.0" in capsys.readouterr().err
