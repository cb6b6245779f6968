"""A plan: a study file, read and checked, and the runs that it defines.

A study file is TOML:

    name = "exceptions"
    question = "Does choosing fitness functions while searching find more exceptions?"
    trial = "episode"                  # see fitgym.study.trials
    metric = "value"                   # declared beforehand; other measures are reported, but decide nothing
    baseline = "Default"               # the arm that the others are compared with; optional
    subjects = "stdlib-v1:test"        # a corpus, a split of one, or a list of subjects
    seeds = 10                         # 0 to 9, or a list
    budget = "1000x"                   # the same for all

    [settings]                         # of every arm
    goal = "exceptions"
    population = 5

    [[arms]]
    name = "UCB"
    agent = "ucb"

    [[arms]]
    name = "Default"
    agent = "own"

    [sizes.small]                      # `--size small`: the keys that change
    seeds = 3

    [published]                        # values of a paper, shown in the table
    source = "Almulla and Gay 2022, table 5"
    UCB = 12.9
    Default = 5.1

Errors in a file are reported before anything runs, with the key, the value and what was expected.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fitgym.errors import FitgymError, InputError
from fitgym.evolution.budget import Budget
from fitgym.study.trials.base import Trial, trials
from fitgym.subject.corpus import Corpus

__all__ = ["Arm", "Cell", "Plan"]

_KEYS = (
    *("name", "question", "trial", "metric", "baseline", "subjects", "path", "seeds", "budget"),
    *("settings", "arms", "sizes", "published"),
)
_LONGEST_NAME = 100  # bytes
_MOST_SEEDS = 1_000_000
_OF_A_SIZE = ("subjects", "path", "seeds", "budget", "settings")


@dataclass(frozen=True, slots=True)
class Arm:
    """One of the alternatives that a study compares.

    Attributes:
        name: in tables and figures.
        settings: of its trial, including those of the whole study.
    """

    name: str
    settings: dict[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """One run to make, with everything that its result depends on.

    Attributes:
        trial: name of the kind of run.
        arm, subject, seed, budget: identify the run.
        settings: of the trial.
        path: a folder to search first for the subject, None for none.
    """

    trial: str
    arm: str
    subject: str
    seed: int
    budget: str
    settings: dict[str, Any] = field(hash=False)
    path: str | None = None

    @property
    def id(self) -> str:
        """The id of the run: 16 hexadecimal digits of the SHA-256 of all that its result depends on."""
        what = [self.trial, self.arm, self.subject, self.seed, self.budget, self.settings]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Plan:
    """A study that can be run; all names in it have been checked.

    Attributes:
        name, question, trial, metric, budget: see the module.
        arms, subjects, seeds: each combination is a run.
        baseline: name of an arm, "" for none.
        path: a folder to search first for subjects, None for none.
        published: values of a paper by arm, and their source under "source".
        size: the chosen size, "" for the file without changes.
    """

    name: str
    question: str
    trial: str
    metric: str
    budget: str
    arms: tuple[Arm, ...]
    subjects: tuple[str, ...]
    seeds: tuple[int, ...]
    baseline: str = ""
    path: str | None = None
    published: dict[str, Any] = field(default_factory=dict, hash=False)
    size: str = ""

    @classmethod
    def load(cls, file: str | Path, size: str = "") -> Plan:
        """Read and check a study file.

        Args:
            file: TOML.
            size: one of its sizes, "" for none.

        Raises:
            InputError: the file contains an error; the message names its place and what was expected.
        """
        try:
            text = Path(file).read_text("utf-8")
            document = tomllib.loads(text)
        except (OSError, UnicodeDecodeError) as problem:
            raise InputError(f"the study '{file}' cannot be read: {problem}") from None
        except tomllib.TOMLDecodeError as problem:
            raise InputError(f"the study '{file}' is not TOML: {problem}") from None
        try:
            return cls.of(document, size, Path(file).resolve().parent)
        except FitgymError as problem:
            raise InputError(f"the study '{file}': {problem}") from None

    @classmethod
    def of(cls, document: Mapping[str, Any], size: str = "", folder: Path | None = None) -> Plan:
        """Create a plan from the content of a study file.

        Args:
            document: the content, as parsed from TOML.
            size: as for `load`.
            folder: the base of relative paths; the working folder if None.
        """
        _known(document, _KEYS, "")
        sizes = _table(document, "sizes")
        if size and size not in sizes:
            raise InputError(f"no size '{size}' (there are: {', '.join(sizes) or 'none'})")
        for name in sizes:
            _known(_table(sizes, name, "sizes."), _OF_A_SIZE, f"sizes.{name}.")
        changes = dict(sizes.get(size, {}))
        common = {**_table(document, "settings"), **changes.pop("settings", {})}
        document = {**document, **changes}
        trial = trials().load(_text(document, "trial"))
        metric = _one_of(_text(document, "metric", next(iter(trial.metrics))), trial.metrics, "metric")
        budget = _budget(_text(document, "budget"), trial)
        path = _text(document, "path", "") or None
        if path is not None:
            path = str((folder or Path()) / path)
        subjects, path = _subjects(document, path, folder or Path())
        arms = _arms(document, trial, common, budget)
        baseline = _text(document, "baseline", "")
        if baseline:
            _one_of(baseline, [arm.name for arm in arms], "baseline")
        published = _table(document, "published")
        _known(published, ["source", *(arm.name for arm in arms)], "published.")
        first = trial.of(arms[0].settings)
        for number, subject in enumerate(subjects):
            with_key = f"subjects[{number}]"
            try:
                first.check_subject(subject, path)
            except FitgymError as problem:
                raise InputError(f"{with_key}: {problem}") from None
        return cls(
            _name(document),
            _text(document, "question", ""),
            _text(document, "trial"),
            metric,
            budget,
            arms,
            subjects,
            _seeds(document.get("seeds")),
            baseline,
            path,
            dict(published),
            size,
        )

    def cells(self) -> list[Cell]:
        """Return all runs, seed by seed, so that an interrupted study has compared the arms on the same seeds."""
        return [
            Cell(self.trial, arm.name, subject, seed, self.budget, arm.settings, self.path)
            for seed in self.seeds
            for subject in self.subjects
            for arm in self.arms
        ]

    def estimate(self, workers: int) -> float:
        """Return a rough estimate of the seconds that all runs take with this number of parallel workers."""
        kind = trials().load(self.trial)
        each = sum(kind.of(arm.settings).estimate(self.budget) for arm in self.arms)
        return each * len(self.subjects) * len(self.seeds) / workers

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON-ready values, for the folder of the results."""
        return {
            "name": self.name,
            "question": self.question,
            "trial": self.trial,
            "metric": self.metric,
            "budget": self.budget,
            "arms": [{"name": arm.name, "settings": arm.settings} for arm in self.arms],
            "subjects": list(self.subjects),
            "seeds": list(self.seeds),
            "baseline": self.baseline,
            "path": self.path,
            "published": self.published,
            "size": self.size,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Plan:
        """Return the plan from the values of `to_json`."""
        arms = tuple(Arm(arm["name"], arm["settings"]) for arm in values["arms"])
        return cls(**{**values, "arms": arms, "subjects": tuple(values["subjects"]), "seeds": tuple(values["seeds"])})


def _arms(document: Mapping[str, Any], trial: type[Trial], common: Mapping[str, Any], budget: str) -> tuple[Arm, ...]:
    tables = document.get("arms")
    if not (isinstance(tables, list) and tables and all(isinstance(table, dict) for table in tables)):
        raise InputError("no arms; expected tables that begin with [[arms]], each with a name")
    with _below("settings."):
        of_all = trial.settings(common)
    arms: dict[str, Arm] = {}
    for number, table in enumerate(tables):
        where = f"arms[{number}]."
        name = _text(table, "name", where=where)
        if name in arms:
            raise InputError(f"{where}name is '{name}', which another arm already has; give each arm its own name")
        if name == "source":
            raise InputError(f"{where}name is 'source', which is reserved under [published]; choose another name")
        if "budget" in table:
            raise InputError(f"{where}budget: an arm cannot have its own budget; set the budget of the study instead")
        with _below(where):
            known = trial.settings({**common, **table})
        _known(table, ["name", *known], where)
        shared = {key: value for key, value in common.items() if key in known or key not in of_all}
        _known(shared, known, "settings.")
        settings = {**known, **shared, **{key: value for key, value in table.items() if key != "name"}}
        try:
            trial.of(settings).check(budget)
        except FitgymError as problem:
            # A bad setting of an arm may be inherited from [settings].
            key = str(problem).partition(":")[0]
            raise InputError(f"{where if key in table or key not in common else 'settings.'}{problem}") from None
        arms[name] = Arm(name, settings)
    return tuple(arms.values())


@contextmanager
def _below(where: str) -> Iterator[None]:
    """Add the name of the table to errors about one of its keys."""
    try:
        yield
    except FitgymError as problem:
        raise InputError(f"{where}{problem}") from None


def _subjects(document: Mapping[str, Any], path: str | None, folder: Path) -> tuple[tuple[str, ...], str | None]:
    found = document.get("subjects")
    if isinstance(found, str):
        if found.partition(":")[0].endswith(".toml"):  # the path of a list is relative to the study file
            found = str(folder / found)
        try:
            corpus = Corpus.of(found, path)
        except FitgymError as problem:
            raise InputError(f"subjects: {problem}") from None
        return corpus.subjects, corpus.path
    if isinstance(found, list) and found and all(isinstance(one, str) for one in found):
        if twice := [one for one in found if found.count(one) > 1]:
            raise InputError(f"subjects: '{twice[0]}' is listed twice; list each subject once")
        return tuple(found), path
    raise InputError(
        f"subjects is {found!r}; expected a list of subjects, or the name of a corpus or of a split of one"
    )


def _seeds(found: object) -> tuple[int, ...]:
    if isinstance(found, int) and not isinstance(found, bool) and 0 < found <= _MOST_SEEDS:
        return tuple(range(found))
    if isinstance(found, list) and found and all(type(one) is int and one >= 0 for one in found):
        if twice := [one for one in found if found.count(one) > 1]:
            raise InputError(f"seeds: {twice[0]} is listed twice; list each seed once")
        return tuple(found)
    raise InputError(
        f"seeds is {found!r}; expected the number of seeds, from 1 to {_MOST_SEEDS}, "
        "or a list of whole numbers of at least 0"
    )


def _budget(text: str, trial: type[Trial]) -> str:
    try:
        found = Budget.parse(text)
    except FitgymError as problem:
        raise InputError(f"budget: {problem}") from None
    if found.unit not in trial.units:
        nouns = {"x": "executions (20000x)", "g": "generations (200g)", "s": "seconds (60s)"}
        kept = " or ".join(nouns[unit] for unit in trial.units)
        raise InputError(f"budget is '{text}'; expected one in {kept}")
    return str(found)


def _text(table: Mapping[str, Any], key: str, default: str | None = None, where: str = "") -> str:
    found = table.get(key, default)
    if not isinstance(found, str) or (default is None and not found):
        said = "is missing" if found is None else f"is {found!r}"
        raise InputError(f"{where}{key} {said}; expected text")
    return found


def _name(document: Mapping[str, Any]) -> str:
    """Return the name of the study, which is also the name of a folder."""
    name = _text(document, "name")
    if name.startswith(".") or len(name.encode()) > _LONGEST_NAME or not name.isprintable() or {"/", "\\"} & set(name):
        raise InputError(
            f"name is {name[:60]!r}; expected the name of a folder for the results: at most {_LONGEST_NAME} bytes, "
            "without slashes, not beginning with a dot"
        )
    return name


def _table(document: Mapping[str, Any], key: str, where: str = "") -> Mapping[str, Any]:
    found = document.get(key, {})
    if not isinstance(found, dict):
        raise InputError(f"{where}{key} is {found!r}; expected a table")
    return found


def _known(table: Iterable[str], known: Sequence[str] | Mapping[str, Any], where: str) -> None:
    for key in table:
        if key not in known:
            shown = key if key.isprintable() else repr(key)
            raise InputError(f"{where}{shown[:60]} is not a known key{_nearest(key, known)}")


def _one_of(name: str, known: Iterable[str], key: str) -> str:
    names = list(known)
    if name not in names:
        raise InputError(f"{key} is '{name}'{_nearest(name, names)}")
    return name


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"{f'; did you mean {near[0]!r}?' if near else ''} (there are: {', '.join(names)})"
