"""Docstrings as they are written here, in Markdown with the sections of Google's style, made readable for Sphinx.

Sphinx reads reStructuredText, and napoleon knows the sections. What remains are code spans, lists, tables, references
and formulas: what is set in by four spaces after an empty line is kept as it stands, letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from sphinx.application import Sphinx

__all__ = ["restructured"]

FIELDS = ("Args", "Attributes", "Class attributes", "Raises", "Returns", "Yields")
SECTION = re.compile(rf"({'|'.join(FIELDS)}|References):$")
ITEM = re.compile(r"[*-] ")
NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)*(\(\))?")
SPAN = re.compile(r"`[^`]+`")
COLON = "\ue000"
"""Stands for a colon while napoleon reads; no docstring has this character."""

BEFORE, AFTER = "'\"([{<-/:", "'\")]}>-/:.,;!?"
SOURCE = re.compile(r"(?=[A-Z][^:;()\n]*? (?:19|20)\d\d\b)")
"""How a reference begins: authors and a year."""


def restructured(lines: Sequence[str]) -> list[str]:
    """The lines of a docstring in Markdown as lines of reStructuredText."""
    found: list[str] = []
    for header, body in _sections(_description(lines)):
        if not header:
            found += _prose(body)
        elif header == "References:":
            found += ["", header, *_references(body), ""]
        else:
            found += ["", header, *_inline("\n".join(body)).split("\n"), ""]
    return found


def _description(lines: Sequence[str]) -> list[str]:
    """All of a docstring; of that of an environment, which is a page of its own, what stands under its first heading."""
    headings = [number for number, line in enumerate(lines) if line.startswith("## ")]
    if not headings:
        return list(lines)
    first, second = (*headings, len(lines))[:2]
    return [*lines[first + 1 : second], "What there is to do, to see and to gain: `fitgym.envs`."]


def _sections(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Header and body of each part, in order; the header is empty for what stands outside of sections."""
    header, body = "", list[str]()
    for line in lines:
        if SECTION.match(line) or (header and line.strip() and not line.startswith(" ")):
            yield header, body
            header, body = (line, []) if SECTION.match(line) else ("", [line])
        else:
            body.append(line)
    yield header, body


def _prose(lines: Sequence[str]) -> Iterator[str]:
    """Paragraphs, lists, tables and formulas."""
    for blank, chunk in groupby(lines, lambda line: not line.strip()):
        block = list(chunk)
        if blank:
            yield ""
        elif all(line.startswith("    ") for line in block):
            yield from ("::", "", *block, "")
        elif block[0].startswith("|"):
            yield from _table(block)
        else:
            items = [number for number, line in enumerate(block) if ITEM.match(line)]
            if items and items[0]:
                block.insert(items[0], "")  # a list begins after an empty line
            yield from _inline("\n".join(block)).split("\n")


def _references(lines: Sequence[str]) -> Iterator[str]:
    """One item for each reference: it begins where a line names authors and a year."""
    text = "\n".join(line.strip() for line in lines if line.strip())
    for reference in re.split(rf"^{SOURCE.pattern}", text, flags=re.MULTILINE):
        if reference:
            first, *rest = _inline(reference.strip()).split("\n")
            yield from (f"    * {first}", *(f"      {line}" for line in rest))


def _table(lines: Sequence[str]) -> Iterator[str]:
    """A table of Markdown, its second line left out."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    yield from (".. list-table::", "   :header-rows: 1", "")
    for row in (rows[0], *rows[2:]):
        for number, cell in enumerate(row):
            yield f"   {'  ' if number else '* '}- {_inline(cell)}"
    yield ""


def _inline(text: str) -> str:
    """Code spans as links where they name something, else as code; nothing else has a meaning."""
    found, at = "", 0
    for span in SPAN.finditer(text):
        inner = span.group()[1:-1]
        found += _plain(text[at : span.start()])
        at = span.end()
        before, after = text[: span.start()][-1:], text[at : at + 1]
        # Markup begins and ends where a word could; an escaped space, which is not shown, makes such a place.
        found += "" if before in BEFORE or before.isspace() else "\\ "
        found += f":py:obj:`{inner}`" if NAME.fullmatch(inner) else f"``{inner}``"
        found += "" if after in AFTER or after.isspace() else "\\ "
    return found + _plain(text[at:])


def _plain(text: str) -> str:
    """Text in which no character is markup but the star or hyphen that begins an item."""
    text = re.sub(r"(?<!^)(?<!\n)\*|\*(?! )", r"\\*", text.replace("\\", "\\\\"))
    return re.sub(r"(?<=\w)_(?!\w)", r"\\_", text.replace("|", "\\|"))


def _before(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Replace the lines before napoleon reads them; of a variable it would take what stands before a colon for the type."""
    lines[:] = restructured(lines)
    if what in ("attribute", "data", "property"):
        lines[:] = [line.replace(":", COLON) for line in lines]


def _after(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Put the colons back."""
    lines[:] = [line.replace(COLON, ":") for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Before and after napoleon, whose priority is the usual 500."""
    app.connect("autodoc-process-docstring", _before, priority=400)
    app.connect("autodoc-process-docstring", _after, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
