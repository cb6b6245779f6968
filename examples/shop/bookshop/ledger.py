"""The ledger: sales in a sqlite database."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from bookshop.prices import Price


@dataclass(frozen=True)
class Sale:
    """Copies of a book that were sold on a day."""

    isbn: str
    day: str
    copies: int
    price: Price


class Ledger:
    """Sales, kept in a database."""

    def __init__(self, path: str = ":memory:") -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS sale"
            " (id INTEGER PRIMARY KEY, isbn TEXT NOT NULL, day TEXT, copies INTEGER, pence INTEGER)"
        )

    def record(self, sale: Sale) -> int:
        """Write a sale down; its number."""
        if sale.copies <= 0:
            raise ValueError("nothing was sold")
        with self._connection:
            cursor = self._connection.execute(
                "INSERT INTO sale (isbn, day, copies, pence) VALUES (?, ?, ?, ?)",
                (sale.isbn, sale.day, sale.copies, sale.price.pence),
            )
        return int(cursor.lastrowid or 0)

    def load(self, number: int) -> Sale:
        """The sale of this number."""
        row = self._connection.execute("SELECT isbn, day, copies, pence FROM sale WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise KeyError(f"there is no sale {number}")
        return Sale(row[0], row[1], row[2], Price(row[3]))

    def cancel(self, number: int) -> bool:
        """Remove a sale; whether there was one."""
        with self._connection:
            return self._connection.execute("DELETE FROM sale WHERE id = ?", (number,)).rowcount == 1

    def takings(self, day: str) -> Price:
        """The takings of a day."""
        row = self._connection.execute("SELECT SUM(copies * pence) FROM sale WHERE day = ?", (day,)).fetchone()
        return Price(row[0] or 0)

    def bestsellers(self, limit: int = 3) -> list[tuple[str, int]]:
        """The books that sold most, with their copies."""
        rows = self._connection.execute(
            "SELECT isbn, SUM(copies) AS sold FROM sale GROUP BY isbn ORDER BY sold DESC, isbn LIMIT ?", (limit,)
        )
        return [(isbn, sold) for isbn, sold in rows]
