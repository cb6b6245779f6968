"""The hand-written pages of `docs`: their examples run, and their quotations of fitgym are exact."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nightly import every

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text("utf-8")
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.parent in (DOCS, DOCS / "add"))

FENCE = re.compile(r"^```(\S*) ?(.*)\n((?::[\w-]+: .*\n)*)\n*((?s:.*?))^```$", re.MULTILINE)
INSTALLING = ("python3 -m venv ", "pip install ")
"""How lines begin that do what the Makefile has done before any test."""


@dataclass(frozen=True)
class Block:
    """One fenced block: its language or directive, what follows on that line, its options, and the text."""

    kind: str
    argument: str
    options: dict[str, str]
    text: str


def blocks(page: Path) -> Iterator[Block]:
    for kind, argument, options, text in FENCE.findall(page.read_text("utf-8")):
        yield Block(kind, argument, dict(re.findall(r"^:([\w-]+): (.*)$", options, re.MULTILINE)), text)


def commands(page: Path) -> list[list[str]]:
    """What a reader runs, in order, as arguments of Python; without what the README says too, which has its own tests."""
    found = []
    for block in blocks(page):
        if block.kind == "python":
            found.append(["-c", block.text])
        elif block.kind == "sh":
            text = block.text.replace("\\\n", " ")  # a command may go on in the next line
            lines = [line for line in text.splitlines() if line not in README.splitlines()]
            found += [["-m", *shlex.split(line)] for line in lines if not line.startswith(INSTALLING)]
    return found


def files(page: Path) -> dict[str, str]:
    """What a reader adds: text by path."""
    found = {}
    for block in blocks(page):
        if "caption" in block.options:
            text = block.text
            if block.kind == "{literalinclude}":
                source = (page.parent / block.argument).read_text("utf-8")
                start = source.index(block.options["start-at"].strip("'"))
                text = source[start : source.index("\n", source.index(block.options["end-at"], start)) + 1]
            found[block.options["caption"]] = text
    return found


@pytest.mark.parametrize(
    "page", every(4, [p for p in PAGES if commands(p)]), ids=lambda page: str(page.relative_to(DOCS))
)
def test_the_examples_of_a_page_run_one_after_the_other(page: Path, tmp_path: Path) -> None:
    tree = ROOT
    if added := files(page):
        tree = tmp_path / "fitgym"
        for folder in ("fitgym", "envs", "agents"):
            shutil.copytree(ROOT / folder, tree / folder, symlinks=True)
    for path, text in added.items():
        assert not (tree / path).exists()
        (tree / path).write_text(text, "utf-8")
    work = tmp_path / "work"
    work.mkdir()
    for command in commands(page):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=work,
            env=os.environ | {"PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def test_each_kind_of_extension_has_an_example() -> None:
    added = {Path(path).parent.name for page in PAGES for path in files(page)}
    assert added == {"fitness", "search", "goals", "agents", "envs", "features"}


@pytest.mark.parametrize("page", [p for p in PAGES if files(p)], ids=lambda page: page.stem)
def test_an_example_is_a_file_that_the_linter_accepts(page: Path) -> None:
    for path, text in files(page).items():
        for options in (["check"], ["format", "--check"]):
            done = subprocess.run(
                [sys.executable, "-m", "ruff", *options, "--stdin-filename", path, "-"],
                cwd=ROOT,
                input=text,
                capture_output=True,
                text=True,
            )
            if "No module named ruff" in done.stderr:
                pytest.skip("ruff is not installed (extra dev)")
            assert done.returncode == 0, done.stdout + done.stderr


def sentences() -> list[str]:
    """Every text that fitgym may say, with `…` for what differs."""
    found = []
    for folder in ("fitgym", "envs", "agents"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    found.append("".join(str(p.value) if isinstance(p, ast.Constant) else "…" for p in node.values))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
    return found


def test_every_sentence_that_is_quoted_is_one_that_fitgym_says() -> None:
    said = sentences()
    quoted = [b.text.strip() for b in blocks(DOCS / "troubleshooting.md") if b.kind == "text"]
    assert len(quoted) > 15
    assert [quote for quote in quoted if not any(quote in sentence for sentence in said)] == []


def test_the_figure_has_the_stages_of_the_table() -> None:
    concepts = (DOCS / "concepts.md").read_text("utf-8")
    table = concepts.partition("## The flow of data")[2].partition("\nWhat crosses")[0]
    stages = re.findall(r"^\| (\w+) \|", table, flags=re.MULTILINE)[1:]
    drawn = re.findall(r"<text x=[^>]*>(\w+)</text>", (DOCS / "dataflow.svg").read_text("utf-8"))
    assert len(stages) > 10 and sorted(drawn) == sorted(stages)


def test_the_files_of_results_are_there() -> None:
    listed = tomllib.loads((DOCS / "results.toml").read_text("utf-8"))
    wanted = [name for maker, *files in listed.values() for name in ([maker] if maker else []) + files]
    assert [name for name in wanted if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_file_that_a_page_names_exists_or_is_one_to_be_added(page: Path) -> None:
    added = {path for other in PAGES for path in files(other)} | {"fitgym/secondary/names.py"}
    named = re.findall(r"`((?:tests|benchmarks|agents|envs|fitgym|studies)/[\w/]+\.\w+)`", page.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).exists() and name not in added] == []
