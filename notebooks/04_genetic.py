# %% [markdown]
# # 04 How does evolution write tests?
#
# A genetic algorithm keeps many tests at once, combines the good ones, and changes them a little. This lesson builds
# one from scratch. At the end it writes a test suite that pytest runs.
#
# * **Time:** 30 minutes.
# * **You need:** lesson 03 (probes and fitness).
# * **You will be able to:** write selection, crossover and mutation, and say what each of them contributes.

# %% tags=["setup"]
import ast
import os
import random
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from fitgym.course import Question, exercise, predict, quiz

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## The instrument of lesson 03
#
# The code under test is the triangle again, and the instrument is that of lesson 03. A probe in each comparison notes
# the distances to true and to false.

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


# %%
class Instrument(ast.NodeTransformer):
    """Replaces each comparison by a call of `probe`, and numbers the comparisons."""

    def __init__(self):
        self.n = 0

    def visit_Compare(self, node):
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        symbol = {ast.LtE: "<=", ast.Eq: "=="}[type(node.ops[0])]
        self.n += 1
        return ast.parse(f"probe({self.n - 1}, {left}, '{symbol}', {right})").body[0].value


def probe(number, a, symbol, b):
    gap = abs(a - b)
    if symbol == "==":
        trace[number] = (gap, 0 if gap else 1)
    else:
        trace[number] = (0, gap + 1) if a <= b else (gap, 0)
    return trace[number][0] == 0


trace = {}
module = {"probe": probe}
exec(ast.unparse(Instrument().visit(ast.parse(SOURCE))), module)

# %% [markdown]
# The fitness is that of lesson 03 too: approach level plus squeezed branch distance. Each of the four comparisons has
# two outcomes, so there are eight **goals**. Each has a way, a list of the outcomes that lead to it.

# %%
GOALS = {
    "no triangle": [(0, True)],
    "a triangle": [(0, False)],
    "a = b": [(0, False), (1, True)],
    "a and b differ": [(0, False), (1, False)],
    "equilateral": [(0, False), (1, True), (2, True)],
    "isosceles, c differs": [(0, False), (1, True), (2, False)],
    "isosceles, a differs": [(0, False), (1, False), (3, True)],
    "scalene": [(0, False), (1, False), (3, False)],
}


def fitness(test, way):
    """How far a test is from a goal; 0 if it covers the goal."""
    trace.clear()
    module["triangle"](*test)
    for done, (number, outcome) in enumerate(way, 1):
        distance = trace[number][0 if outcome else 1]
        if distance > 0:
            return len(way) - done + distance / (distance + 1)
    return 0.0


fitness((5, 5, 6), GOALS["equilateral"])

# %% [markdown]
# ## A genetic algorithm
#
# A genetic algorithm works on a **population** of tests. Our tests are three sides from 0 to 500. It repeats four
# steps:
#
# 1. **Selection**: draw three tests of the population, and take the best of them as a parent. Good tests become parents
#    more often.
# 2. **Crossover**: cut two parents at the same place and exchange the tails. The children combine both.
# 3. **Mutation**: change the children a little.
# 4. **Survival**: of parents and children, keep the best.

# %%
LARGEST = 500


def random_test(rng):
    return tuple(rng.randint(0, LARGEST) for _ in "abc")


def select(population, rng):
    """The best of three tests drawn at random."""
    return min(rng.choices(population, k=3))[1]


def cross(mother, father, rng):
    """Two children: the parents with exchanged tails."""
    cut = rng.randint(1, 2)
    return mother[:cut] + father[cut:], father[:cut] + mother[cut:]


def mutate(test, rng):
    """A copy in which each side changes with probability 1/3, by a power of two."""
    changed = list(test)
    for place in range(3):
        if rng.random() < 1 / 3:
            step = rng.choice([-1, 1]) * 2 ** rng.randrange(9)
            changed[place] = min(LARGEST, max(0, changed[place] + step))
    return tuple(changed)


# %%
def evolve(way, rng, size=20, budget=2000, select=select, cross=cross, mutate=mutate):
    """All generations; each is a sorted list of pairs (fitness, test), best first."""

    def measured(tests):
        return [(fitness(test, way), test) for test in tests]

    generations = [sorted(measured(random_test(rng) for _ in range(size)))]
    while generations[-1][0][0] > 0 and len(generations) * size < budget:
        population, children = generations[-1], []
        while len(children) < size:
            mother, father = select(population, rng), select(population, rng)
            children += [mutate(child, rng) for child in cross(mother, father, rng)]
        best = sorted({*population, *measured(children)})[:size]
        generations.append(best)
    return generations


# %% [markdown]
# That is all. Before you run it, predict: the goal is `"equilateral"` with sides from 0 to 500. Guessing needs 251,001
# executions on average, because one of $501^2$ random tests has three equal sides.

