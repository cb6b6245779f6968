#!/usr/bin/env python3
"""Which search covers more? Repeats the papers' comparisons on these subjects, beside the reported results.

    python benchmarks/search_table.py --install results/subjects --jobs 2
    python benchmarks/search_table.py --subjects results/subjects --questions family --set large --budget 20000x
    python benchmarks/search_table.py --questions "numeric as published" --seeds 100 --jobs 2
    python benchmarks/search_table.py --subjects results/subjects --seeds 0

All runs of a comparison have the same population size and the same budget in test-case executions. The value of a run
is the share of targets that its suite covers: the archive if the algorithm uses one, else its best suite. Each row is
appended to FOLDER/runs.csv at once, and existing rows are not run again; `--seeds 0` only writes the tables. README.md
in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from remeasure import HERE, install, subjects, subjects_folder
from runs_file import Key, RunsFile

from fitgym.engine.smart_selection import EIGHT
from fitgym.errors import FitgymError
from fitgym.evolution.budget import Budget
from fitgym.sandbox.sandbox import die_with_parent
from fitgym.study.comparison import Contrast, Runs, contrast
from fitgym.study.difference import Difference, difference, growth
from fitgym.study.trials.search import SearchTrial
from fitgym.study.verdict import Judged, Verdict, judge
from fitgym.suite.text.export import write

COLUMNS = ("question", "contestant", "subject", "seed", "budget", "population", "share", "tests", "statements", "error")


@dataclass(frozen=True)
class Contestant:
    """One side of a comparison.

    Attributes:
        name: in the table.
        search: algorithm with options.
        smart: use smart selection.
    """

    name: str
    search: str
    smart: bool = False


@dataclass(frozen=True)
class Claim:
    """An expected result of a comparison: one contestant covers more than another by some margin, on average.

    Attributes:
        text: in words.
        ours, theirs: names of contestants.
        least: the difference to exceed, as a share of the targets; a negative value is an allowed loss.
        on: a set of subjects, "" for all.
        than: a set whose difference is subtracted, for a difference that should grow from there to `on`; "" for none.
    """

    text: str
    ours: str
    theirs: str
    least: float = 0.0
    on: str = ""
    than: str = ""

    def evidence(self, rows: Sequence[dict[str, str]]) -> Difference | None:
        """Return the comparison of the runs for the claim, None without runs."""
        sides = beside(self.ours, self.theirs, of_set(rows, self.on))
        before = beside(self.ours, self.theirs, of_set(rows, self.than)) if self.than else sides
        if sides is None or before is None:
            return None
        return growth(sides, before, self.least) if self.than else difference(*sides, self.least)

    def told(self, found: Judged[Difference]) -> str:
        """Return the claim with a tick, a cross or neither, and the numbers."""
        marks = {Verdict.BETTER: "✓", Verdict.WORSE: "✗"}
        open_ = "not shown:" if self.least else f"{Verdict.OPEN}:"
        mark = marks.get(found.verdict, open_ if found.verdict is Verdict.OPEN else f"{found.verdict}:")
        ends = f"[{100 * found.evidence.low:+.2f}, {100 * found.evidence.high:+.2f}]"
        more = f" more on {self.on} than on {self.than}" if self.than else ""
        p = "" if found.verdict is Verdict.ONE_SEED else f", Holm-adjusted p = {found.shown_p}"
        return f"{mark} {self.text}: {100 * found.evidence.value:+.2f} points {ends}{more}{p}"


@dataclass(frozen=True)
class Question:
    """A comparison.

    Attributes:
        functions: guide the search and judge suites: the mean over those whose targets are known beforehand (all known
            exceptions were raised).
        contestants: the others are compared with the first.
        paper: the published result.
        claims: expected results.
        bundled: modules of the folder `bundled` to use instead of a set of subjects; reported one by one.
        rates: parameters of random test generation; see `fitgym.testcase.rates.RATES`.
    """

    functions: tuple[str, ...]
    contestants: tuple[Contestant, ...]
    paper: str
    claims: tuple[Claim, ...] = ()
    bundled: tuple[str, ...] = ()
    rates: str = "fitgym"


_WHOLE = (
    Contestant("one_goal", "one_goal"),
    Contestant("whole", "whole_suite:use_archive=false"),
    Contestant("archive", "whole_suite"),
)
_WHOLE_CLAIMS = (
    Claim("whole covers more than one_goal on average", "whole", "one_goal"),
    Claim("archive covers at least as much as whole", "archive", "whole"),
)
_NUMERIC = Question(
    ("line", "branch"),
    (
        Contestant("MIO", "mio:population=1"),
        Contestant("MOSA", "mosa:fresh=0.0,distinct=false,neutral=false"),
        Contestant("WTS", "whole_suite:initial_tests=50,max_tests=50,crossover=0.7"),
        Contestant("Random", "random_search"),
    ),
    "lines and branches, tests, and A12 of MIO beside the others (- where not significant): "
    "expint MIO 63.7, 9.4; MOSA 63.2, 14.0, -; WTS 62.5, 9.3, 0.82; Random 38.7, 5.4, 1.00. "
    "gammq MIO 69.1, 9.2; MOSA 65.9, 8.0, 0.83; WTS 67.2, 6.8, 0.90; Random 32.0, 1.0, 1.00. "
    "triangle MIO 38.9, 12.6; MOSA 37.8, 14.2, 0.71; WTS 35.7, 11.3, 0.98; Random 31.7, 11.1, 1.00",
    bundled=("expint", "gammq", "triangle"),
)
QUESTIONS = {
    "branch": Question(
        ("branch",),
        _WHOLE,
        "whole beside one_goal: 0.63 to 0.78 of the branches, A12 0.67",
        (
            *_WHOLE_CLAIMS,
            Claim(
                "what archive covers more than whole grows with the subjects",
                "archive",
                "whole",
                on="large",
                than="core",
            ),
        ),
    ),
    "line": Question(("line",), _WHOLE, "whole beside one_goal: 0.62 to 0.78 of the lines, A12 0.69", _WHOLE_CLAIMS),
    "weak_mutation": Question(
        ("weak_mutation",), _WHOLE, "whole beside one_goal: 0.36 to 0.77 of the mutants, A12 0.83", _WHOLE_CLAIMS
    ),
    "family": Question(
        ("branch",),
        (
            Contestant("whole_suite", "whole_suite"),
            Contestant("random_search", "random_search"),
            Contestant("mosa", "mosa"),
            Contestant("dynamosa", "dynamosa"),
            Contestant("adynamosa", "adynamosa"),
            Contestant("always performance", "adynamosa:adaptive=false"),
            Contestant("mio", "mio"),
        ),
        "dynamosa at least mosa at least whole_suite; adynamosa within a point of dynamosa, always performance 18 below on "
        "half of the classes",
        (
            Claim("mosa covers at least as much as whole_suite", "mosa", "whole_suite"),
            Claim("dynamosa covers at least as much as mosa", "dynamosa", "mosa"),
            Claim("adynamosa is within one point of dynamosa", "adynamosa", "dynamosa", least=-0.01),
            Claim("always performance covers less than dynamosa", "dynamosa", "always performance"),
            Claim("whole_suite covers more than random_search", "whole_suite", "random_search"),
        ),
    ),
    "performance": Question(
        ("branch", "line", "weak_mutation", "method", "input", "output", "exception"),
        (
            Contestant("dynamosa", "dynamosa"),
            Contestant("adynamosa", "adynamosa"),
            Contestant("always performance", "adynamosa:adaptive=false"),
        ),
        "adynamosa within a point of dynamosa in all seven functions, always performance 18 below on half of the classes",
        (
            Claim("adynamosa is within one point of dynamosa", "adynamosa", "dynamosa", least=-0.01),
            Claim("always performance covers less than dynamosa", "dynamosa", "always performance"),
        ),
    ),
    **{
        f"smart {search}": Question(
            EIGHT,
            (Contestant("eight", search), Contestant("smart", search, smart=True)),
            paper,
            claims,
        )
        for search, paper, claims in (
            (
                "whole_suite",
                "smart covers 1 to 2 points more of seven of the eight, 3 to 4 on large classes",
                (
                    Claim("smart covers more on large subjects", "smart", "eight", on="large"),
                    Claim("and there more than on small ones", "smart", "eight", on="large", than="core"),
                ),
            ),
            (
                "mosa",
                "smart covers 0 to 1 point more, 1 to 4 on large classes",
                (Claim("smart covers at least as much on large subjects", "smart", "eight", on="large"),),
            ),
            (
                "dynamosa",
                "no difference to speak of",
                (Claim("smart is within one point on large subjects", "smart", "eight", least=-0.01, on="large"),),
            ),
        )
    },
    "numeric": _NUMERIC,
    "numeric as published": replace(_NUMERIC, rates="one_call"),
}


def played(key: Key, path: str) -> dict[str, str]:
    """Run once and return the row."""
    question, name, subject, seed, budget, population = key
    asked = QUESTIONS[question]
    (contestant,) = [one for one in asked.contestants if one.name == name]
    row = dict(zip(COLUMNS[:6], key, strict=True))
    trial = SearchTrial(
        search=contestant.search,
        fitness="+".join(asked.functions),
        smart=contestant.smart,
        population=int(population),
        rates=asked.rates,
    )
    try:
        found = trial.measure(subject, int(seed), budget, str(HERE / "bundled") if asked.bundled else path).measures
    except FitgymError as problem:
        return {**row, "share": "", "tests": "", "statements": "", "error": str(problem)}
    return {**row, **{name: repr(found[name]) for name in ("share", "tests", "statements")}, "error": ""}


def make(wanted: Iterable[Key], file: RunsFile, path: str, jobs: int) -> None:
    """Run the missing runs and write a row for each."""
    rows = file.rows()
    missing = [key for key in wanted if key not in rows]

    def made() -> Iterator[dict[str, str]]:
        with ProcessPoolExecutor(jobs, initializer=die_with_parent) as pool:
            asked = {pool.submit(played, key, path): key for key in missing}
            for done, future in enumerate(as_completed(asked), 1):
                row = future.result()
                yield row
                said = row["error"] or row["share"]
                sys.stderr.write(f"{done} of {len(missing)}: {', '.join(asked[future])}: {said}\n")

    file.add(made())
    file.sort(lambda key: (*key[:3], int(key[3]), *key[4:]))


def of_set(rows: Sequence[dict[str, str]], name: str) -> list[dict[str, str]]:
    """Return the rows of the subjects of a set, or all."""
    inside = {one.text for one in subjects(name, [])} if name else ()
    return [row for row in rows if not name or row["subject"] in inside]


def beside(ours: str, theirs: str, rows: Sequence[dict[str, str]]) -> tuple[Runs, Runs] | None:
    """Return the coverage of two contestants, None if no subject has runs of both."""
    found: tuple[dict[str, dict[int, float]], ...] = ({}, {})
    for row in rows:
        if row["share"] and row["contestant"] in (ours, theirs):
            side = found[row["contestant"] == theirs]
            side.setdefault(row["subject"], {})[int(row["seed"])] = float(row["share"])
    there = any(found[0][subject].keys() & found[1].get(subject, {}).keys() for subject in found[0])
    return (found[0], found[1]) if there else None


def table(question: str, rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """Return one comparison in Markdown: a table for each set of subjects, and the claims.

    All comparisons under one heading are judged together, so Holm's correction covers all of them.
    """
    asked = QUESTIONS[question]
    names = [one.name for one in asked.contestants if any(row["contestant"] == one.name for row in rows)]
    yield f"## {question}, {rows[0]['budget']}: {', '.join(asked.functions)}"
    yield ""
    yield f"The paper: {asked.paper}."
    yield ""
    if asked.bundled:
        yield from one_by_one(names, rows)
        return
    sets = [name for name in ("core", "large", "extra") if of_set(rows, name)] or [""]
    cells = {(name, one): beside(one, names[0], of_set(rows, name)) for name in sets for one in names[1:]}
    compared: dict[tuple[str, str], Contrast | Difference] = {
        cell: contrast(cell[1], names[0], *sides) for cell, sides in cells.items() if sides is not None
    }
    claims = {claim.text: claim.evidence(rows) for claim in asked.claims}
    compared |= {("", text): found for text, found in claims.items() if found is not None}
    judged: dict[tuple[str, str], Judged[Any]] = dict(zip(compared, judge(compared.values()), strict=True))
    for name in sets:
        some = of_set(rows, name)
        yield f"On {len({row['subject'] for row in some})} {name} subjects:"
        yield ""
        yield from of_all(names, some, {one: judged[name, one] for one in names if (name, one) in judged})
    yield from (f"{claim.told(judged['', claim.text])}  " for claim in asked.claims if ("", claim.text) in judged)
    yield ""


def of_all(names: Sequence[str], rows: Sequence[dict[str, str]], judged: dict[str, Judged[Contrast]]) -> Iterator[str]:
    """Compare every contestant with the first, over all subjects."""
    head = f"A12 beside {names[0]} | subjects above | below | Holm-adjusted p | verdict"
    yield f"| | runs | share | tests | statements | {head} |"
    yield f"|{'---|' * 10}"
    for name in names:
        of_it = [row for row in rows if row["contestant"] == name and row["share"]]
        if not of_it:
            continue
        numbers = [statistics.fmean(float(row[column]) for row in of_it) for column in ("share", "tests", "statements")]
        tail = "- | - | - | - | -"
        if found := judged.get(name):
            one = found.evidence
            tail = f"{one} | {one.better} | {one.worse} | {found.shown_p} | {found.verdict}"
        yield f"| {name} | {len(of_it)} | {numbers[0]:.3f} | {numbers[1]:.1f} | {numbers[2]:.1f} | {tail} |"
    yield ""


def one_by_one(names: Sequence[str], rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """Compare the first contestant with each other one on each subject."""
    yield f"| subject | | runs | share | tests | A12 of {names[0]} beside it | Holm-adjusted p | verdict on {names[0]} |"
    yield f"|{'---|' * 8}"
    by_subject = {
        name: [row for row in rows if row["subject"] == name] for name in sorted({r["subject"] for r in rows})
    }
    cells = {(subject, one): beside(names[0], one, some) for subject, some in by_subject.items() for one in names[1:]}
    compared = {cell: contrast(names[0], cell[1], *sides) for cell, sides in cells.items() if sides is not None}
    judged = dict(zip(compared, judge(compared.values()), strict=True))
    for subject, some in by_subject.items():
        for name in names:
            of_it = [row for row in some if row["contestant"] == name and row["share"]]
            if not of_it:
                continue
            found = judged.get((subject, name))
            tail = f"{found.evidence} | {found.shown_p} | {found.verdict}" if found else "- | - | -"
            share, tests = (statistics.fmean(float(row[column]) for row in of_it) for column in ("share", "tests"))
            yield f"| {subject} | {name} | {len(of_it)} | {share:.4f} | {tests:.1f} | {tail} |"
    yield ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the missing runs and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=Path, help="folder with the pinned packages")
    parser.add_argument("--install", type=Path, help="first install the pinned packages to this folder")
    parser.add_argument("--set", default="core", help="set of subjects in subjects.toml")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of subjects")
    parser.add_argument("--questions", nargs="+", choices=QUESTIONS, default=list(QUESTIONS), metavar="NAME")
    parser.add_argument("--contestants", nargs="+", metavar="NAME", help="only these contestants of the questions")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", default="5000x")
    parser.add_argument("--population", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=HERE / "searches")
    options = parser.parse_args(arguments)
    bundled = all(QUESTIONS[question].bundled for question in options.questions)
    folder = Path() if bundled or not options.seeds else subjects_folder(parser, options)
    if options.install:
        install(options.install)
    file = RunsFile(options.folder / "runs.csv", COLUMNS, 6)
    make(
        [
            (question, one.name, subject, str(seed), options.budget, str(options.population))
            for seed in range(options.seeds)
            for question in options.questions
            for one in QUESTIONS[question].contestants
            if not options.contestants or one.name in options.contestants
            for subject in QUESTIONS[question].bundled or [one.text for one in subjects(options.set, options.only)]
        ],
        file,
        str(folder.resolve()),
        options.jobs,
    )
    rows = file.rows()
    lines: list[str] = []
    for question in QUESTIONS:
        conditions = dict.fromkeys(key[4:] for key in rows if key[0] == question)
        for condition in sorted(conditions, key=lambda found: Budget.parse(found[0]).amount):
            lines += table(question, [row for key, row in rows.items() if (key[0], key[4:]) == (question, condition)])
    text = "\n".join(lines)
    sys.stdout.write(text)
    write(text, options.folder / "table.md")
    return int(any(row["error"] for row in rows.values()))


if __name__ == "__main__":
    raise SystemExit(main())
