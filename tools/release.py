#!/usr/bin/env python3
"""Release the version that pyproject.toml names: `make release`. Nothing leaves this machine.

The script checks what a release needs, and shows all that is missing. It then runs the checks of continuous integration, builds
and tries the distributions, builds the documentation of the version, and tags the commit. The end says how to publish.

    python tools/release.py [--check] [--docs FOLDER]
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version_of(root: Path) -> str:
    """The version in pyproject.toml."""
    version: str = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return version


def entry(root: Path, version: str) -> tuple[str, str]:
    """What CHANGELOG.md says about a version: the text in parentheses after it, and the changes; ("", "") without an entry."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    found = re.search(rf"^## {re.escape(version)} *(?:\(([^)\n]*)\))?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return (found[1] or "", found[2].strip()) if found else ("", "")


def git(root: Path, *arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def problems(root: Path, version: str) -> list[str]:
    """What has to be mended before this version can be released, one sentence each."""
    return [*_of_the_tree(root, version), *_of_the_version(root, version), *_of_the_changelog(root, version)]


def _of_the_tree(root: Path, version: str) -> list[str]:
    found = []
    if changed := git(root, "status", "--porcelain").splitlines():
        names = ", ".join(line.split()[-1] for line in changed[:3]) + (", ..." if len(changed) > 3 else "")
        found.append(f"{len(changed)} files differ from the last commit ({names}); commit or remove them")
    if git(root, "tag", "--list", f"v{version}"):
        found.append(f"tag v{version} exists already; raise the version in pyproject.toml")
    return found


def _of_the_version(root: Path, version: str) -> list[str]:
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        found.append(f"version '{version}' in pyproject.toml is no release; expected numbers such as 1.2.0 or 1.2.0rc1")
    places = {"fitgym/__init__.py": f'__version__ = "{version}"', "CITATION.cff": f"version: {version}"}
    for name, line in places.items():
        if line not in (root / name).read_text("utf-8").splitlines():
            found.append(f"{name} has another version than pyproject.toml; expected the line '{line}'")
    return found


def _of_the_changelog(root: Path, version: str) -> list[str]:
    date, changes = entry(root, version)
    if not changes:
        return [f"CHANGELOG.md says nothing about {version}; write what users notice below '## {version} (YYYY-MM-DD)'"]
    try:
        datetime.date.fromisoformat(date)
    except ValueError:
        return [f"'({date})' after {version} in CHANGELOG.md is no date; expected one such as (2026-01-31)"]
    return []


def steps(docs: Path) -> list[list[str]]:
    """The commands between the checks and the tag, in order; each must end with 0."""
    return [
        ["bash", ".ci/run"],
        ["make", "wheels"],
        ["make", "installed"],
        ["make", "docs", f"VERSIONED={docs}"],
    ]


def release(root: Path, docs: Path) -> None:
    """Check, build and tag.

    Raises:
        SystemExit: something is missing, or a step failed; nothing is tagged then.
    """
    version = version_of(root)
    stop_at(problems(root, version))
    commit = git(root, "rev-parse", "HEAD")
    for command in steps(docs):
        print(f"\n== {' '.join(command)}", flush=True)
        if subprocess.run(command, cwd=root).returncode:
            raise SystemExit(f"`{' '.join(command)}` failed, so {version} was not tagged; mend it and start again")
    # The steps take long enough for a commit or an edit in between.
    stop_at(problems(root, version))
    if git(root, "rev-parse", "HEAD") != commit:
        raise SystemExit(f"another commit than {commit[:10]} is checked out now; start again")
    message = f"fitgym {version}\n\n{entry(root, version)[1]}"
    git(root, "tag", "--annotate", "--cleanup=verbatim", "--message", message, f"v{version}")
    print(f"\nv{version} is tagged. To publish it:\n\n{publishing(version, docs)}")


def stop_at(found: list[str]) -> None:
    """End with all problems, if there are any."""
    if found:
        raise SystemExit("\n".join(["this cannot be released:", *(f"- {problem}" for problem in found)]))


def publishing(version: str, docs: Path) -> str:
    """The commands that publish a tagged version; a person runs them."""
    return "\n".join(
        [
            f"    git push origin v{version}",
            "    auditwheel repair --wheel-dir dist dist/*-abi3-linux_*.whl && rm dist/*-abi3-linux_*.whl",
            f"    twine upload dist/fitgym-{version}*",
            f"    copy the folder {docs} to where the documentation is served",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Release, or only look at what a release needs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="show what is missing; build and tag nothing")
    parser.add_argument("--docs", type=Path, default=Path("versions"), help="folder of all versions' documentation")
    options = parser.parse_args(arguments)
    if not options.check:
        release(ROOT, options.docs)
        return
    stop_at(problems(ROOT, version_of(ROOT)))
    print(f"{version_of(ROOT)} can be released", file=sys.stderr)


if __name__ == "__main__":
    main()
