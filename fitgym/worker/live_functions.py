"""Live functions: the functions of the subject that exist in this process, to be patched for a mutant."""

from __future__ import annotations

import gc
from types import FunctionType

from fitgym.instrument.recorder import Recorder

__all__ = ["LiveFunctions", "live_functions"]

LiveFunctions = dict[int, list[FunctionType]]
"""Functions by the first site of their code."""


def live_functions(filename: str, recorder: Recorder) -> LiveFunctions:
    """The functions that exist now, closures included; those that the collector has been told to freeze are not found.

    Args:
        filename: of the subject's code.
        recorder: made its probes.
    """
    found: LiveFunctions = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename == filename:
            site = recorder.first_site(thing.__code__)
            if site >= 0:
                found.setdefault(site, []).append(thing)
    return found
