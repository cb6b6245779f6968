"""Generated programs: real modules, reproducible by number, with solvable and unsolvable locks."""

import ast
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.errors import InputError
from fitgym.programs import EASY, HARD, Knobs, generate
from fitgym.programs.locks import LOCKS

NUMBERS = st.integers(0, 2**31 - 1)


def only(kind, **knobs):
    return Knobs(locks={kind: 1.0}, open_rate=0.0, **knobs)


def module(program):
    names = {}
    exec(compile(program.source, "program", "exec"), names)
    return names


def opened(program, place, names):
    """Whether some call of a part gets behind its lock."""
    part = names[place.name]
    return any(outcome(part, x, y) != -1 for x, y in itertools.product(range(-250, 251), range(13)))


def outcome(part, x, y):
    try:
        return part(x, y, 0)
    except (LookupError, ArithmeticError, ValueError, RuntimeError, TypeError):
        return 0


@given(NUMBERS, st.sampled_from([EASY, HARD]))
def test_the_same_number_gives_the_same_module(number, knobs):
    program = generate(number, knobs)
    assert program == generate(number, knobs)
    tree = ast.parse(program.source)
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert defined == [place.name for place in program.places]


def test_a_program_is_pinned_so_that_tasks_never_change_under_a_number():
    import hashlib

    text = "".join(generate(number, HARD).source for number in range(20))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "fd16487c8550acf9"


def test_other_numbers_give_other_modules():
    assert len({generate(number, HARD).source for number in range(100)}) == 100


@pytest.mark.parametrize("kind", ["slope", "plateau"])
def test_a_lock_with_a_way_through_can_be_opened(kind):
    for number in range(5):
        program = generate(number, only(kind, scale=400))
        names = module(program)
        assert all(opened(program, place, names) for place in program.places)
        assert program.dead == frozenset()


def test_a_dead_lock_cannot_be_opened():
    for number in range(5):
        program = generate(number, only("dead", scale=400))
        names = module(program)
        assert not any(opened(program, place, names) for place in program.places)
        assert program.dead


def test_a_text_lock_opens_with_its_word():
    program = generate(3, only("text"))
    tree = ast.parse(program.source)
    for node in tree.body[1:]:
        letters = [
            n.comparators[0].value
            for n in ast.walk(node)
            if isinstance(n, ast.Compare) and isinstance(n.left, ast.Subscript)
        ]
        assert outcome(module(program)[node.name], "".join(letters), 0) != -1


def test_a_state_lock_opens_by_a_sequence_of_calls():
    program = generate(4, only("state", scale=400))
    for place in program.places:
        assert place.name.startswith("Part")
        dial = next(x for x in range(400) if module(program)[place.name]().turn(x, 0) == 1)
        part = module(program)[place.name]()
        assert part.open(1) == -1
        for _ in range(5):
            part.turn(dial, 0)
        assert part.open(1) != -1


@given(NUMBERS, st.integers(0, 2**32))
def test_no_call_takes_a_branch_that_is_said_to_be_dead(number, seed):
    program = generate(number, only("dead", scale=300))
    chance = random.Random(seed)
    impossible = {line for line, _ in program.dead}
    inside = {line + 1 for line, _ in program.dead}
    seen = set()

    def trace(frame, event, arg):
        if frame.f_code.co_filename == "program":
            seen.add(frame.f_lineno)
            return trace
        return None

    import sys

    names = module(program)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for place in program.places:
            for _ in range(20):
                outcome(names[place.name], chance.randint(-300, 300), chance.randint(-300, 300))
    finally:
        sys.settrace(before)
    assert not seen & (inside - impossible) and impossible


def test_every_kind_of_lock_appears_as_often_as_its_knob_says():
    kinds = [place.lock for number in range(200) for place in generate(number, HARD).places]
    assert set(kinds) == {*HARD.locks, ""}
    share = {kind: kinds.count(kind) / len(kinds) for kind in set(kinds)}
    assert abs(share["dead"] - 0.95 * 8 / 12) < 0.04 and abs(share[""] - 0.05) < 0.02


def test_every_lock_there_is_can_be_drawn():
    knobs = Knobs(locks=dict.fromkeys(LOCKS, 1.0), open_rate=0.0)
    assert {place.lock for number in range(30) for place in generate(number, knobs).places} == set(LOCKS)


def test_looks_tell_dead_locks_from_others_as_often_as_the_knob_says():
    right = total = 0
    for number in range(60):
        program = generate(number, HARD)
        functions = {node.name: node for node in ast.parse(program.source).body if isinstance(node, ast.FunctionDef)}
        for place in program.places:
            if place.lock:
                longer = isinstance(functions[place.name].body[1], ast.Assign | ast.AugAssign)
                right, total = right + (longer == (place.lock == "dead")), total + 1
    assert abs(right / total - HARD.telling) < 0.05


@pytest.mark.parametrize(
    "wrong",
    [
        {"parts": (0, 3)},
        {"depth": (4, 2)},
        {"treasure": (0, 0)},
        {"raises": 1.5},
        {"open_rate": -0.1},
        {"scale": 10},
        {"locks": {}},
        {"locks": {"slope": -1.0}},
        {"locks": {"puzzle": 1.0}},
    ],
)
def test_knobs_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="expected"):
        Knobs(**wrong)
