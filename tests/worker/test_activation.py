"""Mutants in a running process behave like separately mutated files, and leave no traces."""

import ast
import re
import sys
import textwrap
import types

import pytest

from fitgym.instrument.factory import OutOfFuel
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.mutants.generation import mutants
from fitgym.mutants.mutation import mutated_text
from fitgym.subject.subject import Reference, Subject
from fitgym.worker.activation import Mutation
from fitgym.worker.impact import Impact
from fitgym.worker.live_functions import live_functions

PROGRAMS = {
    "function": """
        def f(n):
            total = 0
            for i in range(n):
                if i % 3 == 1 or i > 4:
                    total += i
            return total
        """,
    "method": """
        class Base:
            def __init__(self, n):
                self.__n = n
            def value(self):
                return self.__n * 2
        class Derived(Base):
            def value(self):
                return super().value() + 1
            @property
            def half(self):
                return self.value() / 2
            @staticmethod
            def twice(n):
                return n + n
            @classmethod
            def make(cls, n):
                return cls(n - 1)
        def f(n):
            d = Derived.make(n)
            return d.value(), d.half, Derived.twice(n)
        """,
    "decorated": """
        import functools
        def doubled(function):
            factor = 2
            @functools.wraps(function)
            def wrapper(n):
                return function(n + 1) * factor
            return wrapper
        @doubled
        @functools.lru_cache(maxsize=None)
        def f(n):
            return n - 1 if n > 2 else n
        """,
    "closure": """
        def counter(step):
            count = 0
            def add(n):
                nonlocal count
                count += n * step
                return count
            return add
        shared = counter(3)
        def f(n):
            return shared(n) - shared(0) * 0 + len([i for i in range(n) if i != 2])
        """,
    "generator": """
        def numbers(n):
            i = 0
            while i < n:
                yield i * i
                i += 1
        def f(n):
            key = lambda x: -x
            return sorted(numbers(n), key=key), sum(x + 1 for x in numbers(n))
        """,
    "exceptions": """
        def f(n):
            try:
                if 1 < n < 4:
                    raise ValueError("middle")
                if n == 5 and not n % 5:
                    return [1, 2][n]
            except IndexError:
                return "high"
            finally:
                n = n + 1
            return n
        """,
    "class in a function": """
        def make(base):
            class Thing:
                def value(self, n):
                    return __class__.__name__, n + base
            return Thing
        Made = make(4)
        def f(n):
            return Made().value(n), make(n)().value(1)
        """,
    "operators": """
        import operator
        class Odd:
            def __eq__(self, other): raise ValueError("odd")
        class Vector:
            def __init__(self, n): self.n = n
            def __repr__(self): return f"Vector {self.n}"
            def __lt__(self, other): return [self.n < other.n] * self.n
            def __le__(self, other): return NotImplemented
            def __iadd__(self, other): self.n += 100; return self
            def __sub__(self, other): return self.n
        def f(n):
            total, seen, one = n, [n], 1
            total += 3
            total <<= 1
            seen[0] -= n % 3
            if n in seen and total is not None or n not in (2, 3):
                total = total * n // 7 - (n & 6 | one) ** 2
            text = "abc" if "a" <= chr(97 + n) < "f" else "x" + "y"
            vector = Vector(n)
            vector += 1
            flags = [vector < Vector(5), n == 2.0, seen != [2], 1 < n < 6, total is n, vector - 3]
            try:
                flags.append(Odd() == n)
            except ValueError:
                flags.append(1 / n)
            flags += [n > 3, n <= 3, n % 3 is one]
            return str((total, seen, text, flags, vector.n, [x ^ 2 for x in range(n) if x > 1 >= x - 4]))
        """,
    "match": """
        def f(n):
            match n:
                case 0:
                    return "none"
                case x if x > 3:
                    return x - 1
            return ~n | 1
        """,
}
FUEL = 2000
INFECTION = frozenset({"infection"})
ARGUMENTS = (0, 2, 5, 7)
AT_IMPORT = ("doubled", "counter", "make")
"""Functions that the import runs already: what they did then, the original did."""


