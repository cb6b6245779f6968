"""A small subject and random traces of it, for properties of everything that measures traces."""

from array import array
from math import inf

from hypothesis import strategies as st
from trace_by_hand import trace_by_hand

from fitgym.instrument.abstraction import abstract
from fitgym.instrument.trace import Call, Raised, Stop
from fitgym.subject import subject as data
from fitgym.subject.types.hints import Hint

__all__ = ["SITES", "SUBJECT", "traces"]

INT = Hint("class", "builtins.int")

# f: entry 1, x < 3 is 2, the block behind it 3, `for` is 4, its body 5, the end 6; g: entry 7, the condition 8.
# The only sites of infection are `z` in line 5, which is 9, and its `+`, which is 10.
SOURCE = """\
def f(x: int) -> int:
    if x < 3:
        y = 2
        for z in range(x):
            y = y + z
            print(y)
    return 7

def g(y):
    return 5 if y else 6
"""
SITES = (
    data.Site(0, "block", 0, 1, lines=(1, 9)),
    data.Site(1, "block", 1, 2, lines=(2,)),
    data.Site(2, "comparison", 1, 2, operator="<", slot=0, span=(2, 7, 2, 12)),
    data.Site(3, "block", 1, 3, lines=(3, 4)),
    data.Site(4, "loop", 1, 4, slot=3, in_loop=True),
    data.Site(5, "block", 1, 5, lines=(5, 6)),
    data.Site(6, "block", 1, 7, lines=(7,)),
    data.Site(7, "block", 2, 10, lines=(10,)),
    data.Site(8, "truth", 2, 10, slot=5, span=(10, 16, 10, 17)),
    data.Site(9, "value", 1, 5, decides=False, span=(5, 20, 5, 21), alternatives=("y", "x")),
    data.Site(10, "arithmetic", 1, 5, "+", decides=False, span=(5, 16, 5, 21)),
)
SUBJECT = data.Subject(
    reference=data.Reference("m", "m", "m.py"),
    source=SOURCE,
    sites=SITES,
    functions=(
        data.Function(0, "<module>", 1, 12, 0),
        data.Function(1, "f", 1, 7, 1),
        data.Function(2, "g", 9, 12, 7),
    ),
    branches=(
        data.Branch(1, True, root=True),
        data.Branch(7, True, root=True),
        *(data.Branch(site, outcome) for site in (2, 4, 8) for outcome in (True, False)),
    ),
    dependences=(
        (),
        (),
        ((1, True),),
        ((2, True),),
        ((2, True), (4, True)),
        ((4, True),),
        ((1, True),),
        (),
        ((7, True),),
        ((4, True),),
        ((4, True),),
    ),
    operations=(
        data.Operation(
            0,
            "function",
            "m",
            "f",
            parameters=(data.Parameter("x", "positional_or_keyword", INT),),
            returns=INT,
            function=1,
        ),
        data.Operation(
            1,
            "function",
            "m",
            "g",
            parameters=(data.Parameter("y", "positional_or_keyword", Hint("any")),),
            function=2,
        ),
    ),
    classes={},
)

_TELLING = (2, 8, 9, 10)
VALUES = (-2, 0, 5, 1.5, "", "x", None, True)


@st.composite
def traces(draw):
    """Return a trace as the recorder could have written it: exactly one outcome per execution of a decision."""
    counts = [draw(st.integers(0, 3)) for _ in SITES]
    distances = [inf] * SUBJECT.n_slots
    for site in SITES:
        if site.width and counts[site.id]:
            occurred = draw(st.integers(1, min(counts[site.id], site.width)))
            order = draw(st.permutations(range(site.width)))
            for rank, relation in enumerate(order):
                distances[site.slot + relation] = 0.0 if rank < occurred else draw(st.sampled_from([1.0, 2.5, 40.0]))
    calls = []
    for operation, parameter in draw(st.lists(st.sampled_from([(0, "x"), (1, "y")]), max_size=3)):
        output = abstract(draw(st.sampled_from(VALUES)))
        inputs = tuple((parameter, *entry) for entry in abstract(draw(st.sampled_from(VALUES))))
        calls.append(Call(operation, True, output, inputs))
    raised = None
    if calls and draw(st.booleans()):
        last = calls[-1]
        calls[-1] = Call(last.operation, False, (), last.inputs)
        name, function = draw(st.sampled_from([("KeyError", 1), ("ValueError", 2), ("ValueError", 1)]))
        raised = Raised(name, function, last.operation, len(calls) - 1, "implicit", draw(st.booleans()))
    stops = tuple(Stop(site, line) for site, line in ((3, 3), (5, 6)) if counts[site] and draw(st.booleans()))
    masks = [draw(st.integers(0, 0b11111 if site == 9 else 0b1111110 if site == 10 else 1)) for site in _TELLING]
    telling = [(site, mask) for site, mask in zip(_TELLING, masks, strict=True) if counts[site] and mask]
    infected = tuple(array("I", part).tobytes() for part in (zip(*telling, strict=True) if telling else ([], [])))
    failure = draw(st.sampled_from(["", "", "", "fuel"]))
    return trace_by_hand(
        counts,
        distances,
        SITES,
        direct=True,
        calls=tuple(calls),
        raised=raised,
        stops=stops,
        failure=failure,
        infected=infected,
    )
