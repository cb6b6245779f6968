"""Control dependence: graphs by hand, and properties of all graphs."""

import ast
import importlib.util
from textwrap import dedent

import pytest

from fitgym.instrument.rewriting.transformer import instrument
from fitgym.subject.dependence import branches, dependences
from fitgym.subject.subject import Branch


def analysed(source):
    instrumented = instrument(dedent(source).strip(), "tiny.py")
    plan = instrumented.plan
    found = dependences(instrumented.tree, plan.at, plan.blocks, plan.entries, plan.sites, plan.functions)
    return plan, found


def described(source):
    """For every site but the entries: what it is and what it depends on.

    A block is the number of its line in brackets, a predicate the number of its line and a letter, counted along the line.
    """
    plan, found = analysed(source)
    entries = {function.entry: function.name for function in plan.functions}
    labels, on_line = {}, {}
    for site in plan.sites:
        if site.kind == "block":
            labels[site.id] = entries.get(site.id, f"[{site.line}]")
        else:
            on_line[site.line] = on_line.get(site.line, -1) + 1
            labels[site.id] = f"{site.line}{'abcdef'[on_line[site.line]]}"
    return [
        f"{labels[site.id]}: " + " ".join(f"{labels[other]}{'T' if outcome else 'F'}" for other, outcome in pairs)
        for site, pairs in zip(plan.sites, found, strict=True)
        if site.id not in entries
    ]


