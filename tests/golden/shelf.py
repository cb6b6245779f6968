"""A small subject with one of everything that an exported test can do."""

import asyncio
import enum
import math
from dataclasses import dataclass, field


class Genre(enum.Enum):
    NOVEL = "novel"
    POEM = "poem"


class ShelfError(ValueError):
    """The shelf refuses."""


@dataclass
class Book:
    title: str
    pages: int = 100
    genre: Genre = Genre.NOVEL


@dataclass
class Shelf:
    width: float
    books: list[str] = field(default_factory=list)

    def add(self, book: Book) -> None:
        if book.title in self.books:
            raise ShelfError(f"{book.title} is here already")
        self.books.append(book.title)

    def find(self, title: str) -> int | None:
        return self.books.index(title) if title in self.books else None

    @property
    def room(self) -> float:
        return self.width - 2.5 * len(self.books)

    def __len__(self) -> int:
        return len(self.books)

    def __getitem__(self, index: int) -> str:
        return self.books[index]

    def titles(self):
        yield from self.books


def thickness(pages: int) -> float:
    if pages < 0:
        return math.nan
    return pages * 0.1


def summary(titles: list[str], longest: int = 3) -> dict[str, int]:
    return {title: len(title) for title in titles if len(title) >= longest}


async def fetch(title: str) -> Book:
    await asyncio.sleep(0)
    return Book(title, len(title))
