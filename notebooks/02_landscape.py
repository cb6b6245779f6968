# %% [markdown]
# # 02 What does a fitness landscape do to a search?
#
# A test generator looks for inputs: for the one `x` at which `if x == 300:` comes out true, say. It cannot see the
# answer, but after each execution it is told a *distance*: 0 if the branch was taken, something above 0 if not. The
# distance as a function of the input is the *fitness landscape*.
#
# Here are three of them for the same target, a whole number $g$ between 0 and 1000, and the same climber walks on each.

# %% [markdown]
# **Predict first.** The climber begins anywhere, changes its `x` by a power of two up or down, and keeps the change if the
# distance did not grow. It has 50 tries. In which of 100 runs does it meet `x == g`:
#
# 1. if the distance is $|g - x|$ everywhere (*gradient*)?
# 2. if it is the same for all `x` above $g$ (*plateau*)?
# 3. if above $g$ it falls towards 1000, away from $g$ (*deceptive*)?
#
# And where would blind guessing, 50 random numbers, do better? Write the four numbers down.

# %% tags=["setup"]
import os
from importlib.metadata import version

import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

from fitgym.artificial import LARGEST, Points, Problem

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %%
KINDS = ("gradient", "plateau", "deceptive")
xs = np.arange(LARGEST + 1)
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9, 2.8))
for kind, ax in zip(KINDS, axes, strict=True):
    problem = Problem((kind,), (1,), (300,))  # one target, covered by x = 300 only
    ax.plot(xs, problem.distances([(0, x) for x in xs])[:, 0])
    ax.plot(300, 0, "*", color="C1", markersize=12, clip_on=False)
    ax.set(title=kind, xlabel="input x", ylim=(0, 1.05))
axes[0].set_ylabel("distance, 0 is covered")
plt.show()

# %% [markdown]
# The distance is normalised, $d / (d + 1)$, so that targets can be added up: near the star it falls steeply, far from it
# the slope is hard to see, but a climber needs no more than *less* or *not less*. The problems are those with which the
# MIO algorithm was published (Arcuri 2017); `fitgym.artificial` has them.
#
# The climber, in full. `Points.mutate` adds or takes away $2^i$, $i$ drawn from 0 to 10.


# %%
def climb(problem, budget, rng, patience=10**9):
    """The number of tries until the target is covered; infinite if the budget is spent first."""
    points = Points(problem)
    here, best, stuck = None, np.inf, 0
    for tries in range(1, budget + 1):
        if here is None or stuck >= patience:  # begin, or begin again elsewhere
            here, best, stuck = points.random_test(rng), np.inf, 0
            there = here
        else:
            there = points.mutate(here, rng)
        distance = problem.distances([there])[0, 0]
        stuck = 0 if distance < best else stuck + 1
        if distance <= best:
            here, best = there, distance
        if distance == 0:
            return tries
    return np.inf


# %%
RUNS, BUDGET = (300, 200) if FAST else (2000, 200)


def tries_needed(kind, **options):
    """Of each run the tries until the target was covered; each run has a target of its own."""
    drawn = (Problem.draw({kind: 1}, seed) for seed in range(RUNS))
    return np.array(
        [climb(p, BUDGET, np.random.default_rng(s), **options) for s, p in enumerate(drawn)]
    )


needed = {kind: tries_needed(kind) for kind in KINDS}
budgets = np.arange(1, BUDGET + 1)
blind = 1 - (1 - 1 / (LARGEST + 1)) ** budgets  # at least one hit in so many guesses

# %%
fig, ax = plt.subplots()
for kind, tries in needed.items():
    ax.plot(budgets, [100 * (tries <= b).mean() for b in budgets], label=kind)
