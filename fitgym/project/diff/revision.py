"""Revisions: read an earlier version of a project from git.

The functions do not change the repository, its index or its working tree.
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
"""Variables that git sets for hooks; they may refer to another index or repository than the project's."""


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
        """Return the files of the commit, relative to `top`."""
        return frozenset(_names(_git(self.top, "ls-tree", "-r", "-z", "--name-only", self.commit)))

    def edited(self) -> frozenset[str]:
        """Return the files changed, added or removed in the working tree since the commit, relative to `top`."""
        return frozenset(name for names in self._status() for name in names[1:])

    def renamed(self) -> Mapping[str, str]:
        """Return the files that git considers renamed, staged or not: new name to old name, relative to `top`."""
        found = {names[2]: names[1] for names in self._status() if names[0].startswith("R")}
        return MappingProxyType(found)

    def read(self, name: str) -> bytes:
        """Return the content of a file at the commit.

        Raises:
            InputError: the commit has no such file.
        """
        return _git(self.top, "cat-file", "blob", f"{self.commit}:{name}")

    def checkout(self, folder: Path) -> None:
        """Write all files of the commit to a folder.

        Ignored files of the working tree (compiled modules, a generated version file) are copied too, unless the commit
        contains them: the old version could not be imported without them.

        Args:
            folder: an empty folder outside the repository.

        Raises:
            InputError: git cannot write the files.
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
            # Copy only into folders of the commit, and no environments or build folders.
            if target.parent.is_dir() and not target.exists() and source.is_file() and source.suffix in _NEEDED:
                shutil.copy2(source, target)

    def _status(self) -> list[list[str]]:
        """Return `[status, name]` for each file that differs, `[status, old name, new name]` for a renamed one.

        New files are added to a copy of the index, so that a renamed file is found before `git add`. Git writes the
        objects that this requires to a temporary folder.
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
    """Return the commit for a text.

    Args:
        text: any commit name of git: a hash, a tag, a branch, `HEAD~3`.
        folder: a folder of the repository.

    Raises:
        InputError: git is missing, the folder is in no repository, or there is no such commit.
    """
    try:
        top = _git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
    except InputError as problem:
        if "not a git repository" in str(problem):
            raise InputError(
                f"'{folder}' is not in a git repository, so there is no earlier version to compare with; "
                "name a project in a git repository"
            ) from None
        raise
    try:
        if text.startswith("-") or not text.strip():
            raise InputError("it is an option")
        commit = _git(Path(top), "rev-parse", "--verify", "--quiet", f"{text}^{{commit}}").decode().strip()
    except InputError:
        raise InputError(
            f"'{text}' is not a commit of the repository '{top}'; expected a hash, a tag, a branch or HEAD~1"
        ) from None
    return Revision(Path(top), text, commit)


def _git(folder: Path, *arguments: str, environment: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """Run git and return its output.

    Raises:
        InputError: git is not installed, or fails.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    # Without optional locks, `git diff` does not change the index.
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
    """Return file names from a list in which each ends with a zero byte."""
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]
