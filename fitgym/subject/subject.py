"""The subject: the module or class under test as immutable, picklable data.

The parent process never imports the subject. The worker imports it, completes this description and sends it back;
everything the search knows about the code under test is in here.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from fitgym.immutable import immutable
from fitgym.mutants.generation import mutants
from fitgym.mutants.mutant import Mutant
from fitgym.subject.example import Example
from fitgym.subject.examples import examples
from fitgym.subject.profile import profile
from fitgym.subject.types.hints import ANY, Hint

__all__ = [
    "Branch",
    "Class",
    "Drive",
    "Function",
    "Operation",
    "OperationKind",
    "Parameter",
    "ParameterKind",
    "Reference",
    "Site",
    "SiteKind",
    "Subject",
    "WayIn",
]

ParameterKind = Literal["positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"]

OperationKind = Literal[
    "function",  # module.f(...)
    "constructor",  # module.C(...)
    "method",  # receiver.m(...)
    "static_method",  # module.C.m(...)
    "class_method",  # module.C.m(...)
    "property",  # receiver.p
    "setter",  # receiver.p = argument
    "operator",  # receiver + argument, len(receiver), receiver[argument], ...: `operator` holds the method's name
]

Drive = Literal["", "await", "iterate", "aiterate", "enter", "aenter"]

WayIn = Literal["", "private", "inherited"]

SiteKind = Literal[
    "comparison",  # site(a, b): three slots, the least distance to a < b, a == b, a > b
    "membership",  # in, not in, is, is not: two slots, the least distance to true, to false
    "truth",  # any other condition, two slots
    "loop",  # for: entered, not entered, two slots
    "case",  # match case: matched, not matched, two slots
    "block",  # a straight run of code: counted only, no slot
    "arithmetic",  # a binary operator: counted, and which other operators would have given another result; no slot
    "value",  # a variable: counted, and which of other values differ from the one that it had; no slot
]

_WIDTHS: dict[SiteKind, int] = {"comparison": 3, "block": 0, "arithmetic": 0, "value": 0}


@immutable
@dataclass(frozen=True, slots=True)
class Reference:
    """What the user asked for, located but not imported.

    Attributes:
        text: as given: `package.module`, `package.module:Class` or `path/to/file.py[:Class]`.
        module: the name under which the module is imported.
        path: absolute path of its source file.
        class_name: qualified name of the class under test, "" for the whole module.
        search_path: folders that must stand first on `sys.path` for the import to work.
        programs: names of the programs that the import may start.
        writes: the import writes below `root`, so it needs an overlay.
    """

    text: str
    module: str
    path: str
    class_name: str = ""
    search_path: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    writes: bool = False

    @property
    def root(self) -> str:
        """The folder that holds the top-level package or module."""
        folder, name = os.path.split(self.path)
        for _ in range(self.module.count(".") + (name.rpartition(".")[0] == "__init__")):
            folder = os.path.dirname(folder)
        return folder


@immutable
@dataclass(frozen=True, slots=True)
class Site:
    """One probe in the subject.

    Attributes:
        id: index of the site in `Subject.sites`.
        kind: what it records, see `SiteKind`.
        function: index of the function (or module body) that owns it, in `Subject.functions`.
        line: first source line of the condition or block, from 1.
        operator: `<`, `<=`, `==`, `!=`, `>`, `>=`, `in`, `not in`, `is`, `is not`, `async for` for such a loop, or "".
        slot: index of its first distance among those of all sites, -1 if it has none.
        lines: for a block the source lines it runs in order when nothing stops it, else empty.
        in_loop: the site decides whether a loop goes round again.
        decides: control depends on its outcome. False for a comparison whose result is only a value (`return a < b`):
            it has distances but contributes no branches.
        passes: the value of the condition is used, so the probe hands it on as it is; otherwise only its truth is.
        catches: for a block, it is the start of an `except` body.
        burns: for a block, each visit takes one unit of fuel: it is the entry of a function, the start of the body of a
            loop, or one round of a comprehension. Whatever goes on for ever passes such blocks for ever.
        span: where the expression of a condition or operator stands in the source: first line, offset in it, last line,
            offset behind the end, offsets in bytes of UTF-8; empty for what is no expression.
        leads: for a condition the blocks that begin as soon as it is true and as soon as it is false, -1 for none; empty if
            there are none. Nothing else leads there.
        alternatives: for a value, what mutants put in its place: a sign, one more, one less, then other variables.
        literals: for a comparison or membership the types of the two operands as far as they are literals of the source
            ("int", "str", ...), "" for any other operand. Nothing can be learnt from a literal.
    """

    id: int
    kind: SiteKind
    function: int
    line: int
    operator: str = ""
    slot: int = -1
    lines: tuple[int, ...] = ()
    in_loop: bool = False
    decides: bool = True
    passes: bool = False
    catches: bool = False
    burns: bool = False
    span: tuple[int, ...] = ()
    literals: tuple[str, str] = ("", "")
    alternatives: tuple[str, ...] = ()
    leads: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """How many distance slots the site has."""
        return _WIDTHS.get(self.kind, 2)


@immutable
@dataclass(frozen=True, slots=True)
class Branch:
    """One outcome of one predicate, or the entry of a function.

    Attributes:
        site: id of the predicate's site, or of the function's entry block for a root.
        outcome: true or false; roots are always true.
        root: the branch is the entry of a function body (or of the module body).
    """

    site: int
    outcome: bool
    root: bool = False


@immutable
@dataclass(frozen=True, slots=True)
class Function:
    """One code object of the subject: a function, a method, a lambda or the module body.

    Attributes:
        id: index in `Subject.functions`; 0 is the module body.
        name: qualified name, `<module>` for the module body.
        line: line of its first statement or of its `def`.
        end_line: last line.
        entry: id of the block site at its start.
    """

    id: int
    name: str
    line: int
    end_line: int
    entry: int


@immutable
@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation, the receiver left out.

    Attributes:
        name: as written in the signature.
        kind: as in `inspect.Parameter`, in lower case.
        hint: which values it takes; `Hint("any")` where nothing is known.
        required: it has no default.
        declared: the hint is promised by an annotation, a stub or the documentation; False where it was inferred from
            the default or from what the code does with the parameter.
        inspected: the code is prepared for values that the hint forbids, see `fitgym.subject.types.inspected`.
    """

    name: str
    kind: ParameterKind
    hint: Hint
    required: bool = True
    declared: bool = False
    inspected: bool = False