# %%
guess = predict("How many executions does the genetic algorithm need?", None, unit="executions")
guess

# %% [markdown]
# ## Watching a population
#
# The figure shows six generations of one run. Each dot is a test. Its position says how much `a` and `b` differ, and
# `b` and `c`. The star in the middle is the goal: no difference. Yellow dots are far, blue ones near.

# %%
EQUILATERAL = GOALS["equilateral"]
generations = evolve(EQUILATERAL, random.Random(13))
shown = np.linspace(0, len(generations) - 1, 6).astype(int)
fig, axes = plt.subplots(2, 3, sharex=True, sharey=True, figsize=(9, 5.2))
for ax, number in zip(axes.flat, shown, strict=True):
    values, tests = zip(*generations[number], strict=True)
    a, b, c = np.array(tests).T
    ax.plot(0, 0, "*", color="C4", markersize=15)
    dots = ax.scatter(a - b, b - c, c=values, cmap="cividis", vmin=0, vmax=2, s=22, zorder=3)
    ax.set_title(f"generation {number}: best {values[0]:.2f}", size=10)
for ax in axes[1]:
    ax.set_xlabel("a - b")
for ax in axes[:, 0]:
    ax.set_ylabel("b - c")
fig.colorbar(dots, ax=axes, label="fitness", shrink=0.8)
title = "The population first gathers on the line a = b, then moves along it to the goal"
fig.suptitle(title, x=0.01, ha="left", size=11)
plt.show()
print(f"{20 * len(generations)} executions, best test: triangle{generations[-1][0][1]}")

# %% tags=["hidden"]
on_the_line = [np.mean([a == b for _, (a, b, _) in generation]) for generation in generations]
assert on_the_line[0] < 0.1 and on_the_line[-1] == 1.0 and 10 < len(generations) < 100

# %% [markdown]
# The first generation is random. Tests near the line $a = b$ are selected more often, and their children land near the
# line too. When one test hits the line, an approach level is gained, and after a few generations all tests are its
# descendants. Then the population moves along the line to the star. Nobody told the algorithm that three equal numbers
# are needed. It only knows the fitness.
#
# ## What does each part contribute?
#
# One run proves nothing. The next figure repeats the search many times, and switches off one part at a time:
#
# * without crossover, children are copies of their parents before mutation,
# * without selection, all tests become parents equally often,
# * without mutation, only tails are exchanged.

# %%
RUNS = 40 if FAST else 200
BUDGET = 2000


def anyone(population, rng):
    return rng.choice(population)[1]


def copies(mother, father, rng):
    return mother, father


def unchanged(test, rng):
    return test


VARIANTS = {
    "complete": {},
    "without crossover": {"cross": copies},
    "without selection": {"select": anyone},
    "without mutation": {"mutate": unchanged},
}


def executions_needed(**parts):
    """Of each run the executions until "equilateral" is covered; infinite if it is not."""
    seeds = map(random.Random, range(RUNS))
    runs = [evolve(EQUILATERAL, rng, budget=BUDGET, **parts) for rng in seeds]
    return np.array([20 * len(run) if run[-1][0][0] == 0 else np.inf for run in runs])


needed = {name: executions_needed(**parts) for name, parts in VARIANTS.items()}
medians = {name: float(np.median(values)) for name, values in needed.items()}
print(medians)
guess.compare(medians["complete"])

# %%
executions = np.arange(0, BUDGET + 1, 20)
fig, ax = plt.subplots(figsize=(8.5, 3.6))
for (name, values), color in zip(needed.items(), ("C0", "C1", "C2", "C5"), strict=True):
    share = [100 * (values <= n).mean() for n in executions]
    ax.plot(executions, share, color=color, label=name)
ax.plot(executions, 100 * executions / (LARGEST + 1) ** 2, "--", color="C6", label="guessing")
ax.set(xlabel="executions", ylabel="runs that covered it, %", ylim=(-2, 103))
ax.set_title("Mutation is indispensable, selection saves time, crossover hardly matters here")
guess.draw(ax, axis="x")
ax.set_xlim(-50, BUDGET + 50)
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% tags=["hidden"]
assert 400 < medians["complete"] < 1000
assert medians["without selection"] > 1.15 * medians["complete"]
assert np.isinf(needed["without mutation"]).mean() > 0.9

# %% [markdown]
# The median of the complete algorithm is around 700 executions. Guessing needs more than 200 times as many. Without
# mutation the search can only recombine the numbers of the first generation, and three equal numbers are hardly ever
# among them. The two curves with and without crossover lie close together. Exchanging tails helps if the parts of a
# test are good independently of each other. Here what matters is how the sides *fit together*.
#
# ## From tests to a test suite
#
# Now one search for each of the eight goals. The best test becomes a Python function, with the result that the code
# returned.


