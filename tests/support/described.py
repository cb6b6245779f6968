"""The description of an imported module, as a worker makes it."""

import ast
import types

from fitgym.instrument.rewriting.plan import plan
from fitgym.subject.introspection.inspection import complete
from fitgym.subject.source import read
from fitgym.subject.subject import Reference, Subject


def describe(reference: Reference, module: types.ModuleType) -> Subject:
    source = read(reference)
    planned = plan(ast.parse(source))
    return complete(reference, source, module, planned.sites, planned.functions, (), ())
