# %% [markdown]
# # 12 What does an agent see, do and get?
#
# `fitgym/ExceptionDiscovery-v0` is a Gymnasium environment. Inside, a genetic algorithm writes tests for a Python module. Outside, an
# agent chooses every few generations which fitness functions guide it. In this lesson *you* are the agent.
#
# **Time:** 25 minutes. **You need:** lessons 05 and 08. **You will be able to:** run an episode, read observation, action and reward,
# write a policy of your own, replay a run, and ask a copy of the search what would have happened.

# %% tags=["setup"]
import os
from importlib.metadata import version
from math import comb

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.course import Question, exercise, predict, quiz

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions of the same lesson
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## The task
#
# The module is `configparser` of the standard library. The goal is to make it raise as many different exceptions as possible. A tester
# wants that: each exception is either a documented error or a bug.
#
# An exception gives the search no direction. Nothing tells a test that raised none how close it came. Other fitness functions
# do have a direction, such as the distance to the next branch. Which of them help? That is the decision.
#
# An action is a *combination* of fitness functions. There are eight: exception, branch, direct branch, line, method,
# method without exception, output and weak mutation. An action is a set of at most four of them, and *exception* is always in it.

# %%
actions = predict("How many actions are there?", None)
replayed = predict(
    "Same seed, same actions: are all rewards the same again?", None, choices=("yes", "no")
)
actions

# %%
replayed

# %%
GENERATIONS = 31 if FAST else 61
env = gymnasium.make(
    "fitgym/ExceptionDiscovery-v0",
    subject="configparser",
    reward="gain",  # new exceptions
    budget=f"{GENERATIONS}g",
    population=10,
    render_mode="rgb_array",
)
observation, info = env.reset(seed=7)
Image.fromarray(env.render()).quantize()

# %% [markdown]
# This is the state after `reset`: a random population has run once.
#
# * **Left:** the source code, blue where tests run it, and a map of the whole file.
# * **Right:** a row for each fitness function over time. Blue is what it covers, orange marks where it was chosen.
# * **Below:** the reward of each step.
#
# ## What an agent can do

# %%
inside = env.unwrapped  # what is special to fitgym
names = inside.action_names
print(f"{len(names)} actions:", *names[:9], "...", names[-1], sep="\n  ")
actions.compare(len(names), tolerance=0)

# %% [markdown]
# From seven functions beside *exception* one can choose none, one, two or three: $1 + 7 + 21 + 35 = 64$. Without the limit it would be
# $2^7 = 128$.
#
# ## What an agent sees
#
# The observation is a vector of numbers between 0 and 1: what is covered for each function, how the goal stands, how much budget is
# left, how the population looks, and properties of the module. It does not tell where the exceptions are.

# %%
seen = dict(zip(inside.feature_names, observation, strict=True))
shown = [name for name in seen if name.startswith("kept_coverage_")]
shown += ["goal", "remaining_budget", "stagnation"]
fig, ax = plt.subplots(figsize=(8, 2.9))
ax.barh(shown, [seen[name] for name in shown], color="#0072B2")
ax.invert_yaxis()
ax.set(xlim=(0, 1), xlabel="value")
ax.set_title(f"{len(shown)} of {len(seen)} numbers that the agent sees after reset")
plt.show()
print(f"{info['goal_value']:.0f} exceptions were found by chance alone")

# %% [markdown]
# ## What an agent gets
#
# `env.step` makes a combination active, lets the search run for three generations, and returns the reward: the number of
# exceptions that were new in these three generations.

# %%
before = inside.engine.generation
observation, reward, terminated, truncated, info = env.step(names.index("exception+branch"))
print(f"reward {reward:g}, terminated {terminated}, truncated {truncated}")
print(f"generation {before} -> {inside.engine.generation}")
print(f"exceptions so far: {info['goal_value']:.0f}, executions: {info['executions']}")

# %% tags=["hidden"]
assert len(names) == 64 and env.observation_space.contains(observation)
assert inside.engine.generation == before + 3

