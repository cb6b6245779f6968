"""Runs in a CSV file: each row is written at once, so an interrupted benchmark resumes."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fitgym.suite.text.export import write

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

Key = tuple[str, ...]
"""The key of a run: the first columns of its row."""


class RunsFile:
    """The rows of a benchmark.

    Args:
        path: of the file; it and its folder are created with the first rows.
        columns: names, those of the key first.
        keys: number of columns in the key.
    """

    def __init__(self, path: Path, columns: tuple[str, ...], keys: int) -> None:
        self.path = path
        self.columns = columns
        self.keys = keys

    def rows(self) -> dict[Key, dict[str, str]]:
        """Return the existing complete rows by key, the last one of each.

        Raises:
            SystemExit: the rows have other columns, from another version.
        """
        if not self.path.exists():
            return {}
        with self.path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            known = reader.fieldnames or self.columns
            if missing := [column for column in self.columns if column not in known]:
                sys.stderr.write(
                    f"'{self.path}' has no column '{missing[0]}', as another version wrote it: give another --folder\n"
                )
                raise SystemExit(2)
            whole = [row for row in reader if all(row[column] is not None for column in self.columns)]
        return {tuple(row[column] for column in self.columns[: self.keys]): row for row in whole}

    def add(self, made: Iterable[Mapping[str, Any]]) -> None:
        """Write rows as they are produced; first remove a row that was interrupted while it was written."""
        self._replace(self.rows().values())
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            for row in made:
                writer.writerow(row)
                file.flush()

    def sort(self, order: Callable[[Key], Any]) -> None:
        """Sort the rows, so that the same runs always give the same file."""
        rows = self.rows()
        self._replace(rows[key] for key in sorted(rows, key=order))

    def _replace(self, rows: Iterable[Mapping[str, Any]]) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write(text.getvalue(), self.path)


def typed(kind: type[T], row: Mapping[str, str]) -> T:
    """Return a row as an object of a dataclass whose fields are texts and numbers."""
    return kind(**{name: _TYPES[str(field.type)](row[name]) for name, field in kind.__dataclass_fields__.items()})


_TYPES: Mapping[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float}
