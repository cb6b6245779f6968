#!/usr/bin/env python3
"""Arguments of exported tests against the annotations of the code, judged by mypy.

    python benchmarks/blind_modules.py --packages results/blind --draw 15 --results results/draw
    python benchmarks/typed_arguments.py results/draw --packages results/blind

Only packages with a `py.typed` file count: for others an annotation may be missing. mypy checks the bodies of the tests
(`--check-untyped-defs`); its errors about arguments, and about items of containers written in them, are counted. An
argument that is a stand-in (`SimpleNamespace`) for an object of a class is counted apart: a test double is on purpose.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SHADOWING = ("typing_extensions.py", "mypy_extensions.py")  # mypy refuses these among user-defined modules
_COUNTED = re.compile(r"\[(?:arg-type|list-item|dict-item)\]$")

_OPTIONAL = re.compile(r'incompatible type ".* \| None"')  # a result of a call that is never None in the test


@dataclass(frozen=True)
class Counts:
    """The arguments of one suite.

    Attributes:
        tests: test functions.
        wrong: arguments of another type than declared.
        doubles: stand-ins for objects of a declared class.
        shown: the errors about `wrong`.
    """

    module: str
    tests: int
    wrong: int
    doubles: int
    shown: tuple[str, ...] = ()


def counted(module: str, tests: int, output: str) -> Counts:
    """Return the counts of a suite by mypy's output."""
    errors = [line for line in output.splitlines() if _COUNTED.search(line.rstrip()) and not _OPTIONAL.search(line)]
    doubles = [line for line in errors if '"SimpleNamespace"' in line]
    wrong = tuple(line for line in errors if line not in doubles)
    return Counts(module, tests, len(wrong), len(doubles), wrong)


def search_path(packages: Path, folder: Path) -> Path:
    """Return a folder with links to the packages, without the ones that mypy brings itself."""
    for entry in packages.iterdir():
        if entry.name not in _SHADOWING and not entry.name.endswith((".dist-info", ".egg-info")):
            (folder / entry.name).symlink_to(entry.resolve())
    return folder


def judged(suite: Path, module: str, packages: Path, cache: Path) -> Counts:
    """Run mypy on a suite."""
    options = ["--check-untyped-defs", "--follow-imports=silent", "--ignore-missing-imports", "--no-error-summary"]
    command = [sys.executable, "-m", "mypy", *options, "--config-file=", f"--cache-dir={cache}", suite.name]
    environment = {"PATH": "/usr/bin:/bin", "MYPYPATH": str(packages)}
    done = subprocess.run(command, cwd=suite.parent, env=environment, capture_output=True, text=True, timeout=600)
    return counted(module, suite.read_text("utf-8").count("\ndef test_"), done.stdout)


def summary(every: Sequence[Counts]) -> str:
    """Return the sums in one sentence, and the suites with errors as a Markdown table."""
    tests, wrong, doubles = (sum(getattr(one, name) for one in every) for name in ("tests", "wrong", "doubles"))
    lines = [
        f"{tests} tests of {len(every)} typed modules: {wrong} arguments of another type than declared, "
        f"{doubles} stand-ins.",
        "",
        "| module | tests | wrong type | stand-ins |",
        "|---|---:|---:|---:|",
        *(
            f"| `{one.module}` | {one.tests} | {one.wrong} | {one.doubles} |"
            for one in every
            if one.wrong + one.doubles
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", type=Path, help="results folder of blind_modules.py")
    parser.add_argument("--packages", type=Path, required=True, metavar="DIR", help="folder of the installed packages")
    parser.add_argument("--verbose", action="store_true", help="also print the errors")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory(prefix="typed-") as name:
        (path := Path(name) / "path").mkdir()
        search_path(options.packages, path)
        for suite in sorted(options.suites.glob("*/suite/**/test_*.py")):
            module = suite.relative_to(options.suites).parts[0].rsplit("-", 2)[0]
            if (options.packages / module.partition(".")[0] / "py.typed").exists():
                found.append(judged(suite, module, path, Path(name) / "cache"))
                if options.verbose:
                    print("\n".join(found[-1].shown), file=sys.stderr)
    print(summary(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
