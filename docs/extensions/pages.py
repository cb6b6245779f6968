"""Generates pages from the code: one for each extension, environment and module, with tables of contents.

The registries list the extensions. So a file that is added to an extension folder gets a page in the next build of the
documentation.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import pkgutil
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
from cyclopts import App
from docstrings import restructured
from gymnasium.spaces import Discrete, MultiBinary
from lessons import lesson_pages
from papers import paper_pages
from provenance import provenance
from rich.console import Console
from sphinx.application import Sphinx

import fitgym
import fitgym.agents.base
import fitgym.envs
from fitgym.agents.base import Agent
from fitgym.cli import app
from fitgym.commands.listing import describe, options
from fitgym.engine import FITNESS, SEARCH, SECONDARY
from fitgym.envs.base import GOALS
from fitgym.envs.catalogue import action_name, catalogue
from fitgym.envs.features.base import blocks
from fitgym.errors import InputError
from fitgym.goals.base import REWARDS
from fitgym.registry import Registry

__all__ = ["all_pages", "modules", "write"]

ROOT = Path(fitgym.__file__).parent.parent

Pages = dict[str, str]
"""The text of each page by its path in the documentation folder."""

EXTENSIONS: Mapping[str, tuple[Registry[Any], str, str]] = {
    "fitness": (FITNESS, "Fitness functions", ""),
    "search": (SEARCH, "Search algorithms", "fitgym generate SUBJECT --search {name}"),
    "secondary": (SECONDARY, "Secondary objectives", "fitgym generate SUBJECT --secondary {name}"),
    "goals": (GOALS, "Goals", "fitgym generate SUBJECT --goal {name}"),
    "features": (blocks(), "Feature blocks", "fitgym generate SUBJECT --features {name}"),
    "agents": (fitgym.agents.base.agents(), "Agents", "fitgym generate SUBJECT --agent {name}"),
}
"""For each folder of extensions: the noun for one of them, its title, and a command that uses it."""


RESULTS = """# Results

What fitgym does on the problems of the papers that it implements, and how its agents compare. Every table is made by a
script of the folder `benchmarks` or a study of the folder `studies`, and stands in the repository beside the runs that it was
made from; its page ends with how it was made and how to read it.

