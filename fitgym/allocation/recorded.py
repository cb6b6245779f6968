"""The curves included in fitgym: searches on the modules of the corpus `stdlib-v1`.

`benchmarks/project_budget.py record` recorded them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from fitgym.allocation.curve import Curve
from fitgym.immutable import Lookup

__all__ = ["recorded"]


def recorded() -> Mapping[str, Mapping[str, tuple[Curve, ...]]]:
    """Return the curves by split (train, validation or test) and module: one for each recorded seed of the module."""
    document = json.loads((resources.files("fitgym.allocation") / "curves.json").read_text("utf-8"))
    return Lookup({split: Lookup(_modules(found)) for split, found in document.items()})


def _modules(found: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Curve, ...]]]:
    for module, one in found.items():
        runs = enumerate(one["covered"])
        yield module, tuple(Curve(module, seed, one["total"], tuple(covered)) for seed, covered in runs)
