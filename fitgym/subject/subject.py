"""The subject: the module or class under test as immutable, picklable data.

The parent process never imports the subject. The worker imports it, completes this description and sends it back. The
search reads everything about the code under test from this description.
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
from fitgym.subject.code.clocks import Clock, clocks
from fitgym.subject.code.returns import returning_lines
from fitgym.subject.code.syntax import parse
from fitgym.subject.example import Example
from fitgym.subject.examples import examples
from fitgym.subject.profile import profile
from fitgym.subject.types.hints import ANY, Hint

__all__ = [
    "SET_CLOCK",
    "SET_COMMAND_LINE",
    "SET_INPUT",
    "SET_VARIABLE",
    "Branch",
    "Class",
    "Drive",
    "EntryKind",
    "Function",
    "Operation",
    "OperationKind",
    "Parameter",
    "ParameterKind",
    "Reference",
    "Site",
    "SiteKind",
    "Subject",
    "subclass_name",
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
    "operator",  # receiver + argument, len(receiver), receiver[argument], ...: `operator` names the special method
]

Drive = Literal["", "await", "iterate", "aiterate", "enter", "aenter", "first"]

EntryKind = Literal["", "private", "inherited"]

SET_VARIABLE = ("os", "environ.__setitem__")
"""Module and name of the operation that sets an environment variable."""

SET_COMMAND_LINE = ("fitgym.worker.command_line", "set_arguments")
"""Module and name of the operation that sets the words of the command line after the name of the program."""

SET_INPUT = ("fitgym.worker.standard_input", "set_input")
"""Module and name of the operation that sets the text of the standard input."""

SET_CLOCK = ("fitgym.determinism.clock", "Clock.freeze")
"""Module and name of the operation that stops the clock at a moment, a text such as "2024-01-15 10:00"."""

SiteKind = Literal[
    "comparison",  # site(a, b): three slots, the smallest distances to a < b, a == b and a > b
    "membership",  # in, not in, is, is not: two slots, the smallest distances to true and to false
    "truth",  # any other condition, two slots
    "loop",  # for: entered, not entered, two slots
    "case",  # match case: matched, not matched, two slots
    "block",  # a straight run of code: only counted, no slot
    "arithmetic",  # a binary operator: counted, with the other operators that give another result; no slot
    "value",  # a variable: counted, with the alternative values that differ from its own; no slot
]

_WIDTHS: dict[SiteKind, int] = {"comparison": 3, "block": 0, "arithmetic": 0, "value": 0}


@immutable
@dataclass(frozen=True, slots=True)
class Reference:
    """The module or class that the user named, located but not imported.

    Attributes:
        text: as given: `package.module`, `package.module:Class` or `path/to/file.py[:Class]`.
        module: the name under which the module is imported.
        path: absolute path of its source file.
        class_name: qualified name of the class under test, "" for the whole module.
        search_path: folders that the import needs at the front of `sys.path`.
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
    def program(self) -> str:
        """The name of the program in `sys.argv`."""
        return next(part for part in reversed(self.module.split(".")) if part != "__main__" or part == self.module)

    @property
    def root(self) -> str:
        """The folder that contains the top-level package or module."""
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
        function: index of the function (or module body) that contains it, in `Subject.functions`.
        line: first source line of the condition or block, from 1.
        operator: `<`, `<=`, `==`, `!=`, `>`, `>=`, `in`, `not in`, `is`, `is not`, `async for` for an asynchronous
            loop, or "".
        slot: index of its first distance among the distances of all sites, -1 if it has none.
        lines: for a block, the source lines that it runs, in order, if no exception interrupts it; otherwise empty.
        in_loop: the site decides whether a loop runs another iteration.
        decides: control flow depends on its outcome. False for a comparison whose result is only a value (`return a <
            b`): it has distances but contributes no branches.
        passes: the code uses the value of the condition, so the probe returns it unchanged. Otherwise the code uses
            only its truth.
        catches: for a block, it is the start of an `except` body.
        burns: for a block, each visit takes one unit of fuel. Such a block is the entry of a function, the start of a
            loop body, or one iteration of a comprehension. An endless execution therefore runs out of fuel.
        span: position of the expression of a condition or operator: first line, offset in it, last line, offset behind
            the end. Offsets are bytes of UTF-8. Empty if the site has no expression.
        leads: for a condition, the blocks that begin as soon as it is true and as soon as it is false, -1 for none;
            empty if there are neither. No other condition leads to these blocks.
        alternatives: for a value, its replacements in mutants: the other sign, one more, one less, then other
            variables.
        literals: for a comparison or membership test, the types of the two operands that are literals of the source
            ("int", "str", ...), "" for any other operand. Seeding learns nothing from a literal.
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
        """Return the number of distance slots of the site."""
        return _WIDTHS.get(self.kind, 2)


