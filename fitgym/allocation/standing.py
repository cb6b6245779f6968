"""The standing of a module: the results of its search so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fitgym.immutable import immutable

__all__ = ["Standing"]


@immutable
@dataclass(frozen=True, slots=True)
class Standing:
    """The observable state of the search on one module.

    Attributes:
        total: number of branches of the module.
        covered: branches covered after each slice of the module, in order.
    """

    total: int
    covered: tuple[int, ...] = ()

    @property
    def slices(self) -> int:
        """The number of slices that the module has received."""
        return len(self.covered)

    @property
    def now(self) -> int:
        """The number of covered branches."""
        return self.covered[-1] if self.covered else 0

    @property
    def open(self) -> int:
        """The number of branches not covered yet."""
        return self.total - self.now

    @property
    def idle(self) -> int:
        """The number of latest slices in a row without a newly covered branch."""
        return next((n for n in range(self.slices) if self._before(n + 1) != self.now), self.slices)

    def rate(self, last: int) -> float:
        """Return the newly covered branches per slice over the last slices.

        Args:
            last: number of slices to look back, at least 1; all slices if the module has received fewer.
        """
        n = min(last, self.slices)
        return (self.now - self._before(n)) / n if n else 0.0

    def after(self, covered: int) -> Standing:
        """Return the standing after another slice.

        Args:
            covered: branches covered at the end of the slice.
        """
        return replace(self, covered=(*self.covered, covered))

    def _before(self, slices: int) -> int:
        """Return the number of branches covered before the last `slices` slices."""
        return self.covered[-1 - slices] if slices < self.slices else 0
