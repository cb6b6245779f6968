"""A setting: everything that determines the result of one run, as one frozen value.

This module is the only declaration of environment options. The command line, study files, records, `gymnasium.make`,
training, evaluation and replay all derive from it. It imports nothing heavy, so that the command line shows its help at
once.
"""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta

from fitgym.errors import InputError

__all__ = [
    "DEFAULT_ENV",
    "GENERATED_GOAL",
    "MOST",
    "PROBED_GOALS",
    "EngineOptions",
    "FitnessOptions",
    "GuidedOptions",
    "Options",
    "SearchOptions",
    "Seed",
    "Setting",
    "checked",
    "defaults",
    "hints",
    "may_infect",
    "option",
    "plain",
    "read",
]

DEFAULT_ENV = "fitgym/FitnessSelection-v0"
"""The default environment of a run."""

GENERATED_GOAL = "tests"
"""The goal of `fitgym generate` if the user names neither a goal nor an environment."""

PROBED_GOALS = ("coverage", "strong_mutation", "tests")
"""The goals whose searches track weak mutation, whatever the agent chooses."""

MOST = 2**63 - 1
"""The largest whole number that a setting or a record may hold."""

LARGEST_POPULATION = 100_000
"""The maximum number of individuals; a larger population fills the memory before the first generation."""

WholeNumber = Annotated[int, Meta(ge=1, le=MOST)]
PopulationSize = Annotated[int, Meta(ge=1, le=LARGEST_POPULATION)]
Seed = Annotated[int, Meta(ge=0, le=MOST)]
Name = Annotated[str, Meta(min_length=1)]

_LONGEST = 200  # maximum number of characters of a value in a message

K = TypeVar("K", bound="Options")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The keyword arguments of an environment. A subclass is a frozen dataclass; each field has a default."""

    local: ClassVar[frozenset[str]] = frozenset({"path", "timeout_s"})
    """Fields that describe the machine rather than the run; records omit them."""

    without: ClassVar[Mapping[str, str]] = types.MappingProxyType({})
    """Inherited fields that this class does not support, each with the alternative."""

    def recorded(self) -> dict[str, Any]:
        """Return the fields that a result depends on, as JSON-ready values."""
        found = plain({name: value for name, value in vars(self).items() if name not in (*self.local, *self.without)})
        assert isinstance(found, dict)
        return found


@dataclass(frozen=True, kw_only=True)
class EngineOptions(Options):
    """The options of a search, independent of its guidance.

    Attributes:
        search: search algorithm, with options after a colon: mosa:crossover=0.5,distance=epsilon.
        smart: use only the fitness functions and targets that represent the others.
        secondary: tie-breaker between equally fit test cases: length, performance or diversity.
        population: number of individuals, unless search sets it.
        combination: how the values of several functions are added: scaled to [0, 1] each, as in the paper; or raw, as
            in the code released with it, where a function with many targets outweighs the others.
        private: late to call private functions and methods too once nothing new has been covered for some time, and
            to replace objects of other modules by plain objects with the attributes in use; or never.
        mined: use to start the search with calls and arguments from the doctests, tests and README of the package; or
            ignore.
    """

    search: Name = "whole_suite"
    smart: bool = False
    secondary: Name = "length"
    population: PopulationSize = 50
    combination: Literal["scaled", "raw"] = "scaled"
    private: Literal["late", "never"] = "late"
    mined: Literal["use", "ignore"] = "use"

    def engine(self) -> dict[str, Any]:
        """Return these options as keyword arguments of `fitgym.engine.Engine`."""
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(EngineOptions)}


@dataclass(frozen=True, kw_only=True)
class SearchOptions(EngineOptions):
    """The options that all environments with a search on a subject share.

    Attributes:
        path: folder that is searched first for the subject.
        goal: the testing goal, such as exceptions, coverage, diversity, mean_diversity, strong_mutation or tests.
        functions: fitness functions to use instead of the goal's own list: exception,branch,loop_twice.
        variants: arguments of fitness functions by name, such as {"diversity": {"last_two": true}}.
        reward: reward of the agent: growth (relative growth of the goal's value, comparable between goals and
            subjects), gain (its change), paper (as published for the goal) or released (as in the published code).
        features: observation of the agent: a feature set, or feature blocks joined by +.
        generations_per_step: number of generations per decision.
        budget: budget of an episode: 200g (generations) or 20000x (executions of test cases).
        timeout_s: time limit of one test case in seconds.
        programs: programs that the import of the subject may start, names separated by commas: uname,git. They can
            write only where the subject can. Test cases cannot start programs.
    """

    path: str | None = None
    goal: Name = "exceptions"
    functions: str | tuple[str, ...] | None = None
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    reward: Name = "growth"
    features: Name = "full-v2"
    generations_per_step: WholeNumber = 3
    budget: str | None = "200g"
    timeout_s: Annotated[float, Meta(gt=0)] = 2.0
    programs: str = ""


@dataclass(frozen=True, kw_only=True)
class FitnessOptions(SearchOptions):
    """The options of environments in which an agent chooses fitness functions.

    Attributes:
        actions: action space: a catalogue of combinations, a list of them, bits or weights; by default the goal's own
            catalogue.
        populations: shared, one population for all actions; or per-action, where each action resumes the population
            that it left, as in the code released with the paper.
    """

    actions: str | tuple[str, ...] | None = None
    populations: Literal["shared", "per-action"] = "shared"


@dataclass(frozen=True, kw_only=True)
class GuidedOptions(SearchOptions):
    """The options of environments in which the fitness functions stay the same.

    Attributes:
        fitness: fitness functions that guide the search: exception+branch; the goal's own if None.
    """

    fitness: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Everything that determines the result of one run.

    Attributes:
        env: id of a registered environment, `module:id` to import a module first, or `module:Class`.
        subject: `package.module`, `package.module:Class` or `path/to/file.py[:Class]`; "" if the environment has none.
        agent: `name`, `name:argument` or the folder of a saved agent; "" for the environment's default.
        seed: seed of all randomness in the run.
        budget: `20000x` executions, `200g` generations or `60s` seconds; "" for the environment's default.
        options: further keyword arguments of the environment.
    """

    env: str = DEFAULT_ENV
    subject: str = ""
    agent: str = ""
    seed: Seed = 0
    budget: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def place(self) -> str:
        """The subject of the run, or its numbered task; "" if the setting names neither."""
        task = self.options.get("task")
        return self.subject or ("" if task is None else f"task {task}")

    def option(self, name: str) -> Any:
        """Return the value of one option; by default that of environments with a search.

        Raises:
            KeyError: there is no such option.
        """
        return self.options[name] if name in self.options else defaults(FitnessOptions)[name]

    @classmethod
    def from_keywords(cls, **keywords: Any) -> Setting:
        """Make a setting from keywords: the attributes of `Setting`; all others are options of the environment.

        None stands for the default.

        Raises:
            InputError: an attribute has a wrong type or is out of range.
        """
        own = {each.name for each in dataclasses.fields(cls)}
        given = {name: value for name, value in keywords.items() if value is not None}
        options = {name: value for name, value in given.items() if name not in own}
        return cls.of({**{name: value for name, value in given.items() if name in own}, "options": options})

    def to_json(self) -> dict[str, Any]:
        """Return the setting as JSON-ready values."""
        found: dict[str, Any] = plain(self)
        return found

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Setting:
        """Return the setting that `to_json` wrote.

        Raises:
            InputError: a name is unknown, or a value has a wrong type.
        """
        return _build(cls, values, "the setting")


