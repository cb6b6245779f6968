#!/usr/bin/env python3
"""Which branches does a search leave uncovered, and what would a test need to cover them?

    python benchmarks/uncovered.py --packages results/subjects --modules tabulate docopt --budget 3000x --list
    python benchmarks/uncovered.py --packages results/blind --draw 2 --table benchmarks/modules/uncovered.md

The modules are named, or drawn like those of `blind_modules.py`. A branch is *open* if it is uncovered but control
reached its decision, or if its function was never entered. All other uncovered branches are *behind* an open one. Each
uncovered branch gets the class of the open branch before it. Classes are read off the syntax of the condition, so they
are first guesses; README.md in this folder explains them. Rows are stored in a file, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from blind_modules import REQUIREMENTS, drawn
from modules_accepted import pinned
from runs_file import RunsFile

from fitgym.engine.engine import Engine
from fitgym.errors import FitgymError
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.subject.subject import Subject

CLASSES = {
    "dead": "code that no test can reach: `TYPE_CHECKING`, `__main__`, overloads, bodies that are only `...`",
    "platform": "depends on the platform, the Python version or an installed library",
    "environment": "files, streams, environment variables, network, time",
    "callback": "a function defined in another function, or a condition on the result of a function that was passed in",
    "uncalled": "a function or method that no test case entered",
    "type": "a test of the type or of the attributes of an object",
    "object": "the truth or the value of an attribute or a method of an argument or local object",
    "missing": "a comparison of a name with None, or its truth",
    "string": "a comparison with text, or a method or pattern for text",
    "member": "a test for an item in a container",
    "state": "a condition on attributes of the object itself",
    "number": "a comparison of numbers",
    "loop": "a loop that was never entered, or never left without a break",
    "other": "none of these",
}
"""The classes of uncovered branches, in the order in which they are tried."""

_PLATFORM = re.compile(
    r"\b(sys\.(platform|version|version_info|implementation)|os\.name|platform\.|PY[23]|PYPY|HAS_|WIN)"
)
_ENVIRONMENT = re.compile(
    r"\b(os\.(path|environ|getenv|access|stat|walk|listdir|isatty)|isatty|exists|is_file|is_dir|isfile|isdir|open|read"
    r"|readline|readlines|stdin|stdout|socket|getenv|environ|time\(\)|poll|recv)\b"
)
_TYPE = re.compile(r"\b(isinstance|issubclass|hasattr|type\(|callable\(|__class__|getattr)")
_ATTRIBUTE = re.compile(r"[^\W\d]\w*\.[^\W\d]")
_STRING = re.compile(
    r"""(['"])|\.(startswith|endswith|isdigit|isalpha|isalnum|isspace|isupper|islower|match|search|fullmatch|group|split"""
    r"""|strip|lower|upper|find|count)\("""
)
_COLUMNS = ("module", "seed", "budget", "covered", "total", "processor_s", *CLASSES, "error")


def explain(subject: Subject, covered: Iterable[bool]) -> Iterator[tuple[int, bool, str, str]]:
    """Yield (line, open, class, condition) of every uncovered branch, in the order of the branches."""
    tree = ast.parse(subject.source)
    nested = {
        (inner.lineno, getattr(inner, "name", ""))
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(outer)
        if inner is not outer and isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    }
    names = {name for _, name in nested}
    declared = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_declaration(node)
        for line in (node.lineno, *(mark.lineno for mark in node.decorator_list))
    }
    seen = {(branch.site, branch.outcome): bool(hit) for branch, hit in zip(subject.branches, covered, strict=True)}
    entries = {function.entry: function for function in subject.functions}
    lines = subject.source.split("\n")

    def condition(site: int) -> str:
        one = subject.sites[site]
        if one.span:
            first, start, last, end = one.span
            text = b"\n".join(line.encode() for line in lines[first - 1 : last])
            cut = len(lines[last - 1].encode()) - end
            return text[start : len(text) - cut].decode(errors="replace")
        return lines[one.line - 1].strip()

    def of(site: int) -> str:
        if site in entries:
            name = entries[site].name.rpartition(".")[2]
            if entries[site].line in declared:
                return "dead"
            return "callback" if "<" in name or ("<locals>" in entries[site].name and name in names) else "uncalled"
        one, text = subject.sites[site], condition(site)
        if text.endswith("TYPE_CHECKING") or "__main__" in text:
            return "dead"
        if one.kind == "loop":
            return "loop"
        for kind, found in (("platform", _PLATFORM), ("environment", _ENVIRONMENT), ("type", _TYPE)):
            if found.search(text):
                return kind
        if _STRING.search(text) or "str" in one.literals or one.kind == "case":
            return "string"
        if one.operator in ("in", "not in"):
            return "member"
        if "self." in text:
            return "state"
        if _ATTRIBUTE.search(text):
            return "object"
        if one.operator in ("<", "<=", ">", ">=") or "int" in one.literals:
            return "number"
        return "missing" if one.kind == "truth" or one.operator in ("is", "is not") else "other"

    def is_open(site: int) -> bool:
        dependences = subject.dependences[site]
        return site in entries or not dependences or any(seen.get(one, False) for one in dependences)

    def cause(site: int, path: frozenset[int]) -> int:
        """Return the site of the nearest open branch before a site."""
        if is_open(site):
            return site
        for before, _ in subject.dependences[site]:
            if before not in path:
                return cause(before, path | {site})
        return site

    for branch in subject.branches:
        if not seen[branch.site, branch.outcome]:
            site = cause(branch.site, frozenset())
            yield subject.sites[branch.site].line, site == branch.site, of(site), condition(branch.site)


