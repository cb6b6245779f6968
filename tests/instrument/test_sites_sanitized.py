"""The probes in C, built so that bad memory access and undefined behaviour end the process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from nightly import nightly

from fitgym.instrument.factories import missing

ROOT = Path(__file__).parents[2]
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -O1 -g"
PLANTED = {
    "heap-use-after-free": "int f(int n) { volatile char *p = calloc(1, 1); if (n > 1) free((char *)p); return *p; }",
    "signed integer overflow": "int f(int n) { return 2147483640 + n; }",
}


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which a plain interpreter loads code that was built with the sanitizers."""
    if missing():
        pytest.skip(missing())
    compiler = sysconfig.get_config_var("CC").split()
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"there is no compiler '{compiler[0]}'")
    library = run([*compiler, "-print-file-name=libasan.so"], ROOT).stdout.strip()
    if not Path(library).is_absolute():
        pytest.skip("the compiler has no address sanitizer")
    return {
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # the interpreter itself frees little of what it has at its end
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",  # so that every object is a piece of memory of its own
    }


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_is_found(mistake: str, runtime: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "planted.c").write_text(f"#include <stdlib.h>\n{PLANTED[mistake]}\n")
    compiler = sysconfig.get_config_var("CC").split()
    built = run([*compiler, *FLAGS.split(), "-shared", "-fPIC", "planted.c", "-o", "planted.so"], tmp_path)
    assert built.returncode == 0, built.stderr
    load = "import ctypes; ctypes.CDLL('./planted.so').f({})"
    assert run([sys.executable, "-c", load.format(1)], tmp_path, **runtime).returncode == 0
    found = run([sys.executable, "-c", load.format(100)], tmp_path, **runtime)
    assert found.returncode != 0 and mistake in found.stderr


@nightly
@pytest.mark.usefixtures("_plugins")  # a profile of Hypothesis is chosen
def test_the_probes_make_no_mistake(runtime: dict[str, str], tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
    for folder in ("fitgym", "agents", "envs", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    built = run(build, tmp_path, CFLAGS=FLAGS, LDFLAGS=FLAGS)
    assert built.returncode == 0 and list(tmp_path.glob("fitgym/instrument/_sites*.so")), built.stderr
    tests = [f"tests/instrument/test_sites{which}.py" for which in ("", "_agree", "_in_c")]
    # Freed memory stays reserved, so what is left behind cannot be told here.
    choice = ["-x", "--hypothesis-profile=few", "-k", "not million"]
    pytest_ = [sys.executable, "-m", "pytest", "-q", *choice, *tests]
    done = run(pytest_, tmp_path, PYTHONPATH=str(tmp_path), FITGYM_SITES="c", **runtime)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    assert " passed" in done.stdout and "skipped" not in done.stdout
