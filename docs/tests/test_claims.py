"""Claims of papers: the verdicts follow the runs, and no number of the paper is typed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import evidence
import headroom_map
import paper
import papers
import pytest
from paper_figures import learning_chart, verdict_chart
from tables import Manifest

from fitgym.errors import InputError

ROOT = Path(__file__).parents[2]
CLAIMS = sorted((ROOT / "docs" / "claims").glob("*.toml"))

HEAD = """
title = "A: b"
cited = "c"
asks = "d"
differs = []

[source.runs]
rows = "runs.csv"
table = "table.md"
value = "share"
"""


def judged(root: Path, claims: str, seeds: int = 4) -> list[str]:
    """The verdicts on claims about ten subjects, where `high` is above `low`, `near` and `same` by 0.5, 0.005 and 0."""
    values = {"high": 0.6, "near": 0.595, "same": 0.6, "low": 0.1}
    rows = [
        f"{arm},s{subject},{seed},{value + 0.01 * subject + 0.0001 * seed}"
        for arm, value in values.items()
        for subject in range(10)
        for seed in range(seeds)
    ]
    (root / "runs.csv").write_text("\n".join(["arm,subject,seed,share", *rows]))
    file = root / "a.toml"
    file.write_text(HEAD + claims)
    evidence.load.cache_clear()
    evidence._rows.cache_clear()
    return [claim.verdict for claim in evidence.load(file, root).claims]


def claim(kind: str, ours: str = "high", beside: str = "low", more: str = "") -> str:
    words = f'says = "x."\npublished = "y"\nwhy = "z"\ntells = "t"\nkind = "{kind}"\n'
    return f'\n[[claim]]\n{words}source = "runs"\nours = "{ours}"\nbeside = "{beside}"\n{more}\n'


def test_a_claim_is_reproduced_refuted_or_cannot_be_told(tmp_path: Path) -> None:
    told = [claim("more"), claim("more", "low", "high"), claim("more", "high", "same"), claim("not run")]
    assert judged(tmp_path, "".join(told)) == ["reproduced", "refuted here", "cannot be told", "cannot be told"]


def test_one_seed_tells_nothing(tmp_path: Path) -> None:
    assert judged(tmp_path, claim("more") + claim("alike", "high", "same"), seeds=1) == ["cannot be told"] * 2


def test_at_least_allows_a_loss_and_alike_a_negligible_effect(tmp_path: Path) -> None:
    least = "least = -0.01"
    told = claim("at least", "near", "high", least) + claim("at least", "low", "high", least)
    told += claim("alike", "high", "same") + claim("alike", "high", "low")
    assert judged(tmp_path, told) == ["reproduced", "refuted here", "reproduced", "refuted here"]


def test_a_claim_of_our_own_is_no_reproduction(tmp_path: Path) -> None:
    assert judged(tmp_path, claim("more", more="own = true")) == []
    (own,) = evidence.load(tmp_path / "a.toml", tmp_path).own
    assert own.verdict == "shown here"


def test_claims_are_judged_together(tmp_path: Path) -> None:
    on = 'on = ["s0", "s1", "s2", "s3", "s4", "s5"]'  # six subjects: p is at least 1/32
    assert judged(tmp_path, claim("more", more=on)) == ["reproduced"]
    assert judged(tmp_path, 2 * claim("more", more=on)) == ["cannot be told"] * 2


def test_an_arm_or_a_kind_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no run of 'other'"):
        judged(tmp_path, claim("more", "other"))
    with pytest.raises(InputError, match="'most' is no kind of claim"):
        judged(tmp_path, claim("most"))


@pytest.mark.parametrize("file", CLAIMS, ids=[file.stem for file in CLAIMS])
def test_every_claim_names_its_place_its_table_and_a_command(file: Path) -> None:
    listed = Manifest(ROOT).tables
    paper_ = evidence.load(file, ROOT)
    for one in (*paper_.claims, *paper_.own):
        assert one.says.endswith("."), one.says
        place = r"not measured|not reported" if one.own else r"tables? |figures? |section "
        assert re.search(place, one.published), one.says
        assert not one.table or one.table in listed, one.says
        if found := re.match(r"fitgym study run (\S+)(?: --size (\w+))?$", one.tells):
            study = tomllib.loads((ROOT / found[1]).read_text("utf-8"))
            assert not found[2] or found[2] in study["sizes"], one.tells
        else:
            assert re.match(r"python benchmarks/\w+\.py|no study has", one.tells), one.tells


def test_every_paper_has_a_page_with_all_of_its_claims() -> None:
    pages = papers.paper_pages(ROOT)
    assert len(pages) == 6
    for one in papers.papers(ROOT):
        page = pages[f"papers/{one.name}.md"]
        assert all(claim.says in page and claim.ours in page for claim in (*one.claims, *one.own))
        assert sum(one.count(outcome) for outcome in evidence.OUTCOMES) == len(one.claims)
        assert one.title in pages["papers/index.md"]


def test_no_number_of_the_paper_is_typed() -> None:
    text = (ROOT / "docs" / "paper.md").read_text("utf-8").partition("## References")[0]
    typed = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", text, flags=re.DOTALL)
    for of_the_method in ("95 %", "below 0.05", "A12", "(2022)"):
        typed = typed.replace(of_the_method, "")
    assert re.findall(r"\d+\.\d+|\d+ ?%|\d{2,}", typed) == []


def test_the_paper_is_filled_and_refuses_what_no_table_has() -> None:
    text = paper.filled((ROOT / "docs" / "paper.md").read_text("utf-8"))
    assert "{{" not in text and "{%" not in text
    assert paper.gain("Programs-v0") in text
    with pytest.raises(InputError, match="begin with 'Nobody'"):
        paper.filled('{{ claim("rojas", "Nobody").ours }}')
    with pytest.raises(InputError, match="has no row 'nobody'"):
        paper.filled('{{ agent("exceptions", "nobody") }}')
    with pytest.raises(InputError, match="has 0 rows fitgym/Toy-v0"):
        paper.filled('{{ learned("PPO", "fitgym/Toy-v0", "all").score }}')
    with pytest.raises(InputError, match="has no share of the gap for fitgym/Toy-v0"):
        paper.filled('{{ closed("fitgym/Toy-v0").share }}')
    with pytest.raises(InputError, match="has no row 'nobody'"):
        paper.filled('{{ transfer("nobody") }}')


def test_the_map_of_headroom_is_the_committed_file_and_has_a_row_for_each_ladder() -> None:
    assert headroom_map.FILE.read_text("utf-8") == headroom_map.chart(alone=True) + "\n"
    found = headroom_map.rows()
    ladder = (ROOT / "benchmarks" / "headroom" / "environments" / "ladder.md").read_text("utf-8")
    assert {f"fitgym/{row.env}" for row in found} == set(re.findall(r"^## (\S+)$", ladder, re.MULTILINE))
    assert [row.pays for row in found] == sorted((row.pays for row in found), reverse=True)
    for row in found:
        assert row.env in headroom_map.chart() and 0.0 <= row.constant <= 1.0
        top = f"{row.gain.value:.3f} [{row.gain.low:.3f}, {row.gain.high:.3f}] above the best constant"
        assert not row.pays or top in " ".join(ladder.split())


def test_the_figures_of_the_paper_say_their_content() -> None:
    assert "claims" in verdict_chart() and "10 seeds" in learning_chart()
