"""A Ray cluster (extra `ray`): functions that connect to it and run tasks on it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final, TypeVar

from fitgym.errors import InputError, UnknownName

__all__ = ["EXECUTORS", "check_executor", "connected", "enter", "reason", "tasks"]

T = TypeVar("T")

EXECUTORS: Final = ("local", "ray")
"""The names of executors: training and evaluation run on this machine, or on a Ray cluster."""

_REACH_S: Final = 10.0
_RETRIES: Final = 3  # retries of a task whose node is lost


def check_executor(executor: str, address: str) -> None:
    """Check the name and the address of an executor.

    Raises:
        InputError: the name is unknown, Ray is not installed, or there is an address without Ray.
    """
    if executor not in EXECUTORS:
        raise UnknownName("executor", executor, EXECUTORS)
    if address and executor != "ray":
        raise InputError(
            f"address '{address}' needs executor 'ray', not '{executor}': use executor ray, or leave the address out"
        )
    if executor == "ray" and find_spec("ray") is None:
        raise InputError("executor 'ray' needs ray: pip install 'fitgym[ray]'")


@contextmanager
def connected(address: str = "", cores: int | None = None) -> Iterator[Any]:
    """Connect to a Ray cluster for the duration of the block, and yield the package `ray`.

    An existing connection is used and left open. Without an address, the environment variable `RAY_ADDRESS` names the
    cluster. If it is not set either, a cluster starts on this machine and ends with the block.

    Args:
        address: the address of the cluster, such as `auto` or `head:6379`.
        cores: cores of a cluster that starts here; all cores of the machine if None.

    Raises:
        InputError: there is no cluster at the address.
    """
    import ray

    if ray.is_initialized():
        yield ray
        return
    there = address or os.environ.get("RAY_ADDRESS", "")
    try:
        _reach(there)
        ray.init(address=there or "local", num_cpus=None if there else cores, log_to_driver=False)
    except (ConnectionError, OSError, RuntimeError, ValueError) as problem:
        if not there:
            raise
        raise InputError(
            f"no Ray cluster answers at '{there}': start one with `ray start --head`, or correct the address "
            f"({reason(problem)})"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Open and close a connection to HOST:PORT. Ray itself would wait for minutes and then end this process."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_REACH_S).close()


def reason(problem: BaseException) -> str:
    """Return the first line of Ray's error message."""
    return next(iter(str(problem).strip().splitlines()), type(problem).__name__)


def tasks(ray: Any, function: Callable[[T], Any], items: Iterable[T], at_once: int) -> Iterator[tuple[T, Any]]:
    """Call a function in a task for each item, and yield items with their results in the order in which the tasks end.

    If the node of a task is lost, the task runs again on another node, up to three times. The result of a failed task
    is the `RayError`; it is a `RayTaskError` if the function raised.

    Args:
        ray: the package, see `connected`.
        function: the function, which is pickled.
        items: consumed one by one, as tasks end.
        at_once: the maximum number of tasks that wait or run at a time.
    """
    task = ray.remote(num_cpus=1, max_retries=_RETRIES)(function)
    waiting = iter(items)
    asked: dict[Any, T] = {}
    while True:
        asked |= {task.remote(item): item for item in islice(waiting, at_once - len(asked))}
        if not asked:
            return
        for ended in ray.wait(list(asked), num_returns=1)[0]:
            try:
                answer = ray.get(ended)
            except ray.exceptions.RayError as problem:
                answer = problem
            yield asked.pop(ended), answer


def enter(folder: str) -> None:
    """Change to the command's working folder, if this node has it, so that relative paths mean the same here."""
    if os.path.isdir(folder):
        os.chdir(folder)
