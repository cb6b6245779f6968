"""Usage: type information from the use of a parameter in the source."""

import ast

import pytest

from fitgym.subject.types.evidence import Evidence
from fitgym.subject.types.hints import ANY, NONE, PATH, PATH_TEXT, Hint, choices, union
from fitgym.subject.types.usage import Usage

INT, STR, FLOAT, BYTES, BOOL = (Hint("class", f"builtins.{name}") for name in ("int", "str", "float", "bytes", "bool"))
NUMBER = union([INT, FLOAT])
ELLIPSIS = Hint("ellipsis")
OPEN = Hint("class", "io.StringIO")


def items(kind, element=ANY):
    return Hint(kind, args=(element,))


def pairs(key=ANY, value=ANY):
    return Hint("dict", args=(key, value))


def record(**values):
    return Hint("record", "", tuple(values.values()), tuple(map(repr, values)))


def namespace(**values):
    return Hint("class", "types.SimpleNamespace", tuple(values.values()), tuple(values))


def painter(result):
    return Hint("callable", args=(ANY, union([result, ANY])))


def static_demands(node):
    return Usage(ast.Module([], [])).demands(node)


def demanded(body, parameters="x"):
    tree = ast.parse(f"def f({parameters}):\n" + "\n".join(f"    {line}" for line in body.splitlines()))
    return static_demands(tree.body[0])


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("return x.startswith('a')", STR),
        ("return x.upper().lower()", STR),
        ("x.append(1)\nx.sort()", items("list")),
        ("for k, v in x.items(): pass", pairs()),
        ("for k, v in x.items(): k.upper(); v + 1", pairs(STR, NUMBER)),
        ("return x.get('a')", record(a=ANY)),
        ("return x['a'] + 1", record(a=NUMBER)),
        ("return x['a'] + 1, x['b'].upper()", record(a=NUMBER, b=STR)),
        ("return x['a']['b'] + 1", record(a=record(b=NUMBER))),
        ("return x.colour, x.size + 1", union([namespace(colour=ANY, size=NUMBER), ANY])),
        ("return x.paint('red').size + 1", union([namespace(paint=painter(namespace(size=NUMBER))), ANY])),
        ("return x.paint('red', coat=2)", union([namespace(paint=Hint("callable", args=(ELLIPSIS, ANY))), ANY])),
        ("x.colour\nreturn x[0]", union([items("sequence"), STR])),
        ("return x.total_seconds()", Hint("class", "datetime.timedelta")),
        ("return x.start()", Hint("class", "re.Match")),
        ("return x.readline()", Hint("class", "io.StringIO")),
        ("return x + 1", NUMBER),
        ("return x - y", NUMBER),
        ("return -x", NUMBER),
        ("return x + 'a'", STR),
        ("return 'a' + x", STR),
        ("return x + [1]", items("list")),
        ("return x << 2", INT),
        ("return 'a' * x", INT),
        ("return range(x)", INT),
        ("return [1, 2][:x]", INT),
        ("return '%d' % x", INT),
        ("return '%s %.2f' % ('a', x)", NUMBER),
        ("return f'{x:.3f}'", NUMBER),
        ("return x > 3", NUMBER),
        ("return x > 'a'", STR),
        ("return x == 'a'", union([Hint("literal", texts=("'a'",)), STR])),
        ("return x in ('a', 'b')", union([Hint("literal", texts=("'a'", "'b'")), STR])),
        ("return x == 3", union([Hint("literal", texts=("3",)), INT])),
        ("for y in x: pass", items("iterable")),
        ("for y in x: y.upper()", items("iterable", STR)),
        ("return [y + 1 for y in x]", items("iterable", NUMBER)),
        ("for i, y in enumerate(x): y.upper()", items("iterable", STR)),
        ("return sum(x)", items("iterable", NUMBER)),
        ("return ','.join(x)", items("iterable", STR)),
        ("y = list(x)\nreturn y[0].upper()", items("iterable", STR)),
        ("a, b = x\nreturn a.upper()", Hint("tuple", args=(STR, ANY))),
        ("for a, b in x: a.upper()", items("iterable", Hint("tuple", args=(STR, ANY)))),
        ("return next(x)", items("iterator")),
        ("return x[0]", union([items("sequence"), STR])),
        ("return x[1:]", union([items("sequence"), STR])),
        ("x[0] = 1", items("list")),
        ("return len(x)", union([STR, items("list")])),
        ("return x(1, 2)", Hint("callable", args=(ANY, ANY, ANY))),
        ("if x(1): pass", Hint("callable", args=(ANY, BOOL))),
        ("return x(*y)", Hint("callable", args=(ELLIPSIS, ANY))),
        ("return map(x, [1])", Hint("callable", args=(ANY, ANY))),
        ("return g(**x)", pairs()),
        ("if isinstance(x, int): pass", union([INT, ANY])),
        ("if isinstance(x, (int, str)): pass", union([INT, STR, ANY])),
        ("if isinstance(x, str): x = [x]\nfor y in x: pass", union([STR, items("iterable")])),
        ("if x is None: return\nreturn x.upper()", union([STR, NONE])),
        ("if callable(x): pass", union([Hint("callable", args=(ELLIPSIS, ANY)), ANY])),
        ("if x: pass", BOOL),
        ("y = x\nreturn y.upper()", STR),
        ("y = x or 'a'\nreturn y.upper()", STR),
        ("def inner(): return x.upper()\nreturn inner", STR),
        ("return lambda: x.upper()", STR),
        ("raise x", Hint("class", "builtins.Exception")),
        ("import re\nreturn re.match('a', x)", STR),
        ("import math\nreturn math.sqrt(x)", union([FLOAT, INT])),
        ("match x:\n    case 'a': pass", union([Hint("literal", texts=("'a'",)), STR])),
        ("match x:\n    case int(): pass", union([INT, ANY])),
        ("x += 1", NUMBER),
    ],
)
def test_the_body_shows_what_a_parameter_must_be(body, hint):
    assert demanded(body).get("x", ANY) == hint