def read(kind: type[K], given: Mapping[str, Any], who: str) -> K:
    """Check keyword arguments of an environment.

    Args:
        kind: the class of its options.
        given: names with values, from Python, TOML or JSON.
        who: the environment, for messages.

    Raises:
        InputError: a name is unknown, or a value has a wrong type or is out of range.
    """
    return _build(kind, given, who)


def option(kind: type[Any], name: str, text: str) -> Any:
    """Parse an option on the command line: as JSON if possible, otherwise as text.

    Args:
        kind: a dataclass with the option.
        name: the name of the option.
        text: the text given by the user.

    Raises:
        InputError: the value does not fit the option.
    """
    try:
        value = msgspec.json.decode(text.encode())
    except msgspec.DecodeError:
        value = text
    if name in (known := hints(kind)):
        return checked(name, value, known[name])
    return value


def plain(value: Any) -> Any:
    """Convert a value to its JSON form: tables, lists, texts, numbers, true, false and null."""
    return msgspec.json.decode(msgspec.json.encode(value))


def defaults(kind: type[Any]) -> dict[str, Any]:
    """Return the options of a class with their defaults."""
    blank = kind()
    return {name: getattr(blank, name) for name in hints(kind)}


def hints(kind: type[Any]) -> dict[str, Any]:
    """Return the options of a class with their types, including constraints."""
    found = typing.get_type_hints(kind, include_extras=True)
    without = getattr(kind, "without", {})
    return {each.name: found[each.name] for each in dataclasses.fields(kind) if each.name not in without}


def checked(name: str, value: Any, kind: Any) -> Any:
    """Convert the value of an option to its type; lists become tuples.

    Raises:
        InputError: the value does not fit the type.
    """
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, OverflowError):
        limit = f", at most {MOST}" if type(value) is int and value > MOST else ""
        raise InputError(f"{name} is {_shown(value)}, expected {_noun(kind)}{limit}") from None


def _build(kind: type[T], given: Mapping[str, Any], who: str) -> T:
    known = hints(kind)
    for name in given:
        if instead := getattr(kind, "without", {}).get(name):
            raise InputError(f"{who} has no option '{name}': {instead}")
        if name not in known:
            raise InputError(f"{who} has no option '{name}'{_nearest(name, known)}")
    return kind(**{name: checked(name, value, known[name]) for name, value in given.items()})


def _shown(value: Any) -> str:
    """Return a value for a message, truncated if it is long."""
    if isinstance(value, int) and abs(value) > MOST:  # Python refuses to print numbers with thousands of digits
        return f"a number of {value.bit_length()} bits"
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _noun(kind: Any) -> str:
    """Return the noun for values of a type, for messages."""
    if get_origin(kind) is Annotated:
        base, *rest = get_args(kind)
        least = next((m for m in rest if isinstance(m, Meta)), Meta())
        if least.ge is not None:
            most = "" if least.le in (None, MOST) else f" and at most {least.le}"
            return f"{_noun(base)} of at least {least.ge}{most}"
        return f"{_noun(base)} above {least.gt}" if least.gt is not None else _noun(base)
    if get_origin(kind) is Literal:
        return " or ".join(repr(value) for value in get_args(kind))
    if get_origin(kind) in (typing.Union, types.UnionType):
        return " or ".join(_noun(one) for one in get_args(kind) if one is not type(None))
    if get_origin(kind) is tuple:
        return f"a list ({_noun(get_args(kind)[0])} each)"
    nouns = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    return nouns.get(kind, "a table")


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"{f'; did you mean {near[0]!r}?' if near else ''} (available: {', '.join(names) or 'none'})"


def may_infect(goal: str, agent: str) -> bool:
    """Return whether a search may track weak mutation.

    Its probes are part of the code. A worker that is started without them has to be replaced at the first reset, which
    takes seconds for large modules.
    """
    return goal in PROBED_GOALS or not agent.startswith("fixed")
