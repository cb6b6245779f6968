"""The project's studies: every file can be read, in every size."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from fitgym.study.plan import Plan
from fitgym.study.trials.base import Trial

STUDIES = Path(__file__).parents[2] / "studies"
LISTS = ("faults.toml", "unsaturated.toml")  # of faults and of subjects
FILES = sorted(file for file in STUDIES.glob("*.toml") if file.name not in LISTS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_study_can_be_run_in_every_size(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The packages of the subjects are installed by whoever runs it; everything else is checked.
    monkeypatch.setattr(Trial, "check_subject", lambda *_: None)
    document: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    assert {"full", "small"} <= set(document["sizes"])
    whole = Plan.load(file)
    assert whole.name.replace("-", "_") == file.stem and whole.question.endswith("?") and whole.baseline
    for size in document["sizes"]:
        found = Plan.load(file, size)
        assert len(found.cells()) == len(found.arms) * len(found.subjects) * len(found.seeds) > 0
    assert Plan.load(file, "small").estimate(2) <= 30 * 60
    assert Plan.load(file, "full").cells() == whole.cells()
