"""Argument parsers: the command lines that the parsers of a source accept, and the functions that read one.

The calls that describe a parser of argparse or optparse are read in the source, because a parser exists only while the
function that makes it runs.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fitgym.subject.introspection.command_lines import NUMERALS, combined, word
from fitgym.subject.types.hints import PATH_TEXT, Hint

__all__ = ["accepted", "parsed", "reads"]

_TEXT = Hint("class", "builtins.str")
_MOST_LINES = 40
_FREE = ((), (_TEXT,), (PATH_TEXT,), (_TEXT, _TEXT))
"""Words for a program that reads its command line without a parser."""
_PARSES = frozenset({"parse_args", "parse_known_args", "parse_intermixed_args"})
_GROUPS = frozenset({"add_argument_group", "add_mutually_exclusive_group", "add_option_group", "add_subparsers"})
_DESCRIBES = frozenset({"add_argument", "add_option"})
_TAKES_A_VALUE = frozenset({"store", "append", "extend"})
_FILES = frozenset({"Path", "PurePath", "FileType", "open"})
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class _Parser:
    """A parser, or the parser of one subcommand.

    Attributes:
        command: the words before its own.
        arguments: hints of the positional words.
        needed: words of required options.
        options: words of each other option.
    """

    command: tuple[Hint, ...] = ()
    arguments: list[Hint] = field(default_factory=list)
    needed: list[Hint] = field(default_factory=list)
    options: list[tuple[Hint, ...]] = field(default_factory=list)

    def lines(self, before: tuple[Hint, ...]) -> Iterator[tuple[Hint, ...]]:
        return combined((*before, *self.command), self.arguments, self.needed, self.options)


def accepted(tree: ast.Module) -> tuple[tuple[Hint, ...], ...]:
    """Return the command lines that the parsers of a source accept, each a hint for every word.

    There is one with the required words, one for each option, and one with all options; the same for each subcommand.
    At most forty; none if the source describes no parser.
    """
    if not any(isinstance(node, ast.Attribute) and node.attr in _DESCRIBES for node in ast.walk(tree)):
        return ()
    parsers = _Reader(tree).parsers
    main = parsers.pop("", None) or _Parser()
    before = (*main.needed, *main.arguments)
    commands = [parser for parser in parsers.values() if parser.command]
    if not commands and not before and not main.options:
        return ()
    found = itertools.chain(*(parser.lines(before) for parser in commands), main.lines(()))
    return tuple(itertools.islice(dict.fromkeys(found), _MOST_LINES))


def parsed(function: ast.AST) -> Mapping[str, int]:
    """Return the names that a function passes to a parser, each with the number of words that it leaves out."""
    found: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PARSES:
            given = [*node.args[:1], *(one.value for one in node.keywords if one.arg == "args")]
            for value in given[0].values if given and isinstance(given[0], ast.BoolOp) else given[:1]:
                match value:
                    case ast.Name(id=name):
                        found[name] = 0
                    case ast.Subscript(
                        value=ast.Name(id=name), slice=ast.Slice(lower=ast.Constant(value=1), upper=None)
                    ):
                        found[name] = 1
    return found


def reads(tree: ast.Module, lines: tuple[tuple[Hint, ...], ...]) -> tuple[tuple[Hint, ...], ...]:
    """Return the command lines to try if a function reads `sys.argv`, itself or by a parser; none if none does.

    Args:
        tree: the source.
        lines: the command lines that `accepted` returns for the source.
    """
    if any(_is_command_line(node) for node in _in_functions(tree)):
        return lines or _FREE
    return lines if lines and any(_parses_it(node) for node in _in_functions(tree)) else ()


def _in_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in the functions of a tree, each once."""
    for child in ast.iter_child_nodes(node):
        yield from ast.walk(child) if isinstance(child, _FUNCTION) else _in_functions(child)


