"""Environments in separate processes, which end with the training process (extra `deep`)."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
from stable_baselines3.common.vec_env import SubprocVecEnv
from stable_baselines3.common.vec_env.base_vec_env import CloudpickleWrapper, VecEnv
from stable_baselines3.common.vec_env.subproc_vec_env import _worker

from fitgym.sandbox.bound import call

__all__ = ["Subprocesses"]


class Subprocesses(SubprocVecEnv):  # type: ignore[misc]
    """A `SubprocVecEnv` whose processes are killed when this process ends, even while they start.

    The library's own processes import torch before they read from their pipe, which takes seconds. Here each process
    first binds itself to its parent, with a function that imports little.

    Args:
        makers: functions that each make an environment.
    """

    def __init__(self, makers: Sequence[Callable[[], Any]]) -> None:
        self.waiting = self.closed = False
        spawn = multiprocessing.get_context("spawn")
        pipes = [spawn.Pipe() for _ in makers]
        self.remotes, self.work_remotes = zip(*pipes, strict=True)
        self.processes = []
        for make, (remote, work_remote) in zip(makers, pipes, strict=True):
            serve = cloudpickle.dumps(partial(_worker, env_fn_wrapper=CloudpickleWrapper(make)))
            process = spawn.Process(target=call, args=(os.getpid(), serve, work_remote, remote), daemon=True)
            process.start()
            self.processes.append(process)
            work_remote.close()
        self.remotes[0].send(("get_spaces", None))
        VecEnv.__init__(self, len(makers), *self.remotes[0].recv())
