#!/usr/bin/env python3
"""Add the site that was built to a folder that has one folder for each version: `make docs VERSIONED=FOLDER`.

python tools/versions.py SITE FOLDER VERSION
"""

from __future__ import annotations

import re
import shutil
import sys
from html import escape
from pathlib import Path

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>fitgym: versions of the documentation</title>
<style>
:root {{ color-scheme: light dark; --link: #0a4bff; --muted: #5a5c63; --line: #e3e5e8 }}
@media (prefers-color-scheme: dark) {{ :root {{ --link: #79a8ff; --muted: #9ca0a5; --line: #303335 }} }}
body {{ max-width: 38rem; margin: 4rem auto; padding: 0 1.25rem; font: 1rem/1.6 system-ui, sans-serif }}
h1 {{ margin: 0 0 .25rem; font-size: 1.75rem; line-height: 1.2 }}
p, small {{ color: var(--muted) }}
ul {{ margin: 2rem 0; padding: 0; list-style: none; border-top: 1px solid var(--line) }}
li {{ display: flex; align-items: baseline; justify-content: space-between; border-bottom: 1px solid var(--line) }}
a {{ flex: 1; padding: .75rem 0; color: var(--link); font-weight: 600; text-decoration: none }}
a:hover {{ text-decoration: underline }}
</style>
</head>
<body>
<h1>fitgym</h1>
<p>The documentation of each version.</p>
<ul>
{items}
</ul>
</body>
</html>
"""

VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?")


def order(version: str) -> tuple[int, int, int, str, int]:
    """What versions are sorted by: 1.10.0 is after 1.9.0, and 1.9.0 is after 1.9.0rc1."""
    found = VERSION.fullmatch(version)
    if found is None:
        raise SystemExit(f"version '{version}' is no release; expected numbers such as 1.2.0 or 1.2.0rc1")
    major, minor, patch, stage, number = found.groups()
    return int(major), int(minor), int(patch), stage or "release", int(number or 0)


def versions(folder: Path) -> list[str]:
    """The versions that a folder has documentation of, the newest first; other folders are left alone."""
    found = [path.parent.name for path in folder.glob("*/index.html") if VERSION.fullmatch(path.parent.name)]
    return sorted(found, key=order, reverse=True)


def page(found: list[str]) -> str:
    """The page that lists versions, given with the newest first; the first one that is no preview is the latest."""
    latest = next((version for version in found if order(version)[3] == "release"), "")
    notes = {version: "preview" for version in found if order(version)[3] != "release"} | {latest: "latest"}
    return PAGE.format(
        items="\n".join(
            f'<li><a href="{escape(version)}/index.html">{escape(version)}</a><small>{notes.get(version, "")}</small></li>'
            for version in found
        )
    )


def add(site: Path, folder: Path, version: str) -> None:
    """Copy a site to the folder of its version, in place of an earlier copy, and write the list again."""
    order(version)
    shutil.rmtree(folder / version, ignore_errors=True)
    shutil.copytree(site, folder / version)
    (folder / "index.html").write_text(page(versions(folder)), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    add(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
    print(f"{sys.argv[2]}/index.html lists {', '.join(versions(Path(sys.argv[2])))}")
