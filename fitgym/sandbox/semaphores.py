"""Semaphores: multiprocessing names them in a folder that the kernel keeps closed, and other machines keep open."""

from __future__ import annotations

from typing import Any

from fitgym.sandbox.sandbox import Blocked, Guard

__all__ = ["refuse_semaphores"]


def refuse_semaphores(guard: Guard) -> None:
    """Make test cases refuse semaphores of multiprocessing, as they refuse new processes.

    Without this, a pool of processes fails with the `PermissionError` of the kernel, and a test would expect it.
    """
    try:
        import _multiprocessing  # type: ignore[import-not-found]
    except ImportError:  # a Python without multiprocessing
        return
    released: Any = _multiprocessing.SemLock

    class SemLock(released):  # type: ignore[misc]
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            if guard.mode == "strict":
                guard.refused = "multiprocessing.SemLock"
                raise Blocked("multiprocessing.SemLock is not allowed in a test case")
            return super().__new__(cls, *args, **kwargs)

    _multiprocessing.SemLock = SemLock
