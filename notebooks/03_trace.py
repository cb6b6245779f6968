# %% [markdown]
# # 03 How near was that test?
#
# A test that misses its goal has failed, but some tests miss it by less than others. This lesson builds the instrument
# that measures *how near* an execution came, in thirty lines.
#
# * **Time:** 25 minutes.
# * **You need:** lessons 01 and 02. Some Python syntax trees (`ast`) are explained on the way.
# * **You will be able to:** instrument code with probes, and compute branch distance and approach level.

# %% tags=["setup"]
import ast
import os
from importlib.metadata import version

import matplotlib.pyplot as plt
import numpy as np

from fitgym.course import Question, exercise, predict, quiz

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## Three misses
#
# Here is the triangle of lesson 01 again, with its mistake corrected. We want a test that returns `"equilateral"`.

# %%
SOURCE = """\
def triangle(a, b, c):
    if a + b <= c:
        return "none"
    if a == b:
        if b == c:
            return "equilateral"
        return "isosceles"
    if b == c:
        return "isosceles"
    return "scalene"
"""
MISSES = [(3, 4, 9), (4, 6, 7), (5, 5, 6)]

# %% [markdown]
# Three calls miss:
#
# 1. `triangle(3, 4, 9)` is no triangle: 3 + 4 is not more than 9.
# 2. `triangle(4, 6, 7)` is a triangle, but `a == b` fails by 2.
# 3. `triangle(5, 5, 6)` gets to `b == c`, which fails by 1.
#
# The third is the nearest, the first the farthest. A search needs a *number*. Suppose that the number of the third is
# 0.5, and that 0 means covered. Which number would you give to the first? Predict:

# %%
guess = predict("If triangle(5, 5, 6) is 0.5 away, how far is triangle(3, 4, 9)?", None)
guess

# %% [markdown]
# ## Probes
#
# To measure, we change the code: we replace each comparison by a call of a function `probe`. The probe makes the same
# comparison, and also takes a note. This is called **instrumentation**. Python's module `ast` turns code into a tree;
# the class below visits each comparison of the tree and replaces it.


# %%
SYMBOLS = {ast.Eq: "==", ast.NotEq: "!=", ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">"}


class Instrument(ast.NodeTransformer):
    """Replaces each comparison by a call of `probe`, and numbers the comparisons."""

    def __init__(self):
        self.n = 0

    def visit_Compare(self, node):
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        symbol = SYMBOLS[type(node.ops[0])]
        call = f"probe({self.n}, {left}, '{symbol}', {right})"
        self.n += 1
        return ast.parse(call).body[0].value


def instrument(source):
    return ast.unparse(Instrument().visit(ast.parse(source)))


print(instrument(SOURCE))

# %% [markdown]
# The code does the same as before, but now each comparison passes through `probe`. The probe notes how far the
# comparison was from being true, and how far from being false. This is the **branch distance**. With
# $g = \lvert a - b \rvert$:
#
# | comparison | distance to true | distance to false |
# |---|---|---|
# | `a == b` | $g$ | 0 if they differ, else 1 |
# | `a <= b` | 0 if so, else $g$ | 0 if not, else $g + 1$ |
# | `a < b` | 0 if so, else $g + 1$ | 0 if not, else $g$ |


# %%
def to_true(a, symbol, b):
    """How far a comparison is from being true."""
    gap = abs(a - b)
    return {
        "==": gap,
        "!=": 0 if a != b else 1,
        "<=": 0 if a <= b else gap,
        "<": 0 if a < b else gap + 1,
        ">=": 0 if a >= b else gap,
        ">": 0 if a > b else gap + 1,
    }[symbol]


OPPOSITE = {"==": "!=", "!=": "==", "<=": ">", "<": ">=", ">=": "<", ">": "<="}


def load(source, trace, name="triangle"):
    """The instrumented function; its probes write into the dictionary `trace`."""

    def probe(number, a, symbol, b):
        trace[number] = (to_true(a, symbol, b), to_true(a, OPPOSITE[symbol], b))
        return trace[number][0] == 0

    module = {"probe": probe}
    exec(instrument(source), module)
    return module[name]


