"""Demands: what an argument without annotation must be able to do."""

from __future__ import annotations

import ast

from fitgym.subject.hints import Hint

__all__ = ["static_demands"]


def static_demands(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> dict[str, Hint]:
    return {}
