"""Killing: decides which test cases kill which mutants, whatever a mutant does to the process that runs it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from fitgym.errors import OutOfBudget
from fitgym.execution.child import Broken
from fitgym.messages.effect import Effect, Expectation, Kill
from fitgym.messages.journal import IDLE
from fitgym.testcase.statement import TestCase

__all__ = ["Care", "Killing", "Trial"]

Trial = tuple[TestCase, int]
"""A test case and the number of a mutant to run it on."""

Ask = Callable[[Sequence[Trial], Mapping[TestCase, Expectation], bool, int], "list[Effect | None] | int"]
"""Runs trials in a child, see `Killing`."""

_ALONE = 3  # the highest care level: one process per trial
_CALM = 400  # trials in a row without a repetition after which the care level drops
_BROKEN: dict[str, Kill] = {"timeout": "clock", "exit": "exit"}
_DOUBTED = ("clock", "memory")  # earlier trials in the same process may be the cause


class Care:
    """The current care level: how much state is compared after each trial or test case.

    If trials often leave state behind, finding out only at the end of a batch means running every batch twice.

    Attributes:
        level: see `Killing`; no effect depends on it.
    """

    def __init__(self) -> None:
        self.level = 0
        self._calm = 0

    def raise_to(self, level: int) -> None:
        """Raise the level because a batch has to be repeated with this care."""
        self.level, self._calm = max(self.level, level), 0

    def relax(self, n_trials: int, *, clean: bool = True) -> None:
        """Count trials that needed no repetition. Only `clean` trials, which left no state behind, lower the level."""
        self._calm = self._calm + n_trials if clean else 0
        if self._calm >= _CALM:
            self.level, self._calm = max(0, self.level - 1), 0


class Killing:
    """Runs trials in batches, and repeats those that break a process or exceed a limit.

    Such a result is attributed to the trial only after it recurs alone in a fresh process. Then the trial counts as a
    kill by time, memory or a broken process; the test case is not banned.

    Args:
        ask: runs trials in a child. Returns their effects up to the first trial that left state behind. If that trial
            is unknown, returns the care level with which to repeat them all. Raises `Broken` if the child did not
            answer.
        expected: the expected facts of each test case.
        exhaustive: run killed mutants on later test cases too. Mutants that exceed the time limit are not run again,
            because each run costs seconds.
        batch: maximal number of trials in a request.
        care: the care level of earlier trials.
        doubts: repeat kills by time and memory alone. Without it these kills may be wrong, and their mutants are not
            run again.
    """

    def __init__(
        self,
        ask: Ask,
        expected: Mapping[TestCase, Expectation],
        *,
        exhaustive: bool,
        batch: int,
        care: Care | None = None,
        doubts: bool = True,
    ) -> None:
        self._doubts = doubts
        self._care = care or Care()
        self._ask = ask
        self._expected = expected
        self._exhaustive = exhaustive
        self._batch = self._window = batch
        self._over: set[int] = set()

    def run(self, trials: Sequence[Trial]) -> list[Effect | None]:
        """Return the effect of each trial. None where an earlier trial killed the mutant and it is not run again.

        Raises:
            OutOfBudget: the deadline passed; its attribute `done` has the effects so far, None for the other trials.
        """
        effects: list[Effect | None] = [None] * len(trials)
        segments = deque([(list(range(len(trials))), 0)])
        while segments:
            indexes, known = segments.popleft()
            indexes = [index for index in indexes if trials[index][1] not in self._over]
            care = max(known, self._care.level)
            size = 1 if care == _ALONE else self._window
            batch, rest = indexes[:size], indexes[size:]
            if rest:
                segments.appendleft((rest, known))
            if not batch:
                continue
            try:
                done = self._asked([trials[index] for index in batch], care)
            except OutOfBudget as late:
                late.done = tuple(effects)
                raise
            except Broken as broken:
                self._window = max(1, self._window // 2)
                if not self._doubts and broken.failure == "timeout" and 0 <= broken.running < len(batch):
                    at = broken.running
                    self._settle(Effect("clock"), batch[at], trials, effects)
                    segments.extendleft([(batch[at + 1 :], known), (batch[:at], known)])
                elif care == _ALONE:
                    self._settle(Effect(_BROKEN.get(broken.failure, "crash")), batch[0], trials, effects)
                else:
                    segments.extendleft(reversed(_suspects(broken, batch, care)))
                continue
            if isinstance(done, int):
                self._care.raise_to(done)
                segments.appendleft((batch, done))
                continue
            if care == self._care.level:
                self._care.relax(len(done))
            doubted: list[int] = []
            for index, effect in zip(batch, done, strict=False):
                if effect is not None and effect.killed in _DOUBTED and care != _ALONE and self._doubts:
                    doubted.append(index)
                elif effect is not None:
                    self._settle(effect, index, trials, effects)
            if len(done) < len(batch):
                self._window = max(1, self._window // 2)
                segments.appendleft((batch[len(done) :], known if known == _ALONE else 0))
            else:
                self._window = min(self._batch, 2 * self._window)
            if doubted:
                segments.appendleft((doubted, _ALONE))
        return effects

    def _asked(self, trials: Sequence[Trial], care: int) -> list[Effect | None] | int:
        expected = {testcase: self._expected[testcase] for testcase, _ in trials}
        return self._ask(trials, expected, self._exhaustive, care)

    def _settle(self, effect: Effect, index: int, trials: Sequence[Trial], effects: list[Effect | None]) -> None:
        effects[index] = effect
        by_limit = effect.killed == "clock" or (effect.killed == "memory" and not self._doubts)
        if effect.killed and (not self._exhaustive or by_limit):
            self._over.add(trials[index][1])


def _suspects(broken: Broken, batch: list[int], care: int) -> list[tuple[list[int], int]]:
    """Return the segments to run again after a child broke, with their care. A suspected trial gets its own segment."""
    guilty = broken.running if broken.running != IDLE else broken.last
    if broken.running == IDLE and care < 2 and broken.failure != "timeout":
        guilty = IDLE
    if len(batch) == 1:
        guilty = 0
    if not 0 <= guilty < len(batch):
        return [(batch, broken.more(care))]
    return [(batch[:guilty], care), ([batch[guilty]], _ALONE), (batch[guilty + 1 :], care)]
