"""Budget: the limit of a run, in generations, test-case executions or seconds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from fitgym.errors import BudgetError

__all__ = ["Budget", "BudgetUnit"]

BudgetUnit = Literal["g", "x", "s"]


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount and its unit.

    Attributes:
        amount: positive; whole for generations and executions.
        unit: "g" generations, "x" executions of test cases, "s" seconds of wall clock. The first two are deterministic:
            the same seed gives the same run. Seconds are not, so they never reach an observation.
    """

    amount: float
    unit: BudgetUnit

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Parse a budget such as `60s`, `20000x` or `200g`.

        Raises:
            BudgetError: the text is not a budget.
        """
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([gxs])\s*", text)
        if match is None:
            raise BudgetError(
                f"budget '{text}' cannot be read: expected a number and a unit, such as 60s (seconds), "
                "20000x (executions of test cases) or 200g (generations)"
            )
        amount = float(match[1])
        unit: BudgetUnit = "g" if match[2] == "g" else "x" if match[2] == "x" else "s"
        if amount <= 0:
            raise BudgetError(f"budget '{text}' must be more than zero")
        if unit != "s" and amount != int(amount):
            noun = "generations" if unit == "g" else "executions"
            raise BudgetError(f"budget '{text}' must be a whole number of {noun}")
        return cls(amount, unit)

    @classmethod
    def counted(cls, text: str) -> Budget:
        """Parse the budget of an environment, such as `20000x` or `200g`.

        Raises:
            BudgetError: the text is not a budget in generations or executions.
        """
        budget = cls.parse(text)
        if not budget.deterministic:
            raise BudgetError(
                f"budget '{text}' counts seconds, so no run could be repeated: give an environment generations "
                "(200g) or executions (20000x)"
            )
        return budget

    @property
    def deterministic(self) -> bool:
        """Whether the unit counts events instead of time."""
        return self.unit != "s"

    def spent(self, *, generations: int = 0, executions: int = 0, seconds: float = 0.0) -> float:
        """Return the used share of the budget, in [0, 1]."""
        used = {"g": float(generations), "x": float(executions), "s": seconds}[self.unit]
        return min(1.0, used / self.amount)

    def __str__(self) -> str:
        return f"{self.amount:g}{self.unit}" if self.unit == "s" else f"{int(self.amount)}{self.unit}"
