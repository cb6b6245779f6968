"""The standing of a module: what its search has done with its share of the budget so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fitgym.immutable import immutable

__all__ = ["Standing"]


@immutable
@dataclass(frozen=True, slots=True)
class Standing:
    """What can be seen of the search on one module.

    Attributes:
        total: branches of the module.
        covered: branches covered after each slice that the module has had, in order.
    """

    total: int
    covered: tuple[int, ...] = ()

    @property
    def slices(self) -> int:
        """Slices that the module has had."""
        return len(self.covered)

    @property
    def now(self) -> int:
        """Branches covered now."""
        return self.covered[-1] if self.covered else 0

    @property
    def open(self) -> int:
        """Branches not covered yet."""
        return self.total - self.now

    @property
    def idle(self) -> int:
        """Slices in a row, up to the last one, that covered nothing new."""
        return next((n for n in range(self.slices) if self._before(n + 1) != self.now), self.slices)

    def rate(self, last: int) -> float:
        """Newly covered branches per slice over the last slices.

        Args:
            last: slices to look back, at least 1; all slices where the module has had fewer.
        """
        n = min(last, self.slices)
        return (self.now - self._before(n)) / n if n else 0.0

    def after(self, covered: int) -> Standing:
        """The standing after another slice.

        Args:
            covered: branches covered at the end of the slice.
        """
        return replace(self, covered=(*self.covered, covered))

    def _before(self, slices: int) -> int:
        """Branches that were covered so many slices ago."""
        return self.covered[-1 - slices] if slices < self.slices else 0
