"""Random small programs: one function of two integers that terminates with every mutant."""

from __future__ import annotations

import random

__all__ = ["random_program"]

_NAMES = ("a", "b", "c", "d")
_ARITHMETIC = ("*", "+", "-", "//", "%", "&", "|", "^")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def random_program(seed: int) -> str:
    """Return the source of a module with a function `f(a, b)`, the same for each seed.

    It has assignments, choices, loops of at most three rounds, and exceptions, both its own and from division by zero.
    Its results are integers, booleans, strings and tuples.
    """
    return _Writer(random.Random(seed)).program()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._in_loop = False

    def program(self) -> str:
        lines = ["def f(a: int, b: int):", f"    c = {self._number(1)}", "    d = 0"]
        lines += self._block(1, 3)
        lines.append(f"    return {self._rng.choice((self._number(2), self._condition(1), self._mixed()))}")
        return "\n".join(lines) + "\n"

    def _mixed(self) -> str:
        return f"({self._number(1)}, str({self._number(1)}), {self._condition(1)})"

    def _block(self, level: int, most: int) -> list[str]:
        return [line for _ in range(self._rng.randint(1, most)) for line in self._statement(level)]

    def _statement(self, level: int) -> list[str]:
        indent = "    " * level
        simple = level > 2 or self._in_loop
        kind = self._rng.choice(("set", "add") if simple else ("set", "add", "if", "if", "for", "raise", "return"))
        name = self._rng.choice(_NAMES)
        match kind:
            case "set":
                return [f"{indent}{name} = {self._number(2)}"]
            case "add":
                return [f"{indent}{name} {self._sign()}= {self._number(1)}"]
            case "if":
                found = [f"{indent}if {self._condition(2)}:", *self._block(level + 1, 2)]
                if self._rng.random() < 0.5:
                    found += [f"{indent}else:", *self._block(level + 1, 2)]
                return found
            case "for":
                head = f"{indent}for d in range(min(3, {self._number(1)})):"
                self._in_loop = True
                body = self._block(level + 1, 2)
                self._in_loop = False
                return [head, *body]
            case "raise":
                return [f"{indent}if {self._condition(1)}:", f'{indent}    raise ValueError("{name}")']
            case _:
                return [f"{indent}if {self._condition(1)}:", f"{indent}    return {self._number(1)}"]

    def _sign(self) -> str:
        return self._rng.choice(_ARITHMETIC[self._in_loop :])  # no product in a loop, where it would grow without bound

    def _number(self, depth: int) -> str:
        kind = self._rng.choice(("name", "name", "constant", "binary", "binary", "sign", "choice"))
        if depth == 0 or kind == "name":
            return self._rng.choice(_NAMES[:2])
        match kind:
            case "constant":
                return str(self._rng.randint(0, 9))
            case "sign":
                return f"-{self._number(0)}"
            case "choice":
                return f"({self._number(depth - 1)} if {self._condition(0)} else {self._number(depth - 1)})"
            case _:
                return f"({self._number(depth - 1)} {self._sign()} {self._number(depth - 1)})"

    def _condition(self, depth: int) -> str:
        kind = self._rng.choice(("compare", "compare", "chain", "and", "or", "not", "in", "truth"))
        if depth == 0 or kind == "compare":
            return f"{self._number(depth)} {self._rng.choice(_COMPARISONS)} {self._rng.randint(-1, 4)}"
        match kind:
            case "chain":
                first, second = self._rng.choice(_COMPARISONS), self._rng.choice(_COMPARISONS)
                return f"0 {first} {self._number(1)} {second} {self._number(0)}"
            case "and" | "or":
                return f"({self._condition(depth - 1)} {kind} {self._condition(depth - 1)})"
            case "not":
                return f"not {self._number(1)}"
            case "in":
                return f"{self._number(1)} in (1, 2, {self._number(0)})"
            case _:
                return f"bool({self._number(1)})"