@immutable
@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a statement of a test case can do with the subject or with what it needs.

    Attributes:
        id: index in `Subject.operations`.
        kind: see `OperationKind`.
        module: module that a test imports it from.
        name: qualified name in that module, for example `Version.bump_major`.
        owner: name of the class (`module.qualname`, a key of `Subject.classes`) that it belongs to or constructs, or "".
        parameters: without the receiver.
        returns: what comes back (of the drained iterator or the awaited coroutine where `drive` says so).
        function: index in `Subject.functions` of the body it finally runs after unwrapping decorators, or -1.
        under_test: it belongs to what the user asked to test; others help to build arguments, or are further ways in.
        drive: what has to be done with the result so that the body runs: await it, iterate over it, enter it.
        declared: names of exception classes that its docstring says it raises.
        operator: name of the special method for kind "operator", else "".
        way_in: how it leads into the code under test although it is not `under_test`: "private" for a function, method or
            class whose name begins with an underscore, "inherited" for a public method of a base class elsewhere that
            calls what a class under test overrides, "" for neither.
        exampled: it is there only because examples of the package use it (`Subject.examples`).
    """

    id: int
    kind: OperationKind
    module: str
    name: str
    owner: str = ""
    parameters: tuple[Parameter, ...] = ()
    returns: Hint = ANY
    function: int = -1
    under_test: bool = True
    drive: Drive = ""
    declared: tuple[str, ...] = ()
    operator: str = ""
    way_in: WayIn = ""
    exampled: bool = False

    @property
    def leads_in(self) -> bool:
        """A call of it can be what a test case is about: it is under test, or another way into the code under test."""
        return self.under_test or bool(self.way_in)

    @property
    def needs_receiver(self) -> bool:
        """The operation acts on an object of the class `owner`."""
        return self.kind in ("method", "property", "setter", "operator")

    def takes(self, count: int) -> bool:
        """Whether it can be called with `count` positional arguments and nothing else."""
        least = most = 0
        for parameter in self.parameters:
            if parameter.kind in ("positional_only", "positional_or_keyword"):
                most += 1
                least += parameter.required
            elif parameter.kind == "var_positional":
                most = count
            elif parameter.kind == "keyword_only" and parameter.required:
                return False
        return least <= count <= most


@immutable
@dataclass(frozen=True, slots=True)
class Class:
    """A class that occurs in the subject or in the types of its parameters.

    Attributes:
        name: `module.qualname`, its key in `Subject.classes`.
        module: module that a test imports it from.
        qualname: qualified name in that module.
        bases: names of all classes it inherits from, itself first, `object` last (its method resolution order).
        members: names of its members if it is an enum.
        demands: names of the attributes a value must have if it is a protocol.
        double: if it is a protocol, a plain holder of attributes that does as one; None if its attributes are not known.
        abstract: it cannot be instantiated.
        instances: module-level names, as `module:qualname`, of existing objects of this class that a test may use.
        by_address: its objects are hashed by where they lie, as those of `object` are.
    """

    name: str
    module: str
    qualname: str
    bases: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    demands: tuple[str, ...] = ()
    double: Hint | None = None
    abstract: bool = False
    instances: tuple[str, ...] = ()
    by_address: bool = False


@immutable
@dataclass(frozen=True)
class Subject:
    """Everything that is known about the code under test.

    Attributes:
        reference: how it was asked for and where it is.
        source: its source text.
        sites: all probes, by id.
        functions: all code objects, by id; 0 is the module body.
        branches: what the goal `branch` is made of: the root of every function first, then both outcomes of every
            predicate in source order. Restricted to the class under test if one was named.
        dependences: for each site id the branches it is control dependent on, as indexes of nothing but
            `(site id, outcome)` pairs; a site that runs whenever its function runs depends on its function's entry
            `(entry site, True)`, an entry site on nothing.
        operations: everything that a test case can do, by id.
        classes: by name; what is needed to build and check values.
        constants: literals of the source, each as Python source text, first occurrence first.
        patterns: regular expressions of the source.
        added: files and folders that the import makes below `Reference.root`; folders end with a slash.
        changed: files below `Reference.root` that the import changes.
    """

    reference: Reference
    source: str
    sites: tuple[Site, ...]
    functions: tuple[Function, ...]
    branches: tuple[Branch, ...]
    dependences: tuple[tuple[tuple[int, bool], ...], ...]
    operations: tuple[Operation, ...]
    classes: dict[str, Class]
    constants: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @cached_property
    def under_test(self) -> tuple[Operation, ...]:
        """The operations that the user asked to test, by id."""
        return tuple(operation for operation in self.operations if operation.under_test)

    def without_examples(self) -> Subject:
        """The subject without the operations that only examples use; they are the last ones."""
        return replace(self, operations=tuple(one for one in self.operations if not one.exampled))

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """What people have written about the module: doctests, tests of its package, the read-me.

        Files are read when it is asked for the first time, see `fitgym.subject.examples.examples`.
        """
        return examples(self.reference.module, self.reference.path, self.source)

    @cached_property
    def mutants(self) -> tuple[Mutant, ...]:
        """The mutants of what the user asked to test, in source order."""
        return mutants(self.source, self.reference.class_name).made

    @cached_property
    def profile(self) -> dict[str, float]:
        """Static numbers of the code under test; see `fitgym.subject.profile.profile`."""
        return profile(self)

    @cached_property
    def n_slots(self) -> int:
        """How many distances all sites have together."""
        return sum(self.slot_widths)

    @cached_property
    def slot_widths(self) -> array[int]:
        """How many distances each site has, `array("q")`."""
        return array("q", [site.width for site in self.sites])

    @cached_property
    def first_slots(self) -> array[int]:
        """The slot of the first distance of each site, 0 for sites without any, `array("q")`."""
        return array("q", [max(site.slot, 0) for site in self.sites])
