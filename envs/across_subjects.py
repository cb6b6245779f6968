"""Across subjects: another module in every episode, so that a policy learns what holds for more than one."""

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

    Every `reset` draws one of the subjects, uniformly: with a seed from that, without one from the generator of the
    environment inside, which goes on from episode to episode. What is observed and chosen does not depend on the
    subject, so a policy can be trained on many. A subject that cannot be imported or offers nothing to test is noted in
    `failures`, is not drawn again, and another one takes its place.

    `info` of `reset` and `step` gains "subject", the text of the subject of this episode.

    Args:
        env: any environment with a search on a subject; the subject does not matter.
        subjects: their texts, or the name of a corpus or of a split of one such as `stdlib-v1:train`.
        path: a folder to look in first; the corpus's own if it has one.

    Attributes:
        failures: the subjects that could not be used, with the reason.

    Raises:
        InputError: the environment is of another kind, there are no subjects, or the corpus cannot be read.
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
            SubjectError: none of the subjects can be used, or the one that was named.
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
        """As of the environment inside."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, {**info, "subject": self._subject}

    def action_masks(self) -> Any:
        """As of the environment inside."""
        return self.env.get_wrapper_attr("action_masks")()

    def action_of(self, recorded: Any) -> Any:
        """As of the environment inside."""
        return self.env.get_wrapper_attr("action_of")(recorded)

    @property
    def environment(self) -> dict[str, str]:
        """As of the environment inside."""
        found: dict[str, str] = self.env.get_wrapper_attr("environment")
        return found

    @property
    def default_agent(self) -> str:
        """As of the environment inside."""
        return str(self.env.get_wrapper_attr("default_agent"))

    def record(self) -> dict[str, Any]:
        """As of the environment inside."""
        found: dict[str, Any] = self.env.get_wrapper_attr("record")()
        return found

    def _begin(self, seed: int | None, options: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options={"path": self.path, **options})
        self._subject = str(options["subject"])
        return observation, {**info, "subject": self._subject}
