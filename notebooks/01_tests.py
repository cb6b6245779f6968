# %% [markdown]
# # 01 When is a test suite good?
#
# A test calls code and checks what comes back. This lesson measures a test suite in two ways, with *coverage* and with
# *mutants*, and then lets fitgym write a suite.
#
# * **Time:** 20 minutes.
# * **You need:** functions, lists and dictionaries of Python. No knowledge of testing.
# * **You will be able to:** measure coverage, make mutants, and say what each of the two misses.

# %% tags=["setup"]
import contextlib
import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import fitgym
from fitgym.course import Question, exercise, predict, quiz

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## A function and its tests
#
# The function below names a triangle. Its three sides come in ascending order. The code is kept as text, because we
# shall change it soon.

# %%
SOURCE = '''\
def triangle(a: int, b: int, c: int) -> str:
    """Name the triangle; the sides are in ascending order."""
    if a + b <= c:
        return "none"
    if a == b:
        if b == c:
            return "equilateral"
        return "isosceles"
    return "scalene"
'''


def load(source):
    """The function that the source defines."""
    module = {}
    exec(compile(source, "triangles.py", "exec"), module)
    return module["triangle"]


triangle = load(SOURCE)
triangle(3, 4, 5)

# %% [markdown]
# A **test** is a call with an expected result. A **test suite** is a list of tests. The test passes if the call returns
# what we expected. Here are four tests, one for each name:

# %%
TESTS = [
    ((1, 1, 9), "none"),
    ((4, 4, 4), "equilateral"),
    ((4, 4, 5), "isosceles"),
    ((3, 4, 5), "scalene"),
]
for sides, expected in TESTS:
    print("passed" if triangle(*sides) == expected else "FAILED", sides, expected)

# %% [markdown]
# All four pass. But is the suite good? Before you read on, predict. We shall put 15 small mistakes into the function,
# one at a time. For example, `<` replaces `<=`. How many of them make at least one of the four tests fail?

# %%
guess = predict("How many of 15 mistakes do the four tests find?", None, unit="mistakes")
guess

# %% [markdown]
# ## Coverage: which lines run?
#
# **Line coverage** is the share of lines that run during the tests. Python tells us each line that it runs, through
# `sys.settrace`.


# %%
def lines_run(sides):
    """The numbers of the lines of `triangle` that one call runs."""
    lines = set()

    def note(frame, event, _):
        if frame.f_code.co_filename == "triangles.py" and event == "line":
            lines.add(frame.f_lineno)
        return note

    before = sys.gettrace()
    sys.settrace(note)
    triangle(*sides)
    sys.settrace(before)
    return lines


CODE = range(3, 10)  # line 1 is the head of the function, line 2 its description
covered = [lines_run(sides) for sides, _ in TESTS]

# %%
fig, ax = plt.subplots(figsize=(8, 3))
for line in CODE:
    for test, lines in enumerate(covered):
        ax.plot(test, line, "s", markersize=13, color="C2" if line in lines else "0.85")
    text = SOURCE.splitlines()[line - 1]
    ax.text(3.6, line, text, family="monospace", size=10, va="center")
ax.set(xlim=(-0.5, 7.5), ylim=(9.6, 2.4), yticks=CODE, ylabel="line")
ax.set_xticks(range(4), [f"{sides}" for sides, _ in TESTS], size=8)
ax.set_title("Each test runs a few lines (green); together they run all seven")
ax.grid(visible=False)
plt.show()

# %% tags=["hidden"]
assert set.union(*covered) == set(CODE)
assert all(lines < set(CODE) for lines in covered)

# %% [markdown]
# The suite has 100 % line coverage. Remove any one of the four tests, and a line is missing. So coverage tells us what
# a suite *never runs*. It does not tell us whether the suite would notice a mistake. The same four calls without any
# check have 100 % line coverage too.
#
# ## Mutants: which mistakes are found?
#
# A **mutant** is a copy of the code with one small, deliberate mistake. A suite **kills** a mutant if at least one test
# fails on it. Mutants that no test notices **survive**. We make the mutants by replacing one operator or one result at
# a time.

# %%
CHANGES = {
    "<=": ["<", ">=", "=="],
    "==": ["<=", ">=", "!="],
    " + ": [" - ", " * "],
    "return ": ["return not "],
}
FIRST = SOURCE.index("    if")  # leave the head and the description as they are
mutants = []
for old, replacements in CHANGES.items():
    for place in re.finditer(re.escape(old), SOURCE[FIRST:]):
        start, end = FIRST + place.start(), FIRST + place.end()
        mutants += [SOURCE[:start] + new + SOURCE[end:] for new in replacements]
print(len(mutants), "mutants")


def changed_line(mutant):
    """The line that the mutant changed, and its number."""
    pairs = zip(mutant.splitlines(), SOURCE.splitlines(), strict=True)
    return next(f"{n}: {new.strip()}" for n, (new, old) in enumerate(pairs, 1) if new != old)


