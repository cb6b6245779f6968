"""The table of all runs, as CSV and as Parquet."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fitgym.errors import InputError
from fitgym.study import campaign
from fitgym.study.plan import Plan
from fitgym.study.table import export


@pytest.fixture
def study(tmp_path: Path) -> Path:
    arms = [{"name": "MIO"}, {"name": "Random", "search": "random_search"}]
    head = {"name": "s", "trial": "artificial", "subjects": ["gradient:2"], "seeds": 2, "budget": "30x"}
    campaign.run(Plan.of({**head, "arms": arms}), tmp_path / "s", executor="serial")
    return tmp_path / "s"


def test_a_row_has_whose_it_is_its_measures_and_its_seconds(study: Path, tmp_path: Path) -> None:
    assert export(study, tmp_path / "runs.csv") == 4
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["arm"], row["seed"]) for row in rows] == [("MIO", "0"), ("Random", "0"), ("MIO", "1"), ("Random", "1")]
    first = rows[0]
    assert first["subject"] == "gradient:2" and first["error"] == "" and 0.0 <= float(first["covered"]) <= 1.0
    assert float(first["seconds_run"]) > 0.0


def test_parquet_has_the_same(study: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    assert export(study, tmp_path / "runs.parquet") == 4
    table = parquet.read_table(tmp_path / "runs.parquet").to_pylist()
    export(study, tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [{name: str(value) for name, value in row.items()} for row in table] == rows


def test_another_ending_is_refused(study: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in '.xls'; expected .csv or .parquet"):
        export(study, tmp_path / "runs.xls")
