"""Preparation: the instrumented source of a subject, its description, and the other modules of its package."""

from __future__ import annotations

import ast
import os
import sys
import types

from fitgym.determinism.fleeting import is_fleeting_number, is_fleeting_text
from fitgym.errors import SubjectError
from fitgym.instrument.factories import in_use
from fitgym.instrument.rewriting.transformer import Instrumented, instrument
from fitgym.mutants.generation import mutants
from fitgym.subject.dependence import branches, dependences
from fitgym.subject.introspection.inspection import complete
from fitgym.subject.subject import Reference, Subject

__all__ = ["describe", "instrumented", "neighbours", "shared_objects"]


def instrumented(reference: Reference, source: str, infection: bool) -> Instrumented:
    """Return the source instrumented with probes. The result is deterministic.

    Raises:
        SubjectError: the source is nested too deeply.
    """
    leading = in_use() == "c"
    try:
        if not infection:
            return instrument(source, reference.path, leading=leading)
        changes = mutants(source, reference.class_name)
        return instrument(source, reference.path, frozenset({"infection"}), leading=leading, mutants=changes)
    except RecursionError as problem:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SubjectError(
            f"'{reference.text}' has an expression that is nested too deeply for Python {version} to compile it with "
            "probes; break it up, or use another version of Python (3.11 and 3.13 go deeper than 3.12)"
        ) from problem


def describe(reference: Reference, source: str, module: types.ModuleType, instrumented: Instrumented) -> Subject:
    """Return the description of the subject that the parent receives."""
    plan = instrumented.plan

    def fleeting(literal: str) -> bool:
        """Return whether a literal depends on this run, or has the folder of the subject."""
        value = ast.literal_eval(literal)
        if isinstance(value, int | float):
            return is_fleeting_number(value)
        text = value if isinstance(value, str) else value.decode("latin-1")
        return is_fleeting_text(text) or reference.root in text

    return complete(
        reference,
        source,
        module,
        plan.sites,
        plan.functions,
        branches(plan.sites, plan.functions, reference.class_name),
        dependences(instrumented.tree, plan.at, plan.blocks, plan.entries, plan.sites, plan.functions, plan.infection),
        fleeting,
    )


def neighbours(module: types.ModuleType, before: frozenset[str]) -> list[types.ModuleType]:
    """Return the other modules of the subject's package, and modules of the same project that its import loaded."""
    package = module.__name__.partition(".")[0]
    libraries = tuple(entry for entry in sys.path if _has_installed_packages(entry))
    found = []
    for name, other in list(sys.modules.items()):
        if other is module or not isinstance(other, types.ModuleType) or name in ("__main__", "fitgym"):
            continue
        if name.startswith("fitgym."):
            continue
        top = name.partition(".")[0]
        file = getattr(other, "__file__", None) or ""
        own = (
            name not in before and top not in sys.stdlib_module_names and not (libraries and file.startswith(libraries))
        )
        if top == package or own:
            found.append(other)
    return found


def _has_installed_packages(folder: str) -> bool:
    """Return True if packages were installed into a folder, also with `pip install --target`."""
    if "site-packages" in folder or "dist-packages" in folder:
        return True
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder or os.curdir))
    except OSError:
        return False


def shared_objects() -> list[object]:
    """Return objects of the standard library that many programs modify (`logging`)."""
    logging = sys.modules.get("logging")
    if logging is None:
        return []
    return [logging.root, vars(logging.root.manager)["loggerDict"], logging._levelToName, logging._nameToLevel]