changed_line(mutants[0])


# %%
def kills(tests, mutant):
    """Whether at least one of the tests fails on the mutant."""
    wrong = load(mutant)
    return any(wrong(*sides) != expected for sides, expected in tests)


def n_killed(tests):
    return sum(kills(tests, mutant) for mutant in mutants)


print(n_killed(TESTS), "of", len(mutants), "killed. Survivors:")
for mutant in mutants:
    if not kills(TESTS, mutant):
        print("    line", changed_line(mutant))

# %%
guess.compare(n_killed(TESTS))

# %% [markdown]
# Eleven of fifteen. Why do four survive?
#
# * `a + b < c` differs from `a + b <= c` only if `a + b` *equals* `c`. No test tries that. Tests that stay away from
#   the border between two answers miss mistakes at the border.
# * `a * b <= c` gives the same answer for all four tests by chance. Sides such as 2, 2, 3 tell the two apart.
# * `a >= b` and `b >= c` cannot be killed at all with sides in ascending order. If `a <= b`, then `a >= b` means the
#   same as `a == b`. Such a mutant is called **equivalent**. Only sides in the wrong order tell it from the original.
#
# ## A generated suite
#
# fitgym writes tests by search: it tries many calls and keeps those that reach a *goal*. With the goal
# `strong_mutation` it keeps tests that kill mutants. The budget is 400 executions of calls. This takes a few seconds.

# %%
folder = tempfile.TemporaryDirectory()
Path(folder.name, "triangles.py").write_text(SOURCE)
with contextlib.chdir(folder.name):
    run = fitgym.generate(
        "triangles.py",
        goal="strong_mutation",
        agent="fixed:strong_mutation",
        budget="400x",
        output="tests",
        seed=1,
    )
print(run.source[run.source.index("from triangles") :].partition("\n# Checksums")[0])
print("\n".join(run.record["unfinished"]))  # a busy computer may run out of time to simplify tests

# %% [markdown]
# This is an ordinary file for pytest. Let us run it twice: on our code, and on the first survivor, `a + b < c`.


