"""How the documentation is built: `make docs`, or `sphinx-build docs site`.

What people wrote is in the .md files of this folder. What the code says is made into pages while building, by
`extensions/pages.py`; nothing of it is kept.
"""

import sys
from pathlib import Path

import fitgym

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent)]  # the second one for notebooks/pages.py

project = "fitgym"
author = "The fitgym developers"
project_copyright = author
version = release = fitgym.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "docstrings",
    "formulas",
    "navigation",
    "pages",
    "questions",
]
exclude_patterns = ["extensions"]

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"

autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_custom_sections = [("Attributes", "params_style"), ("Class attributes", "params_style")]
viewcode_follow_imported_members = True

# Every name of fitgym that a docstring or a page mentions in full must exist. Other libraries cannot be asked without
# a network, and in signatures a type may be private or a variable.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!fitgym\.).*"), ("py:.*", r"fitgym\.(.*\.)?(_.*|[A-Z]|Base)")]

html_theme = "furo"
html_title = f"fitgym {release}"
html_static_path = ["static"]
html_css_files = ["fitgym.css"]
html_search_scorer = str(HERE / "static" / "scorer.js")
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"  # what is set in is mostly formulas
pygments_style = "tango"
pygments_dark_style = "monokai"