The comparisons of the papers are studies, in the folder `studies`: `fitgym study run FILE` repeats one, and `fitgym
validate FOLDER` runs every record of it again.
"""


def modules() -> list[str]:
    """Return every public module of fitgym by import name, packages included."""
    found = ["fitgym", *(module.name for module in pkgutil.walk_packages(fitgym.__path__, "fitgym."))]
    return sorted(name for name in found if not any(part.startswith("_") for part in name.split(".")))


def all_pages() -> Pages:
    """Return all generated pages."""
    pages: Pages = {}
    for folder in EXTENSIONS:
        pages |= extension_pages(folder)
    pages |= environment_pages() | command_page() | reference_pages() | result_pages() | lesson_pages()
    return pages | paper_pages(ROOT)


# ---------------------------------------------------------------------- extensions


def extension_pages(folder: str) -> Pages:
    """Return a page for each extension in a folder, and an index page."""
    registry, title, command = EXTENSIONS[folder]
    entries = [entry for entry in describe(folder) if entry[0] in registry.names()]  # a set of features is no extension
    pages = {f"{folder}/index.rst": _index(title, inspect.getdoc(registry.base) or "", entries, registry.package)}
    for name in registry.names():
        cls = registry.load(name)
        parts = [
            _heading(f"{name}: {registry.noun}"),
            _commands_of(folder, name, command),
            _rst_table(_facts(folder, name, cls)),
            f".. automodule:: {cls.__module__}\n",
        ]
        pages[f"{folder}/{name}.rst"] = "\n".join(parts)
    return pages


def _commands_of(folder: str, name: str, command: str) -> str:
    """Return the command that uses an extension; for an agent that learns across runs, also how to train it."""
    lines = [command.format(name=name) or _with_fitness(name)]
    if folder == "agents" and (env := _only_in(name)):
        command = f"{command} --env {env}"
        lines = [command.format(name=name)]
    if folder == "agents" and (_learns(name) or _is_trained(name)):
        where = f" --env {env}" if (env := _only_in(name)) else ""
        train = f"fitgym train {name}{where} --subjects stdlib-v1:train --output policy"
        lines = [*(lines if _learns(name) else []), train, command.format(name="policy")]
    return _rst_code(*filter(None, lines))


def _only_in(name: str) -> str:
    """Return an environment for an agent that does not act in the default one; empty for all others."""
    spaces = fitgym.agents.base.kind(name).spaces
    if Discrete in spaces:
        return ""
    return "fitgym/FitnessBits-v0" if MultiBinary in spaces else "fitgym/WeightedFitness-v0"


def _learns(name: str) -> bool:
    """Return whether the agent learns while it chooses."""
    return fitgym.agents.base.kind(name).learns


def _is_trained(name: str) -> bool:
    """Return whether the agent learns in its own way before it chooses."""
    return fitgym.agents.base.kind(name).learn is not Agent.learn


def _with_fitness(name: str) -> str:
    """Return the command that makes a fitness function guide the search with as few others as possible.

    Return an empty string if there is none.
    """
    classes = {goal: GOALS.load(goal) for goal in GOALS.names()}
    ways = [
        (action, goal)
        for goal, cls in classes.items()
        for action in catalogue(cls.catalogue, cls.functions, cls.required)
        if name in action
    ]
    if not ways:
        return ""
    action, goal = min(ways, key=lambda way: len(way[0]))
    return f"fitgym generate SUBJECT --goal {goal} --agent fixed:{action_name(action)}"


def _index(title: str, text: str, rows: Iterable[tuple[str, str]], package: str) -> str:
    """Return a table of extensions with the first sentence of each."""
    rows = list(rows)
    noun = text.partition("\n")[0]
    entries = "\n".join(f"   {name} <{name}>" for name, _ in rows)
    table = _rst_table([(f":doc:`{name} <{name}>`", _rst(line)) for name, line in rows])
    base = f"{noun} What each promises: :py:mod:`{package}.base`.\n"
    return "\n".join([_heading(title), base, table, f".. toctree::\n   :hidden:\n\n{entries}\n"])


def _facts(folder: str, name: str, cls: Any) -> Iterator[tuple[str, str]]:
    """Yield the facts about a class beyond its docstring, as reStructuredText."""
    if folder == "fitness":
        goals = [goal for goal in GOALS.names() if name in GOALS.load(goal).functions]
        yield "among the actions of", ", ".join(f":doc:`{goal} </goals/{goal}>`" for goal in goals) or "no goal"
        if cls.needs:
            yield "recorded for it", ", ".join(sorted(cls.needs))
        yield "targets", "found while measuring" if cls.dynamic else "known beforehand"
    if folder == "goals":
        actions = catalogue(cls.catalogue, cls.functions, cls.required)
        yield "its own fitness function", f":doc:`{cls.fitness} </fitness/{cls.fitness}>`"
        yield "an action combines", ", ".join(f":doc:`{name} </fitness/{name}>`" for name in cls.functions)
        yield "actions", f'{len(actions)}, catalogue "{cls.catalogue}"'
        for reward in REWARDS:
            lowest, highest = cls(reward).reward_range
            yield f'reward "{reward}"', f"from {_number(lowest)} to {_number(highest)}"
        yield "default agent", f"``{cls.agent}``"
        yield "search of fitgym generate", f":doc:`{cls.search} </search/{cls.search}>`"
    if folder in ("agents", "search"):
        yield "options", ", ".join(f"``{option}``" for option in options(cls)) or "none"
    if folder == "agents":
        yield "learns", "while it chooses" if _learns(name) else "when it is trained" if _is_trained(name) else "no"


# ---------------------------------------------------------------------- environments


def environment_pages() -> Pages:
    """Return a page for each registered environment, in the form of Gymnasium's pages, and an index page."""
    ids = list(fitgym.envs.REGISTERED)
    said = dict(describe("envs"))
    pages = {_slug(name): _environment(name) for name in ids}
    table = _md_table([(f"[{name}]({Path(_slug(name)).name})", said[name]) for name in ids])
    entries = "\n".join(f"{name.partition('/')[2]} <{Path(_slug(name)).stem}>" for name in ids)
    text = f"""# Environments

Which environments there are, and what an agent decides in each. Importing `fitgym.envs` registers them with Gymnasium. {{py:class}}`fitgym.envs.across_subjects.AcrossSubjects` wraps
those with a subject, so that every episode is about another module.

{table}

```{{toctree}}
:hidden:

{entries}
```
"""
    return pages | {"environments/index.md": text}


def _slug(name: str) -> str:
    """Return the path of an environment's page: `fitgym/Toy-v0` is environments/toy.md."""
    words = re.findall(r"[A-Z][a-z]*|(?<=-)[a-z]+(?=-)", name.partition("/")[2])
    return f"environments/{'_'.join(words).lower()}.md"


