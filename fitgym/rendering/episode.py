"""An episode as whoever watches it sees it: what was chosen, what came of it, and which lines of the subject ran."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fitgym.immutable import immutable

__all__ = ["Episode", "Find", "Listing", "Step"]


@immutable
@dataclass(frozen=True, slots=True)
class Find:
    """A test case that a step found.

    Attributes:
        code: the test case as Python, without imports.
        lines: numbers of the lines that it runs and no earlier test case ran.
        raised: the exception that ends it and no earlier test case raised, with its function, such as
            `ValueError in wrap`; "" if there is none.
        line: number of the line that raised it, 0 if it is unknown.
    """

    code: str
    lines: tuple[int, ...] = ()
    raised: str = ""
    line: int = 0


@immutable
@dataclass(frozen=True, slots=True)
class Step:
    """One step, as it stood at its end.

    Attributes:
        choice: what the agent chose, as text; "" for the beginning of the episode, before anything was chosen.
        active: what guided the search, each with its weight in (0, 1].
        covered: targets covered so far and targets there are, by what they belong to; None for the second where a
            target is known only once it is covered.
        reward: for the step.
        value: of the goal.
        near: how near what is not covered has come on the mean over all targets, in [0, 1], where that is known.
        spent: share of the budget that is used up, in [0, 1].
        clock: how far the run is, as text, such as "generation 12".
        finds: test cases that it found, those with the most new lines first.
    """

    choice: str
    active: Mapping[str, float]
    covered: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    near: Mapping[str, float] = field(default_factory=dict)
    reward: float = 0.0
    value: float = 0.0
    spent: float = 0.0
    clock: str = ""
    finds: tuple[Find, ...] = ()


@immutable
@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """The source that is under test.

    Attributes:
        lines: of the text, without their ends.
        first: number of the first of them in its file.
        code: numbers of the lines that can run and count.
        functions: first line, last line and name of each function in it.
    """

    lines: tuple[str, ...]
    first: int
    code: frozenset[int]
    functions: tuple[tuple[int, int, str], ...] = ()

    def function(self, number: int) -> str:
        """The innermost function that a line belongs to, "" if it is in none."""
        around = [(last - first, name) for first, last, name in self.functions if first <= number <= last]
        return min(around)[1] if around else ""


@immutable
@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """All that has been seen of an episode. It grows by `then`, which leaves the shorter one as it is.

    Attributes:
        title: what the search is about.
        setting: how it was set up, in one line.
        options: what the agent can choose, or combine.
        steps: so far; the first is the beginning, which nobody chose.
        listing: the source, None where there is none.
        runs: by line, how many of the test cases that the search keeps run it.
        since: by line, the step in which it was first seen to run.
        ended: why the episode is over, "" while it is not.
        goal: what the value of a step counts, "" if it has no name.
        reward: which reward the agent gets, such as "growth"; "" if there is one only.
    """

    title: str
    setting: str
    options: tuple[str, ...]
    steps: tuple[Step, ...]
    listing: Listing | None = None
    runs: Mapping[int, int] = field(default_factory=dict)
    since: Mapping[int, int] = field(default_factory=dict)
    ended: str = ""
    goal: str = ""
    reward: str = ""

    def then(self, step: Step, runs: Mapping[int, int] | None = None, ended: str = "") -> Episode:
        """The episode after one more step.

        Args:
            step: that was made.
            runs: by line, how many test cases now run it.
            ended: why the episode is over with it, "" if it is not.
        """
        runs = runs or {}
        since = {**dict.fromkeys(runs, len(self.steps)), **self.since}
        return replace(self, steps=(*self.steps, step), runs=runs, since=since, ended=ended)

    @property
    def choices(self) -> tuple[Step, ...]:
        """The steps that the agent made."""
        return self.steps[1:]

    @property
    def total(self) -> float:
        """The rewards so far, summed."""
        return sum(step.reward for step in self.steps)

    @property
    def new(self) -> frozenset[int]:
        """The lines that ran for the first time in the last step; none before the first choice."""
        last = len(self.choices)
        return frozenset(line for line, step in self.since.items() if step == last) if last else frozenset()

    @property
    def raised(self) -> dict[int, str]:
        """By line, the exception that was last found to be raised there."""
        return {find.line: find.raised for step in self.steps for find in step.finds if find.line}

    @property
    def exceptions(self) -> frozenset[str]:
        """The exceptions that were found so far."""
        return frozenset(find.raised for step in self.steps for find in step.finds if find.raised)

    def at(self, number: int) -> Episode:
        """The episode as it stood after a step; what later test cases run is unknown then.

        Args:
            number: of the step; 0 is the beginning.
        """
        since = {line: step for line, step in self.since.items() if step <= number}
        over = number >= len(self.steps) - 1
        return replace(
            self,
            steps=self.steps[: number + 1],
            since=since,
            runs={line: runs for line, runs in self.runs.items() if line in since},
            ended=self.ended if over else "",
        )

    @property
    def rows(self) -> tuple[str, ...]:
        """What has a history: the options, then what else has targets."""
        return tuple(dict.fromkeys((*self.options, *self.steps[-1].covered)))

    @property
    def ends(self) -> list[float]:
        """Where each step ends on the way from 0 to 1: by the budget spent, or where none is counted by their number."""
        if self.steps[-1].spent > 0:
            return [step.spent for step in self.steps]
        planned = max(20, len(self.choices) * 5 // 4)
        return [number / planned for number in range(len(self.steps))]

    def shown(self, height: int) -> range:
        """The numbers of `height` lines of the listing (or all) that show where the search last got on.

        The part that is shown moves as seldom as it can: only if a step has new lines and none of them is in it. Then it
        moves to their largest group. Where the agent's step found an exception, the line that raised it counts instead.
        """
        assert self.listing is not None
        first, end = self.listing.first, self.listing.first + len(self.listing.lines)
        by_step: dict[int, list[int]] = {}
        for line, number in sorted(self.since.items()):
            by_step.setdefault(number, []).append(line)
        for number, step in enumerate(self.choices, 1):
            if raised := sorted({find.line for find in step.finds if first <= find.line < end}):
                by_step[number] = raised
        start = None
        for _, found in sorted(by_step.items()):
            if start is not None and any(start <= line < start + height for line in found):
                continue
            groups = (found[place : bisect_left(found, line + height)] for place, line in enumerate(found))
            group = max(groups, key=len)
            start = max(first, min((group[0] + group[-1] + 1 - height) // 2, end - height))
        start = first if start is None else start
        return range(start, min(end, start + height))

    @property
    def last_finds(self) -> tuple[int, tuple[Find, ...]]:
        """The last step that found tests, and these; 0 and none before any."""
        found = [(number, step.finds) for number, step in enumerate(self.steps) if step.finds]
        return found[-1] if found else (0, ())

    def told(self) -> str:
        """What the last step came to, in one sentence."""
        step, made = self.steps[-1], len(self.choices)
        if self.ended:
            (often, times), *_ = Counter(step.choice for step in self.choices).most_common(1)
            most = f", most often {often} ({times}×)" if times > 1 else ""
            n = len(self.since.keys() & self.listing.code) if self.listing else 0
            lines = f", {n} of {len(self.listing.code)} lines covered" if self.listing else ""
            return f"Ended after {made} steps, {self.ended}: return {self.total:.4g}{lines}{most}"
        if not made:
            guided = f": {' and '.join(step.active)} guided the first generation" if step.active else ""
            return f"Before the first choice{guided}"
        n = len(self.new)
        lines = f", {n} {'line' if n == 1 else 'lines'} ran for the first time" if n else ""
        return f"Step {made}: {step.choice}, reward {step.reward:.4g}{lines}"
