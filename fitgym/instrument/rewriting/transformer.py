"""Puts probes into the code of a module: one pass over its syntax tree, then one swap of constants.

`expand_chains` expands chained comparisons, `plan` numbers the sites, `Rewriter` puts a placeholder at each site. After compilation
`swap` exchanges the placeholders for probes. The module gains no name, nothing can be shadowed, and the line numbers are
those of the source. Arithmetic and variables have probes only if "infection" is a feature.

With `leading`, the probe of `x < y` also counts the block that its outcome leads to (`Site.leads`). That block has no probe of
its own.
"""

from __future__ import annotations
import __future__

import ast
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import CodeType

from fitgym.instrument.rewriting.chains import expand_chains
from fitgym.instrument.rewriting.expression_sites import FunctionNode
from fitgym.instrument.rewriting.placeholders import Factory, swap
from fitgym.instrument.rewriting.plan import Plan, plan
from fitgym.instrument.rewriting.rewriter import Rewriter
from fitgym.mutants.mutant import Mutant
from fitgym.subject.code.syntax import deep_trees, without_collection

__all__ = ["Instrumented", "instrument"]

_FUTURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})


@dataclass(frozen=True, slots=True, eq=False)
class Instrumented:
    """A module with places for probes.

    Attributes:
        plan: where they are.
        tree: the syntax tree of the source without probes, chained comparisons expanded; its nodes are the keys of the
            mappings in `plan`.
        filename: what tracebacks show.
        template: the compiled code with placeholders.
        leading: conditions count the blocks that they lead to.
    """

    plan: Plan
    tree: ast.Module
    filename: str
    template: CodeType
    leading: bool = False

    def code(self, factory: Factory) -> CodeType:
        """The code of the module with `factory(site id)` in the place of each probe, or `factory(site id, leading=True)`.

        The factory may be asked several times for one site and must then give the same object, which must be hashable.

        Args:
            factory: makes the probes.
        """
        return swap(self.template, factory)

    def code_of(self, function: FunctionNode | ast.Lambda, classes: Sequence[str], factory: Factory) -> CodeType:
        """The code of a module that holds one function of the tree and nothing else, with probes as in `code`.

        Parts of the function may have been exchanged since; what is new in it gets no probes. Probes for infection are left
        out: they read other variables, which need not be bound any more where a statement is missing. Its decorators are
        left out, because none of them is part of its code.

        Args:
            function: a function of the tree that stands in no other one.
            classes: names of the classes around it, outermost first.
            factory: as in `code`.

        Raises:
            SyntaxError: what was put in makes no valid function.
        """
        with warnings.catch_warnings(), deep_trees():
            warnings.simplefilter("ignore")
            plan = replace(self.plan, infection={})
            alone = Rewriter(plan, leading=False).alone(function, classes)
            flags = self.template.co_flags & _FUTURES
            template = compile(alone, self.filename, "exec", flags, dont_inherit=True)
        return swap(template, factory)


def instrument(
    source: str,
    filename: str,
    features: frozenset[str] = frozenset(),
    *,
    leading: bool = False,
    mutants: Iterable[Mutant] | None = None,
) -> Instrumented:
    """Instrument the source of one module; nothing is executed.

    Args:
        source: its text.
        filename: what tracebacks show.
        features: with "infection" there are probes for arithmetic; other names are for others.
        leading: blocks that a condition leads to (`Site.leads`) have no probe; that of the condition counts them.
        mutants: with "infection" there are probes where these change arithmetic and values, and nowhere else.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    # Before Python 3.12 the compiler, too, goes by the limit of Python's own stack.
    with warnings.catch_warnings(), deep_trees(), without_collection():
        # The compiler remarks that a string is called, and once more what it said about the source itself.
        warnings.simplefilter("ignore")
        tree = ast.parse(source, filename)
        expand_chains(tree)
        where = plan(tree, features, mutants)
        instrumented = Rewriter(where, leading).module(tree)
        template = compile(instrumented, filename, "exec", dont_inherit=True)
    return Instrumented(where, tree, filename, template, leading)
