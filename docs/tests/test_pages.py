"""Generated pages: an added file gets a page, and the page of a deleted file is removed."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("sphinx", reason="the documentation needs Sphinx: pip install 'fitgym[docs]'")

import pages

import fitgym.agents
from fitgym.errors import InputError

AGENT = '''"""Whatever is first."""

from fitgym.agents.fixed import Fixed as Base


class First(Base):
    """Takes the first action."""

    def __init__(self, action_space, action_names=None, seed=0, *, again=True):
        super().__init__(action_space, action_names, seed)
        self.again = again
'''


def test_an_extension_that_is_added_as_a_file_has_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "first.py").write_text(AGENT)
    monkeypatch.setattr(fitgym.agents, "__path__", [*fitgym.agents.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    try:
        made = pages.extension_pages("agents")
    finally:
        sys.modules.pop("fitgym.agents.first", None)
    assert ".. automodule:: fitgym.agents.first" in made["agents/first.rst"]
    assert "``again=true``" in made["agents/first.rst"]
    assert "Takes the first action." in made["agents/index.rst"]
    assert "   first <first>" in made["agents/index.rst"]


def test_what_is_asked_for_on_the_page_of_a_fitness_function_can_be_chosen() -> None:
    made = pages.extension_pages("fitness")
    assert "--goal coverage --agent fixed:branch\n" in made["fitness/branch.rst"]
    assert "--goal strong_mutation --agent fixed:weak_mutation\n" in made["fitness/weak_mutation.rst"]
    assert "--agent" not in made["fitness/top_level_method.rst"]  # no goal has it


def test_an_agent_that_has_to_be_trained_first_is_shown_so() -> None:
    made = pages.extension_pages("agents")
    assert "--agent ppo" not in made["agents/ppo.rst"] and "fitgym train ppo" in made["agents/ppo.rst"]
    assert "--agent uniform" in made["agents/uniform.rst"] and "fitgym train" not in made["agents/uniform.rst"]


def test_the_page_of_a_table_says_how_to_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "results.toml").write_text('"Who wins" = ["benchmarks/win.py", "benchmarks/wins/table.md"]')
    (tmp_path / "benchmarks" / "wins").mkdir(parents=True)
    (tmp_path / "benchmarks" / "wins" / "table.md").write_text("| a | b |\n")
    readme = tmp_path / "benchmarks" / "README.md"
    readme.write_text("## What `win.py` prints\n\n`b`: the best.\n\n## What `lose.py` prints\n\nNothing.\n")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    made = pages.result_pages()["results/wins_table.md"]
    assert made.index("| a | b |") < made.index("## How it was made, and how to read it\n\n`b`: the best.")
    assert "Nothing." not in made
    readme.write_text("")
    with pytest.raises(InputError, match=r"no section 'What `win.py` prints'"):
        pages.result_pages()


def test_figures_are_shown_from_where_they_lie_and_those_above_a_table_wide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    listed = '"Who wins" = ["studies/win.toml", "reports/win/report.md", "reports/all.svg"]'
    (tmp_path / "docs" / "results.toml").write_text(listed)
    (tmp_path / "reports" / "win").mkdir(parents=True)
    (tmp_path / "reports" / "win" / "report.md").write_text("Before.\n\n![Ranks: 1 the best.](figures/ranks.png)\n")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    made = pages.result_pages()["results/win_report.md"]
    assert "```{figure} /../reports/all.svg\n:alt: all\n:figclass: wide\n```\n\nBefore." in made
    assert "![Ranks: 1 the best.](/../reports/win/figures/ranks.png)" in made


def test_what_has_not_changed_is_not_written_and_what_is_gone_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "all_pages", lambda: {"agents/kept.rst": "kept", "agents/new.rst": "new"})
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "kept.rst").write_text("kept")
    (tmp_path / "agents" / "gone.rst").write_text("gone")
    (tmp_path / "index.md").write_text("by hand")
    before = (tmp_path / "agents" / "kept.rst").stat().st_mtime_ns
    pages.write(SimpleNamespace(srcdir=tmp_path))
    assert sorted(file.name for file in tmp_path.rglob("*.*")) == ["index.md", "kept.rst", "new.rst"]
    assert (tmp_path / "agents" / "kept.rst").stat().st_mtime_ns == before
