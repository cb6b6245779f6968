"""The architecture as a test: allowed imports, and the places for state and randomness.

The rooms are listed below. A file imports from its own room and from rooms that stand before it in the list, and names
the file that defines what it needs. The checks read the syntax tree of every file, imports inside functions included; the second half of
this file plants one violation of each rule and sees to it that it is found.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ROOMS = {
    "fitgym.errors": 0,
    "fitgym.chance": 0,
    "fitgym.immutable": 0,
    "fitgym.registry": 0,
    "fitgym.course": 0,
    "fitgym.run.setting": 0,
    "fitgym.subject.code": 1,
    "fitgym.mutants": 1,
    "fitgym.subject": 1,
    "fitgym.programs": 1,
    "fitgym.instrument": 2,
    "fitgym.testcase": 3,
    "fitgym.determinism": 4,
    "fitgym.messages": 4,
    "fitgym.sandbox": 4,
    "fitgym.worker": 4,
    "fitgym.execution": 4,
    "fitgym.fitness": 5,
    "fitgym.evolution": 5,
    "fitgym.secondary": 5,
    "fitgym.search": 5,
    "fitgym.engine": 6,
    "fitgym.goals": 6,
    "fitgym.formulas": 6,
    "fitgym.allocation": 6,
    "fitgym.rendering": 6,
    "fitgym.suite": 6,
    "fitgym.envs": 7,
    "fitgym.agents.transition": 8,
    "fitgym.run.episode": 8,
    "fitgym.agents": 8,
    "fitgym.testing": 8,
    "fitgym.project.layout": 9,
    "fitgym.project.plugin": 9,
    "fitgym.project.existing": 9,
    "fitgym.run": 9,
    "fitgym.study": 9,
    "fitgym.learning": 9,
    "fitgym.headroom": 9,
    "fitgym.project": 9,
    "fitgym.player": 9,
    "fitgym.commands": 10,
    "fitgym.cli": 10,
    "fitgym.__main__": 10,
}
"""The floor of each room, from the bottom to the top. Floors are for readers; the order of the rooms is the rule."""

ORDER = list(ROOMS)

WORKER = (
    *("fitgym.chance", "fitgym.errors", "fitgym.immutable"),
    *("fitgym.subject", "fitgym.mutants", "fitgym.instrument"),
    *("fitgym.testcase.expression", "fitgym.testcase.statement"),
    *("fitgym.determinism", "fitgym.messages", "fitgym.sandbox", "fitgym.worker", "fitgym.execution"),
)
"""What runs beside the subject: these import the standard library and each other only, so that a worker starts quickly
and the subject meets no library that it did not ask for."""

PARENT = ("fitgym.execution.executor",)
"""The side of the executor that stays with the search."""

LAZY_IN_WORKER = ("typeshed_client",)
"""May be imported inside functions of worker code."""

FACES = ("fitgym.course", "fitgym.engine")
"""Packages whose `__init__` hands on public names. Files inside such a package import from the defining file."""

ABOVE_THE_ENGINE = (
    *("fitgym.envs", "fitgym.agents", "fitgym.testing", "fitgym.run.episode", "fitgym.run.environment"),
    *("fitgym.run.record", "fitgym.run.replay", "fitgym.run.generation", "fitgym.run.evaluation"),
    *("fitgym.study", "fitgym.headroom", "fitgym.learning", "fitgym.cli", "fitgym.commands.listing"),
    "fitgym.player",
)
"""The engine knows nothing of gymnasium; these may import it."""


@dataclass(frozen=True)
class Import:
    """One import statement's demand: `name` from `module` (the module itself if `name` is empty)."""

    module: str
    name: str
    line: int
    lazy: bool


def modules() -> dict[str, Path]:
    """Every module of the package by import name, linked folders included, each file once; one in C by its stub."""
    found = {}
    for path in sorted([*(ROOT / "fitgym").rglob("*.py"), *(ROOT / "fitgym").rglob("*.pyi")]) + [
        linked for folder in ("envs", "agents") for linked in sorted((ROOT / "fitgym" / folder).rglob("*.py"))
    ]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.relative_to(ROOT)
    return found


def imports(tree: ast.Module, module: str, is_package: bool) -> Iterator[Import]:
    """Every import of a file; relative ones made absolute. Imports in functions are lazy, others run at import time."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, lazy = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, "", node.lineno, lazy)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(base, alias.name, node.lineno, lazy)
        inner = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or _is_type_checking(node)
        pending.extend((child, inner) for child in ast.iter_child_nodes(node))


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def room(module: str) -> str:
    """The room that `module` is in, "" if it is in none."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 1, -1))
    return next((name for name in names if name in ROOMS), "")


