"""Converts fitgym's docstrings, Markdown with sections in Google style, for Sphinx.

Sphinx reads reStructuredText, and napoleon handles the sections. This extension converts the rest: code spans, lists,
tables, references and formulas. A block that is indented by four spaces after an empty line is shown verbatim.
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
"""Replaces a colon while napoleon reads; no docstring contains this character."""

BEFORE, AFTER = "'\"([{<-/:", "'\")]}>-/:.,;!?"
SOURCE = re.compile(r"(?=[A-Z][^:;()\n]*? (?:19|20)\d\d\b)")
"""The start of a reference: authors and a year."""


def restructured(lines: Sequence[str]) -> list[str]:
    """Convert the lines of a docstring from Markdown to reStructuredText."""
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
    """Return a whole docstring, or for an environment only the section under its first heading.

    An environment has a separate page with its whole docstring.
    """
    headings = [number for number, line in enumerate(lines) if line.startswith("## ")]
    if not headings:
        return list(lines)
    first, second = (*headings, len(lines))[:2]
    return [*lines[first + 1 : second], "What there is to do, to see and to gain: `fitgym.envs`."]


def _sections(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield header and body of each section, in order; text outside of sections has an empty header."""
    header, body = "", list[str]()
    for line in lines:
        if SECTION.match(line) or (header and line.strip() and not line.startswith(" ")):
            yield header, body
            header, body = (line, []) if SECTION.match(line) else ("", [line])
        else:
            body.append(line)
    yield header, body


def _prose(lines: Sequence[str]) -> Iterator[str]:
    """Convert paragraphs, lists, tables and formulas."""
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
    """Convert each reference to a list item; a reference begins at a line that names authors and a year."""
    text = "\n".join(line.strip() for line in lines if line.strip())
    for reference in re.split(rf"^{SOURCE.pattern}", text, flags=re.MULTILINE):
        if reference:
            first, *rest = _inline(reference.strip()).split("\n")
            yield from (f"    * {first}", *(f"      {line}" for line in rest))


def _table(lines: Sequence[str]) -> Iterator[str]:
    """Convert a Markdown table, without its separator line."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    yield from (".. list-table::", "   :header-rows: 1", "")
    for row in (rows[0], *rows[2:]):
        for number, cell in enumerate(row):
            yield f"   {'  ' if number else '* '}- {_inline(cell)}"
    yield ""


def _inline(text: str) -> str:
    """Convert code spans to links if they name an object, else to code; escape everything else."""
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
    """Escape all markup except a star or hyphen that begins a list item."""
    text = re.sub(r"(?<!^)(?<!\n)\*|\*(?! )", r"\\*", text.replace("\\", "\\\\"))
    return re.sub(r"(?<=\w)_(?!\w)", r"\\_", text.replace("|", "\\|"))


def _before(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Convert the lines before napoleon reads them.

    Napoleon would take the text before a colon in the docstring of a variable for its type.
    """
    lines[:] = restructured(lines)
    if what in ("attribute", "data", "property"):
        lines[:] = [line.replace(":", COLON) for line in lines]


def _after(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Restore the colons."""
    lines[:] = [line.replace(COLON, ":") for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Run before and after napoleon, whose priority is the usual 500."""
    app.connect("autodoc-process-docstring", _before, priority=400)
    app.connect("autodoc-process-docstring", _after, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
