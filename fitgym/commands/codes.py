"""Exit codes of the command line: 0 done, 1 a finding, 2 bad input, 130 interrupted."""

from __future__ import annotations

from typing import Final

__all__ = ["BAD_INPUT", "DONE", "FINDING", "INTERRUPTED"]

DONE: Final = 0
FINDING: Final = 1
BAD_INPUT: Final = 2
INTERRUPTED: Final = 130
