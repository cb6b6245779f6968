"""All mutants of a subject, from its source text alone, in source order.

Only the bodies of functions are changed, never code that runs at import, because a suite imports the module before its
first test. Further changes are left out because no test can distinguish them from the original, or no test should:

    equivalent         `x + 0` for `x - 0`, `len(x) != 0` for `len(x) > 0` and the like; a `return` or `continue` at the
    end;
                       unreachable code, conditions that the compiler decides, `if TYPE_CHECKING`
    only for people    docstrings, annotations, the messages of `assert`, `raise`, warnings and logging, `stacklevel`
    invalid            changes that do not compile; statements whose `yield` makes a function a generator
    duplicate          one more on the left of a comparison with a literal is one less on the right

Mutants of the patterns of `case` are left out, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fitgym.mutants.change import Change
from fitgym.mutants.changes import Changes
from fitgym.mutants.mutant import PRECEDENCE, Mutant, Operator
from fitgym.mutants.pattern_uses import PatternUses
from fitgym.mutants.table_uses import TableUses
from fitgym.mutants.text import Text
from fitgym.subject.code.syntax import deep_trees, parse

__all__ = ["MOST_OF_A_FUNCTION", "MOST_OF_A_MODULE", "Mutants", "mutants"]

MOST_OF_A_FUNCTION, MOST_OF_A_MODULE = 700, 1000  # EvoSuite 1.0.7: max_mutants_per_method, max_mutants_per_class
"""The maximum number of mutants.

Beyond it, mutants are dropped by operator in reverse order of `PRECEDENCE`. Later replacements at each place go first,
then first replacements, evenly over the source.
"""


@dataclass(frozen=True, slots=True)
class Mutants:
    """The mutants of a subject.

    Attributes:
        made: the mutants in source order; at one place in the order of `PRECEDENCE`.
        at_import: the number of changes left out because they affect code that runs at import, decorators and defaults
            included.
        dropped: the number of mutants of each operator that the maximum excludes.
    """

    made: tuple[Mutant, ...]
    at_import: int
    dropped: tuple[tuple[Operator, int], ...]

    def __iter__(self) -> Iterator[Mutant]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)


def mutants(
    source: str,
    class_name: str = "",
    *,
    per_function: int = MOST_OF_A_FUNCTION,
    per_module: int = MOST_OF_A_MODULE,
) -> Mutants:
    """Return the mutants of a module or class. They depend only on the arguments and the version of Python.

    Args:
        source: the text of the module.
        class_name: restricts them to the methods of the class with this qualified name, and to all functions and
            classes in it.
        per_function: see `MOST_OF_A_FUNCTION`.
        per_module: see `MOST_OF_A_MODULE`.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    tree = parse(source)
    changes = Changes(Text(source), PatternUses(tree), TableUses(tree))
    with deep_trees():
        changes.module(tree)
    found = [one for one in changes.found if not class_name or one.mutant.function.startswith(f"{class_name}.")]
    kept: list[Change] = []
    of_function: dict[str, list[Change]] = {}
    for one in found:
        of_function.setdefault(one.mutant.function, []).append(one)
    for candidates in of_function.values():
        kept += _fewer(candidates, per_function)
    kept = _fewer(kept, per_module)
    dropped = dict.fromkeys(PRECEDENCE, 0)
    for one in found:
        dropped[one.mutant.operator] += 1
    for one in kept:
        dropped[one.mutant.operator] -= 1
    kept.sort(key=lambda one: one.order)
    return Mutants(
        tuple(_unique(one.mutant for one in kept)),
        changes.at_import,
        tuple((operator, count) for operator, count in dropped.items() if count),
    )


def _fewer(candidates: list[Change], most: int) -> list[Change]:
    """Select at most `most` candidates: whole groups of equal operator and rank while they fit, then an even sample."""
    if len(candidates) <= most:
        return candidates
    # First replacements come before later ones, then the order is that of `PRECEDENCE`.
    groups: dict[tuple[bool, int, int], list[Change]] = {}
    for one in sorted(candidates, key=lambda one: one.order):
        groups.setdefault((one.rank > 0, PRECEDENCE.index(one.mutant.operator), one.rank), []).append(one)
    kept: list[Change] = []
    for _, group in sorted(groups.items()):
        room = most - len(kept)
        if len(group) > room:
            group = [group[index * len(group) // room] for index in range(room)]
        kept += group
    return kept


def _unique(found: Iterable[Mutant]) -> Iterator[Mutant]:
    """Make ids unique: functions of the same name may have mutants of the same id."""
    seen: dict[str, int] = {}
    for mutant in found:
        count = seen[mutant.id] = seen.get(mutant.id, 0) + 1
        yield mutant if count == 1 else replace(mutant, id=f"{mutant.id}#{count}")