ax.plot(budgets, 100 * blind, "k--", label="blind guessing")
ax.set(
    xlabel="tries",
    ylabel="runs that covered the target, %",
    title="The same climber on three landscapes",
)
ax.legend()
plt.show()
for kind, tries in needed.items():
    print(f"{kind:10} {100 * (tries <= 50).mean():5.1f} of 100 runs within 50 tries")
print(f"{'guessing':10} {100 * blind[49]:5.1f}")

# %% [markdown]
# A gradient makes the search ten times as good as guessing: that is why test generators measure distances at all. The
# plateau takes the direction away from those who stand on the wrong side; they have to find the edge by chance. And on the
# false trail the climber is no better than guessing after 50 tries, and worse ever after: who has not arrived early has
# climbed the wrong hill, and stays there.

# %%
share = {kind: (tries <= 50).mean() for kind, tries in needed.items()}
assert share["gradient"] > share["plateau"] > share["deceptive"], "the order of the landscapes"
assert share["gradient"] > 10 * blind[49], "a gradient beats guessing by far"
assert (needed["deceptive"] <= BUDGET).mean() < blind[-1], "in the end guessing beats the climber"
stuck = needed["deceptive"] > 100
found_later = (needed["deceptive"][stuck] <= BUDGET).mean()
print(f"on the false trail, without success after 100 tries: {100 * stuck.mean():.0f} %")
print(f"of these, successful within 100 more: {100 * found_later:.0f} %")

# %% [markdown]
# **Where landscapes come from.** `if x == 300:` has a gradient, $|x - 300|$. The same question behind a function that
# returns True or False, `if is_magic(x):`, has none that can be seen from the `if`: two heights, a plateau with a hole.
# A hash, a checksum, a regular expression make plateaus; early exits and clamped values make false trails. Notebook 03
# shows how the distance is measured in real code.
#
# And this is why it matters *which* fitness function guides: the branch may be a plateau where the exception that lies
# behind it, or the output that differs, has a slope, and which of them has one changes as the suite grows. Choosing while
# the search runs is what the rest of these notebooks is about.

# %% [markdown]
# ## Exercise
#
# On the false trail the climber gets stuck. Let it begin again elsewhere after `patience` tries without progress. Choose
# the patience so that with 200 tries it covers the deceptive target in clearly more runs than the climber that never
# gives up: at least twelve percentage points more.

# %% tags=["exercise"]
answer = ...  # a whole number of tries


# %% tags=["checker"] jupyter={"source_hidden": true}
def check(answer):
    if answer is ...:
        return print("Your turn: set `answer` above, run that cell, then this one.")
    stubborn, patient = needed["deceptive"], tries_needed("deceptive", patience=answer)
    gain = 100 * ((patient <= BUDGET).mean() - (stubborn <= BUDGET).mean())
    print(f"patience {answer}: {gain:+.1f} percentage points")
    hint = (
        "how long does a climber on the right side wait for progress, and what does waiting cost?"
    )
    assert gain >= 12, f"not clearly more: {hint}"
    print("Right: more than twice as many runs as before.")


check(answer)

# %% [markdown] tags=["solution"]
# <details>
# <summary>Solution</summary>
#
# ```python
# answer = 20
# ```
#
# A climber on the right side makes progress every few tries, so 20 without any say that it is on top of the false hill.
# Any number from 10 to 30 does as well.
#
# </details>
# <details>
# <summary>A tempting answer that fails</summary>
#
# ```python
# answer = 1
# ```
#
# Giving up after a single step without progress is little more than guessing: most steps of a good climb fail too.
#
# </details>

# %% [markdown]
# ## What could fool you here
#
# * **The landscape and the mover belong together.** With steps of 1 instead of powers of two the gradient would take
#   hundreds of tries; with any `x` as neighbour there is no landscape. "This problem is hard" means hard for this mover.
# * **One target.** A real search pursues hundreds at once, and what it spends on one that cannot be covered it does not
#   have for the others: notebook 05.
# * **A number like 50 tries** decides how large the differences look. The curves tell more than any point of them.
