# %% [markdown]
# # 17 What does it take to add a fitness function, a goal and an agent of your own?
#
# One file each. You add all three, and then find out where they help and where they do not.
#
# **Time:** 30 minutes. **You need:** lessons 03, 12 and 15. **You will be able to:** write a fitness function with a slope, a goal that counts
# what you care about, and an agent that keeps the contract, and compare them with what is there.

# %% tags=["setup"]
import os
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Code

import fitgym.agents
import fitgym.fitness
import fitgym.goals
from fitgym.agents.base import make
from fitgym.course import Question, exercise, predict, quiz
from fitgym.engine import FITNESS
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.execution.executor import Executor
from fitgym.study.comparison import a12
from fitgym.subject.source import locate
from fitgym.testing.agents import check_agent

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions of the same lesson
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## The wish
#
# You care about loops. Some errors show only in the tenth round: a buffer is full, a number overflows, an index runs off
# the end. Branch coverage is content after one round. So you want tests that go round every loop *ten times*.
#
# These are the loops of a small module, `own/subjects/loops.py`:

# %%
FOLDER = str(Path("own/subjects").resolve())
for package in (fitgym.fitness, fitgym.goals, fitgym.agents):  # or copy the files there
    package.__path__.append(str(Path("own", package.__name__.split(".")[1]).resolve()))
Code(filename="own/subjects/loops.py")

# %%
files = predict("How many files of fitgym must change to add all three?", None, unit="files")
files

# %% [markdown]
# ## The fitness function
#
# It has two parts: which targets there are, and how far a trace is from each. Traces are rows, targets are columns. Suites, archive
# and the many-objective view come from the base class.

# %%
Code(filename="own/fitness/again.py")

# %% [markdown]
# Five rounds count as half the way. That is a slope (lesson 02): with each round the distance falls a little, so the search notices progress
# long before it arrives.

# %%
with Executor(locate("loops", FOLDER)) as executor:
    subject = executor.subject
again = FITNESS.load("again")(subject)
lines = subject.source.splitlines()
for target in again.targets:
    print(f"line {target.key[0]:2}  {lines[target.key[0] - 1].strip()}")

rounds = np.arange(0, 16)
fig, ax = plt.subplots(figsize=(7, 2.6))
ax.step(rounds, (rounds < 1).astype(float), where="post", label="branch", color="#0072B2")
ax.plot(rounds, 1 - np.minimum(rounds, 10) / 10, "o-", label="again", color="#D55E00")
ax.set(xlabel="rounds of a loop in one test case", ylabel="distance")
ax.set_title("Branch coverage is content after one round, the new function after ten")
ax.legend()
plt.show()

# %% [markdown]
# A fitness function has to keep promises: 0 exactly if the target is covered, never negative, never NaN.

# %% tags=["hidden"]
env = FitnessSelection("loops", path=FOLDER, goal="looping", budget="100x", population=5)
env.reset(seed=0)
engine = env.engine
rows = again.distances([engine.measurements.trace(t) for t in engine.search.best.testcases])
assert ((rows >= 0) & (rows <= 1)).all() and rows.shape[1] == len(again.targets) == 5
env.close()

# %% [markdown]
# ## The goal
#
# A goal says what counts in the end (`value`, which never falls), which fitness function belongs to it, and what an action may combine.
# The reward is the gain of the value.

# %%
Code(filename="own/goals/looping.py")

# %% [markdown]
# ## The agent
#
# It stays with an action while it pays, and takes the next one if it has paid nothing for a while.

# %%
Code(filename="own/agents/patient.py")

# %% [markdown]
# `check_agent` tests the contract: `predict` changes nothing, `save` keeps everything, masks are respected. It raises an error that
# names the broken promise and the seed.

# %%
check_agent("patient")
print("patient keeps the contract")
files.compare(0, tolerance=0)