class Imported:
    """A program imported with probes, and its mutants."""

    def __init__(self, text, tmp_path, features=frozenset()):
        self.source = textwrap.dedent(text)
        self.path = str(tmp_path / "program.py")
        with open(self.path, "w") as file:
            file.write(self.source)
        self.mutants = mutants(self.source).made
        changed = self.mutants if features else None
        instrumented = instrument(self.source, self.path, features, leading=True, mutants=changed)
        self.recorder = Recorder(instrumented.plan.sites, FUEL)
        self.module = types.ModuleType("program")
        exec(instrumented.code(self.recorder.probe), vars(self.module))
        self.recorder.settle()
        reference = Reference("program", "program", self.path)
        subject = Subject(reference, self.source, instrumented.plan.sites, (), (), (), (), {})
        self.functions = live_functions(self.path, self.recorder)
        again = instrument(self.source, self.path, features, leading=True, mutants=changed)
        self.mutation = Mutation(subject, again, self.recorder, self.functions)

    def codes(self):
        return {
            id(function): (function.__code__, function.__code__.co_code)
            for functions in self.functions.values()
            for function in functions
        }

    def call(self, n):
        self.recorder.begin()
        return outcome(vars(self.module), n)


def outcome(namespace, n):
    """What a call gives, in a form that can be compared."""
    try:
        return namespace["f"](n)
    except OutOfFuel:
        return "endless"
    except Exception as error:
        return type(error)


def separately(text):
    """What the calls give in a module of its own, made of this text."""
    plan = instrument(text, "separate.py")
    recorder = Recorder(plan.plan.sites, FUEL)
    namespace = {"__name__": "program"}
    exec(plan.code(recorder.probe), namespace)
    found = []
    for n in ARGUMENTS:
        recorder.begin()
        found.append(outcome(namespace, n))
    return found


