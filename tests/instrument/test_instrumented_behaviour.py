"""Real modules behave the same with probes, and the records agree with coverage.py."""

import ast
import importlib
import importlib.util
import inspect
import io
import json
import linecache
import pickle
import re
import subprocess
import sys
from textwrap import dedent

import pytest
from nightly import every

from fitgym.instrument import factories
from fitgym.instrument.lines import block_lines, covered_lines
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.relations import FALSE_SLOTS, TRUE_SLOTS
from fitgym.instrument.rewriting.loader import Hook, load
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.subject.subject import Reference

pytestmark = pytest.mark.usefixtures("sites")

ADDRESS = re.compile(" at 0x[0-9a-f]+")

TEXT = "The quick brown fox, who-never jumps,\n  over\tthe lazy dog's 1234567890123456789012345678901234567890 tail.  "

# Source of Python expressions over the module `m`, so that another process can evaluate them as well.
CALLS = {
    "textwrap": [
        f"m.wrap({TEXT!r}, 20)",
        f"m.fill({TEXT!r}, 12, initial_indent='* ', subsequent_indent='  ', max_lines=3)",
        "m.dedent('  a\\n    b\\n\\n  c')",
        "m.indent('a\\n\\nb', '> ')",
        "m.shorten('a b c d e', 5)",
        "m.wrap('abc', 0)",
        "m.wrap('abcdef ghi', 4, break_long_words=False)",
        f"m.TextWrapper(15, fix_sentence_endings=True, drop_whitespace=False).wrap({TEXT!r})",
    ],
    "shlex": [
        "m.split('a \"b c\" d\\\\ e # f', comments=True)",
        "m.split('a \"b')",
        "m.quote(\"it's\"), m.quote(''), m.quote('ok')",
        "list(m.shlex('a && b || c; (d >file)', punctuation_chars=True))",
        "m.join(['a b', 'c'])",
    ],
    "fnmatch": ["m.filter(['a.py', 'b.txt', '.c'], '*.p[!x]')", "m.translate('a?[!b-d]*[')", "m.fnmatch('A', 'a')"],
    "difflib": [
        "list(m.unified_diff('a b c d'.split(), 'a c d e'.split(), 'x', 'y', lineterm=''))",
        "list(m.ndiff(['abc', 'def'], ['abd', 'xyz']))",
        "list(m.context_diff(['a', 'b'], ['b', 'c']))",
        "m.get_close_matches('appel', ['ape', 'apple', 'peach'])",
        "m.SequenceMatcher(None, 'private', 'privately').ratio()",
        "m.get_close_matches('x', [], n=0)",
    ],
    "heapq": [
        "sorted(m.merge([1, 4], [2, 3], reverse=False))",
        "m.nsmallest(2, [5, 1, 4]), m.nlargest(2, [5, 1, 4], key=lambda x: -x)",
        "m.nsmallest(1, []), m.nlargest(9, (3, 1))",
        "m.nsmallest(2, [1, 'a'])",
    ],
    "statistics": [
        "m.mean([1, 2.5, 3]), m.median([3, 1]), m.mode('aab'), m.stdev([1, 2, 4])",
        "m.mean([])",
        "m.quantiles([1, 2, 3, 4, 5], n=4), m.multimode([])",
        "m.harmonic_mean([1, 0]), m.geometric_mean([1, 2])",
        "m.linear_regression([1, 2, 3], [2, 4, 7]), m.correlation([1, 2], [1, 1])",
        "m.NormalDist(1, 2).overlap(m.NormalDist(2, 2)), m.median_grouped([1, 2, 2], 1)",
    ],
    "colorsys": ["m.rgb_to_hls(.2, .4, .4), m.hls_to_rgb(.3, .7, .5), m.rgb_to_hsv(1, 1, 1), m.hsv_to_rgb(.9, .1, .3)"],
    "string": [
        "m.capwords(' ab  c '), m.Template('$a ${b} $$').safe_substitute(a=1)",
        "m.Template('$a $').substitute(a=1)",
        "m.Formatter().format('{0!r:>5} {x[k]}', 1, x={'k': 2})",
        "m.Formatter().format('{} {0}', 1)",
    ],
    "calendar": [
        "m.TextCalendar(6).formatmonth(2024, 2)",
        "m.monthrange(2023, 13)",
        "m.Calendar(0).monthdayscalendar(2024, 2), m.isleap(1900), m.leapdays(1990, 2001)",
        "m.HTMLCalendar().formatmonth(2024, 2)",
    ],
    "fractions": [
        "m.Fraction('3/6') + m.Fraction(1, 3), m.Fraction(2.5), m.Fraction(1, 3) ** -2, m.Fraction(7, 3) // 2",
        "m.Fraction(1, 0)",
        "m.Fraction('x')",
        "m.Fraction(3.1416).limit_denominator(100), round(m.Fraction(5, 2)), m.Fraction(1, 2) < 0.7, hash(m.Fraction(1, 7))",
        "m.Fraction(1, 2) < 'a'",
    ],
    "configparser": [
        "(lambda c: (c.read_string('[a]\\nx = 1\\n y\\n[b]\\nz: %(w)s\\nw = 2 # no'), {s: dict(c[s]) for s in c}))(m.ConfigParser())",
        "m.ConfigParser().read_string('x = 1')",
        "m.ConfigParser().read_string('[a]\\n[a]')",
        "m.ConfigParser().get('a', 'b')",
    ],
    "html": ["m.escape('<a & \"b\">'), m.unescape('&lt;&#65;&#x110000;&notit;&copy')"],
    "urllib.parse": [
        "m.urlsplit('http://u:p@[::1]:80/a;b?c=d#e'), m.urlsplit('//x/y').hostname",
        "m.urljoin('http://a/b/c/d?x', '../../g'), m.urljoin('', 'x'), m.urljoin('a', '')",
        "m.parse_qs('a=1&b=2&a=%203&c', keep_blank_values=True), m.quote('a b/ä'), m.unquote_plus('a+%C3%A4')",
        "m.urlencode({'a': [1, 'x y']}, doseq=True)",
        "m.urlsplit('http://[::1')",
        "m.urlsplit('http://a:x').port",
        "m.quote(1)",
    ],
    "ast": [
        "m.unparse(m.parse('def f(a, *, b=1, **c):\\n  if a and b < 3: return lambda x: (yield x)\\n  return {1: [*c]}'))",
        'm.literal_eval(\'[1, -2.5, {"a": (None, b"x")}]\')',
        "m.literal_eval('f()')",
        "m.dump(m.parse('x: int = 1'), indent=2)",
        'm.get_docstring(m.parse(\'"""A\\n  b"""\'))',
        "m.unparse(m.parse('match x:\\n  case [1, *y] if z: pass\\n  case {\"a\": b}: pass'))",
    ],
    "csv": [
        "list(m.DictReader(['a,b', '1,2', '3', '4,5,6']))",
        "(lambda f: (m.DictWriter(f, ['a', 'b'], restval='-').writerow({'a': 1}), f.getvalue()))(io.StringIO())",
        "m.DictWriter(io.StringIO(), ['a']).writerow({'b': 1})",
        "vars(m.Sniffer().sniff('a;b\\n1;2\\n3;4\\n'))['delimiter'], m.Sniffer().has_header('a,b\\n1,2\\n3,4')",
        "m.Sniffer().sniff('')",
    ],
    "json.decoder": [
        "m.JSONDecoder().decode(' {\"a\": [1, 2.5, null]} ')",
        "m.py_scanstring('a\\\\n\\\\u00e4\\\\ud83d\\\\ude00\" x', 0)",
        "m.py_scanstring('abc', 0)",
        "m.JSONDecoder().decode('[1')",
        "m.JSONDecoder().decode('[] x')",
    ],
    "dataclasses": [
        "m.make_dataclass('C', [('x', int), ('y', list, m.field(default_factory=list))], order=True)(1) < None",
        "m.asdict(m.make_dataclass('C', ['x', 'y'])(1, [2, {'a': 3}]))",
        "m.make_dataclass('C', [('x', list, [])])",
        "m.replace(m.make_dataclass('C', ['x'], frozen=True)(1), x=2), m.fields(int)",
        "repr(m.make_dataclass('C', [('x', int, m.field(repr=False)), ('y', int, 3)], kw_only=True, slots=True)(x=1))",
    ],
    "enum": [
        "list(m.Enum('E', 'A B')), m.Enum('E', {'A': 1, 'B': 1}).B",
        "m.Enum('E', 'A')(3)",
        "(lambda F: (F.A | F.B, ~F.A, list(F), F(3) & F.A))(m.Flag('F', 'A B'))",
        "m.Enum('E', 'A A')",
        "m.unique(m.Enum('E', {'A': 1, 'B': 1}))",
    ],
    "copy": [
        "m.deepcopy([1, (2, {3: [4]})]), m.copy({1: 2})",
        "m.deepcopy((lambda x: x.append(x) or x)([]))[0][0] is None",
    ],
    "pprint": [
        "m.pformat({'a': list(range(40)), (1,): {'b', 'c'}}, width=30, compact=True)",
        "m.pformat('x' * 200, 40)",
    ],
    "reprlib": ["m.repr(list(range(20))), m.repr({'a' * 50: 10 ** 60})"],
    "ipaddress": [
        "list(m.ip_network('10.0.0.0/30').hosts()), m.ip_address('::1'), m.ip_network('10.0.0.1/8', strict=False)",
        "m.ip_address('1.2.3')",
        "m.ip_network('10.0.0.1/8')",
        "list(m.collapse_addresses([m.ip_network('10.0.0.0/25'), m.ip_network('10.0.0.128/25')]))",
    ],
    "tomllib._parser": [
        "m.loads('a = 1\\n[b.c]\\nd = [1.5, \"x\\\\n\", {e = 2020-01-01}]\\n[[f]]\\ng = true')",
        "m.loads('a = ')",
        "m.loads('a = 1\\na = 2')",
        "m.loads('\"\" = \\'\\'\\'\\nx\\'\\'\\'\\n')",
    ],
    "graphlib": [
        "list(m.TopologicalSorter({1: [2], 2: [3]}).static_order())",
        "m.TopologicalSorter({1: [2], 2: [1]}).prepare()",
    ],
    "functools": [
        "m.reduce(lambda a, b: a + b, [1, 2], 3), m.cmp_to_key(lambda a, b: b - a)(1) < m.cmp_to_key(lambda a, b: b - a)(2)",
        "m.partial(int, base=2)('101'), m.lru_cache(2)(len)('abc')",
        "m.total_ordering(type('C', (), {}))",
        "m.singledispatch(lambda x: 'any').dispatch(int)(1)",
    ],
    "contextlib": [
        "m.ExitStack().__exit__(None, None, None), m.suppress(KeyError).__exit__(KeyError, KeyError(), None)",
        "m.contextmanager(lambda: iter(()))().__enter__()",
        "list(map(m.closing(io.StringIO()).__class__.__name__.find, 'cz'))",
    ],
    "quopri": ["m.encodestring(b'a = b\\n\\xff' * 9), m.decodestring(b'a=3Db=\\n')"],
    "mimetypes": ["m.guess_type('a.tar.gz'), m.guess_extension('text/html'), m.guess_type('data:,x')"],
}