# %% [markdown]
# ## You are the agent
#
# A policy is a function from what happened so far to the next action. `mine` is yours: change it and run this cell
# and the race below again. The committed version pursues branches first and then goes through the single helpers.

# %%
HELPERS = ["branch", "direct_branch", "line", "method", "output", "weak_mutation"]


def mine(step, observation, rewards):
    """The name of the next action: edit me."""
    return "exception+branch" if step < 3 else f"exception+{HELPERS[step % len(HELPERS)]}"


# %%
final = predict(
    f"About 14 exceptions are there after `reset`. How many will `mine` have "
    f"after {(GENERATIONS - 1) // 3} decisions?",
    None,
    unit="exceptions",
)
final


# %%
def episode(policy, seed):
    """Rewards and the number of exceptions after each decision, from 0."""
    observation, info = env.reset(seed=seed)
    rewards, found, ended = [], [info["goal_value"]], False
    while not ended:
        name = policy(len(rewards), observation, rewards)
        observation, reward, terminated, truncated, info = env.step(names.index(name))
        rewards.append(reward)
        found.append(info["goal_value"])
        ended = terminated or truncated
    return rewards, found


chance = np.random.default_rng(0)
policies = {
    "you": mine,
    "exception alone": lambda *_: "exception",
    "all at random": lambda *_: names[chance.integers(len(names))],
}
SEEDS = (7, 8)
races = {name: [episode(policy, seed) for seed in SEEDS] for name, policy in policies.items()}

# %%
COLORS = {"you": "#CC79A7", "exception alone": "#0072B2", "all at random": "#888888"}
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.2), width_ratios=(1, 1.4))
rewards, found = races["you"][0]
left.bar(range(1, len(rewards) + 1), rewards, color=COLORS["you"])
empty = np.mean(np.array(rewards) == 0)
left.set(xlabel="decision", ylabel="reward")
left.set_title(f"Your rewards: {100 * empty:.0f} % are zero")
for name, runs in races.items():
    for n, (_, values) in enumerate(runs):
        right.step(range(len(values)), values, where="post", color=COLORS[name], alpha=0.8,
                   label=name if n == 0 else None, linewidth=1.6)  # fmt: skip
final.draw(right)
right.set(xlabel="decision", ylabel="exceptions found")
right.set_title("The three policies overlap")
right.legend()
plt.show()
final.compare(found[-1])

# %% tags=["hidden"]
assert empty > (0.1 if FAST else 0.2) and inside.spent >= 1.0
ends = {name: [values[-1] for _, values in runs] for name, runs in races.items()}
middle = [np.mean(values) for values in ends.values()]
assert max(middle) - min(middle) < 0.35 * max(middle), ends

# %% [markdown]
# Each colour is a policy, each line a seed. Two observations:
#
# * **Some rewards are zero, and more of them late in an episode.** An agent has to tell an action that pays late from one that never pays.
# * **The lines overlap.** With so few seeds nobody can say which policy is best. The seed moves the result as much as the
#   policy does. Lesson 15 shows how to decide it.
#
# ## Same seed, same episode
#
# The run depends on the seed and the actions only, not on the clock or the machine. So a run can be replayed and a claim checked.

# %%
again, _ = episode(mine, SEEDS[0])
same = "yes" if again == rewards else "no"
print("first: ", *[f"{reward:g}" for reward in rewards])
print("second:", *[f"{reward:g}" for reward in again])
replayed.compare(same)

# %% tags=["hidden"]
assert same == "yes"

# %% [markdown]
# ## What if?
#
# `fork` copies the whole search, with its random generator. The copy makes a step and is thrown away: what *would* have
# happened? An oracle decides in this way. An agent may not.

# %%
_, info = env.reset(seed=7)
start, imagined = info["goal_value"], {}
for name in ("exception", *(f"exception+{helper}" for helper in HELPERS)):
    copy = inside.fork(share_worker=True)
    _, _, _, _, info = copy.step(names.index(name))
    imagined[name] = info["goal_value"]
    copy.close()
_, _, _, _, info = env.step(names.index("exception+branch"))

