"""Environments in separate processes step like the library's, and end when they are closed."""

from __future__ import annotations

import multiprocessing
from functools import partial

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="deep agents learn with Stable-Baselines3, in the extra 'deep'")

from stable_baselines3.common.vec_env import DummyVecEnv

from fitgym.envs.toy import Toy
from fitgym.learning.subprocesses import Subprocesses


def test_they_step_as_environments_in_this_process() -> None:
    makers = [partial(Toy, 7), partial(Toy, 7)]
    here, there = DummyVecEnv(makers), Subprocesses(makers)
    try:
        for env in (here, there):
            env.seed(3)
        assert np.array_equal(here.reset(), there.reset())
        for _ in range(12):
            (seen, paid, over, _), (observed, earned, done, _) = here.step([1, 2]), there.step([1, 2])
            assert np.array_equal(seen, observed) and np.allclose(paid, earned) and np.array_equal(over, done)
    finally:
        there.close()
        here.close()
    assert not multiprocessing.active_children()


def test_an_environment_that_cannot_be_made_is_an_error_and_no_hang() -> None:
    with pytest.raises((EOFError, ConnectionResetError)):
        Subprocesses([partial(Toy, "many")])
