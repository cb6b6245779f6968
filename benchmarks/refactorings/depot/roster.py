"""Rosters: who drives which tram."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Shift:
    """A driver on a line, with the hours of the shift."""

    driver: str
    line: int
    start: int
    end: int

    def hours(self) -> int:
        """The length; a shift may end after midnight."""
        if self.end >= self.start:
            return self.end - self.start
        return 24 - self.start + self.end


@dataclass
class Roster:
    """The shifts of one day."""

    shifts: list[Shift] = field(default_factory=list)

    def add(self, shift: Shift) -> None:
        """Add a shift unless its driver is busy."""
        for other in self.shifts:
            if other.driver == shift.driver:
                raise ValueError(f"{shift.driver} drives already")
        self.shifts.append(shift)

    def longest(self) -> list[str]:
        """The drivers, those with the longest shifts first; equal ones as they were added."""
        ordered = sorted(self.shifts, key=Shift.hours, reverse=True)
        return [shift.driver for shift in ordered]

    def total(self) -> int:
        """Hours of all shifts."""
        hours = 0
        for shift in self.shifts:
            hours += shift.hours()
        return hours


def ranked(names: list[str]) -> list[str]:
    """Names by length, long ones first; equal ones as they came."""
    return sorted(names, key=len, reverse=True)
