"""A table of all runs of a study, for whatever analyses it further: CSV or Parquet."""

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
    """A row for each run that has ended: whose it is, why it has failed, its measures, and its seconds as `seconds_...`.

    Every row has the same columns, None where a run has no such value.
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
    """Write the table; how many runs it has.

    Args:
        folder: of the study.
        output: a file that ends in .csv or .parquet (extra `parquet`).

    Raises:
        InputError: the folder holds no study, or the name has another ending.
    """
    file = Path(output)
    if file.suffix not in (".csv", ".parquet"):
        raise InputError(f"'{output}' ends in '{file.suffix}', expected .csv or .parquet")
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
            raise InputError("Parquet needs pyarrow: pip install 'fitgym[parquet]', or name a .csv file") from None
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(found), file)
    return len(found)
