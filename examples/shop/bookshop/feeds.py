"""Feeds: the catalogue as lines of text, in files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from bookshop.catalogue import Book, Catalogue
from bookshop.prices import Price

SEPARATOR = "|"


class FeedError(Exception):
    """A line that cannot be read."""


def to_line(book: Book) -> str:
    """A book as one line: isbn, title, price in pence, tags."""
    if SEPARATOR in book.title:
        raise FeedError(f"the title of {book.isbn} contains {SEPARATOR!r}")
    return SEPARATOR.join([book.isbn, book.title, str(book.price.pence), ",".join(book.tags)])


def from_line(line: str) -> Book:
    """The book of a line."""
    parts = line.rstrip("\n").split(SEPARATOR)
    if len(parts) != 4:
        raise FeedError(f"{len(parts)} fields, expected 4")
    isbn, title, pence, tags = parts
    try:
        price = Price(int(pence))
    except ValueError as problem:
        raise FeedError(f"price of {isbn}: {problem}") from None
    return Book(isbn, title, price, [tag for tag in tags.split(",") if tag])


def write_feed(books: Iterable[Book], path: Path) -> int:
    """Write books to a file; how many."""
    lines = [to_line(book) for book in books]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return len(lines)


def read_feed(path: Path) -> list[Book]:
    """The books of a file, without empty lines and comments."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            found.append(from_line(line))
    return found


def summary(catalogue: Catalogue, path: Path | None = None) -> str:
    """Titles and stock as JSON, written to a file as well if one is named."""
    text = json.dumps({book.title: catalogue.in_stock(book.isbn) for book in catalogue}, sort_keys=True)
    if path is not None:
        path.write_text(text, encoding="utf-8")
    return text
