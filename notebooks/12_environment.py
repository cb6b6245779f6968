# %% [markdown]
# # 12 What does an agent see, do and get?
#
# `fitgym/ExceptionDiscovery-v0` is a Gymnasium environment: inside runs a genetic algorithm that writes tests for a Python
# module, outside an agent chooses every few generations which fitness functions guide it. Here *you* are the agent.

# %% [markdown]
# **Predict first.** The module is `textwrap` of the standard library, the goal: exceptions. The reward of a step is the number
# of exceptions discovered in it.
#
# 1. How many actions are there? (Eight fitness functions; *exception* is always one of those chosen.)
# 2. In how many of the first ten steps will the reward be zero?
# 3. Same seed, same actions: will the second episode give exactly the same rewards?

# %% tags=["setup"]
import os
from importlib.metadata import version

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version
from PIL import Image

import fitgym.envs  # noqa: F401  (registers the environments)

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %%
env = gymnasium.make(
    "fitgym/ExceptionDiscovery-v0",
    subject="textwrap",
    reward="gain",
    budget="30g" if FAST else "90g",  # generations
    population=10,
    render_mode="rgb_array",
)
observation, info = env.reset(seed=7)

frame = env.render()
assert frame.shape == (600, 800, 3) and frame.dtype == np.uint8
Image.fromarray(frame)

# %% [markdown]
# The state after `reset`: a random population has run once. On the left the source, blue where tests run it, and beside it a
# map of the whole file; on the right each fitness function over time, what it covers in blue, and an orange mark where it
# was chosen; below, what each step paid.
#
# ## What an agent sees

# %%
inside = env.unwrapped  # what is special to fitgym
for name, value in zip(inside.feature_names, observation, strict=True):
    print(f"{name:24} {value:.3f}")
assert env.observation_space.contains(observation)

# %% [markdown]
# ## What an agent can do
#
# One action is one *combination* of fitness functions. `env.step` makes it the active one, lets the search run for three
# generations, and says what came of it.

# %%
names = inside.action_names
print(f"{len(names)} actions:", *names[:4], "...", names[-1], sep="\n")
before = inside.engine.generation
observation, reward, terminated, truncated, info = env.step(names.index("exception+branch"))
print("reward", reward, "| terminated", terminated, "| truncated", truncated)
print("generations:", before, "->", inside.engine.generation)
assert inside.engine.generation == before + 3

# %% [markdown]
# ## What an agent gets
#
# Your policy goes here: a function from step to action. This one holds on to branches for a while, and then goes through
# the catalogue.


# %%
def policy(step):
    """The name of an action."""
    return "exception+branch" if step < 4 else names[7 * step % len(names)]


def episode(seed):
    """The rewards of an episode, and what was done."""
    env.reset(seed=seed)
    rewards, ended, step = [], False, 0
    while not ended:
        _, reward, terminated, truncated, _ = env.step(names.index(policy(step)))
        rewards.append(reward)
        ended, step = terminated or truncated, step + 1
    return rewards


rewards = episode(seed=7)
Image.fromarray(env.render())

# %%
print("rewards:", *rewards)
assert sum(reward == 0 for reward in rewards) > len(rewards) / 2
assert inside.spent >= 1.0, "the episode is over because the budget is spent: terminated"

# %% [markdown]
# Most steps pay nothing. The exceptions that are easily found were there before anybody chose. This is what makes
# the problem hard for those who learn within one run (notebooks 06 and 09): what pays late has to be told from what pays
# never.
#
# ## Same seed, same episode
#
# Nothing here depends on the clock, on the machine or on the order in which things happen to be hashed. So a run can be
# replayed, a claim checked, and a copy asked what *would* have happened.

# %%
assert episode(seed=7) == rewards, "to the last digit"
env.reset(seed=7)
env.step(names.index("exception+branch"))
for name in ("exception+branch", "exception+weak_mutation"):
    copy = inside.fork()  # the whole search, in the same state
    imagined, *_ = copy.step(names.index(name))
    copy.close()
    share = imagined[inside.feature_names.index("kept_coverage_branch")]
    print(f"{name} would lead to {share:.1%} of the branches")
happened, *_ = env.step(names.index(name))
assert np.array_equal(imagined, happened), "what the copy did is what happens"

# %%
rewards_by_seed = {}
for seed in range(4):
    rewards_by_seed[seed] = np.cumsum(episode(seed))
fig, ax = plt.subplots(figsize=(8, 2.6))
for seed, gained in rewards_by_seed.items():
    ax.step(range(1, gained.size + 1), gained + 0.03 * seed, where="post", label=f"seed {seed}")
ax.set(xlabel="step", ylabel="exceptions gained", ylim=(-0.2, None))
ax.set_title("The same policy, other seeds")
ax.legend()
plt.show()
env.close()

# %% [markdown]
# ## Exercise
#
# How many decisions has an episode with the budget `61g`, if the goal is not reached before? (A decision holds for three
# generations. Look at what the header of the first picture says about generations.)

# %% tags=["exercise"]
answer = ...  # a whole number


# %% tags=["checker"] jupyter={"source_hidden": true}
def check(answer):
    if answer is ...:
        return print("Your turn: set `answer` above, run that cell, then this one.")
    other = gymnasium.make(
        "fitgym/ExceptionDiscovery-v0", subject="fnmatch", budget="61g", population=5
    )
    other.reset(seed=0)
    decisions, ended = 0, False
    while not ended:
        ended, decisions = other.step(0)[2], decisions + 1
    other.close()
    assert answer == decisions, "who decided about the first generation?"
    print(f"Right: {decisions} decisions.")


check(answer)

# %% [markdown] tags=["solution"]
# <details>
# <summary>Solution</summary>
#
# ```python
# answer = (61 - 1) // 3
# ```
#
# The first generation belongs to `reset`: a random population under the goal's own function.
#
# </details>
# <details>
# <summary>A tempting answer that fails</summary>
#
# ```python
# answer = -(-61 // 3)
# ```
#
# 61 by 3, rounded up: right if the agent had decided about the first generation too.
#
# </details>

# %% [markdown]
# ## What could fool you here
#
# * **The value at the end is not what the agent earned.** Some exceptions were found by the first random population. Compare
#   agents by what they add, or beside a baseline with the same seed.
# * **Deterministic is not free of chance.** The same seed gives the same run, another seed another one, as the last picture
#   shows.
# * **A reward of zero is not nothing.** The step may have covered lines that lead to an exception later. The reward does
#   not say so; the observation may.
# * **Generations are not executions.** A decision that makes offspring which need no new execution costs less. Compare at
#   equal executions (`budget="1000x"`), as the benchmarks do.
