"""SQL in strings: statements with one difference."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["other_statements"]

_STATEMENT = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|REPLACE)\b", re.IGNORECASE)

_CHANGES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), text)
    for pattern, text in [
        (r"\bDESC\b", "ASC"),
        (r"\bASC\b", "DESC"),
        (r"\bSUM\(", "MAX("),
        (r"\bMAX\(", "MIN("),
        (r"\bMIN\(", "MAX("),
        (r"\bAND\b", "OR"),
        (r"\bOR\b", "AND"),
        (r"<=", "<"),
        (r">=", ">"),
        (r"<(?![=>])", "<="),
        (r"(?<!<)>(?!=)", ">="),
        (r"(?<=\s)(?:WHERE|HAVING)\b(.*?)(?<![<>!=])=", r"WHERE\1<>"),
        (r"(\w)\s*\*\s*(\w)", r"\1 + \2"),
        (r"\bDISTINCT\s+", ""),
        (r"\s+ORDER\s+BY\s+.*?(?=\s+LIMIT\b|\)|$)", ""),
        (r"\s+WHERE\s+.*?(?=\s+(?:GROUP|ORDER|LIMIT|RETURNING)\b|\)|$)", ""),
        (r"\s+LIMIT\s+.*$", ""),
    ]
)


def other_statements(text: str) -> Iterator[str]:
    """Yield the statement with one change, made at its first possible place; nothing for other texts.

    The change is another order, aggregate, connective, comparison or operator, or the removal of a clause.
    """
    if not _STATEMENT.match(text):
        return
    for pattern, other in _CHANGES:
        changed = pattern.sub(other, text, count=1)
        if changed != text:
            yield changed