def found(name):
    return importlib.util.find_spec(name).origin


def source_of(path):
    with open(path, "rb") as file:
        return importlib.util.decode_source(file.read())


def end_of(module, call, recorder=None):
    """Value or exception of a call, as text."""
    try:
        return ADDRESS.sub("", repr(eval(call, {"m": module, "io": io})))
    except Exception as error:
        if recorder is not None:
            recorder.stopped(error.__traceback__)
        return ADDRESS.sub("", f"{type(error).__name__}: {error}")


def probed(name, path=None):
    """A copy of a module with probes, and its recorder; everybody else keeps the original."""
    path = path or found(name)
    instrumented = instrument(source_of(path), path)
    recorder = Recorder(instrumented.plan.sites, 10**9)
    package, _, last = name.rpartition(".")
    original = sys.modules.get(name)
    try:
        module = load(Reference(name, name, path), instrumented, recorder.probe)
    finally:
        sys.modules.pop(name, None)
        if original is not None:
            sys.modules[name] = original
            if package:
                setattr(sys.modules[package], last, original)
    return module, recorder


@pytest.mark.parametrize("needs", [frozenset(), frozenset({"direct", "constants"})], ids=["plain", "detailed"])
@pytest.mark.parametrize("name", every(4, CALLS))
def test_a_module_with_probes_behaves_as_without(name, needs):
    original = importlib.import_module(name)
    module, recorder = probed(name)
    assert module is not original
    for call in CALLS[name]:
        recorder.begin(needs)
        assert end_of(module, call) == end_of(original, call), call