fig, ax = plt.subplots(figsize=(8, 2.6))
gains = [value - start for value in imagined.values()]
ax.barh(list(imagined), gains, color="#0072B2")
ax.plot(info["goal_value"] - start, 1, "D", color="#CC79A7", markersize=9, label="then happened")
ax.invert_yaxis()
ax.set(xlabel="new exceptions after one decision")
ax.set_title(f"Seven futures of one state find {min(gains):.0f} to {max(gains):.0f} new exceptions")
ax.legend(loc="upper right")
plt.show()

# %% tags=["hidden"]
assert imagined["exception+branch"] == info["goal_value"]
env.close()

# %% [markdown]
# The copy that took `exception+branch` saw exactly what happened afterwards (the diamond). A good future after one decision is
# not yet a good episode: the order may change with the next decision.
#
# ## Exercises
#
# **1. `decisions`.** How many decisions does an episode with the budget `61g` have? A decision holds for three generations.

# %% tags=["exercise"]
decisions = ...  # a whole number


# %% tags=["check"]
def check_decisions(answer):
    if answer == 21:
        return "61 / 3 rounded up is 21. Who decided about the first generation?"
    if answer != 20:
        return f"{answer} is not right. How many generations are left after `reset`?"
    return None


exercise("decisions", decisions, check_decisions, hint="`reset` runs the first generation.")

# %% [markdown]
# **2. `n_actions`.** Write a function of the number of fitness functions and of the largest size of a set. It returns the number of
# actions if one function is always in the set. For 8 and 4 it is 64.

# %% tags=["exercise"]
n_actions = ...  # your function of (functions, largest)


# %% tags=["check"]
def check_n_actions(answer):
    for functions, largest in ((8, 4), (8, 8), (8, 1), (5, 3)):
        expected = sum(comb(functions - 1, k) for k in range(largest))
        if answer(functions, largest) != expected:
            got = answer(functions, largest)
            return f"{functions} functions, sets of at most {largest}: {expected}; yours is {got}."
    return None


exercise("n_actions", n_actions, check_n_actions, hint="`math.comb(7, 3)` is 35.")

# %% [markdown]
# **3. `win_stay`.** Write a policy: a function of the list of action names, of the index of the last action (`None` before the first),
# and of its reward. Keep an action while its reward is above 0. Otherwise take the next one of the list, and after the last
# one the first. It returns an index, and begins with 0.

# %% tags=["exercise"]
win_stay = ...  # your function of (names, last, reward)


# %% tags=["check"]
def check_win_stay(answer):
    cases = [(None, 0, 0), (0, 2.0, 0), (0, 0, 1), (1, 1.0, 1), (2, 0, 0)]
    for last, reward, expected in cases:
        got = answer(["a", "b", "c"], last, reward)
        if got != expected:
            return (
                f"Of three actions, after {last} with reward {reward}: {expected}; yours is {got}."
            )
    return None


exercise("win_stay", win_stay, check_win_stay, hint="`%` brings you from the last to the first.")

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "A step has reward 0. What do you know?",
        ("The action was bad", "No new exception was found in it", "The search is stuck"),
        1,
        "It may have covered code in which a later step finds exceptions.",
    ),
    Question(
        "Who decides about budget, actions and reward?",
        ("The agent", "The environment"),
        1,
        "So all agents are compared under the same conditions.",
    ),
    Question(
        "Why is `fork` not available to an agent that is compared?",
        ("It is slow", "It gives the agent executions for free", "It is random"),
        1,
        "Each copy runs tests that nobody counts. An oracle may do this, a fair agent may not.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **The final value is not what the agent earned.** The random population of `reset` found the first exceptions. Compare
#   what was added, or beside a baseline with the same seed.
# * **Deterministic does not mean free of chance.** The same seed gives the same run, another seed another one.
# * **Generations are not executions.** A generation whose offspring were run before costs less. Compare agents at equal
#   executions (`budget="1000x"`), as the benchmarks do.
# * **You tried several versions of `mine`.** The best of five policies on three seeds is partly the luckiest.
#
# ## Next
#
# Play it with your own hands: `fitgym play configparser --goal exceptions`. The three policies were close together, so lesson 13
# asks when choosing pays at all.