# %%
def pytest(source):
    """What pytest says about the generated suite on a version of the module."""
    Path(folder.name, "triangles.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "--color=no", "tests"]
    done = subprocess.run(command, cwd=folder.name, capture_output=True, text=True)
    return re.sub(r" in [\d.]+s", "", done.stdout)


print(pytest(SOURCE))
survivor = next(mutant for mutant in mutants if "a + b < c" in mutant)
print(pytest(survivor))

# %% [markdown]
# The generated suite kills the mutant. Look at the assertion that fails: the first two sides add up to the third, so
# the call is on the border.
#
# Now let us run all fifteen mutants against three suites. All three suites run every line. The first one makes our four
# calls and checks nothing.


# %%
def test_functions(source):
    """The tests of the generated suite, bound to a version of the module."""
    sys.modules["triangles"] = type(sys)("triangles")
    sys.modules["triangles"].triangle = load(source)
    suite = {"__file__": str(Path(folder.name, "tests", "test_triangles.py"))}
    exec(run.source, suite)
    return {name: test for name, test in suite.items() if name.startswith("test_")}


def fails(test):
    try:
        test()
    except Exception:
        return True
    return False


killed_by = {  # mutant: the names of the generated tests that fail on it
    mutant: [name for name, test in test_functions(mutant).items() if fails(test)]
    for mutant in mutants
}
killed = {
    "calls without checks": 0,
    "our four tests": n_killed(TESTS),
    "generated by fitgym": sum(map(bool, killed_by.values())),
}

# %%
fig, ax = plt.subplots(figsize=(7, 3.2))
bars = ax.bar(list(killed), list(killed.values()), width=0.5, color=["0.7", "C0", "C1"])
ax.bar_label(bars, [f"{n} of {len(mutants)}" for n in killed.values()], padding=2)
ax.set(ylim=(0, 17), ylabel="mutants killed")
none, ours, generated = killed.values()
ax.set_title(f"With 100 % line coverage each, they kill {none}, {ours} and {generated} mutants")
guess.draw(ax)
if guess.guess is not None:
    ax.legend(loc="upper left")
ax.grid(visible=False, axis="x")
plt.show()

# %% tags=["hidden"]
assert len(mutants) == 15 and ours == 11 and generated > 12, killed
assert set().union(*(lines_run(sides) for sides, _ in TESTS)) == set(CODE)

# %% [markdown]
# The generated suite kills even the two equivalent mutants, because fitgym does not know that sides should be in
# ascending order. It reads the code, not your intention.
#
# fitgym also removes tests that kill no additional mutant, as far as the time allows. The next figure shows which test
# kills which mutant.

# %%
names = list(test_functions(SOURCE))
matrix = np.array([[name in killed_by[mutant] for mutant in mutants] for name in names])
fig, ax = plt.subplots(figsize=(9, 3.4))
ax.imshow(np.where(matrix, 1.0, 0.0), cmap="Oranges", vmin=0, vmax=1.6, aspect="auto")
ax.set_yticks(range(len(names)), names, size=8)
ax.set_xticks(range(len(mutants)), map(changed_line, mutants), size=7, rotation=60, ha="right")
alone = matrix[:, matrix.sum(axis=0) == 1].any(axis=1)  # kills a mutant that no other test kills
ax.set_title(f"{alone.sum()} of {len(names)} tests kill a mutant that no other test kills")
ax.grid(visible=False)
plt.show()

# %% [markdown]
# fitgym itself makes about 60 mutants of this function, not only our 15. A test that looks superfluous here may kill
# one of the others.
#
# ## Exercises
#
# **1.** Find three sides, in ascending order, that kill the mutant `a + b < c`.

# %% tags=["exercise"]
border = ...  # a tuple of three sides, such as (3, 4, 5)


# %% tags=["check"]
def check_border(answer):
    if list(answer) != sorted(answer):
        return "The sides are not in ascending order."
    if load(survivor)(*answer) == triangle(*answer):
        return f'The mutant and the original both say "{triangle(*answer)}".'
    return None


# %%
exercise("border", border, check_border, hint="When do `<` and `<=` give different results?")

# %% [markdown]
# **2.** Thirteen of the mutants can be killed with sides in ascending order. Kill all of them with at most six calls.

# %% tags=["exercise"]
calls = ...  # a list of tuples, such as [(3, 4, 5), (1, 1, 9)]


# %% tags=["check"]
EQUIVALENT = ("if a >= b:", "if b >= c:")  # nothing in ascending order kills these two


def check_calls(answer):
    if len(answer) > 6:
        return f"These are {len(answer)} calls, at most six are allowed."
    if any(list(sides) != sorted(sides) for sides in answer):
        return "Some sides are not in ascending order."
    tests = [(sides, triangle(*sides)) for sides in answer]
    left = [changed_line(mutant) for mutant in mutants if not kills(tests, mutant)]
    left = [line for line in left if not line.endswith(EQUIVALENT)]
    if left:
        return f"{len(left)} mutants survive, for example line `{left[0]}`."
    return None


# %%
exercise("calls", calls, check_calls, hint="Begin with one call for each name and with `border`.")

# %% [markdown]
# **3.** Look at the code again, with your own idea of triangles. All tests pass, and every mutant can be killed, yet
# `triangle` is wrong! Find three sides in ascending order that get the wrong name.

# %% tags=["exercise"]
wrong_name = ...  # a tuple of three sides


# %% tags=["check"]
def check_wrong_name(answer):
    a, b, c = answer
    if not 0 < a <= b <= c:
        return "The sides are not in ascending order, or not above 0."
    right = {1: "equilateral", 2: "isosceles", 3: "scalene"}[len({a, b, c})]
    if a + b <= c or triangle(a, b, c) == right:
        return f'"{triangle(a, b, c)}" is the right name for {answer}.'
    return None


# %%
exercise("wrong_name", wrong_name, check_wrong_name, hint="When is a triangle isosceles?")

# %% [markdown]
# The line that would give the right answer does not exist. No coverage measure shows a missing line, and no mutant
# changes it. A generated test even *asserts* the mistake, if it happens to make such a call: it records what the code
# does. Read generated tests as questions: "is this what you want?"
#
# ## Quiz

# %%
quiz(
    Question(
        "A suite has 100 % line coverage. What follows?",
        ("It finds every mistake.", "Every line ran at least once.", "Every result was checked."),
        1,
        "Coverage says what ran. Calls without any check reach 100 % too.",
    ),
    Question(
        "A mutant survives. What should you do first?",
        (
            "Delete the mutant.",
            "Find out whether any legal input tells it from the original.",
            "Add a random test.",
        ),
        1,
        "If such an input exists, it is the test that was missing. If none exists, the mutant is equivalent.",
    ),
    Question(
        "A generated test fails after you have changed the code. What does it show?",
        ("The change is wrong.", "The test is wrong.", "The behaviour has changed."),
        2,
        "The test records the old behaviour. You decide which of the two is right.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **Fifteen mutants are few.** "All mutants killed" depends on the kinds of mutants. Others would survive.
# * **A tiny function.** On a module of 500 lines no suite kills everything, and equivalent mutants are hard to
#   recognise.
# * **The generated suite saw the mutants.** Its goal was to kill mutants, and here we measure it with mutants. A fair
#   comparison measures with faults that the generator did not see.
#
# ## Next
#
# How did fitgym find sides on the border? It did not guess: it *searched*. Lesson 02 shows what makes a search easy or
# hard.