# %%
trace = {}
triangle = load(SOURCE, trace)


def run(*inputs):
    """The trace of one call: comparison number -> (distance to true, distance to false)."""
    trace.clear()
    triangle(*inputs)
    return dict(trace)


for sides in MISSES:
    print(f"triangle{sides}: {run(*sides)}")

# %% [markdown]
# The dictionaries are **traces**: what was measured in one execution. In the first, only comparison 0 (`a + b <= c`)
# has an entry. The comparison was true and would be false with a change of 3. The third trace has entries for
# comparisons 0 and 1 (`a == b`) and 2 (`b == c`), because the execution came that far.

# %%
LINE = {0: 2, 1: 4, 2: 5, 3: 8}  # the line of each comparison
fig, axes = plt.subplots(1, 3, figsize=(9.5, 3))
for ax, sides in zip(axes, MISSES, strict=True):
    reached = {LINE[number] for number in run(*sides)}
    for number, text in enumerate(SOURCE.splitlines(), 1):
        known = number in reached
        ax.text(0, -number, text, family="monospace", size=8, color="C0" if known else "0.6")
    ax.set(title=f"triangle{sides}", xlim=(0, 1), ylim=(-10.5, -0.3))
    ax.axis("off")
fig.suptitle("Each miss reaches other comparisons (blue)", x=0.01, ha="left", size=11)
plt.show()

# %% [markdown]
# ## From a trace to a number
#
# The way to `"equilateral"` has three decisions: comparison 0 must be false, then 1 true, then 2 true. Where did the
# execution turn off the way? Two things count:
#
# * the **approach level**: how many decisions of the way were still to come,
# * the **branch distance** at the decision where it turned off.
#
# A level should count for more than any distance. So the distance $d$ is squeezed into the range from 0 to 1, by
# $\nu(d) = d / (d + 1)$:
#
# $$\text{fitness} = \text{approach level} + \nu(\text{branch distance})$$

# %%
WAY = [(0, False), (1, True), (2, True)]  # to "equilateral": comparison, and its necessary outcome


def nu(distance):
    return distance / (distance + 1)


def fitness(trace, way):
    """How far an execution was from the end of a way; 0 if it got there."""
    for done, (number, outcome) in enumerate(way, 1):
        distance = trace[number][0 if outcome else 1]
        if distance > 0:  # here it turned off
            return len(way) - done + nu(distance)
    return 0.0


values = [fitness(run(*sides), WAY) for sides in MISSES]
for sides, value in zip(MISSES, values, strict=True):
    print(f"triangle{sides}: {value:.3f}")
guess.compare(values[0])

# %%
levels = np.floor(values)
fig, ax = plt.subplots(figsize=(8, 2.8))
names = [f"triangle{sides}" for sides in MISSES]
ax.barh(names, levels, height=0.5, color="C0", label="approach level")
ax.barh(names, values - levels, 0.5, levels, color="C1", label="squeezed branch distance")
ax.bar_label(ax.containers[1], [f"{value:.2f}" for value in values], padding=4)
guess.draw(ax, axis="x")
ax.set(xlabel="fitness (0: covered)", xlim=(0, 3.2))
ax.set_title("The miss that came farthest along the way has the smallest fitness")
ax.invert_yaxis()
ax.grid(visible=False, axis="y")
ax.legend(loc="lower right")
plt.show()

# %% tags=["hidden"]
import tempfile
from pathlib import Path

from fitgym.execution.executor import Executor
from fitgym.fitness.branch import Branch
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import instrument as instrument_in_earnest
from fitgym.instrument.trace import Trace
from fitgym.subject.source import locate

assert values == [2 + 3 / 4, 1 + 2 / 3, 1 / 2]
with tempfile.TemporaryDirectory() as temporary:  # fitgym's own instrument says the same
    file = Path(temporary, "triangles.py")
    file.write_text(SOURCE)
    with Executor(locate(str(file))) as executor:
        subject = executor.subject
