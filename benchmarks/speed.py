#!/usr/bin/env python3
"""How fast is fitgym, compared with bare calls? Measures ratios side by side in one run.

    python benchmarks/speed.py                      everything, about an hour, on an idle machine
    python benchmarks/speed.py --quick              a first impression in about two minutes
    python benchmarks/speed.py --only collection    one question; `--list` names them
    python benchmarks/speed.py --subject numeric    on one subject, for questions with several

README.md in this folder explains the figures and their pitfalls.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from questions.answer import Answer, Settings, Table  # noqa: E402
from questions.peers import install_peers, install_subjects, versions  # noqa: E402
from questions.processes import apart  # noqa: E402
from workload import bundled  # noqa: E402

QUESTIONS = (
    "collection",
    "whole_loop",
    "stages",
    "smart",
    "recording",
    "isolation",
    "parts",
    "environment",
    "decisions",
    "agents",
    "growth",
    "startup",
    "memory",
    "parallel",
    "hostile",
    "budget",
    "watchdog",
    "rendering",
)


def machine() -> dict[str, Any]:
    """Return a description of the machine."""
    model = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "processor": model,
        "processors": os.cpu_count(),
        "system": platform.platform(),
        "python": sys.version,
        "load": os.getloadavg(),
    }


def ask(name: str, settings: Settings) -> Answer:
    """Return the answer to one question, or a note that there is none."""
    try:
        return apart(_answer, name, settings)
    except Exception as error:
        reason = traceback.format_exception_only(error)[-1].strip()
        return Answer(notes=[f"not measured: {reason}"], figures={"error": traceback.format_exc()})


def _answer(name: str, settings: Settings) -> Answer:
    answer: Answer = importlib.import_module(f"questions.{name}").answer(settings)
    return answer


def show(table: Table) -> None:
    """Print a table in columns."""
    rows = [table.header, *table.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    print(f"\n{table.title}")
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  " + "  ".join([first.ljust(widths[0]), *cells]).rstrip())


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="few, short repeats; the figures are only a first impression"
    )
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, metavar="QUESTION", default=list(QUESTIONS))
    parser.add_argument("--list", action="store_true", help="list the questions and exit")
    parser.add_argument(
        "--subject", nargs="+", default=[], metavar="PART", help="only subjects whose name contains this part"
    )
    parser.add_argument("--minutes", type=float, help="duration of the memory measurement (default: 10, quick: 0.2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-peers", action="store_true", help="measure fitgym only")
    parser.add_argument("--results", type=Path, default=HERE.parent / "results" / "speed", metavar="DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="default: speed.json in the results folder")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Return 0 if every measured target is met, 1 otherwise."""
    options = arguments(given)
    if options.list:
        print(*QUESTIONS, sep="\n")
        return 0
    results = options.results.resolve()
    subjects = results / "subjects"
    if not options.subject or any(part not in bundled() for part in options.subject):
        install_subjects(subjects)
    present: dict[str, str] = {}
    if options.no_peers:
        absent = dict.fromkeys(("coverage", "slipcover", "pynguin"), "left out (--no-peers)")
    else:
        present, absent = install_peers(results / "peers")
    minutes = options.minutes if options.minutes is not None else 0.2 if options.quick else 10.0
    settings = Settings(
        options.quick, results, subjects, present, absent, options.seed, minutes, tuple(options.subject)
    )
    report: dict[str, Any] = {
        "quick": options.quick,
        "seed": options.seed,
        "machine": machine(),
        "versions": {
            "fitgym": versions(sys.executable),
            **{name: versions(python) for name, python in present.items()},
        },
        "questions": {},
    }
    print("{processor}, {processors} processors, {system}, load {load[0]:.1f}".format(**report["machine"]))
    missed = 0
    verdicts: list[tuple[str, ...]] = []
    for name in options.only:
        started = time.monotonic()
        answer = ask(name, settings)
        for table in answer.tables:
            show(table)
        for note in answer.notes:
            print(f"  note ({name}): {note}")
        for target in answer.targets:
            value = "-" if target.value is None else f"{target.value:.3g}"
            limit = f"{'>=' if target.at_least else '<='} {target.limit:g}"
            verdicts.append((target.what, value, limit, target.verdict))
            missed += target.verdict == "missed"
        report["questions"][name] = {
            "seconds": round(time.monotonic() - started, 1),
            "load_after": os.getloadavg()[0],
            "targets": [vars(target) | {"verdict": target.verdict} for target in answer.targets],
            "notes": answer.notes,
            "figures": answer.figures,
        }
    show(Table("Targets", ("", "measured", "wanted", ""), verdicts))
    path = options.json or results / "speed.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1, default=str) + "\n", "utf-8")
    print(f"\nall figures: {path}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
