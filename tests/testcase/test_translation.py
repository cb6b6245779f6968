"""Examples as statements of test cases, and their use by the search."""

import ast
import copy
import pickle
import textwrap

import pytest

from fitgym.engine.engine import Engine
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.subject.example import Example
from fitgym.subject.source import locate
from fitgym.subject.written import written as written_tests
from fitgym.suite.text.source import render
from fitgym.testcase.seeding.glossary import Glossary
from fitgym.testcase.seeding.seeds import seeds
from fitgym.testcase.seeding.translation import Translation

SOURCE = '''
import enum
import zlib


class Color(enum.Enum):
    RED = 1


class Graph:
    def __init__(self, name: str = ""):
        self.name = name
        self.edges = []

    def add_edge(self, a, b, weight=1):
        """Add an edge.

        >>> g = Graph()
        >>> g.add_edge(1, 2)
        >>> len(g)
        1
        """
        self.edges.append((a, b, weight))
        return self

    @property
    def size(self):
        return len(self.edges)

    @size.setter
    def size(self, value):
        del self.edges[value:]

    @classmethod
    def of(cls, edges):
        found = cls()
        for a, b in edges:
            found.add_edge(a, b)
        return found

    def __len__(self):
        return len(self.edges)

    def __getitem__(self, place):
        return self.edges[place]

    def __setitem__(self, place, edge):
        self.edges[place] = edge

    def __contains__(self, edge):
        return edge in self.edges

    def __add__(self, other: "Graph"):
        return Graph.of([edge[:2] for edge in self.edges + other.edges])


def parse(text, strict=False, *, color=Color.RED):
    if strict and zlib.crc32(text.encode()) == 2112449509:
        return 2
    return 1


def walk(graph: Graph, *rest, **options):
    return graph.size


def _hidden(x):
    return x
'''


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "graphs.py"
    path.write_text(SOURCE)
    with Executor(locate(str(path))) as executor:
        yield executor.subject


def lines(subject, text, inside=True):
    """The sequences as Python, a line for each statement, with what was only given behind."""
    example = Example(tuple(ast.parse(textwrap.dedent(text)).body), inside=inside)
    translation = Translation(Glossary(subject), example)
    found = []
    for sequence in translation.sequences:
        parts = []
        for statement in sequence:
            operation = subject.operations[statement.operation]
            receiver = f"{statement.receiver}:" if statement.receiver >= 0 else ""
            arguments = [written(one) for one in statement.args] + [f"{n}={written(v)}" for n, v in statement.kwargs]
            parts.append(f"{receiver}{operation.operator or operation.name}({', '.join(arguments)})")
        found.append("; ".join(parts))
    return found


