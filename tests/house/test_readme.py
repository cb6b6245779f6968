"""The examples of the README run as printed."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import every

import fitgym.agents
from fitgym.agents.base import Agent, Transition, agents, make

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks in one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


PYTHON = [block for block in blocks("python") if block.startswith(("import", "from")) and "class " not in block]
COMMANDS = [line for line in blocks("")[0].splitlines() if line.startswith(("fitgym ", "pytest "))]


def test_there_are_examples_of_each_kind() -> None:
    assert len(PYTHON) == 4 and len(COMMANDS) == 2


@pytest.mark.parametrize("block", every(4, PYTHON, 1), ids=["generate", "environment", "video", "train"])
def test_a_python_example_runs_as_printed(block: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, env=_environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert all((tmp_path / file).stat().st_size for file in re.findall(r"\S+\.mp4", done.stdout))


def test_the_commands_run_as_printed(tmp_path: Path) -> None:
    for command in COMMANDS:
        program, *arguments = command.split()
        line = [sys.executable, "-m", program, *arguments]
        done = subprocess.run(line, cwd=tmp_path, env=_environment(), capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


@pytest.mark.parametrize(
    "line", [line for block in blocks("") for line in block.splitlines() if line.startswith("fitgym ")]
)
def test_every_command_of_the_readme_is_one_with_such_flags(line: str) -> None:
    from fitgym.cli import app

    command = line.partition("#")[0].split()[1:]
    app.parse_args(command, exit_on_error=False, print_error=False)


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


def test_the_agent_of_the_readme_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = [block for block in blocks("python") if "class Greedy(Agent)" in block]
    (tmp_path / "greedy.py").write_text(example)
    monkeypatch.setattr(fitgym.agents, "__path__", [*fitgym.agents.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    assert "greedy" in agents().names()
    agent = make("greedy:hope=2", 3)
    for action, reward in ((0, 0.0), (1, 1.0), (2, 0.5)):
        agent.observe(Transition(None, action, reward, None))
    # hope 2: (0 + 2) / 2, (1 + 2) / 2, (0.5 + 2) / 2
    assert agent.act(None, {}) == 1
    loaded = Agent.load(agent.save(tmp_path / "saved"))
    assert loaded.hyper_parameters() == {"hope": 2}
    assert loaded.arrays()["sums"].tolist() == [0.0, 1.0, 0.5]
    monkeypatch.delitem(sys.modules, "fitgym.agents.greedy")


@pytest.mark.parametrize(
    "link", sorted(set(re.findall(r"`((?:tests|benchmarks|examples|agents|fitgym)/[\w/]+\.\w+)`", TEXT)))
)
def test_a_file_that_is_named_exists_or_is_one_to_be_added(link: str) -> None:
    to_add = [*re.findall(r"^\| an? [^|]+\| `([^`]+)`", TEXT, flags=re.MULTILINE), "agents/greedy.py"]
    assert (ROOT / link).exists() != (link in to_add)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", TEXT))))
def test_a_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


def test_a_link_into_a_page_leads_to_a_heading() -> None:
    found = re.findall(r"\]\(([^)#:]*)#([\w-]+)\)", TEXT)
    assert len(found) >= 2
    for page, anchor in found:
        text = (ROOT / (page or "README.md")).read_text("utf-8")
        heads = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def test_a_newcomer_reads_it_in_a_few_minutes() -> None:
    prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert len(prose.split()) < 1300
