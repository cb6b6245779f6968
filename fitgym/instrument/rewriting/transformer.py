"""The transformer: inserts probes into the code of a module in one pass over its syntax tree.

`expand_chains` expands chained comparisons, `plan` numbers the sites, and `Rewriter` puts a placeholder at each site.
After compilation `swap` replaces the placeholders with probes. The module gets no new name, so nothing can be shadowed,
and line numbers are those of the source. Arithmetic and variables have probes only with the feature "infection".

With `leading`, the probe of `x < y` also counts the block that its outcome leads to (`Site.leads`). That block has no
probe.
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
    """An instrumented module whose probes are still placeholders.

    Attributes:
        plan: the places of the probes.
        tree: syntax tree of the source without probes, with expanded comparison chains. Its nodes are the keys of the
            mappings in `plan`.
        filename: file name in tracebacks.
        template: the compiled code with placeholders.
        leading: conditions count the blocks that they lead to.
    """

    plan: Plan
    tree: ast.Module
    filename: str
    template: CodeType
    leading: bool = False

    def code(self, factory: Factory) -> CodeType:
        """Return the code of the module with its probes.

        The factory may be called several times for one site. It must then return the same object, which must be
        hashable.

        Args:
            factory: returns the probe: `factory(site id)`, or `factory(site id, leading=True)`.
        """
        return swap(self.template, factory)

    def code_of(self, function: FunctionNode | ast.Lambda, classes: Sequence[str], factory: Factory) -> CodeType:
        """Return the code of a module that contains only one function of the tree, with probes as in `code`.

        Parts of the function may have been replaced before; new parts get no probes. There are no infection probes:
        they read other variables, which may be unbound if a statement is missing. There are no decorators, because they
        are not part of the function's code.

        Args:
            function: a function of the tree that is not inside another function.
            classes: names of the classes around it, outermost first.
            factory: as in `code`.

        Raises:
            SyntaxError: the function is invalid after the replacement.
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
    """Instrument the source of one module. Executes nothing.

    Args:
        source: the source text.
        filename: file name in tracebacks.
        features: with "infection" arithmetic has probes; other names are ignored.
        leading: blocks that a condition leads to (`Site.leads`) have no probe; the probe of the condition counts them.
        mutants: with "infection" only the arithmetic and the values changed by these mutants have probes.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    # Before Python 3.12 the recursion limit also applies to the compiler.
    with warnings.catch_warnings(), deep_trees(), without_collection():
        # The compiler warns about calls of strings, and repeats its warnings about the source.
        warnings.simplefilter("ignore")
        tree = ast.parse(source, filename)
        expand_chains(tree)
        where = plan(tree, features, mutants)
        instrumented = Rewriter(where, leading).module(tree)
        template = compile(instrumented, filename, "exec", dont_inherit=True)
    return Instrumented(where, tree, filename, template, leading)
