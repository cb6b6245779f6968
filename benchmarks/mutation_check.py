#!/usr/bin/env python3
"""Run an exported suite on mutated source files in fresh interpreters: fitgym's mutants and cosmic-ray's.

    fitgym generate semver.version --path results/subjects --goal strong_mutation --output out --json out/record.json
    python benchmarks/mutation_check.py out --subjects results/subjects
    python benchmarks/mutation_check.py out --subjects results/subjects --most 100 --jobs 2 --no-tool
    python benchmarks/mutation_check.py --set core --install results/subjects --budget 300x --population 10 --forks

README.md in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tokenize
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from remeasure import HERE, Subject, environment, install, subjects, with_plugins
from rich.console import Console
from rich.table import Table

from fitgym.mutants.generation import mutants
from fitgym.mutants.mutation import mutated_text
from fitgym.subject.source import locate, read
from fitgym.subject.subject import Reference

BROKEN = 9  # see plugins/mutated.py
LEAST_S, TIMES = 10.0, 5.0  # limit of a run: TIMES the slowest unchanged run, at least LEAST_S
LEAST_CPU_S = 3.0  # in a fork the limit is processor time, at least this
WAITING = 10.0  # wall-clock limit of a fork, as a multiple of its processor-time limit
AGAIN = 12  # repeated runs of a mutant whose record disagrees
BASELINES = 3

# Runs in the environment of cosmic-ray: skip mutants outside the lines of the class, and keep evenly spread ones of the
# rest.
NARROW = """
import sys
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome, WorkResult
path, first, last, most = sys.argv[1], *map(int, sys.argv[2:])
with use_db(path, WorkDB.Mode.open) as session:
    items = sorted(session.work_items, key=lambda i: (i.mutations[0].start_pos, i.mutations[0].operator_name,
                                                      i.mutations[0].occurrence))
    inside = [i.job_id for i in items if first <= i.mutations[0].start_pos[0] <= last]
    chosen = {inside[k * len(inside) // most] for k in range(most)} if most and most < len(inside) else set(inside)
    for item in items:
        if item.job_id not in chosen:
            session.set_result(item.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))
"""

# Also runs there: print the sources of the remaining mutants, one line of JSON each.
SOURCES = """
import json, sys
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.util import read_python_source
from cosmic_ray.work_db import WorkDB, use_db
with use_db(sys.argv[1], WorkDB.Mode.open) as session:
    for item in session.pending_work_items:
        (change,) = item.mutations
        source = read_python_source(change.module_path)
        source = mutate_code(source, get_operator(change.operator_name)(**change.operator_args), change.occurrence)
        print(json.dumps([change.start_pos, change.operator_name, change.occurrence, source]))
"""


@dataclass
class Score:
    """The results of a suite on one list of mutants.

    Attributes:
        by: the tool that made the mutants.
        results: name and outcome of each mutant: "killed" a test failed, "import" the module could not be imported,
            "timeout" the limit was reached, "survived" all tests passed, "error" there was no outcome.
        seconds: wall clock for all of them.
    """

    by: str
    results: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def outcomes(self) -> Counter[str]:
        """The number of mutants with each outcome."""
        return Counter(outcome for _, outcome in self.results)

    @property
    def survivors(self) -> list[str]:
        """The names of surviving mutants."""
        return [name for name, outcome in self.results if outcome == "survived"]

    @property
    def total(self) -> int:
        """The number of mutants with an outcome."""
        return len(self.results) - self.outcomes["error"]

    @property
    def killed(self) -> int:
        """The number of mutants that the suite detected in any way."""
        return self.total - self.outcomes["survived"]

    @property
    def score(self) -> float:
        """Killed / total; 1 without mutants."""
        return self.killed / self.total if self.total else 1.0

    @property
    def seconds_each(self) -> float:
        """Wall-clock seconds per mutant."""
        return self.seconds / max(1, len(self.results))

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {
            "by": self.by,
            "total": self.total,
            "killed": self.killed,
            "score": round(self.score, 4),
            "outcomes": dict(self.outcomes),
            "seconds": round(self.seconds, 3),
            "seconds_each": round(self.seconds_each, 4),
            "results": dict(self.results),
        }


def differing(recorded: dict[str, Any], score: Score) -> dict[str, str]:
    """Return mutants whose outcomes in the record and the re-run differ, with both outcomes."""
    said = set(recorded["survivors"])
    return {
        name: f"{'survived' if name in said else 'killed'} in the record, {outcome} here"
        for name, outcome in score.results
        if outcome != "error" and (name in said) != (outcome == "survived")
    }


def disagreements(
    recorded: dict[str, Any] | None, score: Score, most: int = 0, chance: Collection[str] = ()
) -> list[str]:
    """Return the differences between record and re-run, mutant by mutant if the record names the survivors.

    Args:
        recorded: of the record.
        score: of the re-run.
        most: the number of mutants that were run again, 0 for all.
        chance: mutants whose outcome varies between runs; they are left out.
    """
    if not recorded:
        return []
    found = []
    if "survivors" in recorded:
        found = [f"{name}: {what}" for name, what in differing(recorded, score).items() if name not in chance]
    if not most:
        alive, results = set(recorded.get("survivors", ())), dict(score.results)
        by_record = sum(name not in alive for name in chance)
        by_rerun = sum(results[name] != "survived" for name in chance)
        for what, said, here in (
            ("total", recorded["total"], score.total),
            ("killed", recorded["killed"] - by_record, score.killed - by_rerun),
        ):
            if said != here:
                found.append(f"{what}: {said} in the record, {here} here")
    return found


@dataclass(frozen=True)
class Check:
    """One suite and its subject.

    Attributes:
        reference: the location of the original.
        suite: the exported file.
        scratch: a private folder for copies and for files that tests write.
        env: of every process.
    """

    reference: Reference
    suite: Path
    scratch: Path
    env: dict[str, str]

    @property
    def root(self) -> Path:
        """The folder that contains the top-level package or module."""
        path = Path(self.reference.path)
        return path.parents[self.reference.module.count(".") + (path.stem == "__init__")]

    def copy(self, number: int) -> Path:
        """Return a folder with a copy of the top-level package or module, compiled except for the module under test."""
        folder = self.scratch / f"copy_{number}"
        top = Path(self.reference.path).relative_to(self.root).parts[0]
        folder.mkdir()
        if (self.root / top).is_dir():
            shutil.copytree(self.root / top, folder / top, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(self.root / top, folder / top)
        compileall.compile_dir(folder, quiet=2)
        module = self.file_in(folder)
        for compiled in (module.parent / "__pycache__").glob(f"{module.stem}.*"):  # may be as old as the mutant
            compiled.unlink()
        return folder

    def file_in(self, copy: Path) -> Path:
        """Return the module under test in a copy."""
        return copy / Path(self.reference.path).relative_to(self.root)

    def arguments(self) -> list[str]:
        """Return the arguments with which pytest runs the suite until the first failure."""
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "mutated", "--tb=no", "--assert=plain"]
        return [*options, "--rootdir", str(self.suite.parent), str(self.suite)]

    def command(self) -> list[str]:
        """Return the command that runs the suite with these arguments."""
        return [sys.executable, "-m", "pytest", *self.arguments()]

    def env_of(self, copy: Path) -> dict[str, str]:
        """Return the environment in which the suite imports the module of a copy."""
        chosen = {"MUTATED_ROOT": str(copy), "MUTATED_MODULE": self.reference.module}
        chosen["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = (
            "1"  # a suite needs no plugins, and a run without them takes a third of the CPU time
        )
        return with_plugins(self.env) | chosen

    def work(self, number: int = 0) -> Path:
        """Return the working folder of runs."""
        folder = self.scratch / f"work_{number}"
        folder.mkdir(exist_ok=True)
        return folder

    def outcome(self, copy: Path, limit: float) -> str:
        """Return the outcome of the suite on a copy in a fresh interpreter."""
        work = self.work()
        process = subprocess.Popen(
            self.command(),
            cwd=work,
            env=self.env_of(copy),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:  # end the processes that the tests started
            if process.poll() is None or _group_lives(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return outcome_of(code)


def outcome_of(code: int | None) -> str:
    """Return the outcome for the exit code of a run."""
    return {None: "timeout", 0: "survived", BROKEN: "import"}.get(code, "killed")


class Forks:
    """Runs a suite in forks of one interpreter; see `forks.py`.

    Args:
        check: the suite.
        number: of the working folder.

    Attributes:
        seconds: processor time of the last run.
    """

    def __init__(self, check: Check, number: int = 0) -> None:
        self._check = check
        env = check.env_of(check.scratch) | {"PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "forks.py"), *check.arguments()],
            cwd=check.work(number),
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.seconds = 0.0

    def outcome(self, copy: Path, limit: float) -> str:
        """Return the outcome of the suite on a copy, in a fork with a limit of processor time in seconds."""
        assert self._process.stdin is not None and self._process.stdout is not None
        request = {"env": {"MUTATED_ROOT": str(copy)}, "cpu": limit, "wall": WAITING * limit}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        self.seconds = answer["seconds"]
        return outcome_of(answer["code"])

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def found(folder: Path, record: Path | None = None) -> tuple[dict[str, Any], Path]:
    """Return the record and the suite in the output folder of a run; the record may be in its parent.

    Raises:
        SystemExit: one of the two is missing; with a message.
    """
    candidates = [record] if record else [*sorted(folder.glob("*.json")), *sorted(folder.parent.glob("*.json"))]
    for path in candidates:
        content = json.loads(path.read_text("utf-8"))
        if isinstance(content, dict) and content.get("suite_path"):
            for suite in (folder / content["suite_path"], folder / "suite" / content["suite_path"]):
                if suite.exists():
                    return content, suite.resolve()
    raise SystemExit(
        f"no record of a run with its suite in {folder}: generate with --output {folder} --json {folder}/record.json"
    )


def spread(items: Sequence[Any], most: int) -> list[Any]:
    """Return at most `most` of them, evenly over the list; all if `most` is 0."""
    if not most or most >= len(items):
        return list(items)
    return [items[k * len(items) // most] for k in range(most)]


def limit_of(check: Check, forked: bool = False) -> tuple[float, float]:
    """Return the seconds of the slowest run on an unchanged copy, and the resulting limit.

    Raises:
        SystemExit: the suite does not pass.
    """
    copy, slowest = check.copy(0), 0.0
    with Forks(check) if forked else nullcontext() as forks:
        for _ in range(BASELINES):
            started = time.perf_counter()
            outcome = check.outcome(copy, 600.0) if forks is None else forks.outcome(copy, 600.0)
            slowest = max(slowest, time.perf_counter() - started if forks is None else forks.seconds)
            if outcome != "survived":
                raise SystemExit(f"{check.suite} does not pass on the unchanged module: {outcome}")
    shutil.rmtree(copy)
    return slowest, max(LEAST_CPU_S if forked else LEAST_S, TIMES * slowest)


def ours(check: Check, limit: float, most: int = 0, jobs: int = 1, forked: bool = False) -> Score:
    """Return the mutants of the goal, each as a source file."""
    source = read(check.reference)
    chosen = spread(mutants(source, check.reference.class_name).made, most)
    score, started = Score("fitgym"), time.perf_counter()
    score.results = outcomes(check, limit, [(one.id, mutated_text(source, one)) for one in chosen], jobs, forked)
    score.seconds = time.perf_counter() - started
    return score


def by_chance(check: Check, limit: float, names: Collection[str]) -> list[str]:
    """Return the mutants whose outcome varies between fresh interpreters, in `AGAIN` runs of each."""
    source = read(check.reference)
    again = [one for one in mutants(source, check.reference.class_name).made if one.id in names]
    sources = [(one.id, mutated_text(source, one)) for one in again for _ in range(AGAIN)]
    survived: dict[str, set[bool]] = {}
    for name, outcome in outcomes(check, limit, sources):
        survived.setdefault(name, set()).add(outcome == "survived")
    return [name for name, seen in survived.items() if len(seen) == 2]


def outcomes(
    check: Check, limit: float, sources: Sequence[tuple[str, str]], jobs: int = 1, forked: bool = False
) -> list[tuple[str, str]]:
    """Return the outcomes of the suite on each of these sources of the module, with their names."""
    encoding = encoding_of(Path(check.reference.path))
    places: SimpleQueue[tuple[Path, Callable[[Path, float], str]]] = SimpleQueue()

    def run(named: tuple[str, str]) -> tuple[str, str]:
        copy, outcome = place = places.get()
        try:
            check.file_in(copy).write_text(named[1], encoding)
            return named[0], outcome(copy, limit)
        finally:
            places.put(place)

    with ExitStack() as stack:
        for number in range(1, jobs + 1):
            outcome = stack.enter_context(Forks(check, number)).outcome if forked else check.outcome
            places.put((copy := check.copy(number), outcome))
            stack.callback(shutil.rmtree, copy)
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        return list(pool.map(run, sources))


def encoding_of(path: Path) -> str:
    """The encoding of a source file."""
    with path.open("rb") as file:
        return tokenize.detect_encoding(file.readline)[0]


def tool_python(folder: Path) -> Path:
    """Return the interpreter of a virtual environment with cosmic-ray, created if necessary."""
    python, stamp = folder / "bin" / "python", folder / ".installed"
    pins = (HERE / "requirements_mutation.txt").read_text("utf-8")
    if not stamp.exists() or stamp.read_text("utf-8") != pins:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        requirements = str(HERE / "requirements_mutation.txt")
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
        stamp.write_text(pins, "utf-8")
    return python.absolute()


def lines_of(reference: Reference) -> tuple[int, int]:
    """Return first and last line of the class under test, or of the module."""
    tree: Any = ast.parse(read(reference))
    if not reference.class_name:
        return 1, 10**9
    for part in reference.class_name.split("."):
        tree = next(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == part)
    return tree.lineno, tree.end_lineno or tree.lineno


def theirs(check: Check, limit: float, python: Path, most: int = 0) -> Score:
    """Run the mutants of cosmic-ray with its own runner."""
    run = session(check, limit, python, most)
    started = time.perf_counter()
    run("-m", "cosmic_ray.cli", "exec", "cosmic.toml", "session.sqlite")
    seconds = time.perf_counter() - started
    score = read_dump(run("-m", "cosmic_ray.cli", "dump", "session.sqlite"))
    score.seconds = seconds
    return score


def their_sources(check: Check, python: Path, most: int = 0) -> list[tuple[str, str]]:
    """Return the mutants of cosmic-ray as sources of the module, with names."""
    lines = session(check, LEAST_S, python, most)("-c", SOURCES, "session.sqlite").splitlines()
    made = [(named(*rest), source) for *rest, source in map(json.loads, lines)]
    return [(name, source) for name, source in made if source is not None]


def session(check: Check, limit: float, python: Path, most: int) -> Callable[..., str]:
    """Prepare a session of cosmic-ray. Returns a function that runs its interpreter and returns the output."""
    copy = check.copy(10_000)
    name = str(check.file_in(copy).relative_to(copy))
    (copy / "cosmic.toml").write_text(
        f"[cosmic-ray]\nmodule-path = {json.dumps(name)}\ntimeout = {limit}\nexcluded-modules = []\n"
        f"test-command = {json.dumps(shlex.join(check.command()))}\n"
        '[cosmic-ray.distributor]\nname = "local"\n',
        "utf-8",
    )
    env = check.env_of(copy)

    def run(*arguments: str) -> str:
        return subprocess.run(
            [str(python), *arguments],
            cwd=copy,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    run("-m", "cosmic_ray.cli", "init", "cosmic.toml", "session.sqlite")
    first, last = lines_of(check.reference)
    run("-c", NARROW, "session.sqlite", str(first), str(last), str(most))
    return run


def named(start: Sequence[int], operator: str, occurrence: int) -> str:
    """Describe a mutant of cosmic-ray."""
    return f"{start[0]}:{start[1]}:{operator}:{occurrence}"


def read_dump(text: str) -> Score:
    """Return the score in the output of `cosmic-ray dump`: a line for each mutant, with item and result."""
    score = Score("cosmic-ray")
    for item, result in map(json.loads, text.splitlines()):
        if result is None or result["worker_outcome"] == "skipped":
            continue
        outcome = result["test_outcome"]
        if outcome == "killed" and result["output"] == "timeout":
            outcome = "timeout"
        change = item["mutations"][0]
        name = named(change["start_pos"], change["operator_name"], change["occurrence"])
        score.results.append((name, outcome if outcome in ("survived", "killed", "timeout") else "error"))
    return score


def table(scores: Sequence[dict[str, Any]], recorded: dict[str, Any] | None) -> Table:
    """Return a table of both scores, with the record's."""
    shown = Table("mutants of", "total", "killed", "of them at import", "by time-out", "survived", "score", "s each")
    for column in shown.columns[1:]:
        column.justify = "right"
    for score in scores:
        outcomes = Counter(score["outcomes"])
        counts = (score["total"], score["killed"], outcomes["import"], outcomes["timeout"], outcomes["survived"])
        shown.add_row(score["by"], *map(str, counts), f"{score['score']:.4f}", f"{score['seconds_each']:.3f}")
    if recorded:
        total, killed = recorded["total"], recorded["killed"]
        shown.add_row(
            "the record", str(total), str(killed), "", "", str(total - killed), f"{killed / max(1, total):.4f}", ""
        )
    return shown


def rates(report: dict[str, Any]) -> list[str]:
    """Return the mutants per second of the record, and of each of the others."""
    if not report["recorded_s"] or not report["recorded"]["total"]:
        return []
    rate = report["recorded"]["total"] / report["recorded_s"]
    return [
        f"{rate:.0f} mutants a second in the record, {1 / score['seconds_each']:.2f} of {score['by']} as files: "
        f"{rate * score['seconds_each']:.0f} times as many"
        for score in report["scores"]
    ]


def checked(folder: Path, options: argparse.Namespace, record_path: Path | None = None) -> dict[str, Any]:
    """Return the report on one output folder, also written to `mutation_check.json`.

    Raises:
        SystemExit: there is no suite, or it does not pass.
    """
    record, suite = found(folder, record_path)
    reference = locate(record["subject"], options.subjects)
    with tempfile.TemporaryDirectory(prefix="mutation_check_") as name:
        scratch = Path(name)
        check = Check(reference, suite, scratch, environment(Path(options.subjects or "."), scratch))
        slowest, limit = limit_of(check, options.forks)
        scores = [ours(check, limit, options.most, max(1, options.jobs), options.forks)]
        recorded = record.get("mutants")
        differ = differing(recorded, scores[0]) if recorded and "survivors" in recorded else {}
        chance = by_chance(check, max(limit, LEAST_S), differ) if differ else []
        if not options.no_tool:
            scores.append(theirs(check, limit, tool_python(options.tool_env), options.most))
    report = {
        "subject": record["subject"],
        "suite": suite.name,
        "tests": record["tests"],
        "budget": record.get("budget"),
        "unchanged_s": round(slowest, 3),
        "limit_s": round(limit, 3),
        "most": options.most,
        "forks": options.forks,
        "recorded": recorded,
        "recorded_s": record.get("seconds", {}).get("mutants"),
        "disagreements": disagreements(recorded, scores[0], options.most, chance),
        "by_chance": chance,
        "scores": [score.as_dict() for score in scores],
    }
    path = options.json or folder / "mutation_check.json"
    path.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return report


def generated(subject: Subject, options: argparse.Namespace) -> Path:
    """Return the output folder of a subject; generates the suite if necessary."""
    folder: Path = options.results / subject.slug
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "record.json").exists():
        command = [sys.executable, "-m", "fitgym", "generate", subject.text, "--path", str(options.subjects), "--quiet"]
        command += ["--goal", "strong_mutation", "--budget", options.budget, "--seed", str(options.seed)]
        command += ["--population", str(options.population)]
        command += ["--output", str(folder), "--json", str(folder / "record.json")]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{subject.text} cannot be generated: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return folder


