"""Makes a page for each paper: its claims, the committed runs beside them, and the verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evidence import OUTCOMES, Claim, Paper, load
from provenance import provenance

__all__ = ["paper_pages", "papers"]

RULE = """A claim is **reproduced** if the difference has the published direction, the 95 % bootstrap interval excludes "no
difference", and the test has p < 0.05 after Holm's correction for all claims of the page. It is **refuted here** if the
same holds in the other direction. Otherwise it **cannot be told**, and the page names the command that would tell. With one
seed nothing is tested. Only the direction is judged; the numbers show the size. A claim that two sides are alike needs an
interval of A12 within 0.44 to 0.56. A12 is the probability that a run of the first side reaches more than a run of the
second."""

INTRODUCTION = f"""# Claims of the papers

fitgym implements five papers. Each page states the claims of one paper as sentences that runs can refute. The build inserts
all of our numbers and all verdicts from the committed runs.

{RULE}

Most runs are small so far: the number of seeds stands with each claim. The studies have a size `paper` that settles more
claims. It takes two cores at most six hours for each study.
"""


def papers(root: Path) -> list[Paper]:
    """Return the papers of `docs/claims` in the order of their files.

    Args:
        root: the folder of the repository.
    """
    return [load(file, root) for file in sorted((root / "docs" / "claims").glob("*.toml"))]


def paper_pages(root: Path) -> dict[str, str]:
    """Return a page for each paper and an index, by path in the documentation folder."""
    found = papers(root)
    heads = ("paper", "claims", *OUTCOMES)
    rows = [
        (f"[{one.title}]({one.name}.md)", str(len(one.claims)), *(str(one.count(outcome)) for outcome in OUTCOMES))
        for one in found
    ]
    names = "\n".join(one.name for one in found)
    index = f"{INTRODUCTION}\n{_table(heads, rows)}\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    return {"papers/index.md": index} | {f"papers/{one.name}.md": _page(one, root) for one in found}


def _page(paper: Paper, root: Path) -> str:
    counts = ", ".join(f"{paper.count(outcome)} {outcome}" for outcome in OUTCOMES)
    every = (*paper.claims, *paper.own)
    tables = dict.fromkeys(claim.table for claim in every if claim.table)
    own = f"## Claims that the paper does not make\n\n{_overview(paper.own)}\n\n" if paper.own else ""
    made = "\n".join(f"- `{table}`. {provenance(root, table)}" for table in tables)
    return f"""# {paper.title}

{paper.cited}

{paper.asks}

**{len(paper.claims)} claims: {counts}.** The rule stands on [the page before](index.md).

{_overview(paper.claims)}

{own}## What differs

{_table(("", "paper", "here"), paper.differs)}

## Claim by claim

{"".join(map(_claim, every))}
## The runs

{made}
"""


def _overview(claims: Iterable[Claim]) -> str:
    cells = [(one.says, one.published, one.ours, f"**{one.verdict}**") for one in claims]
    return _table(("claim", "published", "here", "verdict"), cells)


def _claim(claim: Claim) -> str:
    return f"""### {claim.says.removesuffix(".")}

{claim.verdict.capitalize()}. {claim.why} Next: `{claim.tells}`.

"""


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(heads), *map(tuple, rows)]
    lines.insert(1, ("---",) * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
