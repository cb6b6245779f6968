"""The demonstration: the test that it prints, and its end within a minute."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

from nightly import nightly

ROOT = Path(__file__).parent.parent


def demo() -> Any:
    spec = importlib.util.spec_from_file_location("demo", ROOT / "examples" / "demo.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["demo"] = module  # dataclasses look for their module
    spec.loader.exec_module(module)
    return module


def test_the_longest_of_the_short_tests_is_printed() -> None:
    short, middle = "def test_a():\n    assert f()", "def test_b():\n    x = f()\n    assert x"
    long = "def test_c():\n" + "    f()\n" * 20
    source = f"def helper():\n    {'f();' * 50}\n{short}\n{middle}\n{long}"
    assert demo().example(source) == middle
    assert demo().example(long) == long.rstrip()
    marked = "@mark\ndef test_marked():\n    a = 1\n    b = 2\n    assert a < b"
    keeps = "def test_shelf_keeps_width():\n    a = 1\n    b = 2\n    c = 3\n    assert a"
    assert demo().example(f"{keeps}\n\n{marked}") == marked


@nightly
def test_the_demonstration_ends_with_what_to_do_next(tmp_path: Path) -> None:
    (tmp_path / "demo_output").mkdir()
    (tmp_path / "demo_output" / "test_colorsys.py").write_text("def test_of_an_earlier_run():\n    import colorsys\n")
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), "colorsys", "300x"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    for said in (
        "lines",
        "branches",
        "mutants killed",
        "def test_",
        "replay.html",
        "What next?",
        "fitgym play colorsys",
    ):
        assert said in done.stdout
    assert (tmp_path / "demo_output" / "replay.html").read_text("utf-8").startswith("<!doctype html>")
    assert "●" not in done.stdout and "differs" not in done.stdout


def test_a_subject_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), "no_such_module"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("demo: ")
