"""A corpus as one environment: every episode uses another real module, and all arguments have defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.envs.pool import Pool
from fitgym.envs.recorded import Observation
from fitgym.errors import InputError, SubjectError
from fitgym.execution.executor import Executor, Limits
from fitgym.run.setting import FitnessOptions, Name, WholeNumber
from fitgym.subject.corpus import Corpus
from fitgym.subject.source import locate

__all__ = ["CorpusEnv", "CorpusOptions"]


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(FitnessOptions):
    """The options of `CorpusEnv`.

    Attributes:
        corpus: name of a corpus, or a TOML file; see `fitgym.subject.corpus`.
        split: the split to draw from; "" for all modules.
        task: this subject in every episode; drawn from the split if None.
    """

    goal: Name = "coverage"
    actions: str | tuple[str, ...] | None = (
        "branch",
        "branch+line",
        "branch+exception",
        "branch+output",
        "branch+input",
        "branch+exception+output+input",
    )
    population: WholeNumber = 10
    budget: str | None = "100g"
    corpus: Name = "stdlib-v1"
    split: str = "train"
    task: str | None = None


class CorpusEnv(FitnessSelection):
    """## Description
    Fitness selection on real modules: every `reset` draws a module from a corpus, and a search generates tests for it.
    Every few generations the agent chooses the combination of fitness functions that guides it. Observations and
    actions do not depend on the module, so a policy can be trained on some modules and evaluated on others.

    ## Action Space
    `Discrete(6)`: branch coverage alone; branch with one of line, exception, output and input; or branch with
    exception, output and input. There are few actions because an episode has only about thirty decisions.

    ## Observation Space, Rewards, Episode End
    As in `fitgym.envs.base`.

    ## Starting State
    A module drawn from the split, and a small first population. The seed of `reset` determines everything.
    `reset(options={"task": "textwrap"})` selects this module for one episode. `info["task"]` names the module of the
    episode. A module that cannot be imported or has nothing to test is recorded in `failures` and not drawn again.

    ## Arguments
    * `corpus`: a corpus. The default, `stdlib-v1`, consists of modules of the standard library, so nothing has to be
      installed.
    * `split`: "train", "validation" or "test"; "" for all modules.
    * `task`: one module for all episodes.
    * all others as in `fitgym.envs.fitness_selection`, without `subject`. The workers of the last eight modules stay
      alive, so that a module that is drawn again need not be imported again.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[CorpusOptions]] = CorpusOptions
    options: CorpusOptions
    draws: ClassVar[bool] = True

    def __init__(self, subject: str = "", **options: Any) -> None:
        super().__init__("", **options)
        chosen = self.options
        self.corpus = Corpus.load(f"{chosen.corpus}:{chosen.split}" if chosen.split else chosen.corpus)
        self.failures: dict[str, str] = {}
        self.task = ""
        self._pool = Pool()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a module and start a search on it; `options={"task": ...}` names one instead.

        Raises:
            InputError: the task is not a string.
            SubjectError: the named module cannot be used, or no module of the split can.
        """
        rest = {name: value for name, value in (options or {}).items() if name != "task"}
        given = (options or {}).get("task", self.options.task)
        if given is not None and not isinstance(given, str):
            raise InputError(f"task {given!r} cannot be used: expected a module such as textwrap")
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        if given is not None:
            return self._begun(given, seed, rest)
        # The seed fixes the order of the modules. Unusable ones are skipped, so that the others keep their order.
        order = np.random.default_rng(seed).permutation(len(self.corpus.subjects)).tolist()
        for subject in (self.corpus.subjects[place] for place in order):
            if subject in self.failures:
                continue
            try:
                return self._begun(subject, seed, rest)
            except SubjectError as problem:
                self.failures[subject] = str(problem)
        first, reason = next(iter(self.failures.items()))
        raise SubjectError(f"none of the modules of {self.corpus.name} can be used; the first is '{first}': {reason}")

    def record(self) -> dict[str, Any]:
        """Return the record of the episode, with its module as the option `task`."""
        found = super().record()
        return {**found, "subject": "", "options": {**found["options"], "task": self.task}}

    def close(self) -> None:
        """End all worker processes."""
        super().close()
        self._pool.close()

    def _begun(self, subject: str, seed: int, options: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        path = self.options.path or self.corpus.path

        def worker() -> Executor:
            return Executor(locate(subject, path, self.options.programs), Limits(seconds=self.options.timeout_s))

        self._executor = self._pool.take(subject, worker)
        self.subject_name = self.task = subject
        return super().reset(seed=seed, options=options)

    def _info(self) -> dict[str, Any]:
        return {**super()._info(), "task": self.task}
