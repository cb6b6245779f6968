"""A Ray cluster (extra `ray`): how to connect to it and run tasks on it."""

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
"""Where training and evaluation run: on this machine, or on a Ray cluster."""

_REACH_S: Final = 10.0
_RETRIES: Final = 3  # of a task whose node is lost


def check_executor(executor: str, address: str) -> None:
    """Refuse an executor that does not exist or cannot be used.

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

    A connection that exists already is used and left open. Without an address, the variable `RAY_ADDRESS` names the
    cluster. If that is not set either, a cluster starts on this machine and ends with the block.

    Args:
        address: of the cluster, such as `auto` or `head:6379`.
        cores: of a cluster that starts here; as many as the machine has if None.

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
    """Open a connection to HOST:PORT and close it. Ray would wait there for minutes, and then end this process."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_REACH_S).close()


def reason(problem: BaseException) -> str:
    """The first line of Ray's error message."""
    return next(iter(str(problem).strip().splitlines()), type(problem).__name__)


def tasks(ray: Any, function: Callable[[T], Any], items: Iterable[T], at_once: int) -> Iterator[tuple[T, Any]]:
    """Call a function in a task for each item, and yield items with their answers in the order in which the tasks end.

    A task whose node is lost runs again on another node, up to three times. The answer of a task that failed is the
    `RayError`; it is a `RayTaskError` if the function raised.

    Args:
        ray: the package, see `connected`.
        function: pickled.
        items: taken one by one, as tasks end.
        at_once: how many tasks wait or run at a time.
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
    """Change to the working folder of the command, if this node has it. Relative paths then mean the same as there."""
    if os.path.isdir(folder):
        os.chdir(folder)
