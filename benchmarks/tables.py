#!/usr/bin/env python3
"""Which committed tables are older than the code that decides them?

    python benchmarks/tables.py                          list them; exit code 1 if a table has no valid stamp
    python benchmarks/tables.py stamp TABLE ...          stamp tables that were just made with the code of this folder
    python benchmarks/tables.py history TABLE ...        stamp older tables with what git knows about them
    python benchmarks/tables.py rows --count 3 --seed 1  recompute rows at random; exit code 1 if a current one differs

`tables.toml` lists the tables, each with its command and its code. `stamps.json` has the stamp of each: version, Python,
machine, date, digests of the code, and a digest of the table. A table is older if the digest of its code differs now.
Docstrings and comments do not count, see `code_digest.py`.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import platform
import re
import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from code_digest import ROOT, Commit, Files, Folder, digest

__all__ = ["Manifest", "Table", "main"]


@dataclass(frozen=True, slots=True)
class Table:
    """A committed table.

    Attributes:
        name: its file, and after # the heading of its section if it is a part of the file.
        command: the command that makes it.
        code: by group the files and folders that decide its numbers.
        rows: the file with its rows if rows can be recomputed, else "".
        needs: a folder without which no row can be recomputed, "" for none.
    """

    name: str
    command: str
    code: dict[str, list[str]]
    rows: str = ""
    needs: str = ""

    @property
    def file(self) -> str:
        """The file of the table."""
        return self.name.partition("#")[0]

    @property
    def maker(self) -> str:
        """The script or study file that the command names."""
        return next(word for word in self.command.split() if word.endswith((".py", ".toml")))

    def text(self, files: Files) -> str:
        """Return the table as text, "" if the file or its section does not exist."""
        found = dict(files.below(self.file)).get(self.file, b"").decode("utf-8")
        heading = self.name.partition("#")[2]
        if not heading:
            return found
        part = re.search(rf"^## {re.escape(heading)}$.*?(?=^## |\Z)", found, re.DOTALL | re.MULTILINE)
        return part[0].strip() if part else ""

    def digests(self, files: Files) -> dict[str, str]:
        """Return the digest of each group of its code."""
        groups = {**self.code, self.maker: [self.maker]}
        return {group: digest(files, paths) for group, paths in groups.items()}


class Manifest:
    """The tables of a repository and their stamps.

    Args:
        root: the folder of the repository.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        listed = tomllib.loads((root / "benchmarks" / "tables.toml").read_text("utf-8"))
        groups = listed.pop("code")
        self.tables = {
            name: Table(name=name, **{**found, "code": {one: groups.get(one, [one]) for one in found["code"]}})
            for name, found in listed.items()
        }
        self._file = root / "benchmarks" / "stamps.json"
        self.stamps: dict[str, dict[str, Any]] = (
            json.loads(self._file.read_text("utf-8")) if self._file.exists() else {}
        )
        self._now = Folder(root)
        self._digests: dict[tuple[str, ...], str] = {}

    def newer(self, name: str) -> list[str]:
        """Return the groups of a table's code that have changed since the table was made."""
        table, stamp = self.tables[name], self.stamps[name]["code"]
        return [group for group, found in self._current(table).items() if stamp.get(group) != found]

    def problems(self) -> list[str]:
        """Return a sentence for each table without a valid stamp, and for each stamp without a table."""
        found = [
            f"{name} has a stamp, but tables.toml does not list it" for name in self.stamps if name not in self.tables
        ]
        for name, table in self.tables.items():
            text = table.text(self._now)
            stamp = f"`python benchmarks/tables.py stamp {name}`"
            if not text:
                found.append(f"{name} does not exist, but tables.toml lists it")
            elif name not in self.stamps:
                found.append(f"{name} has no stamp; stamp it after making it: {stamp}")
            elif self.stamps[name]["table"] != _short(text):
                found.append(f"{name} is another table than the stamped one; stamp it after making it: {stamp}")
        return found

    def notices(self) -> list[str]:
        """Return a sentence for each table that is older than its code."""
        return [
            f"{name} ({self.stamps[name]['date']}) is older than its code: {', '.join(groups)}"
            for name in self.tables
            if name in self.stamps and (groups := self.newer(name))
        ]

    def provenance(self, name: str) -> str:
        """Return how a table was made, in sentences for its page; "" without a stamp."""
        if name not in self.stamps:
            return ""
        stamp, groups = self.stamps[name], self.newer(name)
        machine = f" on {stamp['machine']}" if "machine" in stamp else ""
        python = f" and Python {stamp['python']}" if "python" in stamp else ""
        by = f"with fitgym {stamp['version']}{python}{machine}"
        age = f"The code behind it has changed since: {', '.join(groups)}." if groups else "The code is the same since."
        return f"Made by `{self.tables[name].command}`, {stamp['date']}, {by}. {age}"

    def stamp(self, names: Iterable[str], *, history: bool = False) -> None:
        """Stamp tables with the code of the working folder, or with that of the commit that last changed them.

        Raises:
            SystemExit: a table is not listed or does not exist.
        """
        for name in names:
            table = self.tables.get(name)
            if table is None or not table.text(self._now):
                raise SystemExit(
                    f"'{name}' is no table of benchmarks/tables.toml; expected one of: {', '.join(self.tables)}"
                )
            self.stamps[name] = self._of_commit(table) if history else self._of_now(table)
        write = {name: self.stamps[name] for name in self.tables if name in self.stamps}
        self._file.write_text(json.dumps(write, indent=1) + "\n", "utf-8")

    def _of_now(self, table: Table) -> dict[str, Any]:
        return {
            "table": _short(table.text(self._now)),
            "date": datetime.date.today().isoformat(),
            "version": _version(self._now),
            "python": platform.python_version(),
            "machine": f"{os.cpu_count()} cores, {platform.machine()}",
            "code": self._current(table),
        }

    def _of_commit(self, table: Table) -> dict[str, Any]:
        """Return a stamp without Python and machine, which git does not know."""
        text = table.text(self._now)
        made = ""
        for line in self._git("log", "--format=%H %cs", "--", table.file).splitlines():
            commit = line.split()[0]
            if table.text(_Shown({table.file: self._git("show", f"{commit}:{table.file}")})) != text:
                break
            made = line
        if not made:
            raise SystemExit(f"{table.name} is not committed as it is; stamp it without history, or commit it first")
        commit, date = made.split()
        files = Commit(self.root, commit)
        return {
            "table": _short(text),
            "date": date,
            "version": _version(files),
            "commit": commit[:10],
            "code": table.digests(files),
        }

    def _git(self, *arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True).stdout

    def _current(self, table: Table) -> dict[str, str]:
        groups = {**table.code, table.maker: [table.maker]}
        for paths in groups.values():
            key = tuple(paths)
            if key not in self._digests:
                self._digests[key] = digest(self._now, paths)
        return {group: self._digests[tuple(paths)] for group, paths in groups.items()}


class _Shown:
    """Files by name, as git shows them."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def below(self, path: str) -> list[tuple[str, bytes]]:
        return [(name, text.encode()) for name, text in self.files.items() if name == path]


def _version(files: Files) -> str:
    ((_, content),) = files.below("pyproject.toml")
    version: str = tomllib.loads(content.decode())["project"]["version"]
    return version


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, stamp or recompute."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what")
    for name in ("stamp", "history"):
        what.add_parser(name).add_argument("tables", nargs="+", metavar="TABLE")
    rows = what.add_parser("rows")
    rows.add_argument("--count", type=int, default=3)
    rows.add_argument("--seed", type=int, default=datetime.date.today().toordinal(), help="default: the date")
    options = parser.parse_args(arguments)
    manifest = Manifest()
    if options.what in ("stamp", "history"):
        manifest.stamp(options.tables, history=options.what == "history")
        return 0
    if options.what == "rows":
        from table_rows import compared

        return compared(manifest, options.count, options.seed)
    for line in (problems := manifest.problems()) + manifest.notices():
        print(line)
    return int(bool(problems))


if __name__ == "__main__":
    raise SystemExit(main())
