# %% [markdown]
# # 17 What does it take to add a fitness function, a goal and an agent of your own?
#
# Say you care about loops: a loop that goes round once hides errors that show in the second round. No fitness function of
# fitgym asks for that. So we add one, a goal that rewards it, and an agent to pursue it. The name of a file is the name of
# the extension, and there is no list to register it in.

# %% [markdown]
# **Predict first.**
#
# 1. How many files of fitgym have to be changed for all three?
# 2. Will the new fitness function, used alone, reach its own goal better than plain branch coverage does?

# %% tags=["setup"]
import os
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

import fitgym.agents
import fitgym.fitness
import fitgym.goals
from fitgym.agents.base import agents, make
from fitgym.engine import FITNESS
from fitgym.envs.fitness_selection import GOALS, FitnessSelection
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.testing.agents import check_agent

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %%
for package in (fitgym.fitness, fitgym.goals, fitgym.agents):  # in a checkout: copy the files there
    package.__path__.append(str(Path("own", package.__name__.split(".")[1]).resolve()))
assert "again" in FITNESS.names() and "looping" in GOALS.names() and "patient" in agents().names()
with Executor(locate("textwrap")) as executor:
    subject = executor.subject
again = FITNESS.load("again")(subject)
source = subject.source.splitlines()
fig, ax = plt.subplots(figsize=(8, 2.6))
for y, target in enumerate(again.targets):
    ax.text(
        0, -y, f"{target.key[0]:4}  {source[target.key[0] - 1].strip()[:70]}", family="monospace"
    )
ax.set(
    ylim=(-len(again.targets), 1), title="the bodies of the loops in textwrap, each to be run twice"
)
ax.axis("off")
plt.show()

# %% [markdown]
# ## The fitness function
#
# Two methods: which targets there are, and how far a trace is from each. Targets are columns, traces are rows. Everything
# else, suites, archive, the many-objective view, comes from the base class.


# %%
print(Path("own/fitness/again.py").read_text())

# %% [markdown]
# Half way counts as half way: a body that ran once is nearer than one that never ran. That is a slope, if a short one
# (notebook 02). What the base class promises must hold: 0 exactly where the target is covered, never negative, never NaN.

# %%
env = FitnessSelection("textwrap", goal="looping", budget="300x", population=5, reward="gain")
env.reset(seed=0)
engine = env.engine
rows = again.distances([engine.measurements.trace(t) for t in engine.search.best.testcases])
print(rows)
assert np.isin(rows, (0.0, 0.5, 1.0)).all() and rows.shape[1] == len(again.targets)
env.close()

# %% [markdown]
# ## The goal
#
# What counts in the end (`value`, which never falls), its own fitness function, and what an action may combine. The
# reward is the gain of the value.

# %%
print(Path("own/goals/looping.py").read_text())

# %% [markdown]
# ## The agent
#
# It stays with an action while that pays, and goes on to the next when it has not for a while. `predict` must change
# nothing and `save` must keep everything: `check_agent` holds it to that and to what else training and replaying lean on.

# %%
print(Path("own/agents/patient.py").read_text())

# %%
check_agent("patient")  # raises an error that says what is wrong, and with what seed
print("patient keeps its promises")

# %% [markdown]
# ## Together
#
# `textwrap`, 1000 executions for each run. *fixed:again* uses the new function all the time, *fixed:branch* plain branch
# coverage, *patient* chooses out of the ten singles and pairs.

# %%
SEEDS = range(3 if FAST else 15)


def curve(name, seed):
    """The goal's value after each decision of a run."""
    env = FitnessSelection("textwrap", goal="looping", budget="1000x", population=5, reward="gain")
    agent = make(name, env.action_space, action_names=env.action_names, seed=seed)
    values = []
    agent.learn(
        env, episodes=1, seed=seed, callback=lambda *_: values.append(env.goal.value(env.engine))
    )
    env.close()
    return np.array(values)


runs = {
    name: [curve(name, seed) for seed in SEEDS]
    for name in ("fixed:again", "fixed:branch", "patient")
}

# %%
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9, 2.8))
for ax, (name, curves) in zip(axes, runs.items(), strict=True):
    for values in curves:
        ax.step(range(1, values.size + 1), 100 * values, color="C0", alpha=0.6, where="post")
    ax.set(title=name, xlabel="decisions", ylim=(0, 105))
axes[0].set_ylabel("loop bodies run twice, %")
plt.show()
last = {name: [round(float(values[-1]), 2) for values in curves] for name, curves in runs.items()}
print(last)

# %% [markdown]
# The three end close to each other: whoever covers branches goes round loops on the way, and the distance that `again`
# sees has one step only. A fitness function of one's own is easily written. That it *guides* better than what there is
# has to be shown, with more seeds and more subjects than here (notebook 15).

# %%
assert all(np.all(np.diff(values) >= 0) for curves in runs.values() for values in curves)
assert min(min(values) for values in last.values()) > 0.3, "all of them get somewhere"
means = {name: np.mean(values) for name, values in last.items()}
assert max(means.values()) - min(means.values()) < 0.3, "and none is far ahead"

# %% [markdown]
# With the files in the folders of fitgym (`fitgym/fitness/again.py`, `fitgym/goals/looping.py`, `agents/patient.py`) the
# contract tests pick them up, and so does the command line: `fitgym generate textwrap --goal looping --agent
# patient:patience=3`. Changed were no files at all.

# %% [markdown]
# ## Exercise
#
# You want *three* rounds. Write the distance as a function of how often a body ran, such that the search sees every
# step: 1 for never, 0 for three times and more, and less with each round.

# %% tags=["exercise"]
answer = ...  # a function from the number of rounds, 0 and more, to a distance


# %% tags=["checker"] jupyter={"source_hidden": true}
def check(answer):
    if answer is ...:
        return print("Your turn: set `answer` above, run that cell, then this one.")
    distances = [float(answer(rounds)) for rounds in range(6)]
    print("0 to 5 rounds:", distances)
    assert distances[0] == 1 and distances[3:] == [0, 0, 0], "1 for never, 0 from three on"
    hint = "one round and two rounds look alike: where is the slope?"
    assert distances[0] > distances[1] > distances[2] > 0, hint
    print("Right.")


check(answer)

# %% [markdown] tags=["solution"]
# <details>
# <summary>Solution</summary>
#
# ```python
# answer = lambda rounds: 1 - min(rounds, 3) / 3
# ```
#
# </details>
# <details>
# <summary>A tempting answer that fails</summary>
#
# ```python
# answer = lambda rounds: 0.0 if rounds >= 3 else 1.0
# ```
#
# Zero exactly when covered, so the contract holds; but it is a plateau, and a search has nothing to go by.
#
# </details>

# %% [markdown]
# ## What could fool you here
#
# * **A goal that names its own fitness function** makes that look like the natural choice. It is one candidate among others.
# * **A high share early.** The first random population already goes round most loops. Look at what is *gained*, not at what
#   is covered.
# * **One subject.** `textwrap` has nine loop bodies, and one of them more is eleven points.
# * **Passing a contract** says that the parts fit, not that they are worth having.