@pytest.mark.parametrize(
    "body",
    ["pass", "return x", "y = [x]", "g(x)", "x = 3\nreturn x + 1", "return x is y", "return str(x)", "return f'{x}'"],
)
def test_a_use_that_any_value_allows_says_nothing(body):
    assert "x" not in demanded(body)


def test_the_hint_of_variable_arguments_is_for_one_of_them():
    assert demanded("for y in x: y.upper()", "*x") == {"x": STR}
    assert demanded("return x['name'].upper()", "**x") == {"x[name]": STR}


def module_demands(source, name, **known):
    tree = ast.parse(source)
    usage = Usage(tree, **known)
    node = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name)
    return usage.demands(node)


def test_demands_are_followed_into_functions_of_the_module():
    source = "def f(x, n):\n    return g(x, count=n)\ndef g(text, count): return text.upper() * range(count)"
    assert module_demands(source, "f") == {"x": STR, "n": INT}


def test_demands_are_followed_into_methods_and_attributes_of_self():
    source = """
class Base:
    def __init__(self, first): self.first = first
    def use(self): return self.first.upper()
class C(Base):
    def __init__(self, first, second):
        super().__init__(first)
        self.second = second
    def n(self): return self.helper(self.second)
    def helper(self, value): return value << 1
"""
    tree = ast.parse(source)
    usage = Usage(tree)
    constructors = {c.name: c.body[0] for c in tree.body}
    assert usage.demands(constructors["Base"])["first"] == STR
    assert usage.demands(constructors["C"])["second"] == INT


def test_recursion_ends():
    source = "def f(x, n):\n    if n == 0: return x\n    return f(x.strip(), n - 1)"
    assert module_demands(source, "f")["x"] == STR


def test_an_expression_too_deep_to_read_is_left():
    deep = ast.parse("def f(x): return x.upper()")
    node = ast.Name("x")
    for _ in range(5000):
        node = ast.BinOp(node, ast.Add(), ast.Constant("a"))
    deep.body[0].body.append(ast.Expr(node))
    assert static_demands(deep.body[0]) == {"x": STR}


def test_constant_arguments_at_calls_are_a_last_resort():
    source = "def f(x): return g(x)\nf('a')\nf(3)"
    assert module_demands(source, "f") == {"x": union([STR, INT])}


def test_a_class_of_the_subject_is_recognised_by_its_attributes():
    own = Hint("class", "shop.Basket")
    known = {"attributes": {"shop.Basket": frozenset({"total", "add"})}, "known": {"Basket": own}}
    assert module_demands("def f(x): return x.total() + x.add(1)", "f", **known) == {"x": own}
    assert module_demands("def f(x): return isinstance(x, Basket)", "f", **known) == {"x": union([own, ANY])}


