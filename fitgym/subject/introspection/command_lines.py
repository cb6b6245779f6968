"""Command lines of click or typer: how a test calls them, and with which words.

A command is an object that contains a function. A call of the function alone would skip the parsing of the words, and a
call of the object exits the interpreter. Tests therefore use the runner of the library.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fitgym.subject.types.hints import Hint, name_of

__all__ = ["INVOKE", "NUMERALS", "combined", "commands_in", "is_command_line", "runner_of", "word", "words_of"]

INVOKE = "CliRunner.invoke"
"""The name of the method that a test calls."""

_COMMAND, _TYPER = "click.core.Command", "typer.main.Typer"
_RUNNERS: Mapping[str, str] = {_COMMAND: "click.testing", _TYPER: "typer.testing"}
_TEXT = Hint("class", "builtins.str")
_MOST_LINES = 40
_DEEPEST = 3  # nested groups

NUMERALS: Mapping[str, tuple[str, ...]] = {"int": ("3", "0", "1", "-1", "100"), "float": ("0.5", "0", "3", "-1.5")}
"""Words to try for a number, by the name of its class."""

_WORDS: Mapping[str, tuple[str, ...]] = {
    "integer": NUMERALS["int"],
    "integer range": NUMERALS["int"],
    "float": NUMERALS["float"],
    "float range": NUMERALS["float"],
    "boolean": ("yes", "no"),
    "uuid": ("12345678-1234-5678-1234-567812345678",),
    "datetime": ("2024-02-29",),
    "path": ("a", "a/b.txt", "missing.txt"),
    "file": ("-", "a", "missing.txt"),
    "filename": ("-", "a", "missing.txt"),
    "directory": (".", "missing"),
}
"""Words to try, by click's name of the parameter type."""


def is_command_line(value: object) -> bool:
    """The value is a command, a group of commands, or a typer application."""
    return _kind(value) != ""


def commands_in(group: Any) -> Iterator[Any]:
    """Yield all commands of a group, including those of nested groups; nothing for any other value."""
    commands = getattr(group, "commands", None)
    for command in commands.values() if isinstance(commands, dict) else ():
        yield command
        yield from commands_in(command)


def runner_of(value: object) -> str:
    """Return the module with the `CliRunner` for a command line, and import it."""
    module = _RUNNERS[_kind(value)]
    importlib.import_module(module)
    return module


def words_of(value: object) -> Hint:
    """Return the hint for a runner's arguments: a union of tuples of words, each a command with some options."""
    command: Any = value
    if _kind(value) == _TYPER:
        command = sys.modules["typer.main"].get_command(value)
    lines = itertools.islice(_lines(command, (), _DEEPEST), _MOST_LINES)
    return Hint("union", args=tuple(dict.fromkeys(Hint("tuple", args=line) for line in lines)))


def combined(
    before: tuple[Hint, ...], arguments: Sequence[Hint], needed: Sequence[Hint], options: Sequence[tuple[Hint, ...]]
) -> Iterator[tuple[Hint, ...]]:
    """Yield command lines: the required words alone, with each option, with all options, without the last argument.

    Args:
        before: the first words.
        arguments: hints of the positional words.
        needed: the words of required options.
        options: the words of each other option.
    """
    first = (*before, *arguments, *needed)
    yield first
    for option in options:
        yield (*first, *option)
    if len(options) > 1:
        yield (*first, *itertools.chain.from_iterable(options))
    if arguments:  # the last one may be optional
        yield (*before, *arguments[:-1], *needed)


def word(text: str) -> Hint:
    """Return the hint for a fixed word."""
    return Hint("literal", texts=(repr(text),))


def _kind(value: object) -> str:
    names = [name_of(base) for base in type(value).__mro__]
    return next((kind for kind in _RUNNERS if kind in names), "")


def _lines(command: Any, before: tuple[Hint, ...], depth: int) -> Iterator[tuple[Hint, ...]]:
    """Yield the command lines of a command, after the words of its groups."""
    with contextlib.suppress(Exception):  # click creates the help option on the first call and keeps it
        command.get_params(sys.modules["click"].Context(command))
    commands = getattr(command, "commands", None)
    if isinstance(commands, dict):
        for name, inner in sorted(commands.items()) if depth else ():
            yield from _lines(inner, (*before, word(name)), depth - 1)
        if not getattr(command, "invoke_without_command", False):
            return
    arguments: list[Hint] = []
    options: list[tuple[Hint, ...]] = []
    needed: list[Hint] = []
    for parameter in command.params:
        values = (_value(parameter.type),) * max(1, parameter.nargs)
        if parameter.param_type_name == "argument":
            arguments += values
            continue
        name = word(max(parameter.opts, key=len))
        given = (name,) if parameter.is_flag or parameter.count else (name, *values)
        if parameter.required:
            needed += given
        else:
            options.append(given)
    yield from combined(before, arguments, needed, options)


def _value(kind: Any) -> Hint:
    """Return the hint for the words of a parameter type."""
    choices = getattr(kind, "choices", None)
    if isinstance(choices, Sequence) and choices and all(isinstance(choice, str) for choice in choices):
        return Hint("literal", texts=tuple(map(repr, choices)))
    words = _WORDS.get(str(getattr(kind, "name", "")))
    return _TEXT if words is None else Hint("literal", texts=tuple(map(repr, words)))
