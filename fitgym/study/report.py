"""The report of a study: one HTML page that works offline, Markdown, LaTeX tables and figures."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fitgym.rendering.page import page
from fitgym.study.analysis import Analysis
from fitgym.study.comparison import Contrast
from fitgym.study.figures import figures
from fitgym.study.plan import Arm, Plan
from fitgym.study.results import Reach, Results
from fitgym.study.statistics import Interval
from fitgym.study.store import Store
from fitgym.study.trials.base import Trial, trials
from fitgym.study.verdict import Judged
from fitgym.suite.text.export import write

__all__ = ["Entry", "Table", "report"]

_TOLD = (
    "goal",
    "search",
    "reward",
    "agent",
)  # shown even if they have their default values, because readers cannot guess them


@dataclass(frozen=True, slots=True)
class Entry:
    """A cell of a table.

    Attributes:
        text: what is shown.
        value: the sort key, a number or text; None sorts last.
        best: the cell is highlighted.
    """

    text: str
    value: float | str | None = None
    best: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table that can be written in several formats."""

    heads: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    texts: frozenset[int] = frozenset()
    """Indexes of columns with long text."""

    def html(self) -> str:
        """Return the table as HTML, with a button for sorting in each head."""
        from markupsafe import Markup, escape

        def opened(tag: str, column: int, best: bool = False) -> str:
            names = [*(["text"] if column in self.texts else []), *(["best"] if best else [])]
            return f'<{tag} class="{" ".join(names)}"' if names else f"<{tag}"

        heads = "".join(
            f"{opened('th', column)}><button>{escape(head)}</button></th>" for column, head in enumerate(self.heads)
        )
        rows = "\n".join(
            "<tr>"
            + "".join(
                f'{opened("td", column, cell.best)} data-value="{_sortable(cell.value)}">{escape(cell.text)}</td>'
                for column, cell in enumerate(row)
            )
            + "</tr>"
            for row in self.rows
        )
        return Markup(
            f'<div class="wide"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>'
        )

    def markdown(self) -> str:
        """Return the table as Markdown for GitHub."""
        lines = [self.heads, ["---"] * len(self.heads)]
        lines += [[f"**{cell.text}**" if cell.best else cell.text for cell in row] for row in self.rows]
        return "\n".join(f"| {' | '.join(text.replace('|', '/') for text in line)} |" for line in lines) + "\n"

    def latex(self) -> str:
        """Return the table as LaTeX, with the rules of booktabs."""
        columns = "l" + "r" * (len(self.heads) - 1)
        lines = [
            f"\\begin{{tabular}}{{{columns}}}",
            "\\toprule",
            " & ".join(map(_tex, self.heads)) + " \\\\",
            "\\midrule",
        ]
        for row in self.rows:
            lines.append(" & ".join(f"\\textbf{{{_tex(c.text)}}}" if c.best else _tex(c.text) for c in row) + " \\\\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def report(folder: str | Path, output: str | Path | None = None) -> list[Path]:
    """Write the report of a study; the same records always give the same bytes.

    The files are `report.html`, `report.md`, `overall.tex`, `subjects.tex`, `figures/*.svg` and `figures/*.png`.

    Args:
        folder: of the study.
        output: folder for the report, the study's own if None.

    Raises:
        InputError: the folder contains no study.
    """
    store = Store.open(folder)
    analysis = Analysis.of(Results(store.plan, store.records()))
    drawings = figures(analysis.results, analysis.ranks)
    drawn = {name: (caption, drawing.svg()) for name, (caption, drawing) in drawings.items()}
    overall, by_subject = _overall(analysis), _by_subject(analysis)
    place = Path(output or folder)
    files: dict[Path, str | bytes] = {
        place / "report.html": _html(analysis, drawn, overall, by_subject),
        place / "report.md": _markdown(analysis, drawn, overall, by_subject),
        place / "overall.tex": overall.latex(),
        place / "subjects.tex": by_subject.latex(),
        **{place / "figures" / f"{name}.svg": svg + "\n" for name, (_, svg) in drawn.items()},
        **{place / "figures" / f"{name}.png": drawing.png() for name, (_, drawing) in drawings.items()},
    }
    for file, content in files.items():
        write(content, file)
    return list(files)


def _html(analysis: Analysis, drawn: dict[str, tuple[str, str]], overall: Table, by_subject: Table) -> str:
    return page(
        "fitgym.study",
        "report.html.jinja",
        plan=analysis.results.plan,
        analysis=analysis,
        overall=overall,
        by_subject=by_subject,
        failures=_failures(analysis),
        figures=drawn,
        reached="reached" in drawn,
        deciding="deciding" in overall.heads,
        methods=methods(analysis.results.plan),
        provenance=provenance(analysis),
        table=Table.html,
    )


def _markdown(analysis: Analysis, drawn: dict[str, tuple[str, str]], overall: Table, by_subject: Table) -> str:
    plan = analysis.results.plan
    parts = [f"# {plan.name}{f' ({plan.size})' if plan.size else ''}", *filter(None, [plan.question])]
    parts += [f"> {text}" for text in analysis.warnings]
    if analysis.sentences:
        parts.append("\n".join(f"- {text}" for text in analysis.sentences))
    parts += ["## Over all subjects", overall.markdown()]
    parts += [f"![{caption}](figures/{name}.png)" for name, (caption, _) in drawn.items()]
    parts += ["## Subject by subject", by_subject.markdown()]
    if analysis.results.failures:
        parts += ["## Runs that have failed", _failures(analysis).markdown()]
    parts += ["## Methods", *methods(plan), "## Where this comes from"]
    parts.append("\n".join(f"- {key}: {value}" for key, value in provenance(analysis).items()))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _overall(analysis: Analysis) -> Table:
    results, lines = analysis.results, analysis.arms
    metric, baseline = results.plan.metric, results.plan.baseline
    shares = [line.share.value for line in lines if not math.isnan(line.share.value)]
    most = max(shares, default=0.0) if results.larger_is_better else min(shares, default=0.0)
    columns: dict[str, list[Entry]] = {
        "arm": [Entry(line.arm, line.arm) for line in lines],
        "runs": [_whole(line.runs) for line in lines],
        "failed": [_whole(line.failed) for line in lines],
    }
    if results.likelihood:
        columns[f"likelihood of {metric}"] = [_interval(line.share, most) for line in lines]
    else:
        columns[f"median {metric}"] = [_number(line.median) for line in lines]
        columns["share"] = [_interval(line.share, most) for line in lines]
    optional = {
        "mean rank": [_number(line.rank, ".2f") for line in lines],
        f"A12 beside {baseline}": [_effect(line.beside) for line in lines],
        "Holm-adjusted p": [_number(line.beside.p if line.beside else math.nan, ".2g") for line in lines],
        "verdict": [Entry(line.beside.verdict, line.beside.verdict) if line.beside else Entry("-") for line in lines],
        f"at the level of {baseline or 'the median'} after": [_reach(line.reach) for line in lines],
        "ms per generation": [
            _number(line.generation_ms, ".3g" if line.generation_ms < 1000 else ".0f") for line in lines
        ],
        "deciding": [_percent(line.deciding) for line in lines],
        "published": [_number(math.nan if line.published is None else line.published, "g") for line in lines],
    }
    columns |= {head: cells for head, cells in optional.items() if any(cell.value is not None for cell in cells)}
    verdicts = frozenset(place for place, head in enumerate(columns) if head == "verdict")
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)), verdicts)


