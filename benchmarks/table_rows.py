"""Rows of committed tables at random, computed again; `tables.py rows` prints the comparison.

A row of a current table must come out the same. A row of a table that is older than its code may differ, so the
difference is printed and is no failure. Seconds are never compared.
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fitgym.headroom.ladder import SPACING

if TYPE_CHECKING:
    from tables import Manifest, Table

__all__ = ["again", "compared"]

Row = Mapping[str, str]


def compared(manifest: Manifest, count: int, seed: int) -> int:
    """Recompute rows at random and print how they compare; return 1 if a row of a current table differs.

    Every second row is of a current table if there is one. Tables are left out whose packages are not installed.

    Args:
        manifest: the tables.
        count: number of rows.
        seed: of the choice.
    """
    chance = random.Random(seed)
    with_rows = [
        name
        for name, table in manifest.tables.items()
        if table.rows and name in manifest.stamps and (manifest.root / table.needs).is_dir()
    ]
    current = [name for name in with_rows if not manifest.newer(name)]
    bad = 0
    for turn in range(count):
        name = chance.choice(current if current and turn % 2 == 0 else with_rows)
        table = manifest.tables[name]
        row = chance.choice(list(rows(manifest.root, table)))
        differ = _differences(row, again(manifest.root, table, row))
        age = "current" if name in current else "older than its code"
        print(f"{name} ({age}), {_short(row)}: {'the same' if not differ else '; '.join(differ)}")
        bad += bool(differ) and name in current
    return int(bool(bad))


def rows(root: Path, table: Table) -> Iterator[Row]:
    """Yield the rows of a table that can be recomputed."""
    part = table.name.partition("#")[2]
    with (root / table.rows).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if part and (row["env"] != part or not row["policy"].startswith(("each action", "constant ", "rule "))):
                continue
            if not row.get("error"):
                yield row


def again(root: Path, table: Table, row: Row) -> dict[str, str]:
    """Compute a row of a table again; return the cells that are comparable."""
    if table.maker.startswith("studies/"):
        return _of_study(root, table, row)
    if table.maker.endswith("headroom.py"):
        return _of_ladder(row)
    return _of_searches(root, row)


def _of_study(root: Path, table: Table, row: Row) -> dict[str, str]:
    from fitgym.study.cell import record
    from fitgym.study.plan import Plan

    words = table.command.split()
    plan = Plan.load(root / table.maker, words[words.index("--size") + 1])
    asked = row["arm"], row["subject"], int(row["seed"])
    cells = [cell for cell in plan.cells() if (cell.arm, cell.subject, cell.seed) == asked]
    if not cells:  # the study has other arms or subjects since
        return {"arm": "none with this subject and seed"}
    found = json.loads(record(cells[0]))
    return {"error": found["error"], **{name: str(value) for name, value in found["measures"].items() if name in row}}


def _of_ladder(row: Row) -> dict[str, str]:
    from fitgym.envs.tasks import numbers
    from fitgym.headroom.plays import Play, Task, play_all
    from fitgym.headroom.policy import Constant, Policy, Ruled, Uniform
    from fitgym.run.environment import make
    from fitgym.run.setting import Setting

    number = int(row["task"].removeprefix("task ")) if row["task"] else None
    setting = Setting(env=row["env"])
    kind, _, name = row["policy"].partition(" ")
    policy: Policy = Ruled(name) if kind == "rule" else Uniform()
    if kind == "constant":
        env: Any = make(setting)
        policy = Constant(tuple(env.unwrapped.action_names).index(name), name)
        env.close()
    place = 0 if number is None else list(numbers("test")).index(number)
    (value,) = play_all(setting, [Play(policy, Task(number=number), int(row["seed"]) + SPACING * place)])
    return {"final": f"{value.final:.6g}", "area": f"{value.area:.6g}"}


def _of_searches(root: Path, row: Row) -> dict[str, str]:
    from search_table import COLUMNS, played

    return played(tuple(row[name] for name in COLUMNS[:6]), str(root / "results" / "subjects"))


def _differences(row: Row, found: Mapping[str, str]) -> list[str]:
    return [f"{name} is {found[name]}, committed {row[name]}" for name in found if found[name] != row[name]]


def _short(row: Row) -> str:
    return ", ".join(list(row.values())[:4])