@immutable
@dataclass(frozen=True, slots=True)
class Branch:
    """One outcome of one predicate, or the entry of a function.

    Attributes:
        site: id of the predicate's site; for a root, the id of the function's entry block.
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


def subclass_name(qualname: str) -> str:
    """Return the name of a subclass that a test makes of the class, see `Parameter.hook`."""
    return "Concrete" + qualname.rpartition(".")[2].strip("_").removeprefix("Abstract")


@immutable
@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation; the receiver is not a parameter.

    Attributes:
        name: as written in the signature.
        kind: as in `inspect.Parameter`, in lower case.
        hint: the values that it accepts; `Hint("any")` if the type is unknown.
        required: it has no default.
        declared: the hint comes from an annotation, a stub or the documentation. False if it was inferred from the
            default or from the uses of the parameter in the code.
        inspected: the code handles values that the hint forbids, see `fitgym.subject.types.inspected`.
        double: a plain object with the attributes that the code uses, as a replacement for an object of a class of
            other modules; None if the hint has no such class.
        hook: "" for an argument of the call. Else the argument defines the member `name` in a subclass that the test
            makes and calls in place of the class. The text is the beginning of the definition: `name =`, or the
            decorators and the `def` of a function that returns the argument.
    """

    name: str
    kind: ParameterKind
    hint: Hint
    required: bool = True
    declared: bool = False
    inspected: bool = False
    double: Hint | None = None
    hook: str = ""


