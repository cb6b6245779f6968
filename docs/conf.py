"""How the documentation is built: `make docs`, or `sphinx-build docs site`.

The .md files of this folder are written by hand. `extensions/pages.py` makes the other pages from the code during the
build; they are not committed.
"""

import sys
import tomllib
from pathlib import Path

import fitgym

HERE = Path(__file__).parent
# notebooks/pages.py and benchmarks/tables.py are imported too.
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent), str(HERE.parent / "benchmarks")]

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
    "paper",
    "pages",
    "pictures",
    "questions",
    "replays",
]
exclude_patterns = ["extensions", "templates"]

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
html_favicon = "static/favicon.svg"
html_js_files = [("ranking.js", {"defer": "defer"})]
html_search_scorer = str(HERE / "static" / "scorer.js")
html_theme_options = {}
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"  # what is set in is mostly formulas
pygments_style = "tango"
pygments_dark_style = "monokai"

# `make docs VERSIONED=FOLDER` puts the site beside those of other versions, and each page then links to their list.
templates_path = ["templates"]
html_sidebars = {}
if tags.has("versioned"):  # noqa: F821  (Sphinx gives this file its tags)
    parts = ("brand", "search", "scroll-start", "navigation", "scroll-end", "versions")
    html_sidebars = {"**": [f"sidebar/{part}.html" for part in parts]}

# Each page links to its source where pyproject.toml names the repository.
_urls = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
if "Repository" in _urls:
    html_theme_options |= {
        "source_repository": _urls["Repository"],
        "source_branch": "main",
        "source_directory": "docs/",
    }
