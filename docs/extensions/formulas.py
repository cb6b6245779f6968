"""Formulas as MathML, which browsers show without a script, a network or a library.

Docutils contains the converter. Sphinx itself offers MathJax from a server, or pictures made with LaTeX.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

__all__ = ["in_html", "mathml"]


def mathml(formula: str, *, block: bool = False) -> str:
    """Convert a LaTeX formula to MathML.

    Raises:
        ExtensionError: it cannot be converted.
    """
    written = re.sub(r"\\dots\b", r"\\ldots", " ".join(formula.split()))  # the converter does not know the short form
    try:
        found = str(tex2mathml(written, as_block=block))
    except MathError as error:
        raise ExtensionError(f"the formula '{formula}' cannot be converted to MathML: {error}") from error
    return re.sub(r"<mo>&ApplyFunction;</mo>(?!\s*<(?:mo|mrow)\b)", '<mspace width="0.17em"/>', found)  # as in ln t


def in_html(text: str) -> str:
    """Replace formulas between dollar signs in HTML by MathML."""
    return re.sub(r"\$([^$\n]+)\$", lambda found: mathml(found[1]), text)


def _visit(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _visit_block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(sphinx: Sphinx) -> dict[str, Any]:
    """Register MathML for `html_math_renderer`."""
    sphinx.add_html_math_renderer("mathml", (_visit, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
