"""Performance proxies: seven numbers that say how much time and memory a test case takes, without measuring either."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from fitgym.fitness._recorded import recorded_counts
from fitgym.fitness.base import Floats
from fitgym.instrument.trace import Trace
from fitgym.subject.code.syntax import parsed
from fitgym.subject.subject import Subject
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["PROXIES", "Proxies", "performance_heuristic", "performance_score"]

PROXIES = (
    "executed_loops",
    "covered_calls",
    "test_calls",
    "instantiations",
    "covered_statements",
    "test_statements",
    "test_length",
)

_CONTAINERS = ("list", "dict", "set", "frozenset", "tuple", "bytearray", "deque", "defaultdict")
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Proxies:
    """The proxies of one subject's test cases; the less the better.

    | | name | how often |
    |---|---|---|
    | I1 | executed_loops | a loop or comprehension went round, over those that did so more than once |
    | I2 | covered_calls | a function of the subject was entered |
    | I3 | test_calls | the test case calls something |
    | I4 | instantiations | the subject made an object: calls of its classes and of containers, and displays such as \
`[a, b]`, in blocks that ran more than once |
    | I5 | covered_statements | a line of the subject ran |
    | I6 | test_statements | the test case does something that is no call: reads or sets an attribute |
    | I7 | test_length | statements of the test case |

    Args:
        subject: the code under test.
        table: the statements of the test cases.

    References:
        Grano, Laaber, Panichella and Panichella 2021, Testing with Fewer Resources: An Adaptive Approach to
        Performance-Aware Test Case Generation, section 3.1 and table 1. The released code also leaves calls that happened
        once out of I2, blocks that ran at most twice out of I5, and counts I6 from ten on.
    Differs from the paper: I1 counts rounds, there how often the condition of the loop was evaluated, which is one more;
    I5 counts lines. What a call makes in a library is not seen, in either.
    """

    def __init__(self, subject: Subject, table: StatementTable) -> None:
        self._subject = subject
        self._table = table
        sites = subject.sites
        self._entries = np.zeros(len(sites), dtype=bool)
        self._entries[[function.entry for function in subject.functions[1:] if function.entry >= 0]] = True
        self._loops = np.array([site.burns for site in sites], dtype=bool) & ~self._entries
        made = _instantiations(subject.source, frozenset(name.rpartition(".")[2] for name in subject.classes))
        lines = [site.lines if site.function > 0 else () for site in sites]  # the import is nobody's doing
        self._made = np.array([sum(map(made.__getitem__, one)) for one in lines], dtype=np.float64)
        self._lines = np.array(list(map(len, lines)), dtype=np.float64)

    def of(self, testcases: Sequence[TestCase], traces: Sequence[Trace]) -> Floats:
        """The proxies of test cases, `(len(testcases), 7)`.

        Args:
            testcases: that were executed.
            traces: of each of them.
        """
        counts = recorded_counts(self._subject, traces).astype(np.float64)
        again = np.where(counts > 1.0, counts, 0.0)
        found = np.empty((len(testcases), len(PROXIES)))
        found[:, 0] = again[:, self._loops].sum(axis=1)
        found[:, 1] = counts[:, self._entries].sum(axis=1)
        found[:, 2] = [self._calls(testcase) for testcase in testcases]
        found[:, 3] = again @ self._made
        found[:, 4] = counts @ self._lines
        found[:, 6] = list(map(len, testcases))
        found[:, 5] = found[:, 6] - found[:, 2]
        return found

    def _calls(self, testcase: TestCase) -> int:
        kinds = (self._subject.operations[self._table[i].operation].kind for i in testcase)
        return sum(kind not in ("property", "setter") for kind in kinds)


def performance_score(values: Floats) -> Floats:
    """All proxies of a test case in one number, `(n,)` in [0, 7), less is better: sum of I / (I + 1).

    References:
        Grano et al. 2021, section 3.2: what decides which test case the archive keeps.
    """
    score: Floats = (values / (values + 1.0)).sum(axis=1)
    return score


def performance_heuristic(values: Floats) -> Floats:
    """How cheap each test case is among those of its front, `(n,)` in [0, 7], more is better.

        sum over the proxies of (max - I) / (max - min)

    with 1/2 for a proxy that is the same for all.

    References:
        Grano et al. 2021, section 3.2. The paper says in words that the best test case has 0; by its formula, which the
        released code follows, it has 7.
    """
    if not len(values):
        return np.zeros(0)
    most, least = values.max(axis=0), values.min(axis=0)
    span = most - least
    share = np.full_like(values, 0.5)
    np.divide(most - values, span, out=share, where=span > 0.0)
    total: Floats = share.sum(axis=1)
    return total


@lru_cache(maxsize=16)
def _instantiations(source: str, classes: frozenset[str]) -> Mapping[int, int]:
    """How many objects each line of the source makes when it runs once; none for a line that it does not have."""
    own = classes | set(_CONTAINERS)
    found: Counter[int] = Counter()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            found[node.lineno] += name in own
        elif isinstance(node, _DISPLAYS):
            found[node.lineno] += isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    return MappingProxyType(found)
