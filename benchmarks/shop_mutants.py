"""Do the suites detect mistakes? Runs suites for `examples/shop` on hand-made mistakes in the shop.

    python benchmarks/shop_mutants.py --budget 20s --seeds 3
    python benchmarks/shop_mutants.py --goals coverage tests --modules ledger

A mistake is detected if a test fails that passes on the original shop. Prints detected and total mistakes for each
module, and the mistakes that were missed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
SHOP = HERE.parent / "examples" / "shop"
MISTAKES: dict[str, list[dict[str, str]]] = tomllib.loads((HERE / "shop_mutants.toml").read_text("utf-8"))


def failing(shop: Path, suite: Path) -> set[str] | None:
    """Return the tests of a suite that fail on a copy of the shop; None if the suite cannot run."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "-rfE", str(suite)]
    environment = {**os.environ, "PYTHONPATH": str(shop), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=suite.parent, timeout=60)
    except subprocess.TimeoutExpired:
        return None
    lines = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return set(lines) if done.returncode in (0, 1) else None


def generated(module: str, goal: str, budget: str, seed: int, folder: Path) -> Path | None:
    """Generate a suite for a module of the shop; None if nothing could be exported."""
    command = [sys.executable, "-m", "fitgym", "generate", f"bookshop.{module}", "--path", str(SHOP)]
    command += ["--goal", goal, "--budget", budget, "--seed", str(seed), "--output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    found = list(folder.glob("test_*.py"))
    if not found:
        sys.stderr.write(done.stdout[-500:] + done.stderr[-500:])
        return None
    # The suite must import the copy of the shop on the path, not the original.
    text = re.sub(
        r"^sys\.path\.insert\(.*?^\)\n|^sys\.path\.insert\(.*\)\n", "", found[0].read_text("utf-8"), flags=re.M | re.S
    )
    found[0].write_text(text, "utf-8")
    return found[0]


def missed(module: str, suite: Path | None) -> list[str]:
    """Return the mistakes in a module that a suite misses."""
    mistakes = MISTAKES[module]
    if suite is None:
        return [mistake["new"] for mistake in mistakes]
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "shop"
        shutil.copytree(SHOP, copy, ignore=shutil.ignore_patterns("__pycache__"))
        before = failing(copy, suite)
        if before is None:
            raise SystemExit(f"{suite.name} does not run on the shop as it is")
        if before:
            sys.stderr.write(f"{module}: fails on the shop as it is: {sorted(before)}\n")
        path = copy / "bookshop" / f"{module}.py"
        text = path.read_text("utf-8")
        for mistake in mistakes:
            assert text.count(mistake["old"]) == 1, (
                f"{module}: {mistake['old']!r} stands {text.count(mistake['old'])} times"
            )
            path.write_text(text.replace(mistake["old"], mistake["new"]), "utf-8")
            after = failing(copy, suite)
            if after is not None and not after - before:
                survivors.append(mistake["new"])
    return survivors


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goals", nargs="+", default=["coverage"])
    parser.add_argument("--modules", nargs="+", choices=list(MISTAKES), default=list(MISTAKES))
    parser.add_argument("--budget", default="20s", help="for each module")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder in which the suites are kept")
    options = parser.parse_args(arguments)
    for goal in options.goals:
        for seed in range(options.seeds):
            found = total = 0
            for module in options.modules:
                with tempfile.TemporaryDirectory() as folder:
                    suite = generated(module, goal, options.budget, seed, Path(folder))
                    survivors = missed(module, suite)
                    if suite is not None and options.keep is not None:
                        kept = options.keep / goal / str(seed)
                        kept.mkdir(parents=True, exist_ok=True)
                        shutil.copy(suite, kept)
                n = len(MISTAKES[module])
                found, total = found + n - len(survivors), total + n
                print(f"{goal} seed {seed} {module}: {n - len(survivors)}/{n}", flush=True)
                for survivor in survivors:
                    print(f"    missed: {survivor}")
            print(f"{goal} seed {seed}: {found}/{total} = {found / total:.0%}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
