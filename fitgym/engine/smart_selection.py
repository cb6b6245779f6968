"""Smart selection: guides the search by representatives of the fitness functions and targets, so that it has fewer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from fitgym.fitness.base import Fitness, Mask
from fitgym.mutants.mutant import Mutant
from fitgym.mutants.replacements import subsuming
from fitgym.subject.subject import Subject

__all__ = ["EIGHT", "GROUPS", "SPAN", "smart_selection"]

EIGHT = (
    "branch",
    "direct_branch",
    "line",
    "weak_mutation",
    "top_level_method",
    "method_no_exception",
    "exception",
    "output",
)
"""The eight criteria of the paper."""

GROUPS: tuple[tuple[str, ...], ...] = (
    ("direct_branch", "branch", "line", "weak_mutation"),
    ("method_no_exception", "top_level_method", "method"),
)
"""Functions whose coverage correlates. The function with the smoother distance, or that implies more, comes first.

A function in no group forms a group of its own.
"""

SPAN = 8
"""The smallest number of lines from the first to the last line of a block for the last line to stay a target."""


def smart_selection(
    names: Sequence[str], fitness: Mapping[str, Fitness], subject: Subject, whole: Collection[str] = ()
) -> dict[str, Mask | None]:
    """Return the functions that guide the search, each with a mask of its targets.

    The representative of a group is its first function among `names`; it keeps all targets. Of the other functions of
    its group

        branch          keeps the branches without a direct one, because no test case can call their function: a direct
                        branch represents the branch of the same place, and no other
        line            keeps the last line of each block that is at least `SPAN` lines after the first: a test case
                        that covers it has come to the end of the block, which a branch into it does not guarantee
        weak_mutation   keeps the mutants of comparisons and operators that subsume the others of their place
        the rest        keeps nothing

    Args:
        names: of the requested functions.
        fitness: these functions, and perhaps others.
        subject: the code under test.
        whole: functions that keep everything if they are among `names`, because the search depends on them; DynaMOSA on
            the covered branches.

    Returns:
        By the name of each function that keeps a target, in the order of `names`: None for all its targets, else a mask
        `(n_targets,)`.

    References:
        Zhou, Zhou, Fang et al. 2024, Coverage Goal Selector for Combining Multiple Criteria in Search-Based Unit Test
        Generation, section 3: groups, representatives, subsuming targets; threshold 8.

    Differs from the paper, which keeps no branch: its direct branches of a private method may be taken through any
    method, so that every branch has a direct one. The result is the same.

    Differs from the released code: there nine of ten of the remaining mutants are dropped at random unless another
    strategy is requested. Lines are counted in the source, there in the line table of the byte code. In both a
    statement over several lines makes a block longer.
    """
    leaders = {next((name for name in group if name in names), "") for group in GROUPS}
    grouped = {name for group in GROUPS for name in group}
    found: dict[str, Mask | None] = {}
    for name in dict.fromkeys(names):
        if name in leaders or name not in grouped or name in whole:
            found[name] = None
        elif name == "branch":
            found[name] = _not_direct(fitness[name], fitness["direct_branch"], subject)
        elif name == "line":
            found[name] = _last_lines(fitness[name], subject)
        elif name == "weak_mutation":
            found[name] = _subsuming_mutants(fitness[name], subject)
    return {name: mask for name, mask in found.items() if mask is None or mask.any()}


def _not_direct(branch: Fitness, direct_branch: Fitness, subject: Subject) -> Mask:
    direct = {target.key for target in direct_branch.targets}
    # Code that runs at import is covered without any test case.
    inside = (subject.sites[branch.site].function > 0 for branch in subject.branches)
    return np.array(
        [there and t.key not in direct for t, there in zip(branch.targets, inside, strict=True)], dtype=bool
    )


def _last_lines(line: Fitness, subject: Subject) -> Mask:
    # Code that runs at import has no branch into it.
    blocks = [site.lines for site in subject.sites if site.kind == "block" and site.lines and site.function > 0]
    last = {lines[-1] for lines in blocks if lines[-1] - lines[0] >= SPAN}
    return np.array([target.key[0] in last for target in line.targets], dtype=bool)


def _subsumes(mutant: Mutant) -> bool:
    if mutant.operator == "relational":
        return mutant.replacement in subsuming(mutant.original)
    if mutant.operator == "arithmetic":  # including augmented assignments such as `+=`
        return mutant.replacement.removesuffix("=") in subsuming(mutant.original.removesuffix("="))
    return False


def _subsuming_mutants(weak_mutation: Fitness, subject: Subject) -> Mask:
    kept = {mutant.id for mutant in subject.mutants if _subsumes(mutant)}
    return np.array([target.key[0] in kept for target in weak_mutation.targets], dtype=bool)