# %% [markdown]
# The name of the file is the name of the extension. There is no list to register it in.
#
# ## Does it help?
#
# Four policies with 600 executions each: the new function all the time, plain branch coverage all the time, the new agent, and a draw at
# every decision. The agents choose among ten singles and pairs.

# %%
branch_reaches = predict(
    "`again` alone runs all five loops ten times. How many of five does branch coverage reach?",
    None,
    unit="loops",
)
branch_reaches

# %%
NAMES = ("fixed:again", "fixed:branch", "patient", "uniform")
COLORS = dict(zip(NAMES, ("#D55E00", "#0072B2", "#009E73", "#888888"), strict=True))
SEEDS = range(3 if FAST else 10)


def curve(name, seed, subject, path=None, budget="600x"):
    """The goal's value after each decision of a run."""
    env = FitnessSelection(
        subject, path=path, goal="looping", budget=budget, population=5, reward="gain"
    )
    agent = make(name, env.action_space, action_names=env.action_names, seed=seed)
    values = []
    agent.learn(
        env, episodes=1, seed=seed, callback=lambda *_: values.append(env.goal.value(env.engine))
    )
    env.close()
    return np.array(values)


runs = {name: [curve(name, seed, "loops", FOLDER) for seed in SEEDS] for name in NAMES}

# %%
fig, axes = plt.subplots(1, 4, sharey=True, figsize=(10, 2.6))
for ax, (name, curves) in zip(axes, runs.items(), strict=True):
    for values in curves:
        share = np.linspace(0, 1, values.size)
        ax.step(share, 5 * values, color=COLORS[name], alpha=0.6, where="post")
    mean = 5 * np.mean([values[-1] for values in curves])
    ax.set(title=f"{name}: {mean:.1f}", xlabel="share of the run", ylim=(-0.2, 5.3))
branch_reaches.draw(axes[1])
axes[0].set_ylabel("loops run ten times")
fig.suptitle(
    "With a slope the search reaches the tenth round of every loop", x=0.01, ha="left", fontsize=11
)
plt.show()
last = {name: np.array([values[-1] for values in curves]) for name, curves in runs.items()}
branch_reaches.compare(5 * last["fixed:branch"].mean())

# %% tags=["hidden"]
assert last["fixed:again"].mean() > 0.9 > last["fixed:branch"].mean() + 0.1, last
assert all(np.all(np.diff(values) >= 0) for curves in runs.values() for values in curves)

# %% [markdown]
# Branch coverage stops at the loops that go round often by chance. The new function reaches the others as well: it makes numbers larger and
# lists longer, one round at a time. The two agents lie in between: four of their ten actions contain `again`.
#
# ## On a real module
#
# `textwrap` has nine loop bodies. Is the new function better there as well?

# %%
REAL = range(2 if FAST else 6)
real = {
    name: np.array([curve(name, seed, "textwrap", budget="400x")[-1] for seed in REAL])
    for name in ("fixed:again", "fixed:branch")
}
fig, ax = plt.subplots(figsize=(8, 2))
for y, (name, values) in enumerate(real.items()):
    ax.plot(9 * values, np.full(values.size, y), "|", color=COLORS[name], markersize=14)
    ax.plot(9 * values.mean(), y, "o", color=COLORS[name], markersize=9)
ax.set_yticks(range(2), list(real))
ax.set(xlim=(0, 9), ylim=(-0.5, 1.5), xlabel="loops of textwrap run ten times, of 9")
effect = a12(real["fixed:again"], real["fixed:branch"])
ax.set_title(f"textwrap: A12 = {effect:.2f} with {len(REAL)} seeds, too few to tell")
plt.show()

# %% [markdown]
# Nothing can be concluded from so few seeds (lesson 15), and one module would not be enough anyway. Many loops of `textwrap` run over the words of a text, so they
# need a long text, not a larger number. A mutation that repeats a string may help more than another fitness function.
#
# That is how an idea becomes research: it works where you understand why, and the next question is where it stops.
#
# With the files in `fitgym/fitness/`, `fitgym/goals/` and `agents/`, the contract tests of the project pick them up, and the command line too:
#
# ```
# fitgym generate textwrap --goal looping --agent patient:patience=3
# ```