def rows(reports: Sequence[dict[str, Any]]) -> Table:
    """Return one row for each subject: the record and the re-run, on the mutants that were run again."""
    columns = (
        "tests",
        "mutants",
        "run",
        "killed",
        "re-run",
        "at import",
        "by time-out",
        "differ",
        "by chance",
        "s each",
    )
    shown = Table("subject", *columns)
    for column in shown.columns[1:]:
        column.justify = "right"
    sums = [0] * 9
    seconds = 0.0
    for report in reports:
        recorded, score = report["recorded"] or {"total": 0, "survivors": []}, report["scores"][0]
        alive = set(recorded["survivors"])
        ran = [(name, outcome) for name, outcome in score["results"].items() if outcome != "error"]
        figures = [
            *(report["tests"], recorded["total"], len(ran), sum(name not in alive for name, _ in ran)),
            sum(outcome != "survived" for _, outcome in ran),
            *(score["outcomes"].get(outcome, 0) for outcome in ("import", "timeout")),
            len(report["disagreements"]),
            len(report["by_chance"]),
        ]
        shown.add_row(report["subject"], *map(str, figures), f"{score['seconds_each']:.3f}")
        sums = [a + b for a, b in zip(sums, figures, strict=True)]
        seconds += score["seconds"]
    shown.add_section()
    shown.add_row(f"all {len(reports)}", *map(str, sums), f"{seconds / max(1, sums[2]):.3f}")
    return shown


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, nargs="?", help="folder with the suite and the record of a run")
    parser.add_argument("--record", type=Path, metavar="FILE", help="the record, if it is in another folder")
    parser.add_argument("--subjects", type=Path, metavar="DIR", help="folder of the subject, if it is not installed")
    parser.add_argument("--install", type=Path, metavar="DIR", help="first install the pinned packages to this folder")
    parser.add_argument(
        "--most", type=int, default=0, metavar="N", help="run only N mutants of each list, evenly chosen"
    )
    parser.add_argument("--jobs", type=int, default=1, help="fitgym's mutants at the same time; at most one per core")
    parser.add_argument("--forks", action="store_true", help="forks of one interpreter instead of one for each mutant")
    parser.add_argument("--no-tool", action="store_true", help="without the independent tool")
    parser.add_argument(
        "--tool-env",
        type=Path,
        default=Path("results/cosmic_ray"),
        metavar="DIR",
        help="folder for the installation of cosmic-ray",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="default: mutation_check.json in the folder")
    several = parser.add_argument_group("every subject of a set, without the independent tool")
    several.add_argument("--set", choices=["core", "extra", "large"])
    several.add_argument(
        "--only", action="append", default=[], metavar="PART", help="only subjects whose name contains this part"
    )
    several.add_argument(
        "--results", type=Path, default=Path("results/mutation"), metavar="DIR", help="of their folders"
    )
    several.add_argument("--budget", default="300x", help="budget of the missing runs")
    several.add_argument("--population", type=int, default=50, help="population of these runs")
    several.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(given)
    options.subjects = options.subjects or options.install
    if (options.output is None) == (options.set is None):
        parser.error("give either the output folder of a run or a set of subjects")
    return options