def written(expression):
    kind = type(expression).__name__
    if kind == "Literal":
        return expression.text
    if kind == "Ref":
        return f"@{expression.position}"
    if kind == "Name":
        return expression.qualname
    if kind == "Lambda":
        return f"lambda {expression.arity}"
    return expression.kind + "(" + ", ".join(map(written, expression.items)) + ")"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parse('a')", ["parse('a')"]),
        ("parse('a', strict=True)", ["parse('a', strict=True)"]),
        ("parse('a', color=Color.RED)", ["parse('a', color=Color.RED)"]),
        ("g = Graph(); g.add_edge(1, 2)", ["Graph(); 0:Graph.add_edge(1, 2)"]),
        ("Graph().add_edge(1, 2)", ["Graph(); 0:Graph.add_edge(1, 2)"]),
        ("g = h = Graph('x'); walk(g, h)", ["Graph('x'); walk(@0, @0)"]),
        ("walk(Graph.of([(1, 2)]))", ["Graph.of(list(tuple(1, 2))); walk(@0)"]),
        ("edges = [(1, 2)]; g = Graph.of(edges)", ["Graph.of(list(tuple(1, 2)))"]),
        ("g = Graph(); g.size; g.size = 3", ["Graph(); 0:Graph.size(); 0:Graph.size(3)"]),
        (
            "g = Graph(); g[0]; g[0] = 1; len(g); 1 in g",
            ["Graph(); 0:__getitem__(0); 0:__setitem__(0, 1); 0:__len__(); 0:__contains__(1)"],
        ),
        ("assert len(Graph()) == 0", ["Graph(); 0:__len__()"]),
        ("g = Graph() + Graph()", ["Graph(); Graph(); 0:__add__(@1)"]),
        ("g = Graph(); g += Graph()", ["Graph(); Graph(); 0:__add__(@1)"]),
        ("print(parse('a'), parse('b'))", ["parse('a'); parse('b')"]),
        ("assertEqual(parse('a'), 1)", ["parse('a')"]),
        ("for x in ['a', 'b']: parse(x)", ["parse('a'); parse('b')"]),
        ("for x, y in [('a', True)]: parse(x, y)", ["parse('a', True)"]),
        ("for x in unknown(): parse(x)", [""]),
        ("[parse(x) for x in 'a b'.split()]", ["parse('a'); parse('b')"]),
        ("a, b = 'x', True; parse(a, b)", ["parse('x', True)"]),
        ("args = ['a', True]; parse(*args)", ["parse('a', True)"]),
        ("options = {'strict': True}; parse('a', **options)", ["parse('a', strict=True)"]),
        ("with open_it() as f:\n    parse('a')", ["parse('a')"]),
        ("try:\n    parse('a')\nexcept ValueError:\n    pass", ["parse('a')"]),
        (
            "def check(x, n=True):\n    assert parse(x, n) == 1\ncheck('a'); check('b', n=False)",
            ["parse('a', True); parse('b', False)"],
        ),
        ("def make():\n    return Graph()\nmake().size", ["Graph(); 0:Graph.size()"]),
        ("walk(Graph(), key=lambda x: x)", ["Graph(); walk(@0, key=lambda 1)"]),
        ("walk(Graph(), int)", ["Graph(); walk(@0, int)"]),
        ("import graphs as m\nm.parse('a')", ["parse('a')"]),
        ("from graphs import parse as q\nq('a')", ["parse('a')"]),
        ("import graphs.extra\ngraphs.parse('a')", ["parse('a')"]),
        ("list(walk(Graph()))", ["Graph(); walk(@0)"]),
        ("for i in range(2): parse(str('a'), i)", [""]),
        ("n = 2\nfor i in range(n): walk(Graph(), i)", ["Graph(); walk(@0, 0); Graph(); walk(@2, 1)"]),
        ("for i, x in enumerate(['a']): parse(x, i)", ["parse('a', 0)"]),
        ("for x, y in zip('a b'.split(), [1, 2]): parse(x, y)", ["parse('a', 1); parse('b', 2)"]),
        (
            "walk(Graph(), dict(a=1), set([1, 1]), dict([(1, 2)]))",
            ["Graph(); walk(@0, dict('a', 1), set(1), dict(1, 2))"],
        ),
        ("self.g = Graph(); self.g.size", ["Graph(); 0:Graph.size()"]),
        ("cls.g = Graph(); self.g.size", ["Graph(); 0:Graph.size()"]),
        # What raises on purpose ends a sequence of its own.
        (
            "g = Graph()\nwith pytest.raises(IndexError):\n    g[1]\ng.size",
            ["Graph(); 0:Graph.size()", "Graph(); 0:__getitem__(1)"],
        ),
        ("self.assertRaises(ValueError, parse, 'a')\nparse('b')", ["parse('b')", "parse('a')"]),
        # What cannot be said is left out.
        ("x = unknown(); parse(x); parse('b')", ["parse('b')"]),
        ("parse()", [""]),
        ("parse('a', True, 3, 4)", [""]),
        ("parse('a', loud=True)", [""]),
        ("parse('a', text='b')", [""]),
        ("Graph().missing(1)", ["Graph()"]),
        ("_hidden(1)", [""]),
        ("open('x'); eval('1'); walk(Graph(), eval)", ["Graph()"]),
        ("import os\nwalk(Graph(), os.remove)", ["Graph()"]),
        ("while True:\n    parse('a')", [""]),
        ("x = 1\nx.y.z = parse('a')", ["parse('a')"]),
        ("def f(x):\n    return f(x)\nf(1)", [""]),
    ],
)
def test_what_is_made_of_an_example(subject, text, expected):
    assert lines(subject, text) == expected


def test_names_of_the_subject_must_be_imported_outside_its_own_docstrings(subject):
    assert lines(subject, "parse('a')", inside=False) == [""]
    assert lines(subject, "from graphs import *\nparse('a')", inside=False) == ["parse('a')"]
    assert lines(subject, "from other import parse\nparse('a')") == [""]


def test_methods_of_the_own_class_are_followed(subject):
    (example,) = written_tests(
        "from graphs import *\n\nclass TestIt:\n    def check(self, x):\n        return parse(x)\n\n"
        "    def test_a(self):\n        self.check('a')\n"
    )
    (sequence,) = Translation(Glossary(subject), example).sequences
    assert [statement.args[0].text for statement in sequence] == ["'a'"]


