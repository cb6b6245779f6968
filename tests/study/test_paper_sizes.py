"""The size `paper` of the studies: unsaturated subjects by the stated rule, on other seeds, within six hours."""

import csv
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from fitgym.study.plan import Plan
from fitgym.study.trials.base import Trial
from fitgym.subject.corpus import Corpus

ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "studies"
SIZED = [
    file
    for file in sorted(STUDIES.glob("*.toml"))
    if "paper" in tomllib.loads(file.read_text("utf-8")).get("sizes", {})
]


def test_the_unsaturated_subjects_are_those_of_the_rule() -> None:
    shares: dict[str, list[float]] = defaultdict(list)
    with (ROOT / "benchmarks" / "searches" / "runs.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if (row["seed"], row["budget"]) == ("0", "5000x") and row["question"] in ("branch", "family"):
                shares[row["subject"]].append(float(row["share"]))
    ruled = {subject for subject, found in shares.items() if max(found) - min(found) >= 0.1}
    assert set(Corpus.load(str(STUDIES / "unsaturated.toml")).subjects) == ruled


@pytest.mark.parametrize("file", SIZED, ids=[file.stem for file in SIZED])
def test_two_cores_make_the_size_paper_in_six_hours_on_other_seeds_than_the_rule_saw(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Trial, "check_subject", lambda *_: None)  # whoever runs it installs the packages
    plan = Plan.load(file, "paper")
    assert plan.estimate(workers=2) <= 6 * 3600
    assert len(plan.seeds) >= 10
    if "unsaturated" in file.read_text("utf-8"):
        assert 0 not in plan.seeds


def test_every_comparison_of_a_paper_has_the_size() -> None:
    papers = {"affs", "whole", "mio", "numeric", "family", "adynamosa", "smart"}
    assert {file.stem.partition("_")[0] for file in SIZED} == papers