def without_addresses(text):
    return re.sub("0x[0-9a-f]+", "0x", text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_mutant_does_what_a_separately_mutated_module_does(name, tmp_path, sites):
    program = Imported(PROGRAMS[name], tmp_path, INFECTION)
    assert len(program.mutants) >= 8
    differing = 0
    original = separately(program.source)
    for number, mutant in enumerate(program.mutants):
        if mutant.function in AT_IMPORT:
            continue
        fresh = Imported(PROGRAMS[name], tmp_path, INFECTION) if name in ("decorated", "closure") else program
        made = fresh.mutation.make(number)
        made.do()
        got = [fresh.call(n) for n in ARGUMENTS]
        made.undo()
        expected = separately(mutated_text(program.source, mutant))
        assert got == expected or without_addresses(repr(got)) == without_addresses(repr(expected)), mutant.id
        differing += got != original
    assert differing > len(program.mutants) / 4


@pytest.mark.parametrize("features", [frozenset(), INFECTION], ids=["plain", "infection"])
def test_a_flipped_operator_does_and_shows_what_exchanged_code_does(features, tmp_path, sites):
    program = Imported(PROGRAMS["operators"], tmp_path, features)
    before = [(program.call(n), program.recorder.snapshot()[0]) for n in ARGUMENTS]
    signs = set()
    for number, mutant in enumerate(program.mutants):
        flip, exchange = program.mutation.flip(number), program.mutation.exchange(number)
        if flip is None:
            continue
        signs.add(mutant.original)
        is_link = mutant.at[0][0] != mutant.span  # of a chain: the exchanged one has no probes at all
        found = []
        for change in (flip, exchange):
            change.do()
            shown = []
            for n, (_, was) in zip(ARGUMENTS, before, strict=True):
                result, stops = program.call(n), program.recorder.stops()
                is_now = program.recorder.snapshot()[0]
                difference = 0.0 if is_link else Impact(program.recorder.sites).of(was, is_now, change.unrecorded)
                shown.append((str(result), difference, program.recorder.burnt, stops))
            found.append(shown)
            change.undo()
        assert found[0] == found[1], mutant.id
    assert {"<", "<=", ">", ">=", "==", "!=", "in", "not in", "is", "is not"} <= signs
    arithmetic = {"+=", "<<=", "-=", "%", "*", "//", "-", "&", "|", "**", "/", "^"}
    assert arithmetic & signs == (arithmetic if features else set())
    assert before == [(program.call(n), program.recorder.snapshot()[0]) for n in ARGUMENTS]


def test_a_flip_reaches_code_that_no_function_at_hand_has(tmp_path, sites):
    program = Imported(
        """
        def made():
            def inner(n):
                return n > 2
            return inner
        class Holder:
            __slots__ = ("call",)
        holder = Holder()
        holder.call = made()
        def f(n):
            return holder.call(n)
        """,
        tmp_path,
    )
    number = next(
        i for i, mutant in enumerate(program.mutants) if mutant.id == "made.<locals>.inner:1:17:relational:>="
    )
    flip = program.mutation.make(number)
    flip.do()
    assert program.call(2) is True
    flip.undo()
    assert program.call(2) is False


@pytest.mark.parametrize("name", PROGRAMS)
def test_undoing_gives_every_function_its_own_code_again(name, tmp_path, sites):
    program = Imported(PROGRAMS[name], tmp_path)
    before = program.codes()
    tree = ast.dump(program.mutation.instrumented.tree, include_attributes=True)
    for number in range(len(program.mutants)):
        exchange = program.mutation.exchange(number)
        if exchange is not None:
            exchange.do()
            assert program.codes() != before
            program.call(3)
            exchange.undo()
        after = program.codes()
        assert after == before
        assert all(after[key][0] is before[key][0] for key in before)
    assert ast.dump(program.mutation.instrumented.tree, include_attributes=True) == tree


def test_a_mutant_without_an_assignment_reads_the_variable_only_where_the_program_does(tmp_path, sites):
    # Among the mutants of `n` in the last line is `text`, which the probe for infection reads beside it.
    program = Imported(
        """
        def f(n):
            text = "abc"
            size = 3
            if n:
                return size + n
            return text
        """,
        tmp_path,
        INFECTION,
    )
    number = next(i for i, mutant in enumerate(program.mutants) if mutant.id == "f:1:4:deletion:pass")
    made = program.mutation.make(number)
    made.do()
    assert [program.call(2), program.call(0)] == [5, NameError]
    made.undo()


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_code_that_nothing_living_runs_cannot_be_exchanged(name, tmp_path):
    program = Imported(PROGRAMS[name], tmp_path)
    missing = [m.id for i, m in enumerate(program.mutants) if program.mutation.exchange(i) is None]
    assert missing == []


def test_fuel_ends_what_a_mutant_has_made_endless(tmp_path, sites):
    program = Imported(
        """
        def f(n):
            while n > 0:
                n -= 1
            return n
        """,
        tmp_path,
    )
    ends = {}
    for number, mutant in enumerate(program.mutants):
        exchange = program.mutation.exchange(number)
        exchange.do()
        ends[mutant.id] = program.call(3)
        exchange.undo()
    assert ends["f:2:8:deletion:pass"] == "endless"


def test_a_mutant_is_made_once(tmp_path):
    program = Imported(PROGRAMS["function"], tmp_path)
    for number in range(len(program.mutants)):
        assert program.mutation.make(number) is program.mutation.make(number)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_type_parameters_are_kept_in_reach(tmp_path):
    program = Imported("def f[T](n: T) -> T:\n    a: list[T] = [n + 1]\n    return a[0] * 2\n", tmp_path)
    for number in range(len(program.mutants)):
        exchange = program.mutation.exchange(number)
        assert exchange is not None
        exchange.do()
        program.call(3)
        exchange.undo()