def test_arguments_of_calls_that_cannot_be_translated_are_given(subject):
    example = Example(tuple(ast.parse("parse(unknown(), strict=True); parse('a', unknown())").body), inside=True)
    given = Translation(Glossary(subject), example).given
    assert [(one.parameter, one.value.text) for one in given] == [("strict", "True"), ("text", "'a'")]


def test_the_work_is_limited(subject):
    nested = (
        "for a in range(6):\n"
        + "".join(" " * d + f"for x{d} in range(6):\n" for d in range(1, 8))
        + " " * 8
        + "parse('a')"
    )
    assert len(lines(subject, nested)[0]) < 60_000


def library(tmp_path, magic=True):
    path = tmp_path / "graphs.py"
    path.write_text(SOURCE)
    if magic:
        (tmp_path / "tests").mkdir()
        (tmp_path / "tests" / "test_graphs.py").write_text(
            "from graphs import parse\n\ndef test_it():\n    assert parse('the magic word of the ' + 'tests', True) == 2\n"
        )
    return path


def run(path, mined, budget="400x"):
    with Executor(locate(str(path))) as executor:
        engine = Engine(executor, search="mosa", seed=3, mined=mined, budget=Budget.parse(budget))
        while not engine.over:
            engine.step()
        covered = engine.archive.covered("branch")
        kept = [render(engine.table.statements(one), engine.subject).blocks for one in engine.archive.testcases()]
        return covered.sum(), engine.executions, repr(kept)


def test_the_search_covers_what_a_test_of_the_package_covers(tmp_path):
    path = library(tmp_path)
    assert run(path, "use")[0] > run(path, "ignore")[0]


def test_a_run_with_seeds_is_repeated_exactly(tmp_path):
    path = library(tmp_path)
    assert run(path, "use") == run(path, "use")


def test_seeds_use_up_no_more_than_a_quarter_of_the_budget(tmp_path):
    assert run(library(tmp_path), "use", "4x")[1] <= 4


def test_a_search_with_seeds_can_be_copied(tmp_path):
    with Executor(locate(str(library(tmp_path)))) as executor:
        engine = Engine(executor, search="mosa", budget=Budget.parse("100x"))
        state = pickle.loads(pickle.dumps(engine._state.seeds)), copy.deepcopy(engine.factory._seeds)
        assert state == (engine._state.seeds, [])
        assert len(engine._state.seeds) == 2


def test_seeds_are_short_and_need_nothing_else(subject):
    found = seeds(subject, 40).testcases
    assert found and all(
        max(statement.refs, default=-1) < place for one in found for place, statement in enumerate(one)
    )


PACKAGE = {
    "p/__init__.py": "from p.model import Node, make_node, link\n",
    "p/model.py": """
class Node:
    def __init__(self, name):
        self.name = name
        self.links = []

    def grow(self, size, **marks):
        self.links += [self] * size


def make_node(name):
    return Node(name)


def link(first, second):
    first.links.append(second)


def unused(x):
    return x
""",
    "p/core.py": "def degree(node):\n    if len(node.links) > 2:\n        return -1\n    return len(node.links)\n",
    "tests/test_core.py": """
import p
from p.core import degree


def test_degree():
    a = p.make_node("a")
    p.link(a, p.Node("b"))
    a.grow(2, color=1)
    assert degree(a) == 3
""",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    for name, text in PACKAGE.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_what_tests_use_of_other_modules_of_the_package_becomes_an_operation(package):
    (package / "p" / "core.py").write_text("import p\n\n" + PACKAGE["p/core.py"])
    with Executor(locate("p.core", package)) as executor:
        subject = executor.subject
        added = {f"{one.module}.{one.name}" for one in subject.operations if one.exampled}
        assert added == {"p.make_node", "p.link", "p.model.Node", "p.model.Node.grow"}
        assert not any(one.exampled and one.is_entry_point for one in subject.operations)
        own = subject.without_examples.operations
        assert own == subject.operations[: len(own)]
        (testcase,) = seeds(subject, 40).testcases
        names = [subject.operations[one.operation].name for one in testcase]
        assert names == ["make_node", "Node", "link", "Node.grow", "degree"]
        engine = Engine(executor, search="mosa", budget=Budget.parse("1000x"))
        engine.step()
        assert engine.archive.covered("branch").all()
        unmined = Engine(executor, mined="ignore", budget=Budget.parse("100x"))
        assert unmined.subject.operations == own
