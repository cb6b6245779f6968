"""Inserts numbers and figures into the paper, `docs/paper.md`: {{ expressions }} with the functions of this module."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import headroom_map
import peers
from evidence import OUTCOMES, Claim
from jinja2 import Environment, StrictUndefined
from paper_figures import TABLE, Score, learning_chart, scores, verdict_chart
from papers import papers
from provenance import newer
from sphinx.application import Sphinx

import fitgym
import fitgym.envs
from fitgym.commands.listing import describe
from fitgym.envs.leading_ones import LeadingOnesOptions, constant_value, optimum
from fitgym.errors import InputError

__all__ = ["exact_gain", "filled", "functions", "gain"]

ROOT = Path(__file__).parent.parent.parent


def filled(text: str) -> str:
    """Return the paper with its numbers.

    Args:
        text: of `docs/paper.md`.

    Raises:
        InputError: an expression asks for something that no committed table has.
    """
    return Environment(undefined=StrictUndefined).from_string(text).render(functions())


def functions() -> Mapping[str, Any]:
    """Return the functions and values that an expression may use."""
    found = papers(ROOT)
    return {
        "version": fitgym.__version__,
        "environments": len(fitgym.envs.REGISTERED),
        "number": {folder: len(describe(folder)) for folder in ("fitness", "search", "goals", "agents")},
        "claims": sum(len(one.claims) for one in found),
        "verdicts": {outcome: sum(one.count(outcome) for one in found) for outcome in OUTCOMES},
        "papers": found,
        "claim": claim,
        "rung": rung,
        "gain": gain,
        "exact_gain": exact_gain,
        "tasks": tasks,
        "learned": learned,
        "closed": closed,
        "transfer": transfer,
        "agent": agent,
        "peer": {row.algorithm: row for row in peers.rows()},
        "peer_budget": peers.budget(),
        "old": sum(newer(ROOT, name) for name in _tables()),
        "tables": len(_tables()),
        "headroom_map": headroom_map.chart(),
        "verdict_chart": verdict_chart(),
        "learning_chart": learning_chart(),
        "peers_chart": peers.chart(),
    }


def claim(paper: str, begins: str) -> Claim:
    """Return the only claim of a paper that begins with these words."""
    (one,) = (paper_ for paper_ in papers(ROOT) if paper_.name == paper)
    found = [claim_ for claim_ in (*one.claims, *one.own) if claim_.says.startswith(begins)]
    if len(found) != 1:
        raise InputError(f"{len(found)} claims of docs/claims/{paper}.toml begin with '{begins}'; expected one")
    return found[0]


def rung(env: str, name: str) -> str:
    """Return the mean final value of a rung; "top" is the highest one."""
    one = _ladder(env)
    return f"{(one.top if name == 'top' else one.rung(name)).mean('final'):.3f}"


def gain(env: str) -> str:
    """Return what the best known policy reaches more than the best constant, with its interval."""
    found = _ladder(env).gap(_ladder(env).rung("best constant"), _ladder(env).top)
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def exact_gain() -> str:
    """Return what the best policy of LeadingOnes gains over the best constant, by its recursion."""
    options = LeadingOnesOptions()
    bits, horizon, tries = options.bits, options.horizon, options.tries
    best, _ = optimum(bits, options.flips, horizon, tries)
    return f"{best - max(constant_value(bits, k, horizon, tries) for k in options.flips):.3f}"


def tasks(env: str) -> int:
    """Return the number of test tasks of a ladder."""
    return len(_ladder(env).tasks)


def learned(policy: str, judged: str, sees: str) -> Score:
    """Return the score of a policy in an environment, from the table of `benchmarks/learning.py`."""
    found = [one for one in scores(judged) if (one.policy, one.sees) == (policy, sees)]
    if len(found) != 1:
        raise InputError(f"benchmarks/learning/table.md has {len(found)} rows {judged}, {policy}, {sees}; expected one")
    return found[0]


def closed(judged: str) -> Mapping[str, str]:
    """Return how much of the gap in an environment is closed, from the table of `benchmarks/learning.py`."""
    _, _, part = TABLE.read_text("utf-8").partition("## The share of the gap")
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == judged:
            return dict(
                zip(("constant", "rule", "informed", "score", "more", "share", "blank"), cells[1:], strict=True)
            )
    raise InputError(f"benchmarks/learning/table.md has no share of the gap for {judged}")


def transfer(player: str) -> str:
    """Return what the shipped policy covers more of real modules than a player, in points, with the interval."""
    text = (ROOT / "benchmarks" / "learning" / "transfer.md").read_text("utf-8")
    row = re.search(rf"^\| {re.escape(player)} \|(.*)$", text, re.MULTILINE)
    if row is None:
        raise InputError(f"benchmarks/learning/transfer.md has no row '{player}'")
    return row[1].split("|")[2].strip()


def agent(goal: str, name: str) -> str:
    """Return the share of the best value that an agent reaches, from the first table of a goal."""
    table = (ROOT / "benchmarks" / "agents" / "table.md").read_text("utf-8")
    part = re.search(rf"^## {goal},.*?(?=^## |\Z)", table, re.DOTALL | re.MULTILINE)
    row = re.search(rf"^\| {re.escape(name)} \|.*$", part[0] if part else "", re.MULTILINE)
    if row is None:
        raise InputError(f"benchmarks/agents/table.md has no row '{name}' for the goal {goal}")
    return row[0].split("|")[5].strip()


@lru_cache(maxsize=1)
def _ladders() -> Mapping[str, Any]:
    return {one.env.partition("/")[2]: one for one in headroom_map.ladders()}


def _ladder(env: str) -> Any:
    return _ladders()[env]


@lru_cache(maxsize=1)
def _tables() -> tuple[str, ...]:
    from tables import Manifest

    return tuple(Manifest(ROOT).stamps)


def _read(app: Sphinx, page: str, content: list[str]) -> None:
    if page == "paper":
        content[0] = filled(content[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill the paper when Sphinx reads it."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
