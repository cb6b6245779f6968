"""Package files: where a package lies, and the text of its files within limits."""

from __future__ import annotations

import os
import tokenize
from collections.abc import Iterable, Iterator
from itertools import islice

__all__ = ["above", "texts"]


def above(module: str, path: str) -> str:
    """Return the folder that contains the top-level package of a module, or the module itself if it has no package.

    Args:
        module: its dotted name.
        path: of its file.
    """
    folder = os.path.dirname(path)
    for _ in range(module.count(".") + (os.path.basename(path) == "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def texts(files: Iterable[str], most_files: int, most_bytes: int) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each file that can be read as Python, until a limit is reached.

    Args:
        files: paths.
        most_files: number of files to look at.
        most_bytes: their total size.
    """
    read = 0
    for path in islice(files, most_files):
        try:
            read += os.path.getsize(path)
            if read > most_bytes:
                return
            with tokenize.open(path) as file:
                text = file.read()
        except (OSError, SyntaxError, ValueError):
            continue
        yield path, text