def _environment(name: str) -> str:
    spec = gymnasium.spec(name)
    given = "" if name in fitgym.envs.WITHOUT_SUBJECT else ', subject="textwrap"'
    env = gymnasium.make(name, **({"subject": "textwrap"} if given else {})).unwrapped
    try:
        cls = type(env)
        rows = [
            ("Actions", f"`{env.action_space}`"),
            ("Observations", f"`{env.observation_space}`"),
        ]
        if hasattr(env, "reward_range"):
            rows.append(("Rewards", "from {} to {}".format(*map(_number, env.reward_range))))
        rows += [(f"`{key}`", f"`{json.dumps(value)}`, fixed by the id") for key, value in spec.kwargs.items()]
        rows.append(("Class", f"{{py:class}}`~{cls.__module__}.{cls.__qualname__}`"))
        names = {what: getattr(env, f"{what}_names") for what in ("action", "feature")}
        lists = "\n\n".join(
            f"## Names of the {what}s\n\n`env.unwrapped.{what}_names`, here with the default arguments:\n\n"
            + ", ".join(f"`{entry}`" for entry in entries)
            for what, entries in names.items()
        )
        return f"""# {name.partition("/")[2]}

```python
import gymnasium

import fitgym.envs

env = gymnasium.make("{name}"{given})
```

{_md_table(rows)}

{_linked(inspect.getdoc(cls) or "")}

## Defaults

```python
{_signature(cls)}
```

{lists}

{_ladder(name)}"""
    finally:
        env.close()


def _ladder(name: str) -> str:
    """Return the possible gain in an environment from the committed table; empty without a measurement."""
    file = ROOT / "benchmarks" / "headroom" / "environments" / "ladder.md"
    written = file.read_text("utf-8") if file.exists() else ""
    found = re.search(rf"^## {re.escape(name)}$(.*?)(?=^## |\Z)", written, re.DOTALL | re.MULTILINE)
    if found is None:
        return ""
    lines = [line for line in found[1].strip().splitlines() if not line.startswith(("| constant ", "| rule "))]
    made = provenance(ROOT, f"benchmarks/headroom/environments/ladder.md#{name}")
    return "\n".join(["## What there is to gain", "", made, "", *lines, ""])


def _signature(cls: type) -> str:
    """Return the arguments of the constructor, one line each."""
    lines = [f"{cls.__name__}("]
    for parameter in inspect.signature(cls).parameters.values():
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        lines.append(f"    {stars}{parameter.name}: {parameter.annotation}{default},")
    return "\n".join([*lines, ")"])


def _linked(text: str) -> str:
    """Link code spans that are full names of modules or their members."""
    return re.sub(r"`(fitgym(?:\.\w+)+)(?:\([^`]*\))?`", r"{py:obj}`\1`", text)


# ---------------------------------------------------------------------- modules


def reference_pages() -> Pages:
    """Return a page for each public module without an extension page, by package."""
    extensions = {
        f"{registry.package}.{name}": f"{folder}/{name}"
        for folder, (registry, _, _) in EXTENSIONS.items()
        for name in registry.names()
    }
    names = modules()
    packages = [name for name in names if hasattr(importlib.import_module(name), "__path__")]
    pages = {}
    for package in packages:
        inside = [name for name in names if name.rpartition(".")[0] == package and name not in packages]
        own = [name for name in inside if name not in extensions]
        rows = [(_link(name, extensions), _rst(_first_line(importlib.import_module(name)))) for name in inside]
        entries = "\n".join(f"   {name.removeprefix('fitgym.')} <{name}>" for name in own)
        toctree = f".. toctree::\n   :hidden:\n\n{entries}\n"
        text = [_heading(f"``{package}``"), f".. automodule:: {package}\n", _rst_table(rows), toctree]
        pages[f"reference/{package}.rst"] = "\n".join(text)
        for name in own:
            pages[f"reference/{name}.rst"] = f"{_heading(f'``{name}``')}\n.. automodule:: {name}\n"
    rows = [(f":py:mod:`{name}`", _rst(_first_line(importlib.import_module(name)))) for name in packages]
    entries = "\n".join(f"   {name} <{name}>" for name in packages)
    intro = "Every public module, with what it promises and its source.\n"
    toctree = f".. toctree::\n   :hidden:\n\n{entries}\n"
    pages["reference/index.rst"] = "\n".join([_heading("Reference"), intro, _rst_table(rows), toctree])
    return pages


def _link(name: str, extensions: Mapping[str, str]) -> str:
    short = name.removeprefix("fitgym.")
    return f":doc:`{short} </{extensions[name]}>`" if name in extensions else f":doc:`{short} <{name}>`"


