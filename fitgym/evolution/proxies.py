"""Performance proxies: seven counts that estimate the time and memory of a test case without measuring either."""

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
    """The performance proxies of one subject's test cases; less is better.

    | | name | number of times that |
    |---|---|---|
    | I1 | executed_loops | a loop or comprehension went round, over those that did so more than once |
    | I2 | covered_calls | a function of the subject was entered |
    | I3 | test_calls | the test case calls something |
    | I4 | instantiations | the subject made an object: calls of its classes and of containers, and displays such as \
`[a, b]`, in blocks that ran more than once |
    | I5 | covered_statements | a line of the subject ran |
    | I6 | test_statements | a statement of the test case is no call: reads or sets an attribute |
    | I7 | test_length | the test case has a statement |

    Args:
        subject: the code under test.
        table: the statements of the test cases.

    References:
        Grano, Laaber, Panichella and Panichella 2021, Testing with Fewer Resources: An Adaptive Approach to
        Performance-Aware Test Case Generation, section 3.1 and table 1. The released code also leaves calls that
        happened once out of I2, blocks that ran at most twice out of I5, and counts I6 from ten on.

    Differs from the paper: I1 counts rounds; the paper counts evaluations of the loop condition, one more. I5 counts
    lines. Neither sees the objects that a call creates in a library.
    """

    def __init__(self, subject: Subject, table: StatementTable) -> None:
        self._subject = subject
        self._table = table
        sites = subject.sites
        self._entries = np.zeros(len(sites), dtype=bool)
        self._entries[[function.entry for function in subject.functions[1:] if function.entry >= 0]] = True
        self._loops = np.array([site.burns for site in sites], dtype=bool) & ~self._entries
        made = _instantiations(subject.source, frozenset(name.rpartition(".")[2] for name in subject.classes))
        lines = [site.lines if site.function > 0 else () for site in sites]  # no test case causes the import
        self._made = np.array([sum(map(made.__getitem__, one)) for one in lines], dtype=np.float64)
        self._lines = np.array(list(map(len, lines)), dtype=np.float64)

    def of(self, testcases: Sequence[TestCase], traces: Sequence[Trace]) -> Floats:
        """Return the proxies of test cases, `(len(testcases), 7)`.

        Args:
            testcases: executed test cases.
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
    """Return the sum over all proxies of I / (I + 1) for each test case, `(n,)` in [0, 7); less is better.

    References:
        Grano et al. 2021, section 3.2: decides which test case the archive keeps.
    """
    score: Floats = (values / (values + 1.0)).sum(axis=1)
    return score


def performance_heuristic(values: Floats) -> Floats:
    """Return how cheap each test case of a front is, compared with the others, `(n,)` in [0, 7]; more is better.

        sum over the proxies of (max - I) / (max - min)

    A proxy that is the same for all test cases contributes 1/2.

    References:
        Grano et al. 2021, section 3.2. The text of the paper gives the best test case 0; its formula, which the
        released code follows, gives it 7.
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
    """Return by line the number of objects that a source line makes when it runs once; may omit lines without any."""
    own = classes | set(_CONTAINERS)
    found: Counter[int] = Counter()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            found[node.lineno] += name in own
        elif isinstance(node, _DISPLAYS):
            found[node.lineno] += isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    return MappingProxyType(found)
