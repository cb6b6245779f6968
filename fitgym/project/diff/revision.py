"""Revisions: what git knows about an earlier version of a project.

Nothing here changes the repository, its index or its working tree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from fitgym.errors import InputError

__all__ = ["Revision", "revision"]

_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
"""Variables that git sets for hooks. They would point at another index or repository than that of the project."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of a repository.

    Attributes:
        top: the root folder of the repository.
        text: the commit as the user named it, such as `HEAD~3`.
        commit: its hash.
    """

    top: Path
    text: str
    commit: str

    def files(self) -> frozenset[str]:
        """The files of the commit, relative to `top`."""
        return frozenset(_names(_git(self.top, "ls-tree", "-r", "-z", "--name-only", self.commit)))

    def edited(self) -> frozenset[str]:
        """The files that the working tree has changed, added or removed since, relative to `top`."""
        return frozenset(name for names in self._status() for name in names[1:])

    def renamed(self) -> Mapping[str, str]:
        """The files that git considers renamed, staged or not: new name to old name, relative to `top`."""
        found = {names[2]: names[1] for names in self._status() if names[0].startswith("R")}
        return MappingProxyType(found)

    def read(self, name: str) -> bytes:
        """The content of a file at the commit.

        Raises:
            InputError: the commit has no such file.
        """
        return _git(self.top, "cat-file", "blob", f"{self.commit}:{name}")

    def checkout(self, folder: Path) -> None:
        """Write all files of the commit to a folder.

        Ignored files of the working tree (compiled modules, a generated version file) are copied too, unless the commit
        has them: the old version could not be imported without them.

        Args:
            folder: an empty folder outside the repository.

        Raises:
            InputError: git cannot write them.
        """
        index = {"GIT_INDEX_FILE": str(folder) + ".index"}
        try:
            _git(self.top, "read-tree", self.commit, environment=index)
            _git(self.top, "checkout-index", "--all", f"--prefix={folder}/", environment=index)
        finally:
            Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
        ignored = _names(_git(self.top, "ls-files", "-z", "--others", "--ignored", "--exclude-standard"))
        for name in ignored:
            source, target = self.top / name, folder / name
            # A package that is there has the folder; environments and builds are not part of the commit.
            if target.parent.is_dir() and not target.exists() and source.is_file() and source.suffix in _NEEDED:
                shutil.copy2(source, target)

    def _status(self) -> list[list[str]]:
        """`[status, name]` for each file that differs, `[status, old name, new name]` for a renamed one.

        A copy of the index tells git to consider new files too, so that a renamed file is found before `git add`. Git
        writes any object that this takes into a temporary folder.
        """
        options = ("--name-status", "-z", "--find-renames", "--no-ext-diff", "--ignore-submodules")
        paths = _git(self.top, "rev-parse", "--path-format=absolute", "--git-path", "index", "--git-path", "objects")
        index, objects = map(Path, os.fsdecode(paths).splitlines())
        with tempfile.TemporaryDirectory(prefix="fitgym-index-") as folder:
            copy = Path(folder, "index")
            if index.exists():
                shutil.copy2(index, copy)
            private = {
                "GIT_INDEX_FILE": str(copy),
                "GIT_OBJECT_DIRECTORY": folder,
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
            }
            _git(self.top, "add", "--intent-to-add", "--ignore-errors", "--", ".", environment=private)
            fields = _names(_git(self.top, "diff", *options, self.commit, environment=private))
        found = []
        while fields:
            length = 3 if fields[0][:1] in ("R", "C") else 2
            found.append(fields[:length])
            del fields[:length]
        return found


_NEEDED = (".py", ".so", ".pyd")


def revision(text: str, folder: Path) -> Revision:
    """The commit that a text names.

    Args:
        text: anything that git understands: a hash, a tag, a branch, `HEAD~3`.
        folder: a folder of the repository.

    Raises:
        InputError: git is missing, the folder is in no repository, or there is no such commit.
    """
    try:
        top = _git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
    except InputError as problem:
        if "not a git repository" in str(problem):
            raise InputError(
                f"'{folder}' is in no git repository, so there is no earlier version to compare with; "
                "name a project that git keeps"
            ) from None
        raise
    try:
        if text.startswith("-") or not text.strip():
            raise InputError("it is an option")
        commit = _git(Path(top), "rev-parse", "--verify", "--quiet", f"{text}^{{commit}}").decode().strip()
    except InputError:
        raise InputError(
            f"'{text}' is no commit of the repository '{top}'; expected a hash, a tag, a branch or HEAD~1"
        ) from None
    return Revision(Path(top), text, commit)


def _git(folder: Path, *arguments: str, environment: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """What git writes.

    Raises:
        InputError: it is not installed, or fails.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    # Without optional locks `git diff` leaves the index as it is.
    settings = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env={**inherited, **settings, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise InputError("git is not installed, or not on PATH; it is needed to read the earlier version") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(f"git {arguments[0]} failed in '{folder}': {said[0] if said else f'code {done.returncode}'}")
    return done.stdout


def _names(listed: bytes) -> list[str]:
    """File names that git ended with a zero byte each."""
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]
