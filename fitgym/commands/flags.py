"""Flags: command-line options derived from the fields of `FitnessOptions`."""

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
"""A text option that is empty by default; its help describes the default."""


def with_options(
    *without: str, shown: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command a flag for each option of `FitnessOptions`.

    The command receives one keyword, `options`: the options given by the user, by name. `--option NAME=VALUE` sets any
    other option of an environment.

    Args:
        without: options for which the command has its own parameter.
        shown: defaults to show in the help, for options whose default differs in this command.
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
        del run.__wrapped__  # inspect.signature would follow it to the undecorated command
        return run

    return decorate


def options_from(pairs: Iterable[str], taken: Container[str] = ()) -> dict[str, Any]:
    """Parse options such as `searches=["mosa","mio"]`.

    Args:
        pairs: the texts, NAME=VALUE.
        taken: names that have a flag of their own or are already set.

    Raises:
        InputError: a text has no equals sign, its name is taken or given twice, or a value does not fit its option.
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"--option is followed by '{pair}'; expected NAME=VALUE such as horizon=20")
        if name in taken:
            raise InputError(
                f"--option {name} repeats a value that has its own flag; use only --{name.replace('_', '-')}"
            )
        if name in found:
            raise InputError(f"--option {name} is given twice; give it once")
        found[name] = option(FitnessOptions, name, text)
    return found


def _value(name: str, value: Any) -> Any:
    """Convert a value of the command line to the option's type: lists and tables are JSON texts."""
    return option(FitnessOptions, name, value) if isinstance(value, str) and not _is_text(name) else value


def _is_text(name: str) -> bool:
    """Return whether the option's type is plain text, so that a value such as 7 is not read as a number."""
    declared = hints(FitnessOptions)[name]
    return (get_args(declared)[0] if get_origin(declared) is Annotated else declared) is str


def _flag(name: str, default_text: str | None = None) -> inspect.Parameter:
    kind, default = _plain(hints(FitnessOptions)[name]), defaults(FitnessOptions)[name]
    if default_text is None and default is not None and default != {}:
        default_text = _shown(default)
    help_text = _descriptions()[name] + ("" if default_text is None else f" [default: {default_text}]")
    annotation: Any = Annotated[kind | None, Parameter(help=help_text, show_default=False)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _any_option() -> inspect.Parameter:
    help_text = "Any other option of the environment, NAME=VALUE with JSON or text for VALUE; may be repeated."
    annotation = Annotated[
        list[str] | None, Parameter(name=("--option", "-o"), help=help_text, show_default=False, negative=())
    ]
    return inspect.Parameter("option", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _plain(kind: Any) -> Any:
    """Return the type that the command line parses: text for lists and tables."""
    if get_origin(kind) is Annotated:
        return _plain(get_args(kind)[0])
    return kind if kind in (str, bool, int, float) or get_origin(kind) is Literal else str


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@functools.cache
def _descriptions() -> Mapping[str, str]:
    """Return the description of each option, from the docstrings of the classes that declare them."""
    found: dict[str, str] = {}
    for declared in FitnessOptions.__mro__:
        if dataclasses.is_dataclass(declared):
            for one in parse(declared.__doc__ or "").params:
                text = " ".join((one.description or "").split())
                found[one.arg_name] = f"{text[:1].upper()}{text[1:]}"
    return found