def test_what_is_done_with_an_attribute_is_done_with_the_argument_it_came_from():
    source = (
        "class Tree:\n    def __init__(self, parts, size):\n        self.parts = list(parts)\n        self.size = size\n"
        "def walk(tree):\n    for part in tree.parts:\n        part.strip('x')\n    return tree.size.total_seconds()"
    )
    tree = Hint("class", "m.Tree")
    usage = Usage(ast.parse(source), {"Tree": tree}, {"m.Tree": frozenset({"parts", "size"})})
    found = usage.demands(usage.definitions.method(usage.definitions.classes["Tree"], "__init__"))
    assert found["parts"] == items("iterable", STR)
    assert found["size"] == Hint("class", "datetime.timedelta")


def test_demands_are_followed_into_methods_of_objects_made_by_the_function():
    source = (
        "class Reader:\n    def __init__(self, mode): pass\n    def read(self, text):\n        return text.splitlines()[0].upper()\n"
        "def read(text):\n    reader = Reader(1)\n    return reader.read(text)"
    )
    usage = Usage(ast.parse(source))
    assert Hint("class", "builtins.str") in (
        usage.demands(usage.definitions.functions["read"])["text"],
        *usage.demands(usage.definitions.functions["read"])["text"].args,
    )


def test_a_class_without_a_name_in_the_module_is_meant_only_if_two_attributes_say_so():
    far = {"p.Rule": frozenset({"origin", "expansion"})}
    usage = Usage(ast.parse("def f(x): return x.origin, x.expansion\ndef g(x): return x.origin"), far=far)
    assert usage.demands(usage.definitions.functions["f"]) == {"x": Hint("class", "p.Rule")}
    assert usage.demands(usage.definitions.functions["g"]) == {"x": union([namespace(origin=ANY), ANY])}


def test_a_class_with_most_of_many_attributes_is_meant_unless_several_have_as_many():
    sheet, book = frozenset({"rows", "views", "cells", "title", "margin"}), frozenset({"rows", "title"})
    body = "def f(x): return x.rows, x.views, x.cells, x._seen\ndef g(x): return x.rows, x.views, x._seen, x._left"
    usage = Usage(ast.parse(body), far={"p.Sheet": sheet, "p.Book": book})
    assert usage.demands(usage.definitions.functions["f"]) == {"x": Hint("class", "p.Sheet")}
    assert Hint("class", "p.Sheet") not in choices(usage.demands(usage.definitions.functions["g"])["x"]), "half of them"
    alike = {f"p.Sheet{number}": sheet for number in range(4)}
    usage = Usage(ast.parse(body), far=alike)
    assert Hint("class", "p.Sheet0") not in choices(usage.demands(usage.definitions.functions["f"])["x"])


FILES = [
    ("return open(x).read()", union([PATH, PATH_TEXT, STR])),
    ("with open(x, 'rb') as stream: pass", union([PATH, PATH_TEXT, STR])),
    ("return os.stat(x).st_size", union([PATH, PATH_TEXT, STR])),
    ("return gzip.open(x)", union([PATH, PATH_TEXT, STR])),
    ("return Path(x).read_text()", union([PATH, PATH_TEXT, STR])),
    ("if x.endswith('.gz'): return open(x)", union([STR, PATH_TEXT])),
    ("print('text', file=x)", OPEN),
    ("json.dump({}, x)", OPEN),
    ("return json.load(x)", OPEN),
    ("csv.writer(x).writerow([1])", OPEN),
    ("return os.path.basename(x)", STR),
]


@pytest.mark.parametrize(("body", "hint"), FILES, ids=[body for body, _ in FILES])
def test_what_is_opened_is_the_path_of_a_file(body, hint):
    assert demanded(body)["x"] == hint


def test_items_stay_the_same_in_a_copy_of_their_container():
    source = "def f(rows):\n    kept = sorted(rows)\n    for row in kept:\n        row.total_seconds()"
    usage = Usage(ast.parse(source))
    assert usage.demands(usage.definitions.functions["f"])["rows"].args == (Hint("class", "datetime.timedelta"),)


@pytest.mark.parametrize(
    "copied",
    [
        "copy.copy(x)",
        "copy.deepcopy(x)",
        "deepcopy(x)",
        "x.copy()",
        "dict(x)",
        "OrderedDict(x)",
        "typing.cast(dict, x)",
    ],
)
def test_what_is_done_with_a_copy_is_done_with_the_argument(copied):
    for body in (f"x = {copied}\nreturn x['size'] + 1", f"y = {copied}\nreturn y.get('size', 0) + 1"):
        assert demanded(body) == {"x": record(size=NUMBER)}


def test_a_function_of_that_name_that_is_an_argument_copies_nothing():
    assert "x" not in demanded("return deepcopy(x)['size'] + 1", "x, deepcopy")


