"""An episode for viewers: the choices, their results, and the lines of the subject that ran."""

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
        lines: numbers of the lines that no earlier test case ran.
        raised: the new exception that ends it, with its function, such as `ValueError in wrap`; "" if there is none.
        line: number of the line that raised it; 0 if unknown.
    """

    code: str
    lines: tuple[int, ...] = ()
    raised: str = ""
    line: int = 0


@immutable
@dataclass(frozen=True, slots=True)
class Step:
    """The state of an episode after one step.

    Attributes:
        choice: the agent's choice as text; "" for the start of the episode, before the first choice.
        active: the functions or parts that guided the search, each with its weight in (0, 1].
        covered: number of covered targets and total number, by group; the total is None if targets become known only
            when covered.
        reward: the reward of the step.
        value: the value of the goal.
        near: closeness to uncovered targets, averaged over all targets of a group, in [0, 1], if it is known.
        spent: the spent share of the budget, in [0, 1].
        clock: the progress of the run as text, such as "generation 12".
        finds: test cases that the step found, those with the most new lines first.
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
    """The source under test.

    Attributes:
        lines: the lines of the text, without line ends.
        first: the number of the first line in its file.
        code: numbers of the executable lines that count.
        functions: first line, last line and name of each function.
    """

    lines: tuple[str, ...]
    first: int
    code: frozenset[int]
    functions: tuple[tuple[int, int, str], ...] = ()

    def function(self, number: int) -> str:
        """Return the innermost function that contains a line; "" if there is none."""
        around = [(last - first, name) for first, last, name in self.functions if first <= number <= last]
        return min(around)[1] if around else ""


@immutable
@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """The observed history of an episode. `then` returns a longer copy.

    Attributes:
        title: the subject of the search.
        setting: its settings in one line.
        options: the options that the agent can choose or combine.
        steps: the steps so far; the first is the start of the episode, without a choice.
        listing: the source; None if there is none.
        runs: by line, the number of kept test cases that run it.
        since: by line, the step in which it first ran.
        ended: the reason why the episode is over; "" while it is not.
        goal: the name of the goal whose value is shown; "" if it has none.
        reward: the name of the agent's reward, such as "growth"; "" if there is only one.
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
        """Return the episode with one more step.

        Args:
            step: the new step.
            runs: by line, the number of test cases that now run it.
            ended: the reason why this step ends the episode; "" if it does not.
        """
        runs = runs or {}
        since = {**dict.fromkeys(runs, len(self.steps)), **self.since}
        return replace(self, steps=(*self.steps, step), runs=runs, since=since, ended=ended)

    @property
    def choices(self) -> tuple[Step, ...]:
        """The steps with a choice of the agent."""
        return self.steps[1:]

    @property
    def total(self) -> float:
        """The sum of the rewards so far."""
        return sum(step.reward for step in self.steps)

    @property
    def new(self) -> frozenset[int]:
        """The lines that first ran in the last step; empty before the first choice."""
        last = len(self.choices)
        return frozenset(line for line, step in self.since.items() if step == last) if last else frozenset()

    @property
    def raised(self) -> dict[int, str]:
        """By line, the exception that it was last found to raise."""
        return {find.line: find.raised for step in self.steps for find in step.finds if find.line}

    @property
    def exceptions(self) -> frozenset[str]:
        """The exceptions found so far."""
        return frozenset(find.raised for step in self.steps for find in step.finds if find.raised)

    def at(self, number: int) -> Episode:
        """Return the episode as it was after a step.

        Lines that first ran in later steps are left out. The counts in `runs` stay those of the last step.

        Args:
            number: the number of the step; 0 is the start.
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
        """The rows of the history: the options, then other groups of targets."""
        return tuple(dict.fromkeys((*self.options, *self.steps[-1].covered)))

    @property
    def ends(self) -> list[float]:
        """The end of each step on a scale from 0 to 1, by the spent budget; by the number of steps without a budget."""
        if self.steps[-1].spent > 0:
            return [step.spent for step in self.steps]
        planned = max(20, len(self.choices) * 5 // 4)
        return [number / planned for number in range(len(self.steps))]

    def shown(self, height: int) -> range:
        """Return the numbers of `height` lines of the listing (or all) around the latest progress of the search.

        The window moves as rarely as possible: only if a step has new lines and none of them is inside. It then moves
        to their largest group. If a step of the agent found an exception, the line that raised it counts instead of the
        new lines.
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
        """The last step that found test cases, with these; 0 and an empty tuple if there is none."""
        found = [(number, step.finds) for number, step in enumerate(self.steps) if step.finds]
        return found[-1] if found else (0, ())

    def summary(self) -> str:
        """Describe the last step in one sentence."""
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
