"""The catalogue: books, what is in stock, and how to find it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bookshop.prices import Price


def valid_isbn(isbn: str) -> bool:
    """Whether a text is an ISBN-13, hyphens allowed."""
    digits = isbn.replace("-", "")
    if len(digits) != 13 or not digits.isdigit():
        return False
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return total % 10 == 0


@dataclass
class Book:
    """A title that the shop sells."""

    isbn: str
    title: str
    price: Price
    tags: list[str] = field(default_factory=list)

    def tag(self, *names: str) -> None:
        """Add tags, in lower case, each once."""
        for name in names:
            name = name.lower()
            if name not in self.tags:
                self.tags.append(name)


class OutOfStock(Exception):
    """There are not as many copies as are wanted."""


class Catalogue:
    """Books and their copies."""

    def __init__(self, books: Iterable[Book] = ()) -> None:
        self._books: dict[str, Book] = {}
        self._copies: dict[str, int] = {}
        for book in books:
            self.add(book)

    def add(self, book: Book, copies: int = 1) -> None:
        """Put copies on the shelf."""
        if copies < 1:
            raise ValueError("at least one copy")
        self._books[book.isbn] = book
        self._copies[book.isbn] = self._copies.get(book.isbn, 0) + copies

    def take(self, isbn: str, copies: int = 1) -> Price:
        """Take copies off the shelf; their price together."""
        if isbn not in self._books:
            raise KeyError(isbn)
        left = self._copies[isbn] - copies
        if left < 0:
            raise OutOfStock(f"{self._copies[isbn]} of {copies} copies left")
        self._copies[isbn] = left
        return self._books[isbn].price.times(copies)

    def in_stock(self, isbn: str) -> int:
        """How many copies there are."""
        return self._copies.get(isbn, 0)

    def search(self, word: str, limit: int = 10) -> list[Book]:
        """Books with the word in their title or among their tags, by title."""
        word = word.lower()
        found = [book for book in self._books.values() if word in book.title.lower() or word in book.tags]
        return sorted(found, key=lambda book: book.title)[:limit]

    def __len__(self) -> int:
        return sum(self._copies.values())

    def __iter__(self) -> Iterator[Book]:
        return iter(self._books.values())