@pytest.mark.skipif(bool(factories.missing()), reason=factories.missing())
@pytest.mark.parametrize("needs", [frozenset(), frozenset({"direct", "constants"})], ids=["plain", "detailed"])
@pytest.mark.parametrize("name", every(4, [name for name in CALLS if name != "pprint"]))  # which compares addresses
def test_both_factories_record_the_same_of_real_modules(name, needs, sites, monkeypatch):
    monkeypatch.setenv("FITGYM_SITES", "c" if sites == "python" else "python")
    other, recorder_of_other = probed(name)
    monkeypatch.setenv("FITGYM_SITES", sites)
    module, recorder = probed(name)
    for call in CALLS[name]:
        recorded = []
        for one, its_recorder in ((module, recorder), (other, recorder_of_other)):
            its_recorder.runner_codes.add(end_of.__code__)
            its_recorder.begin(needs)
            end_of(one, call, its_recorder)
            recorded.append((*its_recorder.snapshot_key(), its_recorder.burnt, list(its_recorder.constants)))
        assert recorded[0] == recorded[1], call


# coverage.py in a process of its own, so that it can be measured itself.
MEASURE = """
import coverage, importlib.util, io, json, sys
jobs = json.load(sys.stdin)
answers = []
for number, (path, calls) in enumerate(jobs):
    measured = coverage.Coverage(data_file=None, branch=True, include=[path], config_file=False)
    measured.clear_exclude()
    measured.start()
    spec = importlib.util.spec_from_file_location(f"copy_{number}", path)
    m = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    for call in calls:
        try:
            eval(call, {"m": m, "io": io})
        except Exception:
            pass
    measured.stop()
    _, statements, _, missing, _ = measured.analysis2(path)
    answers.append([statements, missing, sorted(measured.get_data().arcs(path))])
json.dump(answers, sys.stdout)
"""


