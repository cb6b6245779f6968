"""Records of the last run of each module of a project, stored in `.fitgym` in the project's root."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fitgym.errors import InputError
from fitgym.suite.text.export import write

__all__ = ["Records"]

FOLDER = ".fitgym"


class Records:
    """The run records of the modules of a project, one file each.

    Git ignores the folder: records can be regenerated, and only the tests belong to the project.

    Args:
        root: of the project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.folder = root / FOLDER / "records"

    def get(self, module: str) -> dict[str, Any] | None:
        """Return the record of a module, None if there is none that can be read."""
        try:
            found = json.loads(self._file(module).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def put(self, module: str, record: Mapping[str, Any]) -> None:
        """Write the record of a module.

        Raises:
            InputError: it cannot be written.
        """
        try:
            write(json.dumps(record, indent=1) + "\n", self._file(module))
            ignore = self._root / FOLDER / ".gitignore"
            if not ignore.exists():
                write("*\n", ignore)
        except OSError as problem:
            raise InputError(f"the record of '{module}' cannot be written: {problem}") from None

    def _file(self, module: str) -> Path:
        return self.folder / f"{module}.json"