def within(module: str, prefixes: tuple[str, ...]) -> bool:
    return any(module == prefix or module.startswith(prefix + ".") for prefix in prefixes)


def import_violations(module: str, path: Path, source: str, known: dict[str, Path]) -> Iterator[str]:
    """What is wrong with the imports of one file, one sentence each that names both files."""
    here = room(module)
    if module != "fitgym" and not here:
        yield f"{path} is in no room: add it to ROOMS"
        return
    is_package = path.name == "__init__.py"
    for found in imports(ast.parse(source), module, is_package):
        where = f"{path}, line {found.line}"
        top = found.module.split(".")[0]
        if top in ("envs", "agents", "tests"):
            yield f"{where}: imports '{top}' by its bare name, write fitgym.{top}"
            continue
        if top in ("gymnasium", "gym") and not within(module, ABOVE_THE_ENGINE) and module != "fitgym":
            yield f"{where}: imports {top}, which only envs and what stands above it may do"
        if in_worker(module) and not within(found.module, ("fitgym",)):
            if top not in sys.stdlib_module_names and not (found.lazy and top in LAZY_IN_WORKER):
                yield f"{where}: imports {top}, but runs in the worker, where only the standard library is at hand"
            continue
        if top != "fitgym":
            continue
        member = f"{found.module}.{found.name}"
        target = member if found.name and member in known else found.module
        if target == "fitgym":
            if found.name not in ("", "__version__"):
                yield f"{where}: imports '{found.name}' from fitgym, write from the file that defines it"
            continue
        if target not in known:
            yield f"{where}: imports {target}, which does not exist"
            continue
        there = room(target)
        if not here:
            # The root is the door of the house: it may lead anywhere, but opening it must not load the house.
            if not found.lazy and ROOMS.get(there):
                yield f"{where}: imports {known[target]} when fitgym is imported, import it inside a function"
            continue
        if there and ORDER.index(there) > ORDER.index(here):
            yield f"{where}: imports {known[target]}, upwards from {here} to {there}"
        if in_worker(module) and not in_worker(target):
            yield f"{where}: imports {known[target]}, but runs in the worker and that file does not"
        if target in FACES and not within(module, (target,)) and found.name in exported(known[target]):
            continue
        if found.name and target == found.module and not defines(known[target], found.name):
            yield f"{where}: imports '{found.name}' from {known[target]}, write from the file that defines it"


def in_worker(module: str) -> bool:
    return within(module, WORKER) and not within(module, PARENT)


def defines(path: Path, name: str) -> bool:
    """Whether a file itself defines `name`; only packages are looked into, other files import to use, not to hand on."""
    if path.name != "__init__.py":
        return True
    for node in ast.parse((ROOT / path).read_text("utf-8")).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        if name in (getattr(node, "name", ""), *map(ast.unparse, targets)):
            return True
    return False