recorder = Recorder(subject.sites)
module = {}
exec(instrument_in_earnest(SOURCE, "triangles.py").code(recorder.probe), module)
branch = Branch(subject)
column = [target.key[1::2] for target in branch.targets].index((5, True))
for a, b, c in np.random.default_rng(0).integers(1, 30, size=(50, 3)).tolist():
    recorder.begin()
    module["triangle"](a, b, c)
    theirs = branch.distances([Trace(*recorder.snapshot())])[0, column]
    assert abs(theirs - fitness(run(a, b, c), WAY)) < 1e-9, (a, b, c)

# %% [markdown]
# ## The landscape of ten lines
#
# Now let us compute the fitness for all `a` and `b` up to 40, with `c` = 20, for three goals. Blue is near, yellow is
# far. Stars mark the inputs that cover the goal. On the right, two hill climbers walk from (2, 7). One changes one side
# at a time. The other may also change both sides together.

# %%
SIDE, C = 41, 20
GOALS = {
    "a + b <= c is true": [(0, True)],
    "a == b is true": [(0, False), (1, True)],
    "b == c is true": WAY,
}
grids = {
    goal: np.array([[fitness(run(a, b, C), way) for a in range(SIDE)] for b in range(SIDE)])
    for goal, way in GOALS.items()
}


def climb(a, b, moves, rng):
    """The way of a hill climber to "equilateral"; each try is a move times a power of two."""
    path = [(a, b)]
    for _ in range(300):
        (right, up), step = rng.choice(moves), rng.choice([-1, 1]) * 2 ** rng.integers(4)
        x, y = a + step * right, b + step * up
        inside = 0 <= x < SIDE and 0 <= y < SIDE
        if inside and fitness(run(x, y, C), WAY) <= fitness(run(a, b, C), WAY):
            a, b = x, y
            path.append((a, b))
    return path


one = climb(2, 7, [(1, 0), (0, 1)], np.random.default_rng(1))
both = climb(2, 7, [(1, 0), (0, 1), (1, 1)], np.random.default_rng(1))

# %%
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9.5, 3.5))
for ax, (goal, surface) in zip(axes, grids.items(), strict=True):
    image = ax.imshow(surface, origin="lower", cmap="cividis", vmin=0, vmax=3)
    b, a = np.nonzero(surface == 0)
    ax.plot(a, b, "*", color="C4", markersize=15 if a.size == 1 else 3, zorder=5)
    ax.set(xlabel="a")
    ax.set_title(f"{goal}: {a.size} of {surface.size}", size=9)
    ax.grid(visible=False)
axes[2].plot(*np.array(one).T, color="w", marker=".", linewidth=1.2, label="one side")
axes[2].plot(*np.array(both).T, color="C1", marker=".", linewidth=1.2, label="or both")
axes[2].legend(loc="lower right", facecolor="0.4", labelcolor="w", frameon=True)
axes[0].set_ylabel("b")
fig.colorbar(image, ax=axes, label="fitness", shrink=0.8)
title = "The way to the last goal runs along the diagonal; changing one side alone gets stuck there"
fig.suptitle(title, x=0.01, ha="left", size=11)
plt.show()

# %% tags=["hidden"]
assert one[-1][0] == one[-1][1] != 20 and both[-1] == (20, 20)
assert [(grid == 0).sum() for grid in grids.values()] == [231, 30, 1]

# %% [markdown]
# Guessing needs a thousand tries for the star on the right. But the landscape has a way down to it. The way leads over
# the edge to $a + b > c$, then to the diagonal $a = b$, then along the diagonal. The first climber gets stuck on the
# diagonal. Each step of one side alone leaves the diagonal, and the fitness grows. The second climber arrives. The
# landscape was good; the *moves* of the first climber did not fit it. Lesson 04 builds a search with better moves.
#
# fitgym works in the same way. It instruments each comparison once, and records one trace for each execution. Each of
# its fitness functions computes something else from the same trace: `branch` what you have seen, `line` from the lines
# that ran, `exception` from what was raised. That is why an agent can exchange the fitness function in the middle of a
# search without running anything again.
#
# ## Exercises
#
# **1.** Find three sides whose fitness for `"equilateral"` is exactly 1.5.