@pytest.mark.parametrize(
    "body",
    [
        "if z:\n    part = x['a']\nelse:\n    part = y['a']\nreturn part.upper()",
        "part = x['a']\nif z:\n    part = y['a']\nreturn part.upper()",
        "part = x['a']\nif z:\n    pass\nelse:\n    part = y['a']\nreturn part.upper()",
        "if z:\n    part = x['a']\nelif y:\n    part = y['a']\nelse:\n    part = ''\nreturn part.upper()",
    ],
)
def test_a_variable_has_the_values_of_both_branches(body):
    found = demanded(body, "x, y, z")
    assert (found["x"], found["y"]) == (record(a=STR), record(a=STR))


TABLES = """
CODES = {"gzip": 1, "bzip2": 2}
NAMES: tuple = ("red", "blue")
MIXED = frozenset(["a", 1, None, True, -2, other])

class Desk:
    LEGS = {4: "four", 3: "three"}

    def f(self, x):
        %s

class Table(Desk):
    def g(self, x):
        return self.LEGS.get(x)
"""


@pytest.mark.parametrize(
    ("expression", "texts"),
    [
        ("CODES[x]", ("'gzip'", "'bzip2'")),
        ("CODES.get(x)", ("'gzip'", "'bzip2'")),
        ("x in CODES", ("'gzip'", "'bzip2'")),
        ("x not in NAMES", ("'red'", "'blue'")),
        ("self.LEGS[x]", ("4", "3")),
        ("Desk.LEGS[x]", ("4", "3")),
        ("x in MIXED", ("'a'", "1")),
        ("{'l': 1}[x]", ("'l'",)),
        ("x in ('l', 'r', 'm') or x.upper()", ("'l'", "'r'", "'m'")),
    ],
)
def test_what_is_looked_up_is_one_of_the_keys(expression, texts):
    usage = Usage(ast.parse(TABLES % f"return {expression}"))
    method = usage.definitions.method(usage.definitions.classes["Desk"], "f")
    assert choices(usage.demands(method)["x"])[0] == Hint("literal", texts=texts)


def test_a_local_table_hides_that_of_the_module():
    usage = Usage(ast.parse(TABLES % "CODES = {'a': 1}\n        return CODES[x]"))
    method = usage.definitions.method(usage.definitions.classes["Desk"], "f")
    assert choices(usage.demands(method)["x"])[0] == Hint("literal", texts=("'a'",))


def test_an_attribute_of_a_class_that_is_no_table_is_still_followed():
    source = (
        "class Desk:\n    def __init__(self, rate): self.rate = rate\n\ndef f():\n    return Desk.rate.upper().lower()"
    )
    usage = Usage(ast.parse(source), {"Desk": Hint("class", "m.Desk")}, {"m.Desk": frozenset({"rate"})})
    method = usage.definitions.method(usage.definitions.classes["Desk"], "__init__")
    assert usage.demands(method) == {"rate": STR}


def test_a_class_inherits_its_tables():
    usage = Usage(ast.parse(TABLES % "pass"))
    method = usage.definitions.method(usage.definitions.classes["Table"], "g")
    assert choices(usage.demands(method)["x"])[0] == Hint("literal", texts=("4", "3"))


def test_evidence_without_uses_is_any():
    assert Evidence().hint() == ANY


def test_evidence_that_is_linked_in_a_circle_ends():
    first, second = Evidence(), Evidence()
    first.link(second)
    second.link(first)
    first.element.link(first)
    second.use("iterated")
    assert first.hint().kind == "iterable"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return m.size + 1", namespace(size=NUMBER)),
        ("return ', '.join(m.core.names['x'])", namespace(core=namespace(names=record(x=items("iterable", STR))))),
        ("for cell in m.cells: print(cell.label.upper())", namespace(cells=items("iterable", namespace(label=STR)))),
        ("return m", None),
        ("return m + 1", None),
        ("return [m.size for _ in m]", None),  # a plain object cannot be iterated over
        ("return m(m.size)", None),
    ],
)
def test_a_double_has_the_attributes_that_the_body_uses(body, expected):
    tree = ast.parse(f"def f(m):\n    {body}")
    found = Usage(tree).doubles(tree.body[0]).get("m")
    assert (None if found is None else _without_any(found)) == expected


def _without_any(hint):
    """The hint without the last choice of unions: any value is possible too."""
    if hint.kind == "union" and hint.args[-1] == ANY:
        return _without_any(union(hint.args[:-1]))
    return hint._replace(args=tuple(map(_without_any, hint.args)))
