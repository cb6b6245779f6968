"""Cleanup: lines of a suite that remove the files written by the import of the subject."""

from __future__ import annotations

import os

from fitgym.subject.subject import Reference, Subject
from fitgym.suite.text.expressions import literal_source
from fitgym.suite.text.layout import Bracket, indented, laid_out
from fitgym.suite.text.scope import Scope

__all__ = ["NAMES", "note", "undoing"]

NAMES = frozenset({"name", "path", "root"})
"""Names that these lines bind; variables and imports must not use them."""


def note(reference: Reference) -> str:
    """Return the beginning of the comment that marks a suite whose subject writes files."""
    return f"# Importing `{reference.module}`"


def undoing(subject: Subject, scope: Scope, width: int) -> list[str]:
    """Return the cleanup lines, to be placed before the import of the subject; none if the import writes nothing.

    Only files that the import is known to make are removed, and only if they did not exist before.

    Args:
        subject: the code under test.
        scope: of the file; gets the modules that the lines need.
        width: maximal length of a line.
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
    """Return the statement that finds the folder of the top-level package or module without importing it."""
    top, *rest = subject.reference.module.split(".")
    found = f"{scope.module('importlib.util')}.find_spec({literal_source(repr(top))})"
    is_package = rest or os.path.basename(subject.reference.path).startswith("__init__.")
    place = f"{found}.submodule_search_locations[0]" if is_package else f"{found}.origin"
    return Bracket(f"root = {scope.module('os')}.path.dirname(", (place,), ")", call=True)