def _is_declaration(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """The function is an overload, or its body is only `...`."""
    last = node.body[-1]
    marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
    only = isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant) and last.value.value is ...
    return "overload" in marks or (only and len(node.body) <= 2)


def run(subject: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Search one module and return its row."""
    began = time.process_time()
    with Executor(locate(subject, str(options.packages))) as executor:
        engine = Engine(
            executor,
            fitness=("branch", "line"),
            search="mosa",
            seed=seed,
            budget=Budget.parse(options.budget),
            mined=options.mined,
        )
        while not engine.over:
            engine.step()
        covered = engine.covered("branch")
        found = list(explain(engine.subject, covered.tolist()))
    if options.list:
        for line, is_open, kind, condition in found:
            print(f"{subject}:{line}: {'' if is_open else '  '}{kind}: {' '.join(condition.split())[:150]}")
    counts = Counter(kind for _, _, kind, _ in found)
    return {
        "covered": int(covered.sum()),
        "total": int(covered.size),
        "processor_s": round(time.process_time() - began, 1),
        **{kind: counts[kind] for kind in CLASSES},
        "error": "",
    }


def made(modules: list[str], options: argparse.Namespace, known: set[tuple[str, ...]]) -> Iterator[dict[str, Any]]:
    """Search and yield the missing rows."""
    for seed in options.seeds:
        for module in modules:
            if (module, str(seed), options.budget) in known:
                continue
            row: dict[str, Any] = dict.fromkeys(_COLUMNS, 0)
            try:
                row.update(run(module, seed, options))
            except FitgymError as error:
                row["error"] = str(error)[:200]
            row.update(module=module, seed=seed, budget=options.budget)
            print(f"{module} {seed}: {row['covered']}/{row['total']} {row['error']}", file=sys.stderr)
            yield row


def table(rows: list[dict[str, str]]) -> str:
    """Return the table as Markdown: the number of uncovered branches of each class, the largest first."""
    good = [row for row in rows if not row["error"] and int(row["total"])]
    sums = {kind: sum(int(row[kind]) for row in good) for kind in CLASSES}
    total, shares = sum(sums.values()), [int(row["covered"]) / int(row["total"]) for row in good] or [0.0]
    lines = [
        f"# Uncovered branches of {len(good)} searches",
        "",
        f"Mean branch coverage, in fitgym's unit: {statistics.fmean(shares):.3f}. Uncovered branches: {total}.",
        "",
        "| class | meaning | branches | share | modules |",
        "|---|---|---:|---:|---:|",
    ]
    for kind, count in sorted(sums.items(), key=lambda item: -item[1]):
        modules = sum(int(row[kind]) > 0 for row in good)
        lines.append(f"| {kind} | {CLASSES[kind]} | {count} | {count / max(total, 1):.3f} | {modules} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Compute the missing rows and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True, metavar="DIR", help="folder of the installed packages")
    parser.add_argument("--modules", nargs="+", default=[], help="default: one of each package, drawn by --draw")
    parser.add_argument("--draw", type=int, default=1, help="seed for drawing the modules")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--budget", default="3000x")
    parser.add_argument("--mined", choices=("use", "ignore"), default="use", help="see fitgym generate")
    parser.add_argument("--list", action="store_true", help="print every uncovered branch of the new searches")
    parser.add_argument("--rows", type=Path, default=Path("results/uncovered.csv"), metavar="FILE")
    parser.add_argument("--table", type=Path, metavar="FILE", help="also write the table to this file")
    options = parser.parse_args()
    modules = options.modules or [
        module for name in pinned(REQUIREMENTS) if (module := drawn(name, options.packages, options.draw))
    ]
    file = RunsFile(options.rows, _COLUMNS, 3)
    file.add(made(modules, options, set(file.rows())))
    text = table([row for key, row in file.rows().items() if key[0] in modules])
    print(text)
    if options.table:
        options.table.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