@immutable
@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the subject, or of a class that its arguments need, that a statement of a test case can perform.

    Attributes:
        id: index in `Subject.operations`.
        kind: see `OperationKind`.
        module: module that a test imports it from.
        name: qualified name in that module, for example `Version.bump_major`.
        owner: name of the class (`module.qualname`, a key of `Subject.classes`) that it belongs to or constructs, or
            "". The call of a function that another function returned has a class of its own as its owner,
            `module.outer.<locals>.inner`, which is no key.
        parameters: without the receiver.
        returns: type of the result (of an item if `drive` iterates or takes one, of the awaited value if it awaits).
        function: index in `Subject.functions` of the body that runs after unwrapping decorators, or -1.
        under_test: it belongs to the module or class that the user named. Other operations build arguments, or are
            further ways in.
        drive: what a test does with the result so that the body runs: await it, iterate over it, enter it. Or it takes the
            first item, if this is the object that an argument needs.
        declared: names of the exception classes that its docstring documents as raised.
        operator: name of the special method for kind "operator", else "".
        entry_kind: how it calls the code under test although it is not `under_test`. "private": a function, method or class
            whose name begins with an underscore. "inherited": a public method of a base class elsewhere that calls a
            method which a class under test overrides. "" for neither.
        exampled: it is included only because examples of the package use it (`Subject.examples`).
        unsearched: it is included only for finished tests, to show or to set the state of an object. The search never calls
            it.
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
    entry_kind: EntryKind = ""
    exampled: bool = False
    unsearched: bool = False

    @property
    def is_entry_point(self) -> bool:
        """A test case may be about a call of it: it is under test, or another way into the code under test."""
        return self.under_test or bool(self.entry_kind)

    @property
    def sets_environment(self) -> bool:
        """It sets what functions read without being passed it.

        This is an environment variable, the command line, the standard input or the clock.
        """
        return (self.module, self.name) in (SET_VARIABLE, SET_COMMAND_LINE, SET_INPUT, SET_CLOCK)

    @property
    def stops_clock(self) -> bool:
        """It stops the clock at a moment."""
        return (self.module, self.name) == SET_CLOCK

    @property
    def hooks(self) -> dict[str, str]:
        """The members that a subclass of the constructed class may define, see `Parameter.hook`."""
        return {one.name: one.hook for one in self.parameters if one.hook}

    @property
    def shows(self) -> bool:
        """Its result is behaviour of the code under test.

        A constructor has no result of its own, and a setter has none. A hash may derive from an address, as the hash of
        None does before Python 3.12.
        """
        return self.under_test and self.kind not in ("constructor", "setter") and self.operator != "__hash__"

    @property
    def needs_receiver(self) -> bool:
        """The operation acts on an object of the class `owner`."""
        return self.kind in ("method", "property", "setter", "operator")

    def takes(self, count: int) -> bool:
        """Return whether `count` positional arguments, and no others, are a valid call."""
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
        bases: names of the classes in its method resolution order: itself first, `object` last.
        members: names of its members if it is an enum.
        demands: names of the attributes that a value must have, if the class is a protocol.
        double: for a protocol, a plain object with attributes that satisfies it; None if its attributes are unknown.
        abstract: it cannot be instantiated.
        instances: module-level names, as `module:qualname`, of existing objects of this class that a test may use.
        by_address: its objects are hashed by memory address, like objects of `object`.
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
    """The description of the code under test.

    Attributes:
        reference: the user's input and the location of the source file.
        source: its source text.
        sites: all probes, by id.
        functions: all code objects, by id; 0 is the module body.
        branches: the targets of the goal `branch`: the root of every function first, then both outcomes of every
            predicate in source order. Restricted to the class under test if one was named.
        dependences: for each site id, the branches that it is control dependent on, as `(site id, outcome)` pairs. A
            site that runs whenever its function runs depends on the entry of the function, `(entry site, True)`. An
            entry site depends on nothing.
        operations: all operations of test cases, by id.
        classes: by name; the classes that are needed to build and check values.
        constants: literals of the source, each as Python source text, in order of first occurrence.
        patterns: regular expressions of the source.
        added: files and folders that the import creates below `Reference.root`; folders end with a slash.
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

    @cached_property
    def doubles(self) -> frozenset[int]:
        """The ids of the operations that build a `Parameter.double`."""
        hints = {one.double for operation in self.operations for one in operation.parameters if one.double is not None}
        return frozenset(one.id for one in self.operations if one.returns in hints)

    @cached_property
    def reserve(self) -> frozenset[int]:
        """The ids of the operations that a search calls only if nothing else helps: private ones, and doubles."""
        return self.doubles | {one.id for one in self.operations if one.entry_kind == "private"}

    @cached_property
    def without_examples(self) -> Subject:
        """The subject without the operations that only examples use; they come last in `operations`."""
        return replace(self, operations=tuple(one for one in self.operations if not one.exampled))

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """Hand-written uses of the module: doctests, tests of its package, the README.

        The files are read on first access, see `fitgym.subject.examples.examples`.
        """
        return examples(self.reference.module, self.reference.path, self.source)

    @cached_property
    def mutants(self) -> tuple[Mutant, ...]:
        """The mutants of the module or class under test, in source order."""
        return mutants(self.source, self.reference.class_name).made

    @cached_property
    def clocks(self) -> tuple[Clock, ...]:
        """What a test replaces to stop the clock; see `fitgym.subject.code.clocks.clocks`."""
        return clocks(parse(self.source), self.reference.module)

    @cached_property
    def valued(self) -> frozenset[int]:
        """The ids of the functions with a `return` of a value, so that a None from them is a result like any other."""
        named = [one for one in self.functions if not one.name.endswith(">")]  # no lambda, and not the module
        found = set()
        for line in returning_lines(parse(self.source)):
            around = [one for one in named if one.line <= line <= one.end_line]
            found.add(max(around, key=lambda one: one.line).id if around else 0)
        return frozenset(found)

    @cached_property
    def profile(self) -> dict[str, float]:
        """Static measures of the code under test; see `fitgym.subject.profile.profile`."""
        return profile(self)

    @cached_property
    def n_slots(self) -> int:
        """Return the number of distances of all sites together."""
        return sum(self.slot_widths)

    @cached_property
    def slot_widths(self) -> array[int]:
        """Return the number of distances of each site, `array("q")`."""
        return array("q", [site.width for site in self.sites])

    @cached_property
    def first_slots(self) -> array[int]:
        """Return the slot of the first distance of each site, 0 for sites without distances, `array("q")`."""
        return array("q", [max(site.slot, 0) for site in self.sites])