def _by_subject(analysis: Analysis) -> Table:
    plan, arms = analysis.results.plan, analysis.results.arms
    heads = ["subject"]
    for arm in arms:
        heads += [arm] if arm == plan.baseline or not plan.baseline else [arm, "A12"]
    rows = []
    for line in analysis.subjects:
        row = [Entry(line.subject, line.subject)]
        for arm in arms:
            centre = line.centres.get(arm)
            row.append(Entry("-") if centre is None else Entry(f"{centre:.4g}", centre, arm in line.best))
            if plan.baseline and arm != plan.baseline:
                found = line.beside.get(arm)
                star = "*" if found and found.verdict.stated else ""
                row.append(Entry(f"{found.evidence.a12:.2f}{star}", found.evidence.a12) if found else Entry("-"))
        rows.append(tuple(row))
    return Table(tuple(heads), tuple(rows))


def _failures(analysis: Analysis) -> Table:
    rows = (
        (Entry(arm, arm), Entry(subject, subject), _whole(seed), Entry(reason, reason))
        for arm, subject, seed, reason in analysis.results.failures
    )
    return Table(("arm", "subject", "seed", "reason"), tuple(rows), frozenset({1, 3}))


def methods(plan: Plan) -> list[str]:
    """Return the description of the methods for a paper, from the plan alone."""
    kind = trials().load(plan.trial)
    first = _special(kind, plan.arms[0])
    common = {key: value for key, value in first.items() if all(arm.settings.get(key) == value for arm in plan.arms)}
    arms = []
    for arm in plan.arms:
        own = {key: value for key, value in _special(kind, arm).items() if key not in common}
        arms.append(f"{arm.name} ({_settings(own)})" if own else f"{arm.name} (defaults)")
    summary = (kind.__doc__ or "").strip().splitlines()[0].rstrip(".")
    unit = {"x": "executions of test cases", "g": "generations", "s": "seconds by the clock"}[plan.budget[-1]]
    path = f" All had {_settings(common)}." if common else ""
    likelihood = plan.metric in kind.likelihoods
    centre = "mean values" if likelihood else "medians"
    share = (
        "Likelihoods are means over the subjects of the means over their runs, with bootstrap intervals over both."
        if likelihood
        else "Interquartile means follow Agarwal et al. 2021."
    )
    return [
        f"{len(plan.arms)} arms were compared on {len(plan.subjects)} subjects with {len(plan.seeds)} seeds each, "
        f"{len(plan.cells())} runs. Each run ({summary[0].lower()}{summary[1:]}) had the same budget of {plan.budget[:-1]} "
        f"{unit}; runs with the same subject and seed begin alike.{path} Arms: {'; '.join(arms)}.",
        f"The metric {plan.metric} was declared before the runs. Effects are A12 (Vargha and Delaney 2000) with 95 % bootstrap "
        f"intervals over subjects and seeds. Arms are ranked by Friedman's test over the {centre} of the subjects (Demsar 2006), "
        "and all pairs are compared with Holm's correction (Benavoli and others 2016); single subjects are compared by Mann and "
        f"Whitney's test, all subjects by Wilcoxon's over their {centre}, both with Holm's correction for all comparisons of a "
        "table. An effect is stated only if the interval of A12 leaves out 0.5 and the Holm-adjusted p is below 0.05; with one "
        f"seed there is no verdict. {share}",
    ]


