"""Demands: what an argument without annotation must be able to do."""

from __future__ import annotations

import ast

from fitgym.subject.hints import Hint
from fitgym.subject.usage import AnyFunction, Usage

__all__ = ["static_demands"]


def static_demands(node: AnyFunction) -> dict[str, Hint]:
    """What the body of one function, taken alone, does with its parameters: by name the types that can do it.

    Parameters that nothing is known about are left out. `Usage` reads a whole module and sees more.
    """
    return Usage(ast.Module([], [])).demands(node)