def exported(path: Path) -> list[str]:
    """The names in `__all__` of a file."""
    for node in ast.parse((ROOT / path).read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


MUTABLE_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
MUTABLE_CALLS = ("list", "dict", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict", "count", "array")
CHANGING_METHODS = (
    *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
    *("add", "discard", "update", "setdefault", "popitem", "appendleft"),
)


def state_violations(module: str, source: str) -> Iterator[str]:
    """Module-level state that could change.

    A container at module level must be a constant: named in capitals and never changed in its file. `global` is
    never needed.
    """
    tree = ast.parse(source)
    constants = set()
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_mutable(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                name = ast.unparse(target)
                constants.add(name)
                if name != "__all__" and not name.isupper():
                    yield f"{module}, line {node.lineno}: '{name}' is a container at module level, pass it in instead"
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield f"{module}, line {node.lineno}: 'global {', '.join(node.names)}', keep it in an object instead"
        elif (changed := _changed(node)) in constants:
            yield f"{module}, line {node.lineno}: changes '{changed}', which is a constant of the module"


def _is_mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        called = value.func.attr if isinstance(value.func, ast.Attribute) else ast.unparse(value.func)
        return called in MUTABLE_CALLS
    return isinstance(value, MUTABLE_DISPLAYS)


def _changed(node: ast.AST) -> str:
    """The name of what a node changes in place, "" if nothing."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return ast.unparse(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING_METHODS:
        return ast.unparse(node.func.value)
    return ""


OWN_GENERATORS = ("Generator", "SeedSequence", "BitGenerator", "PCG64", "default_rng")
UNSEEDED = (
    *("default_rng()", "np.random.default_rng()", "numpy.random.default_rng()"),
    *("random.Random()", "Random()", "random.SystemRandom()", "SystemRandom()"),
)
OF_THE_SUBJECT = ("seed", "getstate", "setstate")
PUT_BACK = (("random", "getstate"), ("random", "setstate"), ("np.random", "get_state"), ("np.random", "set_state"))
BESIDE_A_LIBRARY = ("fitgym.agents._deep", "fitgym.testing.agents")
"""May look at the state of shared generators that a library seeds and uses, and put it back."""


def chance_violations(module: str, source: str) -> Iterator[str]:
    """Uses of the generators that the whole process shares, and generators that nobody seeded.

    The worker may fix and restore the shared generator: there it is the subject's. There `id` is the subject's too, so
    the worker's own modules take the real one from `builtins` before it is replaced.
    """
    tree = ast.parse(source)
    shadowed = in_worker(module) and "from builtins import id" not in map(ast.unparse, tree.body)
    for node in ast.walk(tree):
        where = f"{module}, line {getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ImportFrom) and node.module in ("random", "numpy.random"):
            for alias in node.names:
                if alias.name not in (*OWN_GENERATORS, "Random"):
                    yield f"{where}: imports '{alias.name}' from {node.module}, take an `rng` instead"
        elif isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if module in BESIDE_A_LIBRARY and (owner, node.attr) in PUT_BACK:
                continue
            if owner in ("np.random", "numpy.random") and node.attr not in OWN_GENERATORS:
                yield f"{where}: uses {owner}.{node.attr}, take an `rng` instead"
            elif (
                owner == "random"
                and node.attr not in ("Random", "SystemRandom")
                and not (node.attr in OF_THE_SUBJECT and in_worker(module))
            ):
                yield f"{where}: uses random.{node.attr}, take an `rng` instead"
        elif isinstance(node, ast.Call) and ast.unparse(node) in UNSEEDED:
            yield f"{where}: makes a generator without a seed"
        elif shadowed and isinstance(node, ast.Name) and node.id == "id" and isinstance(node.ctx, ast.Load):
            yield f"{where}: uses the subject's 'id', write from builtins import id"


KNOWN = modules()
IN_PYTHON = [module for module, path in KNOWN.items() if path.suffix == ".py"]


@pytest.mark.parametrize("module", KNOWN)
def test_imports_go_down_and_name_the_file(module: str) -> None:
    assert list(import_violations(module, KNOWN[module], (ROOT / KNOWN[module]).read_text("utf-8"), KNOWN)) == []


@pytest.mark.parametrize("module", KNOWN)
def test_no_state_lives_in_a_module(module: str) -> None:
    assert list(state_violations(module, (ROOT / KNOWN[module]).read_text("utf-8"))) == []


@pytest.mark.parametrize("module", KNOWN)
def test_chance_is_passed_in(module: str) -> None:
    assert list(chance_violations(module, (ROOT / KNOWN[module]).read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "path",
    sorted(
        [*(ROOT / "tests").rglob("*.py"), *(p for d in ("benchmarks", "examples") for p in (ROOT / d).glob("*.py"))]
    ),
)
def test_nothing_outside_imports_the_linked_folders_by_their_bare_names(path: Path) -> None:
    found = imports(ast.parse(path.read_text("utf-8")), path.stem, False)
    assert [f"line {i.line}: {i.module}" for i in found if i.module.split(".")[0] in ("envs", "agents")] == []


def test_every_room_exists() -> None:
    assert [name for name in ROOMS if name not in KNOWN] == []


def test_floors_are_in_order_and_few() -> None:
    floors = list(ROOMS.values())
    assert floors == sorted(floors) and len(set(floors)) <= 12


def test_worker_code_loads_neither_numpy_nor_gymnasium() -> None:
    worker_side = [module for module in IN_PYTHON if in_worker(module)]
    code = f"import sys, {', '.join(worker_side)}; print(sorted({{'numpy', 'gymnasium', 'rich'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_after_importing_everything_no_module_has_a_bare_name() -> None:
    names = [module for module in IN_PYTHON if module != "fitgym.__main__"]
    code = f"import sys, {', '.join(names)}; print(sorted({{'envs', 'agents'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


# One violation of each rule, planted


EXAMPLE = {
    "fitgym": Path("fitgym/__init__.py"),
    "fitgym.errors": Path("fitgym/errors.py"),
    "fitgym.subject.types.hints": Path("fitgym/subject/types/hints.py"),
    "fitgym.testcase.factory": Path("fitgym/testcase/factory.py"),
    "fitgym.worker.main": Path("fitgym/worker/main.py"),
    "fitgym.evolution.archive": Path("fitgym/evolution/archive.py"),
    "fitgym.search": Path("fitgym/search/__init__.py"),
    "fitgym.search.base": Path("fitgym/search/base.py"),
    "fitgym.engine": Path("fitgym/engine/__init__.py"),
    "fitgym.engine.state": Path("fitgym/engine/state.py"),
    "fitgym.agents.ucb": Path("fitgym/agents/ucb.py"),
    "fitgym.run.generation": Path("fitgym/run/generation.py"),
}
ARCHIVE, UCB, WORKER_FILE = "fitgym.evolution.archive", "fitgym.agents.ucb", "fitgym.worker.main"
UPWARDS = "imports fitgym/search/base.py, upwards from fitgym.evolution to fitgym.search"


@pytest.mark.parametrize(
    ("module", "source", "expected"),
    [
        (ARCHIVE, "from fitgym.search.base import Search", f"line 1: {UPWARDS}"),
        (ARCHIVE, "import fitgym.search.base as b", f"line 1: {UPWARDS}"),
        (ARCHIVE, "from fitgym.search import base", f"line 1: {UPWARDS}"),
        (ARCHIVE, "from ..search.base import Search", f"line 1: {UPWARDS}"),
        (ARCHIVE, "def f():\n from fitgym.search.base import Search", f"line 2: {UPWARDS}"),
        (ARCHIVE, "if TYPE_CHECKING:\n import fitgym.search.base", f"line 2: {UPWARDS}"),
        (ARCHIVE, "import gymnasium", "line 1: imports gymnasium, which only envs and what stands above it may do"),
        (
            UCB,
            "from fitgym.run import generation",
            "line 1: imports fitgym/run/generation.py, upwards from fitgym.agents to fitgym.run",
        ),
        (UCB, "from fitgym import Run", "line 1: imports 'Run' from fitgym, write from the file that defines it"),
        (UCB, "from fitgym.search import S", "line 1: imports 'S' from fitgym/search/__init__.py, write from the file"),
        (
            UCB,
            "from fitgym.engine import State",
            "line 1: imports 'State' from fitgym/engine/__init__.py, write from the",
        ),
        (
            "fitgym.engine.state",
            "from fitgym.engine import Cost",
            "line 1: imports 'Cost' from fitgym/engine/__init__.py",
        ),
        (UCB, "from fitgym.search.bas import S", "line 1: imports fitgym.search.bas, which does not exist"),
        (UCB, "import envs.base", "line 1: imports 'envs' by its bare name, write fitgym.envs"),
        (UCB, "from agents.base import Agent", "line 1: imports 'agents' by its bare name, write fitgym.agents"),
        (WORKER_FILE, "import numpy as np", "line 1: imports numpy, but runs in the worker"),
        (WORKER_FILE, "def f():\n import numpy", "line 2: imports numpy, but runs in the worker"),
        (WORKER_FILE, "import typeshed_client", "line 1: imports typeshed_client, but runs in the worker"),
        (WORKER_FILE, "import fitgym.testcase.factory", "line 1: imports fitgym/testcase/factory.py, but runs in the"),
        (
            "fitgym",
            "from fitgym.run.generation import Run",
            "line 1: imports fitgym/run/generation.py when fitgym is imported",
        ),
    ],
)
def test_a_planted_import_is_found(module: str, source: str, expected: str) -> None:
    found = list(import_violations(module, EXAMPLE[module], source, EXAMPLE))
    assert len(found) == 1 and found[0].startswith(f"{EXAMPLE[module]}, {expected}"), found


def test_a_room_of_the_same_floor_is_imported_only_if_it_stands_before() -> None:
    assert ROOMS["fitgym.evolution"] == ROOMS["fitgym.search"]
    assert not list(
        import_violations("fitgym.search.base", EXAMPLE["fitgym.search.base"], f"import {ARCHIVE}", EXAMPLE)
    )


def test_a_file_in_no_room_is_found() -> None:
    path = Path("fitgym/novelty.py")
    assert list(import_violations("fitgym.novelty", path, "", EXAMPLE)) == [f"{path} is in no room: add it to ROOMS"]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (UCB, "import numpy, gymnasium"),
        (UCB, "from fitgym.search.base import Search"),
        (UCB, "from fitgym.engine import Engine"),
        (ARCHIVE, "from fitgym import __version__"),
        (ARCHIVE, "import numpy as np"),
        (WORKER_FILE, "import ast, os, signal\nfrom fitgym.errors import FitgymError"),
        (WORKER_FILE, "def f():\n import typeshed_client"),
        ("fitgym", "def __getattr__(name):\n from fitgym.run.generation import generate"),
    ],
)
def test_a_proper_import_passes(module: str, source: str) -> None:
    assert list(import_violations(module, EXAMPLE[module], source, EXAMPLE)) == []


def test_a_relative_import_of_a_package_starts_at_the_package() -> None:
    assert [i.module for i in imports(ast.parse("from .base import S"), "fitgym.search", True)] == [
        "fitgym.search.base"
    ]
    assert [i.module for i in imports(ast.parse("from .base import S"), "fitgym.search.x", False)] == [
        "fitgym.search.base"
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("cache = {}", "line 1: 'cache' is a container at module level"),
        ("seen: set[int] = set()", "line 1: 'seen' is a container at module level"),
        ("found = defaultdict(list)", "line 1: 'found' is a container at module level"),
        ("ids = itertools.count()", "line 1: 'ids' is a container at module level"),
        ("CACHE = {}\ndef f():\n CACHE[1] = 2", "line 3: changes 'CACHE'"),
        ("CACHE = []\ndef f():\n CACHE.append(2)", "line 3: changes 'CACHE'"),
        ("CACHE = {}\ndef f():\n del CACHE[1]", "line 3: changes 'CACHE'"),
        ("state = 0\ndef f():\n global state\n state = 1", "line 3: 'global state'"),
    ],
)
def test_planted_state_is_found(source: str, expected: str) -> None:
    assert [text.removeprefix("m, ").startswith(expected) for text in state_violations("m", source)] == [True]


@pytest.mark.parametrize(
    "source",
    [
        "__all__ = ['a']",
        "NAMES = {'a': 1}",
        "_NAMES: Final = ['a']",
        "pair = (1, 2)",
        "kinds = frozenset({1})",
        "def f():\n cache = {}\n cache[1] = 2",
        "NAMES = {'a': 1}\ndef f():\n return NAMES['a']",
    ],
)
def test_a_constant_is_no_state(source: str) -> None:
    assert list(state_violations("m", source)) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import random\nrandom.random()", "line 2: uses random.random"),
        ("import random\nrandom.seed(0)", "line 2: uses random.seed"),
        ("from random import shuffle", "line 1: imports 'shuffle' from random"),
        ("import numpy as np\nnp.random.rand(3)", "line 2: uses np.random.rand"),
        ("import numpy\nnumpy.random.seed(0)", "line 2: uses numpy.random.seed"),
        ("from numpy.random import choice", "line 1: imports 'choice' from numpy.random"),
        ("rng = np.random.default_rng()", "line 1: makes a generator without a seed"),
        ("import random\nrng = random.SystemRandom()", "line 2: makes a generator without a seed"),
    ],
)
def test_planted_chance_is_found(source: str, expected: str) -> None:
    found = [text.removeprefix("fitgym.search.mosa, ") for text in chance_violations("fitgym.search.mosa", source)]
    assert len(found) == 1 and found[0].startswith(expected), found


def test_the_subjects_id_is_found_in_the_worker() -> None:
    assert list(chance_violations(WORKER_FILE, "import ast\nplaces = set(map(id, []))")) == [
        f"{WORKER_FILE}, line 2: uses the subject's 'id', write from builtins import id"
    ]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("fitgym.search.mosa", "def f(rng: np.random.Generator):\n return rng.random()"),
        ("fitgym.search.mosa", "rng = np.random.default_rng(seed)"),
        ("fitgym.worker.main", "import random\nrandom.seed(0)"),
        ("fitgym.worker.main", "from builtins import id\nplace = id(object)"),
        ("fitgym.search.mosa", "place = id(object)"),
    ],
)
def test_chance_that_is_passed_in_is_fine(module: str, source: str) -> None:
    assert list(chance_violations(module, source)) == []
