"""Flags: the options of environments as options of commands, derived from their one declaration."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Container, Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin

from cyclopts import Parameter
from docstring_parser import parse

from fitgym.errors import InputError
from fitgym.run.setting import FitnessOptions, Setting, defaults, hints, option

__all__ = ["Text", "options_from", "with_options"]

Text = Annotated[str, Parameter(show_default=False)]
"""Text that is empty unless the user gives one; the help says what that means."""


def with_options(
    *without: str, shown: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command a flag for each option of `FitnessOptions`.

    The command takes one keyword, `options`: the options that the user gave, by name. `--option NAME=VALUE` gives any
    other option of an environment.

    Args:
        without: options for which the command has a parameter of its own.
        shown: the defaults of options as the help tells them, where the command has other ones.
    """
    names = [name for name in defaults(FitnessOptions) if name not in without]

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "options"]
        reserved = {*(one.name for one in own), *(each.name for each in dataclasses.fields(Setting))}
        added = [*(_flag(name, shown.get(name)) for name in names), _any_option()]

        @functools.wraps(command)
        def run(*positional: Any, **keywords: Any) -> int:
            given = {name: keywords.pop(name) for name in names if name in keywords}
            pairs = keywords.pop("option", None) or ()
            named = {name: _value(name, value) for name, value in given.items() if value is not None}
            return command(*positional, **keywords, options={**named, **options_from(pairs, taken={*named, *reserved})})

        parameters = [*own, *added]
        run.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        del run.__wrapped__  # or else the signature of the command itself is read
        return run

    return decorate


def options_from(pairs: Iterable[str], taken: Container[str] = ()) -> dict[str, Any]:
    """The options that texts such as `searches=["mosa","mio"]` give.

    Args:
        pairs: the texts.
        taken: names that are given in another way.

    Raises:
        InputError: a text has no equals sign, its name is taken or given twice, or a value does not fit its option.
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"--option is followed by '{pair}', expected NAME=VALUE such as horizon=20")
        if name in taken:
            raise InputError(f"--option {name} is given in another way too: use --{name.replace('_', '-')} alone")
        if name in found:
            raise InputError(f"--option {name} is given twice: give it once")
        found[name] = option(FitnessOptions, name, text)
    return found


def _value(name: str, value: Any) -> Any:
    """What the command line read, as the option wants it: texts of lists and tables are JSON."""
    return option(FitnessOptions, name, value) if isinstance(value, str) and not _is_text(name) else value


def _is_text(name: str) -> bool:
    """Whether the option is nothing but text, so that a text such as 7 is no number."""
    declared = hints(FitnessOptions)[name]
    return (get_args(declared)[0] if get_origin(declared) is Annotated else declared) is str


def _flag(name: str, told: str | None = None) -> inspect.Parameter:
    kind, default = _plain(hints(FitnessOptions)[name]), defaults(FitnessOptions)[name]
    if told is None and default is not None and default != {}:
        told = _shown(default)
    help_text = _descriptions()[name] + ("" if told is None else f" [default: {told}]")
    annotation: Any = Annotated[kind | None, Parameter(help=help_text, show_default=False)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _any_option() -> inspect.Parameter:
    help_text = "Any other option of the environment, NAME=VALUE with JSON or text for VALUE; may be repeated."
    annotation = Annotated[
        list[str] | None, Parameter(name=("--option", "-o"), help=help_text, show_default=False, negative=())
    ]
    return inspect.Parameter("option", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _plain(kind: Any) -> Any:
    """The type that the command line reads: lists and tables are texts there."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    return kind if kind in (str, bool, int, float) or get_origin(kind) is Literal else str


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@functools.cache
def _descriptions() -> Mapping[str, str]:
    """What each option means, from the docstrings of the classes that declare them."""
    found: dict[str, str] = {}
    for declared in FitnessOptions.__mro__:
        if dataclasses.is_dataclass(declared):
            for one in parse(declared.__doc__ or "").params:
                text = " ".join((one.description or "").split())
                found[one.arg_name] = f"{text[:1].upper()}{text[1:]}"
    return found
