"""Lessons: where they are, and what the head of each says about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fitgym.errors import InputError

__all__ = ["PARTS", "Lesson", "folder", "lessons", "numbered"]

PARTS: Final = {
    "Testing as search": range(1, 6),
    "Deciding": range(6, 12),
    "Choosing fitness functions": range(12, 15),
    "Doing science": range(15, 19),
}
"""The parts of the course with the numbers of their lessons."""

FACTS: Final = {"time": "Time", "need": "You need", "goals": "You will be able to"}
"""What the head of a lesson says, by the field of `Lesson`."""


@dataclass(frozen=True)
class Lesson:
    """The head of a lesson, which is the first cell of its notebook.

    Args:
        name: of its file, such as "06_bandits".
        title: without its number.
        about: the sentences below the title.
        time: such as "20 minutes"; empty if the head does not say it, like the two below.
        need: what a reader has to know and to install.
        goals: what a reader is able to do afterwards.
    """

    name: str
    title: str
    about: str
    time: str
    need: str
    goals: str

    @property
    def number(self) -> int:
        """Its number in the course."""
        return int(self.name[:2])

    @classmethod
    def parse(cls, name: str, head: str) -> Lesson:
        """Read the first cell of a lesson.

        Args:
            name: of its file.
            head: `# NN Title`, sentences, and then `**Time:** ...`, `**You need:** ...`, `**You will be able to:** ...`.
        """
        first, _, rest = head.strip().partition("\n")
        said = r"(?:^|(?<=\s))(?:[-*] )?\*\*({}):?\*\*:?".format("|".join(FACTS.values()))
        about, *pieces = re.split(said, rest)
        found = {label: piece.strip() for label, piece in zip(pieces[::2], pieces[1::2], strict=True)}
        facts = {field: found.get(label, "").removesuffix(".") for field, label in FACTS.items()}
        return cls(name, re.sub(r"^#\s*(\d+\s+)?", "", first).strip(), about.strip(), **facts)

    @classmethod
    def read(cls, file: Path) -> Lesson:
        """The head of a lesson in the percent format."""
        lines = file.read_text("utf-8").split("\n# %%", 1)[0].splitlines()
        return cls.parse(file.stem, "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[1:]))


def numbered(where: Path) -> list[Path]:
    """The lessons in a folder as files in the percent format, in the order of their numbers."""
    return sorted(where.glob("[0-9][0-9]_*.py"))


def folder(given: Path | None = None) -> Path:
    """Where the lessons are.

    Args:
        given: a folder with lessons, such as a teacher's own; None means the folder `notebooks` of the repository.

    Raises:
        InputError: there are none, for example because fitgym was installed without its repository.
    """
    found = given or Path(__file__).parents[2] / "notebooks"
    if not numbered(found):
        raise InputError(
            f"there are no lessons in '{found}', expected files such as 06_bandits.py; those of fitgym are in its "
            "repository, not in the installed package: clone it and install it with pip install -e '.[notebooks]'"
        )
    return found


def lessons(given: Path | None = None) -> list[Lesson]:
    """The heads of all lessons, in order.

    Args:
        given: as for `folder`.

    Raises:
        InputError: there are none.
    """
    return [Lesson.read(file) for file in numbered(folder(given))]