# %% [markdown]
# ## Exercises
#
# **1. `three_rounds`.** You want *three* rounds. Write the distance as a function of the number of rounds: 1 for none, 0 for three and more,
# and less with each round.

# %% tags=["exercise"]
three_rounds = ...  # your function of the number of rounds


# %% tags=["check"]
def check_three_rounds(answer):
    distances = [float(answer(rounds)) for rounds in range(6)]
    if distances[0] != 1:
        return f"No round has a distance of 1; yours is {distances[0]:g}."
    if distances[3:] != [0, 0, 0]:
        return f"Three, four and five rounds have a distance of 0; yours are {distances[3:]}."
    if not distances[0] > distances[1] > distances[2] > 0:
        return "One round and two rounds must differ, otherwise there is no slope."
    return None


exercise("three_rounds", three_rounds, check_three_rounds, hint="`min(rounds, 3)`")

# %% [markdown]
# **2. `lengths`.** Another wish: tests with *long strings*. Write the distance to a string of at least 20 characters, as a function of a
# list of strings that a test case used. It is between 0 and 1, the longest string counts, and without any string it is 1.

# %% tags=["exercise"]
lengths = ...  # your function of a list of strings


# %% tags=["check"]
def check_lengths(answer):
    cases = {(): 1.0, ("",): 1.0, ("a" * 20,): 0.0, ("a" * 50,): 0.0, ("a", "b" * 10): 0.5}
    for strings, expected in cases.items():
        got = float(answer(list(strings)))
        if not np.isclose(got, expected):
            sizes = [len(text) for text in strings]
            return (
                f"Strings of the lengths {sizes} have a distance of {expected}; yours is {got:g}."
            )
    return None


exercise("lengths", lengths, check_lengths, hint="`max(..., default=0)`")

# %% [markdown]
# **3. `value`.** Write the value of a goal that counts *every* loop body fully, in parts: a function of the best distance for
# each body, a list of numbers between 0 and 1. It is 1 if all are 0, 0 if all are 1, and it must not fall if a distance falls. A
# module without loops has the value 1.

# %% tags=["exercise"]
value = ...  # your function of a list of distances


# %% tags=["check"]
def check_value(answer):
    for distances, expected in (([0, 0], 1), ([1, 1, 1], 0), ([0.5, 0.5], 0.5), ([0, 1], 0.5)):
        got = float(answer(distances))
        if not np.isclose(got, expected):
            return f"Distances {distances} have the value {expected}; yours is {got:g}."
    if not np.isclose(float(answer([])), 1):
        return "A module without loops has nothing left to do: its value is 1."
    return None


exercise("value", value, check_value, hint="What is the mean of an empty list?")

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "Why does `again` divide by ten instead of testing for ten?",
        ("It is faster", "It gives the search a slope", "The contract asks for it"),
        1,
        "A test for ten is 1 for none and for nine rounds alike: a plateau.",
    ),
    Question(
        "A fitness function passes the contract tests. What is shown?",
        ("It guides well", "It fits into the system", "It is better than branch coverage"),
        1,
        "Whether it guides has to be measured, on several modules and with enough seeds.",
    ),
    Question(
        "Why must the value of a goal never fall?",
        ("The reward is its gain", "Otherwise it is no percentage", "It may fall"),
        0,
        "Tests that were found are kept, so nothing that was reached is lost.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **The module was written for the lesson.** Its loops depend on numbers and list lengths, and the search can change those. Choose
#   your subjects before you look at results.
# * **A goal that names its own fitness function** makes this function look like the natural choice. It is one candidate among others.
# * **A high share early.** The first random population already goes round some loops. Look at what was *gained*.
# * **One loop is twenty points** in a module with five loops.
#
# ## Next
#
# Lesson 18: many seeds and many modules need many cores.