def _is_command_line(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "argv" and getattr(node.value, "id", "") == "sys"


def _parses_it(node: ast.AST) -> bool:
    """A parser is called without words, or with a name that may be None."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _PARSES
        and (not node.args or isinstance(node.args[0], ast.Name))
        and not any(isinstance(one, ast.Starred) for one in node.args)
    )


class _Reader:
    """Reads the calls that describe parsers, in the order of the source.

    Attributes:
        parsers: by the place that names them; "" is the main parser, to which unknown places belong too.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.parsers: dict[str, _Parser] = {"": _Parser()}
        self._constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        self._names: dict[str, str] = {}  # names of parsers and groups in one function, with their places
        self._read(tree)

    def _read(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _FUNCTION):
                outside, self._names = self._names, dict(self._names)
                self._read(child)
                self._names = outside
                continue
            if isinstance(child, ast.Assign) and len(child.targets) == 1:
                self._assigned(child.targets[0], child.value)
            elif isinstance(child, ast.Call):
                self._called(child)
            self._read(child)

    def _assigned(self, to: ast.expr, value: ast.expr) -> None:
        target = ast.unparse(to) if isinstance(to, ast.Name | ast.Attribute) else ""
        match value:
            case ast.Call(func=ast.Attribute(value=place, attr="add_parser"), args=[ast.Constant(value=str(name)), *_]):
                key = f"{target} {name} {value.lineno}"
                self._names[target] = key
                self.parsers[key] = _Parser((*self.parsers[self._place(place)].command, word(name)))
            case ast.Call(func=ast.Attribute(value=place, attr=method)) if method in _GROUPS:
                self._names[target] = self._place(place)
            case _:
                self._names.pop(target, None)

    def _place(self, node: ast.expr) -> str:
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _GROUPS:
                return self._place(inner)
        return self._names.get(ast.unparse(node), "")

    def _called(self, call: ast.Call) -> None:
        match call:
            case ast.Call(func=ast.Attribute(value=place, attr=method)) if method in _DESCRIBES:
                names = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                if names and len(names) == len(call.args):
                    self._add(self.parsers[self._place(place)], names, call)

    def _add(self, parser: _Parser, names: list[str], call: ast.Call) -> None:
        options = {one.arg: one.value for one in call.keywords if one.arg}
        values = self._values(names, options)
        if not names[0].startswith("-"):
            parser.arguments += values
            return
        action = options.get("action", ast.Constant("store"))
        takes = isinstance(action, ast.Constant) and action.value in _TAKES_A_VALUE
        given = (word(max(names, key=len)), *(values if takes else ()))
        if isinstance(action, ast.Constant) and action.value in ("help", "version"):
            return
        required = options.get("required")
        if isinstance(required, ast.Constant) and required.value:
            parser.needed += given
        else:
            parser.options.append(given)

    def _values(self, names: list[str], options: Mapping[str, ast.expr]) -> tuple[Hint, ...]:
        """Return the hints of the words of one argument."""
        number = options.get("nargs")
        count = number.value if isinstance(number, ast.Constant) and isinstance(number.value, int) else 1
        return (self._value(max(names, key=len), options),) * max(1, min(count, 5))

    def _value(self, name: str, options: Mapping[str, ast.expr]) -> Hint:
        choices = options.get("choices")
        if isinstance(choices, ast.Name):
            choices = self._constants.get(choices.id, choices)
        if isinstance(choices, ast.List | ast.Tuple | ast.Set | ast.Dict):
            items = choices.keys if isinstance(choices, ast.Dict) else choices.elts
            known = [repr(str(one.value)) for one in items if isinstance(one, ast.Constant)]
            if known:
                return Hint("literal", texts=tuple(known))
        kind = options.get("type")
        kind = kind.func if isinstance(kind, ast.Call) else kind
        named = kind.attr if isinstance(kind, ast.Attribute) else kind.id if isinstance(kind, ast.Name) else ""
        if isinstance(kind, ast.Constant):  # optparse
            named = str(kind.value)
        if named in NUMERALS:
            return Hint("literal", texts=tuple(map(repr, NUMERALS[named])))
        words = name.lower().replace("-", "_").split("_")
        is_file = named in _FILES or (not named and any(one.rstrip("s") in _NAMES_OF_FILES for one in words))
        return PATH_TEXT if is_file else _TEXT


_NAMES_OF_FILES = frozenset({"file", "filename", "path", "infile", "outfile", "input", "output", "src", "dst"})
