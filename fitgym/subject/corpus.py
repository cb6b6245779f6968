"""A corpus: a list of subjects to train, select and compare policies on.

A corpus is a TOML file with one table for each subject:

    path = "packages"            # optional: a folder to search first, relative to this file

    [[subject]]
    subject = "textwrap"         # package.module, package.module:Class or path/to/file.py[:Class]
    split = "train"              # optional: any name; by custom train, validation or test

    [[subject]]
    module = "arrow.formatter"   # the same in two parts
    class = "DateTimeFormatter"
    set = "test"                 # the same as split

`stdlib-v1` comes with fitgym and needs no download. It lists pure Python modules of the standard library that exist in
Python 3.11 to 3.13. The splits of a named corpus never change.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from fitgym.errors import InputError, UnknownName

__all__ = ["Corpus", "Entry", "corpora"]

_KEYS = {"subject", "module", "class", "split", "set"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One subject of a corpus.

    Attributes:
        subject: as for `fitgym.subject.source.locate`.
        split: the name of its split, "" if the corpus has no splits.
    """

    subject: str
    split: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A list of subjects in a fixed order.

    Attributes:
        name: the text that it was loaded by, including the split.
        entries: at least one, unless `of` built the corpus from a sequence.
        path: a folder to search first, None for none.
    """

    name: str
    entries: tuple[Entry, ...]
    path: str | None = None

    @property
    def subjects(self) -> tuple[str, ...]:
        """The texts of the subjects, in order."""
        return tuple(entry.subject for entry in self.entries)

    @property
    def splits(self) -> dict[str, int]:
        """The number of subjects in each split, in order."""
        return dict(Counter(entry.split for entry in self.entries))

    @classmethod
    def load(cls, text: str) -> Corpus:
        """Load the corpus that a text names.

        The text is `stdlib-v1`, `stdlib-v1:test`, `lists/mine.toml:train`, or a list of subjects with a comma after
        each. The last comma is optional if there are several subjects.

        Raises:
            UnknownName: there is no such corpus or split.
            InputError: the file cannot be read or is not a list of subjects.
        """
        if "," in text:
            return cls(text, tuple(Entry(part.strip()) for part in text.split(",") if part.strip()))
        name, colon, split = text.strip().partition(":")
        corpus = _parsed(*_source(name))
        if not colon:
            return corpus
        if split not in corpus.splits:
            raise UnknownName(f"split of the corpus '{name}'", split, filter(None, corpus.splits))
        return cls(text.strip(), tuple(entry for entry in corpus.entries if entry.split == split), corpus.path)

    @classmethod
    def of(cls, subjects: str | Corpus | Sequence[str], path: str | None = None) -> Corpus:
        """Return the corpus for any accepted form of argument.

        Args:
            subjects: the text of `load`, a corpus, or the texts of subjects.
            path: a folder to search first, instead of the corpus's own.

        Raises:
            InputError: as for `load`.
        """
        if isinstance(subjects, str):
            subjects = cls.load(subjects)
        if not isinstance(subjects, Corpus):
            subjects = cls("", tuple(Entry(text) for text in subjects))
        return subjects if path is None else replace(subjects, path=path)


def corpora() -> list[str]:
    """Return the names of the corpora that come with fitgym."""
    folder = resources.files("fitgym.subject") / "corpora"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def _source(name: str) -> tuple[str, str, Path | None]:
    """Return name, text and folder of a list of subjects."""
    if not name.endswith(".toml"):
        if name not in corpora():
            raise UnknownName(
                "corpus", name, [*corpora(), "a file that ends in .toml", "subjects with a comma after each"]
            )
        return name, (resources.files("fitgym.subject") / "corpora" / f"{name}.toml").read_text("utf-8"), None
    try:
        return name, Path(name).read_text("utf-8"), Path(name).resolve().parent
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot read the corpus '{name}': {problem}") from None


def _parsed(name: str, text: str, folder: Path | None) -> Corpus:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"the corpus '{name}' is not TOML: {problem}") from None
    tables = document.get("subject", [])
    if not (isinstance(tables, list) and tables and all(isinstance(table, dict) for table in tables)):
        raise InputError(f"the corpus '{name}' lists no subjects: expected tables that begin with [[subject]]")
    entries = tuple(_entry(name, number, table) for number, table in enumerate(tables, 1))
    twice = [subject for subject, count in Counter(entry.subject for entry in entries).items() if count > 1]
    if twice:
        raise InputError(f"the corpus '{name}' lists '{twice[0]}' twice: a subject belongs to one split")
    path = document.get("path")
    if path is not None and not isinstance(path, str):
        raise InputError(f"the corpus '{name}' has the path {path!r}, expected the name of a folder")
    return Corpus(name, entries, None if path is None else str((folder or Path()) / path))


def _entry(name: str, number: int, table: dict[str, Any]) -> Entry:
    where = f"subject {number} of the corpus '{name}'"
    if wrong := [key for key in _KEYS & table.keys() if not isinstance(table[key], str)]:
        raise InputError(f"{where} has {wrong[0]} = {table[wrong[0]]!r}, expected text")
    if ("subject" in table) == ("module" in table):
        raise InputError(f"{where} names no module: give either subject = ... or module = ...")
    class_name = table.get("class", "")
    text = table["subject"] if "subject" in table else ":".join(filter(None, (table["module"], class_name)))
    if not text:
        raise InputError(f"{where} names no module: it is empty")
    return Entry(text, table.get("split", table.get("set", "")))