def _first_line(module: ModuleType) -> str:
    return (inspect.getdoc(module) or "").partition("\n")[0]


# ---------------------------------------------------------------------- commands


def command_page() -> Pages:
    """Return the help of every command, as the command line prints it."""
    helps = [
        f"## {' '.join(('fitgym', *words))}\n\n```text\n{_help(words)}\n```\n"
        for words in sorted(_commands(app, ()), key=len)
    ]
    return {"commands/index.md": "\n".join(["# Commands\n", *helps])}


def _commands(group: App, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield every command of the command line, as words."""
    for name in group.resolved_commands():
        if not name.startswith("-"):
            inner = group[name]
            below = list(_commands(inner, (*words, name)))
            yield from below or [(*words, name)]


def _help(words: tuple[str, ...]) -> str:
    text = StringIO()
    app.help_print([*words], console=Console(file=text, width=88, no_color=True))
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())


# ---------------------------------------------------------------------- results


def result_pages() -> Pages:
    """Return a page for each entry of `results.toml`: a committed table, its figures and how it was made."""
    listed = tomllib.loads((ROOT / "docs" / "results.toml").read_text("utf-8"))
    pages = {}
    for title, (maker, table, *figures) in listed.items():
        path = Path(table)
        shown = "".join(
            f"```{{figure}} /../{name}\n:alt: {Path(name).stem}\n:figclass: wide\n```\n\n" for name in figures
        )
        written = re.sub(r"\A# .*\n", "", (ROOT / table).read_text("utf-8").strip())
        written = re.sub(r"(!\[[^]]*\])\(([\w./-]+)\)", rf"\1(/../{path.parent}/\2)", written)
        if maker.endswith(".py"):
            lead = f"From `{table}`; below it stands [how to read it](#how-it-was-made-and-how-to-read-it)."
            below = _reading(Path(maker).name)
        else:
            made = f"; the study is `{maker}`, and how it was made stands at the end." if maker else "."
            lead, below = f"From `{table}`{made}", ""
        text = f"# {title}\n\n{lead}\n\n{provenance(ROOT, table)}\n\n{shown}{written}\n\n{below}"
        pages[f"results/{path.parent.name}_{path.stem}.md"] = text
    entries = "\n".join(Path(page).stem for page in pages)
    return pages | {"results/index.md": f"{RESULTS}\n```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n"}


def _reading(script: str) -> str:
    """Return the section of the benchmarks' README about a script."""
    readme = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    found = re.search(rf"^## What `{re.escape(script)}` prints$(.*?)(?=^## |\Z)", readme, re.DOTALL | re.MULTILINE)
    if found is None:
        raise InputError(f"benchmarks/README.md has no section 'What `{script}` prints', which results.toml names")
    text = found[1].strip().replace("```\npython", "```sh\npython")
    return f"## How it was made, and how to read it\n\n{text}\n"


# ---------------------------------------------------------------------- text


def _heading(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def _rst(text: str) -> str:
    """Convert one line of a docstring to reStructuredText."""
    return " ".join(restructured([text])).strip()


def _rst_code(*commands: str) -> str:
    return "\n".join([".. code-block:: sh\n", *(f"   {command}" for command in commands), ""]) if commands else ""


def _rst_table(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of two columns; the second may contain markup."""
    lines = "\n".join(f"   * - {left}\n     - {right}" for left, right in rows)
    return f".. list-table::\n   :class: facts\n\n{lines}\n" if lines else ""


def _md_table(rows: Iterable[tuple[str, str]]) -> str:
    lines = "\n".join(f"* - {left}\n  - {right}" for left, right in rows)
    return f"```{{list-table}}\n:class: facts\n\n{lines}\n```"


def _number(x: float) -> str:
    return "∞" if x == math.inf else "-∞" if x == -math.inf else f"{x:g}"


# ---------------------------------------------------------------------- writing


def write(sphinx: Sphinx, config: object = None) -> None:
    """Update the folders of generated pages: write changed files and delete obsolete ones."""
    source = Path(sphinx.srcdir)
    pages = all_pages()
    for folder in {path.partition("/")[0] for path in pages}:
        for file in (source / folder).glob("*"):
            if f"{folder}/{file.name}" not in pages:
                file.unlink()
    for path, text in pages.items():
        file = source / path
        file.parent.mkdir(exist_ok=True)
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


def setup(sphinx: Sphinx) -> dict[str, Any]:
    """Generate the pages before Sphinx looks for pages."""
    sphinx.connect("config-inited", write)
    sphinx.add_css_file("lessons.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
