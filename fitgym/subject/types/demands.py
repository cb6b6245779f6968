"""Demands: the types of arguments without annotation, inferred from their uses.

`static_demands` reads uses off the syntax tree. `probe` calls the operations with recording proxies, which support
almost every operation and record its use. It finds uses that are decided at run time or in other modules. Both infer
the type by `Evidence.hint`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType, ModuleType
from typing import Any

from fitgym.subject.code.definitions import AnyFunction
from fitgym.subject.subject import Operation, Parameter
from fitgym.subject.types.evidence import Evidence, type_of
from fitgym.subject.types.hints import Hint
from fitgym.subject.types.usage import Usage

__all__ = ["Proxy", "probe", "static_demands"]


def static_demands(node: AnyFunction) -> dict[str, Hint]:
    """Return the inferred types of the parameters of one function, by name, from its body alone.

    Parameters of unknown type are left out. `Usage` reads a whole module and finds more.
    """
    return Usage(ast.Module([], [])).demands(node)


def probe(
    module: ModuleType,
    operations: Iterable[Operation],
    call: Callable[[Callable[[], object]], object],
    attributes: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> dict[tuple[int, str], Hint]:
    """Return inferred types for arguments of unknown type, by calling the operations with proxies.

    Run this in a disposable process: the subject is called with values that it was not written for. Each operation is
    called four times, with proxies that are false or true, and empty or of two items. The receiver of a method comes
    from a constructor that is called with proxies too. If that call fails, the method is left out.

    Args:
        module: the imported subject.
        operations: candidates; operations without a required parameter of unknown type are skipped.
        call: runs a function without arguments under the caller's limits (fuel, time) and lets its exceptions through.
        attributes: candidate classes, as a mapping from class name to the attributes of its objects (see
            `Evidence.hint`).

    Returns:
        A hint for each `(operation id, parameter name)` with evidence.
    """
    known = list(operations)
    found: dict[tuple[int, str], Hint] = {}
    for operation in known:
        unknown = [parameter for parameter in operation.parameters if _is_probed(parameter)]
        if operation.module != module.__name__ or not unknown:
            continue
        logs = {parameter.name: Evidence() for parameter in unknown}
        for truth, length in ((False, 0), (True, 2), (False, 2), (True, 0)):
            arguments = {name: Proxy(log, truth, length) for name, log in logs.items()}
            attempt = _attempt(module, operation, known, arguments, Answers(truth, length))
            if attempt is None:
                break
            try:
                call(attempt)
            except BaseException:  # the evidence is already recorded, whatever the subject raised
                continue
        for name, log in logs.items():
            hint = log.hint(attributes)
            # A lone bool is dropped: the truth of any value can be used, and proxies fail every `isinstance` test.
            if hint.kind != "any" and hint != _BOOL:
                found[operation.id, name] = hint
    return found


class Answers:
    """The answers of proxies: their truth value, and the number of items in an iteration."""

    def __init__(self, truth: bool, length: int) -> None:
        self.truth = truth
        self.length = length


def _is_probed(parameter: Parameter) -> bool:
    return parameter.hint.kind == "any" and parameter.required and not parameter.kind.startswith("var_")


def _attempt(
    module: ModuleType,
    operation: Operation,
    known: list[Operation],
    arguments: Mapping[str, Proxy],
    answers: Answers,
) -> Callable[[], object] | None:
    """Return the call to make, None if the operation cannot be called with proxies."""
    positional: list[object] = []
    named: dict[str, object] = {}
    for parameter in operation.parameters:
        if not parameter.required:
            continue
        is_proxied = parameter.name in arguments
        value = arguments[parameter.name] if is_proxied else _stand_in(parameter.hint, answers)
        if parameter.kind == "keyword_only":
            named[parameter.name] = value
        elif not parameter.kind.startswith("var_"):
            positional.append(value)
    if operation.kind in ("function", "constructor", "static_method", "class_method"):
        return lambda: _drain(_resolve(module, operation.name)(*positional, **named), operation.drive)
    constructor = next((o for o in known if o.kind == "constructor" and o.owner == operation.owner), None)
    if constructor is None or operation.kind in ("property", "setter"):
        return None
    initial = [_stand_in(p.hint, answers) for p in constructor.parameters if p.required and p.kind != "keyword_only"]
    initial_named = {
        p.name: _stand_in(p.hint, answers) for p in constructor.parameters if p.required and p.kind == "keyword_only"
    }

    def act() -> object:
        receiver = _resolve(module, constructor.name)(*initial, **initial_named)
        return _drain(getattr(receiver, operation.name.rpartition(".")[2])(*positional, **named), operation.drive)

    return act


def _resolve(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _drain(result: object, drive: str) -> object:
    """Run the body of a generator; coroutines and context managers are left alone."""
    if drive == "iterate" and isinstance(result, Iterator):
        for _, _ in zip(range(10), result, strict=False):
            pass
    return result


_SAMPLES: Mapping[str, object] = MappingProxyType(
    {
        "builtins.int": 1,
        "builtins.str": "a",
        "builtins.float": 1.0,
        "builtins.bool": True,
        "builtins.bytes": b"a",
    }
)


def _stand_in(hint: Hint, answers: Answers) -> object:
    """Return a plain value if the type is known, otherwise a proxy whose evidence is discarded."""
    match hint.kind:
        case "class" if hint.name in _SAMPLES:
            return _SAMPLES[hint.name]
        case "literal":
            return ast.literal_eval(hint.texts[0])
        case "union":
            return _stand_in(hint.args[0], answers)
        case "list" | "sequence" | "iterable":
            return [_stand_in(hint.args[0], answers) for _ in range(answers.length)]
        case "none":
            return None
        case "dict" | "mapping":
            return {}
        case "callable":
            return lambda *args, **kwargs: _stand_in(hint.args[-1], answers)
    return Proxy(Evidence(), answers.truth, answers.length)


_BOOL = Hint("class", "builtins.bool")
_DEEPEST = 6
_OPERATORS_OF_NUMBERS = ("sub", "truediv", "floordiv", "pow", "divmod", "matmul")
_OPERATORS_OF_INTEGERS = ("lshift", "rshift", "and", "or", "xor")


class Proxy:
    """A value that supports almost every operation and records each use in an `Evidence`.

    `isinstance(proxy, str)` is false, and the proxy cannot record the test. The result of an operation is another
    proxy, whose evidence becomes part of this proxy's evidence if `Evidence` has a field for it. Nesting is bounded:
    after six steps a proxy is empty and false.
    """

    __slots__ = ("_depth", "_log", "_n", "_truth")

    def __init__(self, log: Evidence, truth: bool = False, length: int = 2, depth: int = 0) -> None:
        self._log = log
        self._truth = truth and depth < _DEEPEST
        self._n = length if depth < _DEEPEST else 0
        self._depth = depth

    def _inner(self, log: Evidence | None = None) -> Proxy:
        return Proxy(log if log is not None else Evidence(), self._truth, self._n, self._depth + 1)

    def _with(self, other: object, *otherwise: str) -> Proxy:
        """Record an operation with another value, whose type is evidence of this one's."""
        self._log.use(*(type_of(other) or otherwise))
        return self._inner()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)  # optional protocols (pickle, numpy, copy) are not supported
        self._log.attributes.setdefault(name, False)
        if name in ("items", "keys", "values"):
            self._log.attributes[name] = True
            return lambda: self._view(name)
        return self._inner(_Member(self._log, name))

    def _view(self, name: str) -> list[object]:
        key, value = self._inner(self._log.key), self._inner(self._log.value)
        row: object = {"items": (key, value), "keys": key, "values": value}[name]
        return [row] * self._n

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if isinstance(self._log, _Member):
            self._log.called()
            return self._inner()
        self._log.arities.append(-1 if kwargs else len(args))
        return self._inner(self._log.result)

    def __iter__(self) -> Iterator[Proxy]:
        self._log.use("iterated")
        return iter([self._inner(self._log.element) for _ in range(self._n)])

    def __next__(self) -> Proxy:
        self._log.use("advanced")
        if not self._n:
            raise StopIteration
        self._n -= 1
        return self._inner(self._log.element)

    def __len__(self) -> int:
        self._log.use("length")
        return self._n

    def __bool__(self) -> bool:
        self._log.use("truth")
        return self._truth

    def __hash__(self) -> int:
        return 1

    def __getitem__(self, index: object) -> Proxy:
        if isinstance(index, slice):
            self._log.use("sliced")
            return self._inner(self._log)
        if isinstance(index, str):
            return self._inner(self._log.keys.setdefault(index, Evidence()))
        if isinstance(index, int):
            self._log.use("indexed")
            if index >= max(self._n, 1):
                raise IndexError(index)
            return self._inner(self._log.element)
        self._log.use("subscripted")
        return self._inner(self._log.value)

    def __setitem__(self, index: object, value: object) -> None:
        self._log.use("stored")

    def __delitem__(self, index: object) -> None:
        self._log.use("stored")

    def __contains__(self, item: object) -> bool:
        self._log.use("contained")
        self._log.element.use(*type_of(item))
        return self._truth

    def __eq__(self, other: object) -> bool:
        self._compared(other)
        return self._truth

    def __ne__(self, other: object) -> bool:
        self._compared(other)
        return not self._truth

    def _compared(self, other: object) -> None:
        if isinstance(other, int | float | str | bytes) and not isinstance(other, bool):
            self._log.literals.setdefault(repr(other))

    def __lt__(self, other: object) -> bool:
        self._with(other, "ordered")
        return self._truth

    __le__ = __gt__ = __ge__ = __lt__

    def __add__(self, other: object) -> Proxy:
        return self._with(other, "addable")

    __radd__ = __iadd__ = __add__

    def __mul__(self, other: object) -> Proxy:
        return self._with(None if isinstance(other, int) else other, "number")

    def __rmul__(self, other: object) -> Proxy:
        self._log.use("integer" if isinstance(other, str | bytes | list | tuple) else "number")
        return self._inner()

    def __mod__(self, other: object) -> Proxy:
        return self._with("" if isinstance(other, tuple | dict | str) else other, "number")

    def __neg__(self) -> Proxy:
        self._log.use("number")
        return self._inner()

    __pos__ = __abs__ = __neg__

    def __invert__(self) -> Proxy:
        self._log.use("integer")
        return self._inner()

    def __round__(self, digits: int | None = None) -> int:
        self._log.use("number")
        return 1

    __trunc__ = __floor__ = __ceil__ = __round__

    def __int__(self) -> int:
        self._log.use("number")
        return 1

    def __index__(self) -> int:
        self._log.use("integer")
        return 1

    def __float__(self) -> float:
        self._log.use("number")
        return 1.0

    def __str__(self) -> str:
        return "a"

    __repr__ = __str__

    def __format__(self, specification: str) -> str:
        if specification[-1:] in "dxXob" and specification:
            self._log.use("integer")
        elif specification[-1:] in "eEfFgG%" and specification:
            self._log.use("number")
        return "a"

    def __enter__(self) -> Proxy:
        self._log.use("entered")
        return self._inner()

    def __exit__(self, *_: object) -> None:
        return None


class _Member(Evidence):
    """The evidence of an attribute; it records in its owner that the attribute was called."""

    def __init__(self, owner: Evidence, name: str) -> None:
        super().__init__()
        self.owner = owner
        self.name = name

    def called(self) -> None:
        self.owner.attributes[self.name] = True


def _binary(use: str) -> Callable[[Proxy, object], Proxy]:
    def operate(self: Proxy, other: object) -> Proxy:
        return self._with(None if isinstance(other, int) else other, use)

    return operate


for _name in _OPERATORS_OF_NUMBERS + _OPERATORS_OF_INTEGERS:
    _operate = _binary("integer" if _name in _OPERATORS_OF_INTEGERS else "number")
    for _prefix in ("", "r", "i"):
        setattr(Proxy, f"__{_prefix}{_name}__", _operate)
