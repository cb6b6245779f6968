"""The command line of the shop."""

from __future__ import annotations

from pathlib import Path

import click

from bookshop.catalogue import valid_isbn
from bookshop.feeds import FeedError, read_feed
from bookshop.prices import Price, PriceError, voucher


@click.group()
def main() -> None:
    """A bookshop."""


@main.command()
@click.argument("isbn")
def check(isbn: str) -> None:
    """Say whether an ISBN is valid."""
    if not valid_isbn(isbn):
        raise click.ClickException(f"{isbn} is not valid")
    click.echo(f"{isbn} is valid")


@main.command()
@click.argument("price")
@click.option("--code", default="", help="voucher")
def total(price: str, code: str) -> None:
    """The price after a voucher."""
    try:
        click.echo(str(voucher(Price.parse(price), code)))
    except PriceError as problem:
        raise click.BadParameter(str(problem)) from None


@main.command("list")
@click.argument("feed", type=click.Path(path_type=Path))
@click.option("--tag", default=None)
def list_books(feed: Path, tag: str | None) -> None:
    """The titles of a feed."""
    try:
        books = read_feed(feed)
    except (FeedError, FileNotFoundError) as problem:
        click.echo(f"cannot read {feed.name}: {problem}", err=True)
        raise SystemExit(3) from None
    for book in books:
        if tag is None or tag in book.tags:
            click.echo(f"{book.isbn} {book.title}")