# %% tags=["exercise"]
sides = ...  # a tuple of three whole numbers


# %% tags=["check"]
def check_sides(answer):
    value = fitness(run(*answer), WAY)
    return None if value == 1.5 else f"The fitness of triangle{answer} is {value:.3f}."


# %%
exercise("sides", sides, check_sides, hint="One level away; and for which distance is nu(d) = 0.5?")

# %% [markdown]
# **2.** The condition `p and q` is true if both parts are. You know the distance of each part to being true. Write the
# distance of the whole. It is 0 only if the condition is true. It falls whenever one of the two parts comes nearer.

# %% tags=["exercise"]
distance_of_and = ...  # a function of two distances, such as: lambda p, q: p


# %% tags=["check"]
def check_distance_of_and(answer):
    for p in range(6):
        for q in range(6):
            if (answer(p, q) == 0) != (p == q == 0):
                return f"For the parts {p} and {q} it is {answer(p, q)}."
            if answer(p + 1, q) <= answer(p, q) or answer(p, q + 1) <= answer(p, q):
                return f"One part comes nearer to ({p}, {q}), but the distance does not fall."
    return None


# %%
exercise("distance_of_and", distance_of_and, check_distance_of_and, hint="Both parts must count.")

# %% [markdown]
# **3.** Be the enemy of the search. Write a function `puzzle(x)` with one comparison that is true for at least one `x`
# from 0 to 1000. A hill climber with the moves of lesson 02 tries to make it true. Let it succeed in at most 4 of 20
# runs.


# %%
def climb_puzzle(source, rng):
    """Whether a hill climber makes the comparison of the puzzle true."""
    trace = {}
    puzzle = load(source, trace, "puzzle")

    def value(x):
        trace.clear()
        puzzle(x)
        return fitness(trace, [(0, True)])

    x = int(rng.integers(1001))
    for _ in range(200):
        y = min(1000, max(0, x + int(rng.choice([-1, 1])) * 2 ** int(rng.integers(11))))
        x = y if value(y) <= value(x) else x
    return value(x) == 0


# %% tags=["exercise"]
hard = ...  # code as text, such as "def puzzle(x):\n    return x == 617"


# %% tags=["check"]
def check_hard(answer):
    if "probe(0" not in instrument(answer):
        return "There is no comparison in the code."
    module = {}
    exec(answer, module)
    if not any(module["puzzle"](x) for x in range(1001)):
        return "The comparison is true for no x from 0 to 1000."
    arrived = sum(climb_puzzle(answer, np.random.default_rng(seed)) for seed in range(20))
    return None if arrived <= 4 else f"{arrived} of 20 climbers make it true."


# %%
exercise("hard", hard, check_hard, hint="Make sure that neighbours of the answer look no better.")

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "The comparison is `a < b`, and the test has a = 7, b = 5. How far is it from being true?",
        ("2", "3", "1"),
        1,
        "Equal is not enough for `<`: a must fall by 2 and by 1 more.",
    ),
    Question(
        "Why is the branch distance squeezed by d / (d + 1)?",
        (
            "So that an approach level always counts for more than any distance",
            "To make small distances smaller",
            "So that it can be drawn",
        ),
        0,
        "The squeezed distance stays below 1, and each level counts 1.",
    ),
    Question(
        "Test A has the fitness 0.5, test B 2.9. What do you know?",
        (
            "A reaches the goal sooner than B.",
            "A went farther along the way than B.",
            "B is a bad test.",
        ),
        1,
        "The number orders tests by the way behind them. It is no estimate of the work that is left.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **Small is not soon.** A fitness of 0.5 can be a plateau without end, and 2.9 can be one lucky step from 0.
# * **Levels count decisions, not difficulty.** A trivial `if` and a checksum are one level each.
# * **Numbers are easy.** `x is None` is true or false, with nothing between. Not every comparison has a slope.
# * **The same program, another landscape.** If you swap the order of two nested conditions, the program does the same,
#   and the fitness changes.
#
# ## Next
#
# You can now measure how near a test is. Lesson 04 builds a genetic algorithm on it, which writes a test suite.
