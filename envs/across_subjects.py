"""Across subjects: a different module in every episode, so that a policy learns from many modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import gymnasium.utils
import numpy as np

from fitgym.envs.base import Observation, SearchEnv
from fitgym.errors import InputError, SubjectError
from fitgym.subject.corpus import Corpus

__all__ = ["AcrossSubjects"]


class AcrossSubjects(gymnasium.Wrapper[Observation, Any, Observation, Any], gymnasium.utils.RecordConstructorArgs):
    """A search environment on the subjects of a corpus.

    Every `reset` draws one of the subjects uniformly. With a seed, the draw depends on the seed only. Without one, it
    uses the generator of the wrapped environment, which continues from episode to episode. Observations and actions do
    not depend on the subject, so a policy can be trained on many. If a subject cannot be imported or has nothing to
    test, the wrapper records it in `failures`, draws another one and does not draw it again.

    The `info` of `reset` and `step` gains "subject", the name of the episode's subject.

    Args:
        env: any environment with a search on a subject; its own subject does not matter.
        subjects: names of subjects, or the name of a corpus or of its split, such as `stdlib-v1:train`.
        path: a folder to search first; the corpus's own folder by default.

    Attributes:
        failures: the unusable subjects, each with the reason.

    Raises:
        InputError: the environment has no search, there are no subjects, or the corpus cannot be read.
    """

    def __init__(
        self,
        env: gymnasium.Env[Observation, Any],
        subjects: str | Corpus | Sequence[str],
        path: str | None = None,
    ) -> None:
        if not isinstance(env.unwrapped, SearchEnv):
            raise InputError(
                f"{type(env.unwrapped).__name__} has no subject, expected an environment with a search on a subject, such as fitgym/FitnessSelection-v0"
            )
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, subjects=subjects if isinstance(subjects, str | Corpus) else list(subjects), path=path
        )
        super().__init__(env)
        corpus = Corpus.of(subjects, path)
        self.subjects, self.path = corpus.subjects, corpus.path
        if not self.subjects:
            raise InputError("there are no subjects to choose from: name at least one")
        self.failures: dict[str, str] = {}
        self._subject = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a subject and start a new search on it; `options={"subject": ...}` names one instead.

        Raises:
            SubjectError: the named subject cannot be used, or none of the subjects can.
        """
        rng = self.env.unwrapped.np_random if seed is None else np.random.default_rng(seed)
        if options and "subject" in options:
            return self._begin(seed, options)
        while usable := [subject for subject in self.subjects if subject not in self.failures]:
            subject = usable[int(rng.integers(len(usable)))]
            try:
                return self._begin(seed, {**(options or {}), "subject": subject})
            except SubjectError as problem:
                self.failures[subject] = str(problem)
        first, reason = next(iter(self.failures.items()))
        raise SubjectError(f"none of the {len(self.subjects)} subjects can be used; the first is '{first}': {reason}")

    def step(self, action: Any) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Step the wrapped environment and add "subject" to `info`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, {**info, "subject": self._subject}

    def action_masks(self) -> Any:
        """The mask of the wrapped environment."""
        return self.env.get_wrapper_attr("action_masks")()

    def action_of(self, recorded: Any) -> Any:
        """The action of the wrapped environment, see `RecordedEnv.action_of`."""
        return self.env.get_wrapper_attr("action_of")(recorded)

    @property
    def environment(self) -> dict[str, str]:
        """The names of the wrapped environment, see `RecordedEnv.environment`."""
        found: dict[str, str] = self.env.get_wrapper_attr("environment")
        return found

    @property
    def default_agent(self) -> str:
        """The default agent of the wrapped environment."""
        return str(self.env.get_wrapper_attr("default_agent"))

    def record(self) -> dict[str, Any]:
        """The record of the wrapped environment."""
        found: dict[str, Any] = self.env.get_wrapper_attr("record")()
        return found

    def _begin(self, seed: int | None, options: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options={"path": self.path, **options})
        self._subject = str(options["subject"])
        return observation, {**info, "subject": self._subject}
