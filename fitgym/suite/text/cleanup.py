"""Undoing: the lines of a suite that remove what the import of the subject writes beside itself."""

from __future__ import annotations

import os

from fitgym.subject.subject import Reference, Subject
from fitgym.suite.text.layout import Bracket, indented, laid_out
from fitgym.suite.text.scope import Scope
from fitgym.suite.text.source import literal_source

__all__ = ["NAMES", "note", "undoing"]

NAMES = frozenset({"name", "path", "root"})
"""Names that the lines bind, so that no variable and no import may have them."""


def note(reference: Reference) -> str:
    """How the comment begins by which a suite of a subject that writes is known."""
    return f"# Importing `{reference.module}`"


def undoing(subject: Subject, scope: Scope, width: int) -> list[str]:
    """The lines, to stand before the import of the subject; none if that writes nothing.

    Only what the import is known to make is removed, and only what was not there before.

    Args:
        subject: what is tested.
        scope: of the file; gets the modules that the lines need.
        width: greatest length of a line.
    """
    files = tuple(name for name in subject.added if not name.endswith("/"))
    folders = tuple(name for name in subject.added if name.endswith("/"))
    lines: list[str] = []
    for what, names in (("makes these files", files), ("makes these folders", folders), ("changes", subject.changed)):
        if not names:
            continue
        lines += ["", f"{note(subject.reference)} {_SAID[what]}"]
        lines += laid_out(Bracket("for name in [", tuple(literal_source(repr(name)) for name in names), "]:"), width)
        lines += indented(laid_out(_root(subject, scope), width - 4))
        lines.append(f"    path = {scope.module('pathlib')}.Path(root, name)")
        register = f"{scope.module('atexit')}.register"
        if what == "changes":
            lines.append(f"    {register}(path.write_bytes, path.read_bytes())")
            continue
        removes = "path.unlink, missing_ok=True"
        if what == "makes these folders":
            removes = f"{scope.module('shutil')}.rmtree, path, ignore_errors=True"
        lines += ["    if not path.exists():", f"        {register}({removes})"]
    return lines


_SAID = {
    "makes these files": "makes these files. They are removed at the end.",
    "makes these folders": "makes these folders. They are removed at the end.",
    "changes": "changes these files. They are put back at the end.",
}


def _root(subject: Subject, scope: Scope) -> Bracket:
    """The statement that finds the folder of the top-level package or module, which it does not import."""
    top, *rest = subject.reference.module.split(".")
    found = f"{scope.module('importlib.util')}.find_spec({literal_source(repr(top))})"
    is_package = rest or os.path.basename(subject.reference.path).startswith("__init__.")
    place = f"{found}.submodule_search_locations[0]" if is_package else f"{found}.origin"
    return Bracket(f"root = {scope.module('os')}.path.dirname(", (place,), ")", call=True)