PROGRAMS = {
    "if without else": (
        """
        def f(x):
            if x:
                a()
            b()
        """,
        ["2a: fT", "[3]: 2aT", "[4]: fT"],
    ),
    "early return": (
        """
        def f(x):
            if x:
                return 1
            if not x:
                return 2
            return 3
        """,
        ["2a: fT", "[3]: 2aT", "[4]: 2aF", "4a: 2aF", "[5]: 4aF", "[6]: 4aT"],
    ),
    # a or b is true by a, or by b when a is false; the else part needs both to be false, the last of which is b
    "or": (
        """
        def f(a, b):
            if a or b:
                x()
            else:
                y()
        """,
        ["2a: fT", "2b: 2aF", "[3]: 2aT 2bT", "[5]: 2bF"],
    ),
    "and with not": (
        """
        def f(a, b):
            if not (a and not b):
                x()
            y()
        """,
        ["2a: fT", "2b: 2aT", "[3]: 2aF 2bT", "[4]: fT"],
    ),
    "values": (
        """
        def f(a, b, c):
            x = a and b == 1 or c
            return b if x else not (c and a)
        """,
        # c is reached when a is false, or when b == 1 is; its own truth decides nothing, so it has no site
        ["2a: fT", "2b: 2aT", "3a: fT", "3b: 3aF"],
    ),
    "while": (
        """
        def f(n):
            while n > 0:
                n -= 1
                if n == 5:
                    break
                if n == 6:
                    continue
                a()
            else:
                b()
            return n
        """,
        [
            "2a: fT",
            "[3]: 2aT",
            "4a: 2aT",
            "[5]: 4aT",
            "[6]: 4aF",
            "6a: 4aF",
            "[7]: 6aT",
            "[8]: 6aF",
            "[10]: 2aF",
            "[11]: fT",
        ],
    ),
    "while true": (
        """
        def f(n):
            while True:
                n = g(n)
                if n:
                    break
            return n
        """,
        ["[3]: fT", "4a: fT", "[5]: 4aT", "[6]: 4aT"],
    ),
    "for": (
        """
        def f(xs):
            for x in xs:
                if x:
                    return x
            else:
                a()
            b()
        """,
        # after the loop: it was not entered, or some element was false (and none true)
        ["2a: fT", "[3]: 2aT", "3a: 2aT", "[4]: 3aT", "[6]: 2aF 3aF", "[7]: 2aF 3aF"],
    ),
    "comprehension": (
        """
        def f(xs):
            return [a(x) if x > 1 else b for x in xs if x if not x == 3]
        """,
        # whether there is an element has no site, so an iteration depends on what its statement depends on
        ["[2]: fT", "2a: fT", "2b: 2aT", "2c: 2bF"],
    ),
    "nested comprehension in a condition": (
        """
        def f(xs):
            if any(y for x in xs if x for y in x if y == 1):
                a()
        """,
        ["[2]: fT", "2a: fT", "[2]: 2aT", "2b: 2aT", "2c: fT", "[3]: 2cT"],
    ),
    "try": (
        """
        def f(x):
            try:
                a()
                if x:
                    b()
            except KeyError:
                c()
            except ValueError:
                d()
            else:
                e()
            g()
        """,
        # a handler is reached by an exception of a(), which needs nothing; else needs that nothing raises
        [
            "[3]: fT",
            "[4]: fT",
            "4a: fT",
            "[5]: 4aT",
            "[6]: fT",
            "[7]: fT",
            "[8]: fT",
            "[9]: fT",
            "[11]: fT",
            "[12]: fT",
        ],
    ),
    "return from try": (
        """
        def f(x):
            try:
                a()
                if x:
                    return 1
            except KeyError:
                pass
            b()
        """,
        # b() also runs after an exception, but how to raise one is not known, how to make x false is
        ["[3]: fT", "[4]: fT", "4a: fT", "[5]: 4aT", "[6]: fT", "[7]: fT", "[8]: 4aF"],
    ),
    "exceptional part under a condition": (
        """
        def f(x):
            if x:
                try:
                    a()
                except:
                    b()
        """,
        ["2a: fT", "[3]: 2aT", "[4]: 2aT", "[6]: 2aT"],
    ),
    "finally": (
        """
        def f(x):
            try:
                if x:
                    return 1
            finally:
                a()
            b()
        """,
        ["[3]: fT", "3a: fT", "[4]: 3aT", "[6]: fT", "[7]: 3aF"],
    ),
    "break through finally": (
        """
        def f(xs):
            while xs:
                try:
                    if xs > 1:
                        break
                finally:
                    a()
                b()
            else:
                c()
            d()
        """,
        [
            "2a: fT",
            "[3]: 2aT",
            "[4]: 2aT",
            "4a: 2aT",
            "[5]: 4aT",
            "[7]: 2aT",
            "[8]: 4aF",
            "[10]: 2aF",
            "[11]: 2aF 4aT",
        ],
    ),
    "with": (
        """
        def f(x):
            with a() as b:
                if x:
                    return 1
                c()
            d()
        """,
        ["[3]: fT", "3a: fT", "[4]: 3aT", "[5]: 3aF", "[6]: 3aF"],
    ),
    "with that always returns": (
        """
        def f(x):
            with a():
                return 1
            d()
        """,
        ["[3]: fT", "[4]: fT"],
    ),
    "assert": (
        """
        def f(x):
            assert x > 0, g() or h()
            return x
        """,
        # the text is built when x > 0 is false
        ["2a: fT", "2b: 2aF", "[3]: 2aT"],
    ),
    "raise in a branch": (
        """
        def f(x):
            if x:
                raise ValueError
            a()
        """,
        ["2a: fT", "[3]: 2aT", "[4]: 2aF"],
    ),
    "caught raise": (
        """
        def f(x):
            try:
                if x:
                    raise ValueError
                a()
            except ValueError:
                b()
        """,
        # the handler is reached by the raise, where x is true: a known way, unlike an exception of a()
        ["[3]: fT", "3a: fT", "[4]: 3aT", "[5]: 3aF", "[6]: 3aT", "[7]: 3aT"],
    ),
    "match": (
        """
        def f(x):
            match x:
                case 1:
                    a()
                case [y] if y > 1:
                    b()
                case str() | None:
                    return
                case _ if g:
                    c()
                case _:
                    d()
            e()
        """,
        [
            "3a: fT",
            "[4]: 3aT",
            "[5]: 3aF",
            "5a: 3aF",
            "5b: 5aT",
            "[6]: 5bT",
            "[7]: 5aF 5bF",
            "7a: 5aF 5bF",
            "[8]: 7aT",
            "[9]: 7aF",
            "9a: 7aF",
            "[10]: 9aT",
            "[11]: 9aF",
            "[13]: 3aT 5bT 7aF",
        ],
    ),
    "nested functions are separate": (
        """
        def f(x):
            if x:
                def g(y):
                    if y: a()
                return lambda z: z and g
            class C:
                if x: b = 1
                def m(self):
                    return x or 1
        """,
        [
            "2a: fT",
            "[3]: 2aT",
            "4a: gT",
            "[4]: 4aT",
            "5a: hT",
            "[6]: 2aF",
            "[6]: 2aF",
            "7a: 2aF",
            "[7]: 7aT",
            "[8]: 2aF",
            "9a: mT",
        ],
    ),
    "decorators and defaults run outside": (
        """
        def f(x):
            if x:
                @g(x or 1)
                def h(y=x and 2):
                    return y or 3
        """,
        ["2a: fT", "[4]: 2aT", "3a: 2aT", "4a: 2aT", "5a: hT"],
    ),
    "async": (
        """
        async def f(xs):
            async for x in xs:
                async with x:
                    if await x:
                        return
            a()
        """,
        ["2a: fT", "[3]: 2aT", "[4]: 2aT", "4a: 2aT", "[5]: 4aT", "[6]: 2aF 4aF"],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_dependences_of(name):
    source, expected = PROGRAMS[name]
    names = {"f.<locals>.g": "g", "f.<locals>.h": "h", "f.<locals>.C.m": "m", "f.<locals>.<lambda>": "h"}
    found = []
    for row in described(source):
        for long, short in names.items():
            row = row.replace(long, short)
        found.append(row)
    assert found == expected


def test_entries_depend_on_nothing_and_straight_code_on_its_entry():
    plan, found = analysed("x = 1\ndef f():\n    yield 1\n    return 2\n")
    assert [(site.lines, pairs) for site, pairs in zip(plan.sites, found, strict=True)] == [
        ((1, 2), ()),
        ((3,), ()),
        ((4,), ((1, True),)),
    ]


MODULES = ["argparse", "asyncio.tasks", "dataclasses", "difflib", "shutil", "subprocess"]


@pytest.mark.parametrize("name", MODULES)
def test_dependences_have_no_cycles_and_stay_in_their_function(name):
    with open(importlib.util.find_spec(name).origin, encoding="utf-8") as file:
        source = file.read()
    plan, found = analysed(source)
    entries = {function.entry for function in plan.functions}
    assert len(found) == len(plan.sites)
    for site, pairs in zip(plan.sites, found, strict=True):
        assert (pairs == ()) == (site.id in entries)
        for other, outcome in pairs:
            assert other < site.id  # so following them always ends, at an entry
            assert plan.sites[other].function == site.function
            assert outcome or other not in entries
            assert other in entries or plan.sites[other].decides
        assert list(pairs) == sorted(set(pairs))
    assert analysed(source)[1] == found


@pytest.mark.parametrize("name", ["textwrap", "difflib", "shutil"])
def test_every_deciding_outcome_of_a_plain_if_guards_its_body(name):
    """A block that starts the body of an `if` with one condition depends on that condition being true."""
    with open(importlib.util.find_spec(name).origin, encoding="utf-8") as file:
        instrumented = instrument(file.read(), name)
    plan = instrumented.plan
    found = dependences(instrumented.tree, plan.at, plan.blocks, plan.entries, plan.sites, plan.functions)
    checked = 0
    in_try = {id(n) for t in ast.walk(instrumented.tree) if isinstance(t, (ast.Try, ast.With)) for n in ast.walk(t)}
    for node in ast.walk(instrumented.tree):
        if isinstance(node, ast.If) and node.test in plan.at and node.body[0] in plan.blocks and id(node) not in in_try:
            assert found[plan.blocks[node.body[0]]] == ((plan.at[node.test], True),)
            checked += 1
    assert checked > 10


SOURCE = """
def f(x):
    return 1 if x < 1 else x == 2
class C:
    if f: y = 1
    def m(self, x):
        for i in x or (): pass
        return lambda: x
class D(C):
    def m(self):
        return 1
"""


def test_branches_are_roots_first_then_both_outcomes_in_source_order():
    plan, _ = analysed(SOURCE)
    found = branches(plan.sites, plan.functions)
    roots = [branch for branch in found if branch.root]
    assert found[: len(roots)] == tuple(roots)
    assert [branch.site for branch in roots] == [function.entry for function in plan.functions]
    lines = [(plan.sites[b.site].line, plan.sites[b.site].kind, b.outcome) for b in found[len(roots) :]]
    # x == 2 decides nothing
    assert lines == [
        (2, "comparison", True),
        (2, "comparison", False),
        (4, "truth", True),
        (4, "truth", False),
        (6, "truth", True),
        (6, "truth", False),
        (6, "loop", True),
        (6, "loop", False),
    ]


def test_branches_of_a_class_are_those_of_its_functions():
    plan, _ = analysed(SOURCE)
    found = branches(plan.sites, plan.functions, "C")
    names = [plan.functions[plan.sites[branch.site].function].name for branch in found]
    assert names == ["C.m", "C.m.<locals>.<lambda>", "C.m", "C.m", "C.m", "C.m"]
    assert [branch.root for branch in found] == [True] * 2 + [False] * 4
    assert branches(plan.sites, plan.functions, "") == branches(plan.sites, plan.functions)
    assert branches(plan.sites, plan.functions, "E") == ()


def test_branches_of_lines_hold_the_class_body_as_well():
    plan, _ = analysed(SOURCE)
    found = branches(plan.sites, plan.functions, (3, 7))
    assert [(plan.sites[branch.site].line, branch.root) for branch in found] == [
        (5, True),
        (7, True),
        (4, False),
        (4, False),
        *[(6, False)] * 4,
    ]
    assert Branch(plan.functions[0].entry, True, root=True) not in found
