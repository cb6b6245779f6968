"""Live functions: the function objects of the subject in this process, to be patched for a mutant."""

from __future__ import annotations

import gc
from types import FunctionType

from fitgym.instrument.recorder import Recorder

__all__ = ["LiveFunctions", "live_functions"]

LiveFunctions = dict[int, list[FunctionType]]
"""Functions by the first site of their code."""


def live_functions(filename: str, recorder: Recorder) -> LiveFunctions:
    """Return the existing functions of the subject, including closures.

    Functions that were frozen with `gc.freeze` are not found.

    Args:
        filename: source file of the subject.
        recorder: recorder of its probes.
    """
    found: LiveFunctions = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename == filename:
            site = recorder.first_site(thing.__code__)
            if site >= 0:
                found.setdefault(site, []).append(thing)
    return found
