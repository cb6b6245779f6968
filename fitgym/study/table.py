"""A table of all runs of a study, for further analysis: CSV or Parquet."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from fitgym.errors import InputError
from fitgym.study.store import Store
from fitgym.suite.text.export import write

__all__ = ["export", "rows"]

_FIRST = ("arm", "subject", "seed", "budget", "error")


def rows(store: Store) -> list[dict[str, Any]]:
    """Return a row for each run that has ended: its identification, error, measures, and seconds as `seconds_...`.

    Every row has the same columns, None for values that a run lacks.
    """
    found = [
        {
            **{name: record[name] for name in _FIRST},
            **record["measures"],
            **{f"seconds_{name}": value for name, value in record["seconds"].items()},
        }
        for record in store.records()
    ]
    names = dict.fromkeys([*_FIRST, *(name for row in found for name in row)])
    return [{name: row.get(name) for name in names} for row in found]


def export(folder: str | Path, output: str | Path) -> int:
    """Write the table; return its number of runs.

    Args:
        folder: of the study.
        output: a file that ends in .csv or .parquet (extra `parquet`).

    Raises:
        InputError: the folder contains no study, or the file name has another ending.
    """
    file = Path(output)
    if file.suffix not in (".csv", ".parquet"):
        raise InputError(f"'{output}' ends in '{file.suffix}'; expected .csv or .parquet")
    found = rows(Store.open(folder))
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, list(found[0]) if found else list(_FIRST), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
        write(text.getvalue(), file)
    else:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise InputError(
                "Parquet needs the package pyarrow; pip install 'fitgym[parquet]', or name a .csv file"
            ) from None
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(found), file)
    return len(found)
