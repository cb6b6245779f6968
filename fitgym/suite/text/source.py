"""Source: write test cases as readable Python."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Collection as Container
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from fitgym.subject.subject import SET_INPUT, SET_VARIABLE, Operation, Subject, subclass_name
from fitgym.subject.types.hints import Hint
from fitgym.suite.text.clock import freezing
from fitgym.suite.text.environment import ASSIGNED, Environment
from fitgym.suite.text.expressions import PARAMETERS, expression_piece, infix
from fitgym.suite.text.layout import Bracket, Piece, assigned, columns, flat, indented, laid_out, prefixed, suffixed
from fitgym.suite.text.operators import BINARY, CALLED, FROM_MODULES, IN_PLACE, OF_ATTRIBUTES, REFLECTED, UNARY
from fitgym.suite.text.scope import Scope, snake_case
from fitgym.suite.text.subclass import subclass
from fitgym.testcase.expression import Expression, Ref
from fitgym.testcase.knowledge import first_use
from fitgym.testcase.statement import Statement
from fitgym.testcase.subtyping import simple_kind

__all__ = ["Rendered", "render"]

_DRAINED = "100"  # elements taken from an iterator, as in the worker

_RESULTS = {
    "__contains__": "found",
    "__len__": "length",
    "__getitem__": "item",
    "__str__": "text",
    "__repr__": "text",
    "__format__": "text",
    "__hash__": "hashed",
}
_OF_KIND = {
    "list": "values",
    "tuple": "values",
    "set": "values",
    "frozenset": "values",
    "iterable": "values",
    "sequence": "values",
    "iterator": "values",
    "dict": "mapping",
    "mapping": "mapping",
}
_DRIVES = {"__aiter__": "aiterate", "__await__": "await", "__enter__": "enter", "__aenter__": "aenter"}
_LOCAL_NAMES = frozenset((*PARAMETERS, "args", "element", "entered"))
"""Names that lambdas and small functions inside a test case bind: variables must have other names."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_SINGLETONS = ("None", "True", "False")
"""Values that linters do not accept in comparisons by `==`; such a value is assigned to a variable first."""
_VALUES = frozenset({"datetime", "decimal", "fractions", "ipaddress", "pathlib", "uuid", "zoneinfo"})
"""Modules of the standard library whose classes are values: their objects never change."""
_INLINED = 40  # columns of a call that is written as an argument
_CONFUSABLE = ("l", "O", "I")
"""Names that linters reject because they look like numbers."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """One test case as Python.

    Attributes:
        blocks: the lines of every statement, not indented; the last line of a block ends the statement. A statement that
            is written inside a later one has no lines.
        names: the variable of each result that is assigned, by the position of the statement.
        scope: the meaning of the names; `scope.imports()` are the imports needed.
    """

    blocks: tuple[tuple[str, ...], ...]
    names: Mapping[int, str] = field(hash=False)
    scope: Scope = field(hash=False, compare=False)

    @property
    def lines(self) -> list[str]:
        """All lines in order."""
        return [line for block in self.blocks for line in block]


def render(
    statements: Sequence[Statement],
    subject: Subject,
    scope: Scope | None = None,
    *,
    named: Container[int] = (),
    reserved: Container[str] = (),
    finite: Container[int] = (),
    discarded: Container[int] = (),
    given: Mapping[int, str] = MappingProxyType({}),
    environment: Environment = ASSIGNED,
    width: int = 84,
    deeper: int = 0,
) -> Rendered:
    """Return a test case as Python, formatted as by Black and ruff.

    Args:
        statements: the test case.
        subject: the subject with its operations.
        scope: names of the file, shared between its test cases; a new one if None. A name added later may be shadowed
            by a variable of a test case rendered earlier, which is harmless.
        named: positions whose results are assigned to a variable even if no later statement uses them.
        reserved: further names that variables must not have.
        finite: positions of statements whose iterators are known to end; from other iterators a limited number of
            elements is taken.
        discarded: positions of statements that are assigned to `_` if they are not calls and have no variable, because
            linters reject expressions without effect.
        given: suggested names of the parameters of the test, by the positions that refer to them: after all
            statements.
        environment: writes what sets environment variables, the command line and the clock.
        width: maximal length of a line: 88, the formatters' default, minus 4 for the body of a function.
        deeper: columns by which the lines of the last statement will be indented further.
    """
    scope = Scope() if scope is None else scope
    writer = _Writer(statements, subject, scope, named, reserved, finite, given, environment, width)
    needed = {reference for statement in statements for reference in statement.refs}.union(named)
    blocks: list[tuple[str, ...]] = []
    inlined: set[int] = set()
    for position in range(len(statements)):
        if writer.is_inlined(position):
            writer.names[position] = flat(writer.value(position))
            inlined.add(position)
            blocks.append(())
            continue
        if writer.rebinds(position):
            writer.names[position] = writer.names[statements[position].receiver]
        elif position in needed:
            writer.bind(position)
        writer.width = width - deeper * (position == len(statements) - 1)
        lines = writer.block(position)
        if position in discarded and position not in needed:
            lines[-1] = _used(lines[-1])
        blocks.append(tuple(lines))
    names = {position: name for position, name in writer.names.items() if position not in inlined}
    return Rendered(tuple(blocks), names, scope)


class _Writer:
    """Writes the statements of one test case, in order."""

    def __init__(
        self,
        statements: Sequence[Statement],
        subject: Subject,
        scope: Scope,
        named: Container[int],
        reserved: Container[str],
        finite: Container[int],
        given: Mapping[int, str],
        environment: Environment,
        width: int,
    ) -> None:
        self.statements = statements
        self.subject = subject
        self.scope = scope
        self.named = named
        self.reserved = reserved
        self.finite = finite
        self.environment = environment
        self.width = width
        self.names: dict[int, str] = {}
        self._used: set[str] = set()
        for position in range(len(statements)):  # register all imports first, so that variables do not shadow them
            self._register(position, given)
        for position, name in given.items():
            self.names[position] = self._free(name.strip("_"), "value", local=())

    def _register(self, position: int, given: Container[int]) -> None:
        statement = self.statements[position]
        operation = self.subject.operations[statement.operation]
        if operation.sets_environment:
            self._setting(operation, [], {})
        elif not operation.needs_receiver:
            self.scope.text(operation.module, operation.name)
        drive = self._drive(statement)
        if drive in ("await", "aiterate", "aenter"):
            self.scope.module("asyncio")
        if drive == "iterate" and position not in self.finite:
            self.scope.module("itertools")
        if operation.operator in FROM_MODULES and not self.rebinds(position):
            self.scope.module(FROM_MODULES[operation.operator][0])
        for name, _ in statement.kwargs:  # inside the definition of a member, its names mean something else
            self._used.update(_IDENTIFIER.findall(operation.hooks.get(name, "").replace(f"def {name}(", "")))
        anything = dict.fromkeys((*range(len(self.statements)), *given), "_")
        for argument in (*statement.args, *(value for _, value in statement.kwargs)):
            expression_piece(argument, anything, self.scope)

    # Names of variables

    def rebinds(self, position: int) -> bool:
        """Return whether the statement can be written as `x += y`, because `x` before it is used no more."""
        statement = self.statements[position]
        operation = self.subject.operations[statement.operation]
        later = self.statements[position + 1 :]
        return (
            operation.operator in IN_PLACE
            and len(statement.args) == 1
            and not operation.drive
            and statement.receiver not in self.named
            and all(statement.receiver not in one.refs for one in later)
        )

    def is_inlined(self, position: int) -> bool:
        """Return whether the statement is written as an argument of a later one: `Alarm(duration=timedelta(3))`.

        So is a short call that makes a value if it is the argument of one later call and nothing else. The value never
        changes, so it does not matter that it is made later.
        """
        statement = self.statements[position]
        operation = self.subject.operations[statement.operation]
        makes_value = operation.module in _VALUES and not operation.needs_receiver and not operation.drive
        if not makes_value or position in self.named or statement.iterate or operation.sets_environment:
            return False
        later = self.statements[position + 1 :]
        used = [at for at, one in enumerate(later) for reference in one.refs if reference == position]
        if len(used) != 1 or later[used[0]].receiver == position:
            return False
        between = [self.subject.operations[one.operation] for one in later[: used[0] + 1]]
        return not any(one.sets_environment for one in between) and columns(flat(self.value(position))) <= _INLINED

    def value(self, position: int) -> Piece:
        """Return the call of a statement that has no receiver."""
        statement = self.statements[position]
        args = [self._piece(argument) for argument in statement.args]
        args += [prefixed(f"{name}=", self._piece(value)) for name, value in statement.kwargs]
        return self._call(self.subject.operations[statement.operation], statement, tuple(args))

    def bind(self, position: int) -> None:
        """Give the result of a statement a variable."""
        self.names[position] = self._free(self._suggestion(position))

    def _free(self, name: str, otherwise: str = "result", local: Container[str] = _LOCAL_NAMES) -> str:
        """Return the name, or a similar one that is free, or `otherwise`; `local` are the names of inner functions."""
        if not name.isidentifier() or name in local or name in _CONFUSABLE:
            name = otherwise
        if keyword.iskeyword(name) or hasattr(builtins, name):
            name += "_"
        if self.scope.taken(name) and "_" in name.strip("_"):  # for example a class with a lower-case name
            first = name.partition("_")[0]
            name = first if len(first) > 2 and not self._is_taken(first, local) else name
        candidate, number = name, 2
        while self._is_taken(candidate, local):
            candidate = f"{name.rstrip('_')}_{number}"
            number += 1
        self._used.add(candidate)
        return candidate

    def _is_taken(self, name: str, local: Container[str]) -> bool:
        return name in self._used or name in self.reserved or name in local or self.scope.taken(name)

    def _suggestion(self, position: int) -> str:
        statement = self.statements[position]
        operation = self.subject.operations[statement.operation]
        last = operation.name.rpartition(".")[2]
        if operation.kind == "constructor":
            name = snake_case(last)
            plain = operation.returns.kind == "class" and operation.returns.texts
            return ((plain or self.scope.taken(name)) and self._use(position)) or name
        if operation.kind == "property":
            return last.strip("_")
        if operation.operator in _RESULTS:
            return _RESULTS[operation.operator]
        if statement.iterate:
            return "values"
        name = self._of_hint(operation.returns)
        return (self.scope.taken(name) and self._use(position)) or name

    def _use(self, position: int) -> str:
        """Return the name of the attribute or the parameter that receives the result first, "" if there is none."""
        operations = self.subject.operations
        for statement in self.statements[position + 1 :]:
            if Ref(position) in statement.args and operations[statement.operation].kind == "setter":
                return operations[statement.operation].name.rpartition(".")[2]
            if position in statement.refs:
                break
        return first_use(self.statements, position, operations)

    def _of_hint(self, hint: Hint) -> str:
        kind = simple_kind(hint)
        known = self.subject.classes.get(hint.name)
        if kind == "class" and (known is not None or "<locals>" in hint.name):  # or a returned function
            return snake_case((hint.name if known is None else known.qualname).rpartition(".")[2])
        return _OF_KIND.get(kind, "result")

    # Statements

    def block(self, position: int) -> list[str]:
        """Return the lines of one statement."""
        statement = self.statements[position]
        operation = self.subject.operations[statement.operation]
        target = self.names.get(position, "")
        drive = self._drive(statement)
        args = [self._piece(argument) for argument in statement.args]
        if operation.sets_environment:
            setting = self._setting(operation, args, dict(statement.kwargs))
            return [*setting, *([f"{target} = None"] if target else [])]
        if operation.kind == "operator" and not drive and not statement.kwargs:
            lines = self._operator(operation.operator, self.names[statement.receiver], args, target)
            if lines is not None:
                return lines
        if operation.kind == "setter" and len(args) == 1:
            attribute = operation.name.rpartition(".")[2]
            lines = assigned(f"{self.names[statement.receiver]}.{attribute}", args[0], self.width)
            return [*lines, f"{target} = None"] if target else lines
        hooks = {name: value for name, value in statement.kwargs if name in operation.hooks}
        args += [prefixed(f"{name}=", self._piece(value)) for name, value in statement.kwargs if name not in hooks]
        if hooks:
            name = self._free(subclass_name(operation.name))
            call = Bracket(f"{name}(", tuple(args), ")", call=True)
            base = self.scope.text(operation.module, operation.name)
            members = [(operation.hooks[member], self._piece(value)) for member, value in hooks.items()]
            return [*subclass(name, base, members, self.width), *self._plain(call, target)]
        if drive == "iterate" and position in self.finite:
            drained = Bracket("list(", (self._call(operation, statement, tuple(args)),), ")", call=True)
            return self._plain(drained, target)
        return self._driven(drive, self._call(operation, statement, tuple(args)), target)

    def _setting(self, operation: Operation, args: Sequence[Piece], stopped: Container[str]) -> list[str]:
        """Return the lines that set an environment variable, the standard input, the command line or the clock."""
        if operation.name == SET_VARIABLE[1]:
            name, value = args or ("", "")
            return self.environment.variable(name, value, self.scope, self.width)
        if operation.name == SET_INPUT[1]:
            text = Bracket(f"{self.scope.module('io')}.StringIO(", tuple(args), ")", call=True)
            return self.environment.replaced("sys.stdin", text, self.scope, self.width)
        if operation.stops_clock:
            clocks = [clock for clock in self.subject.clocks if not args or clock.kind in stopped]
            frozen, moment = (self._free("FrozenDatetime"), flat(args[0])) if args else ("", "")
            return freezing(moment, clocks, frozen, self.environment, self.scope, self.width)
        given = args[0] if args else "words"
        known = given.items if isinstance(given, Bracket) and given.head == "[" else (prefixed("*", given),)
        words = Bracket("[", (f'"{self.subject.reference.program}"', *known), "]")
        return self.environment.replaced("sys.argv", words, self.scope, self.width)

    def _drive(self, statement: Statement) -> str:
        operation = self.subject.operations[statement.operation]
        return operation.drive or _DRIVES.get(operation.operator) or ("iterate" if statement.iterate else "")

    def _piece(self, expression: Expression) -> Piece:
        return expression_piece(expression, self.names, self.scope)

    def _call(self, operation: Operation, statement: Statement, args: tuple[Piece, ...]) -> Piece:
        """Return the call or the attribute access; for `with`, `await` and the like only their operand."""
        if not operation.needs_receiver:
            return Bracket(f"{self.scope.text(operation.module, operation.name)}(", args, ")", call=True)
        receiver = self.names[statement.receiver]
        last = operation.name.rpartition(".")[2]
        if operation.kind == "property":
            return f"{receiver}.{last}"
        if operation.operator == "__call__":
            return Bracket(f"{receiver}(", args, ")", call=True)
        if operation.operator in _DRIVES or (
            operation.operator == "__iter__" and (operation.drive or statement.iterate)
        ):
            return receiver
        if (
            operation.operator == "__anext__"
        ):  # text and not a call piece, because `asyncio.run` does not accept this awaitable
            return f"anext({receiver})"
        if operation.operator == "__reversed__":
            return Bracket("reversed(", (receiver,), ")", call=True)
        return Bracket(f"{receiver}.{last}(", args, ")", call=True)

    def _plain(self, piece: Piece, target: str) -> list[str]:
        return assigned(target, piece, self.width) if target else laid_out(piece, self.width)

    def _driven(self, drive: str, piece: Piece, target: str) -> list[str]:
        """Return the statement with its result awaited, iterated, entered or indexed, and assigned to `target` if given."""
        if drive == "":
            return self._plain(piece, target)
        if drive == "first":
            return self._plain(suffixed(piece, "[0]"), target)
        if drive == "iterate":
            islice = Bracket(f"{self.scope.module('itertools')}.islice(", (piece, _DRAINED), ")", call=True)
            return self._plain(Bracket("list(", (islice,), ")", call=True), target)
        if drive == "await" and isinstance(piece, Bracket):
            return self._plain(Bracket(f"{self._asyncio()}.run(", (piece,), ")", call=True), target)
        lines: list[str] = []
        if drive == "enter":
            source = flat(piece)
            binding = f" as {target}" if target else ""
            if columns(f"with {source}{binding}:") > self.width:
                source = self._free("context")
                lines = self._plain(piece, source)
            return [*lines, f"with {source}{binding}:", "    pass"]
        source = flat(piece)
        if isinstance(piece, Bracket):  # call it outside the event loop, as the worker does
            source = self._free("context" if drive == "aenter" else "stream")
            lines = self._plain(piece, source)
        if drive == "aiterate":
            name, body = self._free("drain"), [f"return [element async for element in {source}]"]
        elif drive == "aenter":
            name, body = self._free("enter"), [f"async with {source} as entered:", "    return entered"]
        else:
            name, body = self._free("wait"), [f"return await {source}"]
        lines += ["", f"async def {name}():", *indented(body), ""]
        return lines + self._plain(f"{self._asyncio()}.run({name}())", target)

    def _asyncio(self) -> str:
        return self.scope.module("asyncio")

    def _operator(self, operator: str, receiver: str, args: list[Piece], target: str) -> list[str] | None:
        """Return a special method as the syntax that calls it, or None if there is none for these arguments."""
        count = len(args)
        lines: list[str] = []
        if operator in IN_PLACE and target == receiver:
            return laid_out(prefixed(f"{receiver} {IN_PLACE[operator]} ", args[0]), self.width)
        if count == 1 and operator in BINARY:
            symbol = BINARY[operator]
            doubtful = (symbol in ("==", "!=") and args[0] in _SINGLETONS) or (
                symbol[0] in "<>=!" and args[0] == receiver
            )
            around = self.width if doubtful and symbol not in ("<<", ">>") else len(receiver) + len(target) + 10
            other = self._operand(args[0], "same" if args[0] == receiver else "other", lines, around)
            return lines + self._plain(infix(receiver, symbol, other), target)
        if count == 1 and operator in REFLECTED:
            other = self._operand(args[0], "other", lines, len(receiver) + len(target) + 10, leftmost=True)
            return lines + self._plain(infix(other, REFLECTED[operator], receiver), target)
        if count == 1 and operator == "__contains__":
            other = self._operand(args[0], "item", lines, len(receiver) + len(target) + 10)
            return lines + self._plain(f"{other} in {receiver}", target)
        if count == 0 and operator in UNARY:
            return self._plain(f"{UNARY[operator]}{receiver}", target)
        if operator in ("__getitem__", "__delitem__") and count == 1:
            key = self._operand(args[0], "key", lines, len(receiver) + len(target) + 10, bare=True)
            if operator == "__getitem__":
                return lines + self._plain(f"{receiver}[{key}]", target)
            return [*lines, f"del {receiver}[{key}]", *([f"{target} = None"] if target else [])]
        if operator == "__setitem__" and count == 2:
            key = self._operand(args[0], "key", lines, len(receiver) + 10, bare=True)
            lines += assigned(f"{receiver}[{key}]", args[1], self.width)
            return [*lines, *([f"{target} = None"] if target else [])]
        if count == OF_ATTRIBUTES.get(operator) and (attribute := _attribute(args[0])):
            return self._of_attribute(operator, f"{receiver}.{attribute}", args[1:], target)
        if operator == "__rdivmod__" and count == 1:
            return self._plain(Bracket("divmod(", (args[0], receiver), ")", call=True), target)
        if operator == "__pow__":
            return self._plain(Bracket("pow(", (receiver, *args), ")", call=True), target)
        if operator in CALLED:
            return self._plain(Bracket(f"{CALLED[operator]}(", (receiver, *args), ")", call=True), target)
        if operator in FROM_MODULES:
            module, function = FROM_MODULES[operator]
            head = f"{self.scope.module(module)}.{function}("
            return self._plain(Bracket(head, (receiver, *args), ")", call=True), target)
        return None

    def _of_attribute(self, operator: str, place: str, value: Sequence[Piece], target: str) -> list[str]:
        """Return the statement that reads, sets or deletes an attribute."""
        if operator not in ("__setattr__", "__delattr__"):
            return self._plain(place, target)
        lines = assigned(place, value[0], self.width) if value else [f"del {place}"]
        return [*lines, *([f"{target} = None"] if target else [])]

    def _operand(
        self, piece: Piece, name: str, lines: list[str], around: int, *, bare: bool = False, leftmost: bool = False
    ) -> str:
        """Return an operand as text; a long one is assigned to a variable by a line added to `lines`."""
        text = flat(piece)
        if columns(text) + around > self.width:
            variable = self._free(name)
            lines += assigned(variable, piece, self.width)
            return variable
        if not bare and (text.startswith("lambda") or (leftmost and text.startswith("-"))):
            return f"({text})"
        return text


def _attribute(name: Piece) -> str:
    """Return the name of an attribute from its source as a string, "" if it cannot follow a dot.

    Inside a class, names with two leading underscores have another meaning.
    """
    plain = name[1:-1] if isinstance(name, str) and name.startswith('"') else ""
    return plain if plain.isidentifier() and not keyword.iskeyword(plain) and not plain.startswith("__") else ""


def _used(line: str) -> str:
    """Return a line, assigned to `_` if it is an expression without effect that linters would reject."""
    try:
        node = ast.parse(line, mode="eval").body
    except SyntaxError:
        return line
    return f"_ = {line}" if isinstance(node, ast.Compare | ast.Attribute | ast.BinOp | ast.UnaryOp) else line