def provenance(analysis: Analysis) -> dict[str, str]:
    """Return the sources of the report: plan, number of runs, versions, seeds and subjects."""
    plan = analysis.results.plan
    text = json.dumps({**plan.to_json(), "path": None}, sort_keys=True)
    return {
        "plan": f"{plan.name}{f', size {plan.size}' if plan.size else ''}, SHA-256 {hashlib.sha256(text.encode()).hexdigest()[:16]}",
        "runs": f"{analysis.results.ended} of {len(plan.cells())}",
        "made by": "; ".join(sorted(analysis.results.versions)) or "nothing",
        "seeds": ", ".join(map(str, plan.seeds)),
        "subjects": ", ".join(plan.subjects),
    }


def _special(kind: type[Trial], arm: Arm) -> dict[str, Any]:
    """Return the settings of an arm that differ from their defaults, and those that are always shown."""
    usual = kind.settings(arm.settings)
    return {key: value for key, value in arm.settings.items() if value != (None if key in _TOLD else usual[key])}


def _settings(found: dict[str, Any]) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {value if value != '' else 'none'}" for key, value in found.items())


def _whole(number: int) -> Entry:
    return Entry(str(number), float(number))


def _number(value: float, form: str = ".4g") -> Entry:
    return Entry("-") if math.isnan(value) else Entry(format(value, form), value)


def _percent(share: float) -> Entry:
    return Entry("-") if math.isnan(share) else Entry(f"{100 * share:.2g}%", share)


def _interval(found: Interval, most: float) -> Entry:
    if math.isnan(found.value):
        return Entry("-")
    return Entry(f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]", found.value, found.value == most)


def _effect(found: Judged[Contrast] | None) -> Entry:
    return Entry(str(found.evidence), found.evidence.a12) if found else Entry("-")


def _reach(found: Reach | None) -> Entry:
    """Return the share of the run after which half of the runs have reached the level, and how many have at the end."""
    if found is None:
        return Entry("-")
    after = "-" if math.isinf(found.median) else f"{found.median:.0%}"
    return Entry(f"{after} ({found.reached} of {found.runs})", found.median)


def _sortable(value: float | str | None) -> str:
    from markupsafe import escape

    return "" if value is None else str(escape(value)) if isinstance(value, str) else repr(float(value))


def _tex(text: str) -> str:
    escapes = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {sign: f"\\char{ord(sign)}{{}}" for sign in "\\~^"}
    return "".join(escapes.get(sign, f"${sign}$" if sign in "<>" else sign) for sign in text)
