"""Says on the page of a table how it was made, and whether the code behind it has changed since."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tables import Manifest

__all__ = ["newer", "provenance"]


def provenance(root: Path, file: str) -> str:
    """Return a sentence or two for each stamped table of a file, as Markdown; "" if there is none.

    Args:
        root: the folder of the repository.
        file: of the table, as in `benchmarks/tables.toml`; with # and a heading for one section.
    """
    if not (root / "benchmarks" / "tables.toml").exists():
        return ""
    manifest = _manifest(root)
    names = [name for name in manifest.tables if file in (name, manifest.tables[name].file)]
    made = {name: manifest.provenance(name) for name in names}
    if len(names) == 1 and names[0] == file:
        return made[file]
    return "\n".join(f"- {name.partition('#')[2]}: {text}" for name, text in made.items() if text)


def newer(root: Path, name: str) -> bool:
    """Return whether the code of a table has changed since the table was made, or the table has no stamp.

    Args:
        root: the folder of the repository.
        name: of the table, as in `benchmarks/tables.toml`.
    """
    manifest = _manifest(root)
    return name not in manifest.stamps or bool(manifest.newer(name))


@lru_cache(maxsize=1)
def _manifest(root: Path) -> Manifest:
    return Manifest(root)