# %%
def write_suite(tests):
    """A pytest file with one function for each goal."""
    lines = ["from triangles import triangle", ""]
    for goal, test in tests.items():
        name = goal.replace(" = ", "_is_").replace(", ", "_").replace(" ", "_")
        result = module["triangle"](*test)
        lines += ["", f"def test_{name}():", f"    assert triangle{test} == {result!r}", ""]
    return "\n".join(lines)


tests = {goal: evolve(way, random.Random(0))[-1][0][1] for goal, way in GOALS.items()}
suite = write_suite(tests)
print(suite)

# %%
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "triangles.py").write_text(SOURCE)
    Path(folder, "test_triangles.py").write_text(suite)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
print(done.stdout.partition(" in ")[0])

# %% tags=["hidden"]
assert "8 passed" in done.stdout
assert all(fitness(test, GOALS[goal]) == 0 for goal, test in tests.items())

# %% [markdown]
# You have built a test generator: fitness, evolution and export are fewer than sixty lines. It covers all eight
# branches. fitgym does the same for whole modules, with objects, texts, exceptions and asynchronous code. Its suites
# are also smaller and their numbers are plainer, because it simplifies each test afterwards.
#
# ## Exercises
#
# **1.** Cross `(1, 2, 3)` with `(7, 8, 9)` by hand, with the cut after the *first* side.

# %% tags=["exercise"]
children = ...  # a list of two tuples


# %% tags=["check"]
def check_children(answer):
    if sorted(answer) != [(1, 8, 9), (7, 2, 3)]:
        return "Each child has the first side of one parent and two sides of the other."
    return None


# %%
exercise("children", children, check_children, hint="Exchange the tails, which are two sides long.")

# %% [markdown]
# **2.** Write a better mutation. It should know that equal sides are interesting. With it, the search for
# `"equilateral"` should need at most half the executions (median of 20 runs). The other goals must still be covered.

# %% tags=["exercise"]
my_mutation = ...  # a function, such as: lambda test, rng: mutate(test, rng)


# %% tags=["check"]
def check_my_mutation(answer):
    for goal, way in GOALS.items():
        runs = [evolve(way, random.Random(seed), mutate=answer) for seed in range(20)]
        failed = sum(run[-1][0][0] > 0 for run in runs)
        if failed > 2:
            return f'{failed} of 20 runs do not cover "{goal}".'
        if goal == "equilateral":
            median = 20 * np.median([len(run) for run in runs])
            if median > medians["complete"] / 2:
                return f"The median is {median:.0f} executions."
    return None


# %%
exercise("my_mutation", my_mutation, check_my_mutation, hint="Sometimes copy one side to another.")

# %% [markdown]
# **3.** Eight searches for eight goals are a waste: a test for `"equilateral"` covers `"a = b"` and `"a triangle"` too.
# Write a function that returns a list of tests for all goals and calls `search(way)` at most six times. A search
# returns a test for its way.

# %% tags=["exercise"]
small_suite = ...  # a function: def small_suite(goals, search): ...


# %% tags=["check"]
def check_small_suite(answer):
    calls = []

    def search(way):
        calls.append(way)
        return evolve(way, random.Random(len(calls)))[-1][0][1]

    found = answer(GOALS, search)
    open_goals = [g for g, way in GOALS.items() if min(fitness(t, way) for t in found) > 0]
    if open_goals:
        return f'No test covers "{open_goals[0]}".'
    if len(calls) > 6:
        return f"These were {len(calls)} searches."
    return None


# %%
exercise("small_suite", small_suite, check_small_suite, hint="Is a goal covered already?")

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "Why does the population lose its variety after some generations?",
        (
            "Mutation makes all tests equal.",
            "The descendants of one good test displace the others.",
            "The random numbers run out.",
        ),
        1,
        "Selection and survival prefer the relatives of the best test.",
    ),
    Question(
        "What happens without mutation?",
        (
            "The search gets slower.",
            "The search can only recombine the values of the first generation.",
            "Nothing changes.",
        ),
        1,
        "Crossover makes no new numbers. What the first generation lacks never appears.",
    ),
    Question(
        "Where does the expected result in the generated tests come from?",
        ("From the code itself", "From a specification", "From the fitness"),
        0,
        "The test records what the code returned. Whether that is right, a person must judge.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **One problem.** "Crossover hardly matters" is true of the triangle. Where parts of a test are good on their own, it
#   matters more.
# * **A chosen range.** Sides from 0 to 500 make guessing hard. With sides from 0 to 5 it would be good enough.
# * **Medians hide the slow runs.** Look at the right end of the curves as well.
#
# ## Next
#
# Eight goals, one after the other. A module has hundreds, and many cannot be covered at all. Lesson 05 compares
# searches that pursue all goals at once.