def measured(jobs):
    """For each (path, calls): the statements, those that did not run, and the arcs, all by coverage.py."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=json.dumps(jobs), capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


# `ast` puts properties on classes that all copies share, so other code runs in it as well.
LINES = [name for name in CALLS if "." not in name and name != "ast"]


def test_lines_are_those_of_coverage():
    answers = measured([(found(name), CALLS[name]) for name in LINES])
    for name, (statements, missing, _) in zip(LINES, answers, strict=True):
        module, recorder = probed(name)
        for call in CALLS[name]:
            try:
                eval(call, {"m": module, "io": io})
            except Exception as error:
                recorder.stopped(error.__traceback__)
        assert sorted(block_lines(recorder.sites)) == statements, name
        ran = covered_lines(recorder.counts, recorder.stops(), recorder.sites)
        assert sorted(set(statements) - ran) == missing, name


ARCS = {
    "branches": (
        """
        def f(x):
            if x > 3:
                x = 1
            elif x:
                x = 2
            else:
                x = 3
            return x
        def g(xs):
            for x in xs:
                if x < 0:
                    continue
                if x > 5:
                    break
                y = x
            else:
                return 0
            while x:
                x -= 1
                if x == 100:
                    return x
            return 7
        def h(xs):
            try:
                for x in xs:
                    if not x:
                        raise ValueError
                    y = 1
            except ValueError:
                if xs:
                    y = 2
            finally:
                if y:
                    y = 3
            return y
        """,
        ["m.f(4)", "m.f(0)", "m.g([1, -1])", "m.g([9])", "m.h([1, 0])", "m.h([1])"],
    ),
    "other calls": (
        """
        def f(x):
            if x > 3:
                x = 1
            elif x:
                x = 2
            else:
                x = 3
            return x
        def g(xs):
            for x in xs:
                if x in (1, 2):
                    y = x
            return xs
        class C:
            def m(self, x):
                while x is not None:
                    if isinstance(x, int):
                        x = None
                    else:
                        x = int(x)
                return self
        """,
        ["m.f(2)", "m.g([])", "m.g([1])", "m.C().m('1')", "m.C().m('x')"],
    ),
    "generators": (
        """
        def f(n):
            while n > 0:
                if n == 3:
                    yield n
                n -= 1
            for i in (j for j in range(n)):
                yield i
        """,
        ["list(m.f(4))", "next(m.f(9))"],
    ),
}


def test_outcomes_are_the_arcs_of_coverage(tmp_path):
    jobs = []
    for number, (source, calls) in enumerate(ARCS.values()):
        path = tmp_path / f"tiny_{number}.py"
        path.write_text(dedent(source).lstrip())
        jobs.append((str(path), calls))
    for (path, calls), (_, _, arcs) in zip(jobs, measured(jobs), strict=True):
        module, recorder = probed("tiny", path)
        plan = instrument(source_of(path), path)
        for call in calls:
            end_of(module, call)
        checked = 0
        for node in ast.walk(plan.tree):
            if not isinstance(node, (ast.If, ast.While, ast.For)):
                continue
            to_body = [node.lineno, node.body[0].lineno]
            true, false = taken(recorder, plan.plan, node)
            assert true is (to_body in arcs), (path, node.lineno)
            past = any(start == node.lineno and [start, end] != to_body for start, end in arcs)
            # A `for` that was entered leaves its header as well, when it is over.
            assert past or not false if isinstance(node, ast.For) else past is false, (path, node.lineno)
            checked += 1
        assert checked >= 3


def taken(recorder, plan, node):
    """Whether the condition of a statement was true, and whether it was false."""
    if isinstance(node, ast.For):
        key, turned = node, False
    else:
        turned = isinstance(node.test, ast.UnaryOp)
        key = node.test.operand if turned else node.test
    site = recorder.sites[plan.at[key]]
    slots = (TRUE_SLOTS[site.operator], FALSE_SLOTS[site.operator]) if site.width == 3 else ((0,), (1,))
    true, false = (min(recorder.distances[site.slot + slot] for slot in some) == 0 for some in slots)
    return (false, true) if turned else (true, false)


# The import hook


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a package and a module, importable for one test."""
    (tmp_path / "fgpkg").mkdir()
    (tmp_path / "fgpkg/__init__.py").write_text("from fgpkg import inner\nHERE = 1 if inner.X > 1 else 2\n")
    (tmp_path / "fgpkg/inner.py").write_text("import fgpkg.other\nX = 3 if fgpkg.other.Y > 1 else 4\n")
    (tmp_path / "fgpkg/other.py").write_text("Y = 2\ndef f(x):\n    return x > 1\n")
    (tmp_path / "fgmodule.py").write_text("import fgpkg.other\nZ = fgpkg.other.Y\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(("fgpkg", "fgmodule"))]:
        del sys.modules[name]


def hooked(folder, name, file):
    path = str(folder / file)
    instrumented = instrument(source_of(path), path)
    recorder = Recorder(instrumented.plan.sites)
    reference = Reference(name, name, path, search_path=(str(folder),))
    return reference, instrumented, recorder


def has_probes(module):
    code = module.__spec__.loader.get_code(module.__name__)
    return any(callable(constant) for constant in code.co_consts)


@pytest.mark.parametrize(
    ("name", "file"),
    [("fgpkg", "fgpkg/__init__.py"), ("fgpkg.inner", "fgpkg/inner.py"), ("fgmodule", "fgmodule.py")],
)
def test_exactly_the_module_under_test_has_probes(folder, name, file):
    finders = list(sys.meta_path)
    reference, instrumented, recorder = hooked(folder, name, file)
    module = load(reference, instrumented, recorder.probe)
    assert module is sys.modules[name]
    assert sys.meta_path == finders
    loaded = [each for key, each in sys.modules.items() if key.startswith(("fgpkg", "fgmodule"))]
    assert [each.__name__ for each in loaded if has_probes(each)] == [name]
    assert recorder.counts[0] == 1
    assert len(loaded) >= 3


def test_a_module_with_probes_shows_its_source(folder):
    module = load(*(lambda r, i, rec: (r, i, rec.probe))(*hooked(folder, "fgpkg.other", "fgpkg/other.py")))
    path = str(folder / "fgpkg/other.py")
    assert module.__file__ == path == module.__spec__.origin
    assert inspect.getsource(module.f) == "def f(x):\n    return x > 1\n"
    assert module.__loader__.get_source("fgpkg.other").startswith("Y = 2")
    linecache.clearcache()
    assert linecache.getline(path, 3, vars(module)) == "    return x > 1\n"
    assert pickle.loads(pickle.dumps(module.f)) is module.f
    assert set(vars(module)) - {"Y", "f"} == {name for name in vars(json) if name.startswith("__")} - ignored(json)


def ignored(module):
    return {"__path__", "__all__", "__author__", "__version__"}


def test_a_module_that_was_imported_before_is_imported_afresh(folder):
    sys.path.insert(0, str(folder))
    before = importlib.import_module("fgpkg.other")
    reference, instrumented, recorder = hooked(folder, "fgpkg.other", "fgpkg/other.py")
    module = load(reference, instrumented, recorder.probe)
    assert module is not before
    assert sys.modules["fgpkg"].other is module
    assert has_probes(module)


def test_a_module_can_be_reloaded_with_its_probes(folder):
    reference, instrumented, recorder = hooked(folder, "fgpkg.other", "fgpkg/other.py")
    module = load(reference, instrumented, recorder.probe)
    recorder.begin()
    with Hook(reference, instrumented, recorder.probe):
        assert importlib.reload(module) is module
    assert recorder.counts[0] == 1
    assert module.f(2) is True


def test_a_failing_import_leaves_no_hook_and_no_module(folder):
    (folder / "fgmodule.py").write_text("x = 1\nraise KeyError(x)\n")
    finders = list(sys.meta_path)
    reference, instrumented, recorder = hooked(folder, "fgmodule", "fgmodule.py")
    with pytest.raises(KeyError) as error:
        load(reference, instrumented, recorder.probe)
    assert sys.meta_path == finders
    assert "fgmodule" not in sys.modules
    assert error.traceback[-1].lineno == 1  # counted from 0


def test_search_folders_stand_first_and_are_added_once(folder):
    reference, instrumented, recorder = hooked(folder, "fgmodule", "fgmodule.py")
    for _ in range(2):
        load(reference, instrumented, recorder.probe)
    assert sys.path[0] == str(folder)
    assert sys.path.count(str(folder)) == 1
