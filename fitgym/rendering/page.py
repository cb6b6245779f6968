"""HTML pages that need no network: a template with the shared colours and sortable tables."""

from __future__ import annotations

from importlib import resources
from typing import Any

from fitgym.rendering.palette import css

__all__ = ["page"]


def page(package: str, template: str, **values: Any) -> str:
    """Return an HTML page from a Jinja template; values are escaped.

    Args:
        package: the package with the template. Included files are searched there, then in `fitgym.rendering`, which has
            `page.css`, with the colours of the palette, and `sort.js`.
        template: the file name of the template.
        values: values of the template, by name.

    Raises:
        ModuleNotFoundError: Jinja is not installed.
        jinja2.TemplateError: the template uses a value or a file that is missing.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(name: str) -> str | None:
        for folder in (resources.files(package), resources.files("fitgym.rendering")):
            if (folder / name).is_file():
                return (css() if name == "page.css" else "") + (folder / name).read_text("utf-8")
        return None

    environment = Environment(
        loader=FunctionLoader(load),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    text: str = environment.get_template(template).render(values)
    return text