def check_set(options: argparse.Namespace, console: Console) -> int:
    """Print one row for each subject. Returns 1 if a record and its re-run disagree or there is nothing to compare."""
    options.no_tool, options.json = True, None
    reports, failed = [], []
    for subject in subjects(options.set, options.only):
        try:
            reports.append(checked(generated(subject, options), options))
        except SystemExit as reason:
            failed.append(f"{subject.text}: {reason}")
        else:
            failed += [f"{subject.text}: {line}" for line in reports[-1]["disagreements"]]
            failed += [f"{subject.text}: the record has no mutants"] * (not reports[-1]["recorded"])
        print(f"{subject.text} done", file=sys.stderr)
    console.print(rows(reports))
    for line in failed:
        console.print(line, markup=False, highlight=False)
    return int(bool(failed))


def main(given: Sequence[str] | None = None) -> int:
    """Return 0 if the record and the re-run agree or the record has no mutants, 1 otherwise."""
    options, console = arguments(given), Console(width=None if sys.stdout.isatty() else 140)
    if options.install:
        install(options.install)
    if options.set:
        return check_set(options, console)
    report = checked(options.output, options, options.record)
    slowest, limit = report["unchanged_s"], report["limit_s"]
    console.print(f"{report['subject']}: {report['tests']} tests, {slowest:.2f} s unchanged, limit {limit:.1f} s")
    console.print(table(report["scores"], report["recorded"]))
    for line in rates(report):
        console.print(line, markup=False, highlight=False)
    for line in report["disagreements"]:
        console.print(line, markup=False, highlight=False)
    return int(bool(report["disagreements"]))


if __name__ == "__main__":
    sys.exit(main())
