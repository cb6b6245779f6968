# %% [markdown]
# # 08 What is a choice worth when its reward comes later?
#
# Some choices pay nothing now and make all later choices better. To compare them with choices that pay at once, an agent
# needs *values*: the rewards that it can expect from here on.
#
# **Time:** 30 minutes.
# **You need:** expected values, numpy arrays, lesson 06.
# **You will be able to:** describe a task by states and returns, compute values with Bellman's equation, and read the best
# policy from them.

# %% tags=["setup"]
import os
from functools import cache
from importlib.metadata import version

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.course import Question, exercise, predict, quiz
from fitgym.envs.toy import ACTIONS, optimum

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## A small search
#
# Our search has four targets to cover and a population of test cases. The *state* has two numbers: the diversity of the
# population, from 0 to 4, and the number of targets that are left, from 4 to 0. There are two actions.
#
# | action | reward | diversity | targets left |
# |---|---|---|---|
# | *cover* | 1 with probability diversity / 4, otherwise 0 | falls by 1 | falls by 1 if the reward is 1 |
# | *diversify* | 0 | rises by 1 | stays |
#
# The search ends when no target is left. This is a *Markov decision process* (MDP): rewards and next states depend only on
# the present state and action. The function `outcomes` describes it completely.

# %%
TOP, COVER, DIVERSIFY = 4, 0, 1
STATES = [(diversity, left) for diversity in range(TOP + 1) for left in range(1, 5)]


def outcomes(state, action):
    """What can happen: a list of (probability, reward, next state)."""
    diversity, left = state
    if action == DIVERSIFY:
        return [(1.0, 0, (min(TOP, diversity + 1), left))]
    chance, lower = diversity / TOP, max(0, diversity - 1)
    return [(chance, 1, (lower, left - 1)), (1 - chance, 0, (lower, left))]


def step(state, action, rng):
    """One reward and next state, drawn by their probabilities."""
    possible = outcomes(state, action)
    drawn = rng.choice(len(possible), p=[probability for probability, _, _ in possible])
    return possible[drawn][1:]


for action, name in enumerate(("cover", "diversify")):
    print(name, "in state (1, 4):", outcomes((1, 4), action))

# %% [markdown]
# ## Return and policy
#
# A *policy* says which action to take in each state. The *return* of an episode adds up its rewards. Later rewards count
# less, by the *discount* $\gamma$:
#
# $$G = R_1 + \gamma R_2 + \gamma^2 R_3 + \dots$$
#
# One reason for a discount: after each step the budget may be used up. If the search goes on with probability
# $\gamma = 0.9$, then $G$ is what it can expect to cover.
#
# We compare four simple policies. Each covers from some diversity $m$ on, and diversifies below. With $m = 1$ the policy is
# *greedy*: it covers whenever that can pay at all. All begin in the state (0, 4).

# %%
best_threshold = predict(
    "From which diversity on should the search cover? Predict the best m.",
    None,  # your prediction
)
best_threshold

# %%
GAMMA, EPISODES = 0.9, 300 if FAST else 3000


def threshold(m):
    """The policy that covers from the diversity m on."""
    return lambda state: COVER if state[0] >= m else DIVERSIFY


def simulated_return(policy, state, rng, gamma=GAMMA):
    """The return of one episode."""
    total, weight = 0.0, 1.0
    while state[1] > 0 and weight > 1e-4:
        reward, state = step(state, policy(state), rng)
        total += weight * reward
        weight *= gamma
    return total


rng = np.random.default_rng(0)
returns = [
    np.mean([simulated_return(threshold(m), (0, 4), rng) for _ in range(EPISODES)])
    for m in range(1, TOP + 1)
]
fig, ax = plt.subplots(figsize=(8, 2.6))
ax.bar(range(1, TOP + 1), returns, width=0.6)
best_threshold.draw(ax, axis="x")
ax.set(xlabel="cover from this diversity m on", ylabel="mean return", xticks=range(1, TOP + 1))
ax.set_title("Patience pays: the greedy policy (m = 1) has the lowest return")
plt.show()
best_threshold.compare(1 + int(np.argmax(returns)), tolerance=0)

# %% tags=["hidden"]
assert returns[0] < 0.75 * returns[3] and returns[1] < returns[3]

# %% [markdown]
# ## Value: the expected return from a state
#
# The *value* $v_\pi(s)$ of a state is the expected return of the policy $\pi$ from $s$ on. We could simulate it from every
# state. There is a better way. A return is the next reward plus the discounted return of the rest, so values obey
# *Bellman's equation*:
#
# $$v_\pi(s) = \sum_{\text{outcomes}} p \, \left( r + \gamma \, v_\pi(s') \right)$$
#
# The sum goes over the outcomes $(p, r, s')$ of the action that $\pi$ takes in $s$. The right side uses only the values of
# the next states. So start with values of 0 everywhere, and replace each value by its right side. Repeat until nothing
# changes.


# %%
def q_value(v, state, action, gamma=GAMMA):
    """The expected return of an action now, if the values of the next states are v."""
    return sum(p * (reward + gamma * v[after]) for p, reward, after in outcomes(state, action))


def policy_values(policy, sweeps=200):
    """The values of a policy, shape (diversity, targets left); no targets left: value 0."""
    v = np.zeros((TOP + 1, 5))
    for _ in range(sweeps):
        new = np.zeros_like(v)
        for state in STATES:
            new[state] = q_value(v, state, policy(state))
        v = new
    return v


print(" m   simulated   Bellman")
for m in range(1, TOP + 1):
    print(f"{m:2} {returns[m - 1]:11.3f} {policy_values(threshold(m))[0, 4]:9.3f}")

# %% tags=["hidden"]
exact = [policy_values(threshold(m))[0, 4] for m in range(1, TOP + 1)]
assert np.allclose(returns, exact, atol=0.15) and int(np.argmax(exact)) == 3

# %% [markdown]
# Both agree, up to the noise of the simulation. Bellman's equation needed no episode at all.
#
# ## The best policy
#
# The best policy takes the best action in each state. Its values $v_*$ obey Bellman's *optimality* equation, with a maximum
# over the actions $a$. The sum is the *action value* $q_*(s, a)$: the return of taking $a$ now and the best actions after it.
#
# $$v_*(s) = \max_a q_*(s, a), \qquad q_*(s, a) = \sum_{\text{outcomes of } a} p \, \left( r + \gamma \, v_*(s') \right)$$
#
# The same repetition solves it. It is called *value iteration*.


# %%
def value_iteration(gamma=GAMMA, sweeps=100):
    """The best values after these many sweeps."""
    v = np.zeros((TOP + 1, 5))
    for _ in range(sweeps):
        new = np.zeros_like(v)
        for state in STATES:
            new[state] = max(q_value(v, state, action, gamma) for action in (COVER, DIVERSIFY))
        v = new
    return v


def best_action(v, state, gamma=GAMMA):
    """The action with the larger action value; cover if they are equal."""
    return int(q_value(v, state, DIVERSIFY, gamma) > q_value(v, state, COVER, gamma) + 1e-9)


def draw_values(ax, gamma=GAMMA, sweeps=100):
    """A map of the values after these sweeps, with the first letter of the best action."""
    v, before = value_iteration(gamma, sweeps), value_iteration(gamma, sweeps - 1)
    ax.imshow(v[:, 1:], origin="lower", cmap="cividis", vmin=0, vmax=2.6, aspect="auto")
    for diversity, left in STATES:
        value = v[diversity, left]
        letter = "CD"[best_action(before, (diversity, left), gamma)]
        colour = "black" if value > 1.3 else "white"
        ax.text(
            left - 1, diversity, f"{letter} {value:.1f}", ha="center", va="center", color=colour
        )
    ax.set(xticks=range(4), xticklabels=range(1, 5), yticks=range(TOP + 1), xlabel="targets left")
    ax.grid(False)


# %%
fig, axes = plt.subplots(1, 4, sharey=True, figsize=(8, 3.2))
for ax, sweeps in zip(axes, (1, 2, 5, 100), strict=True):
    draw_values(ax, sweeps=sweeps)
    ax.set_title(f"{sweeps} sweep{'s' if sweeps > 1 else ''}")
axes[0].set_ylabel("diversity")
fig.suptitle("Each sweep carries the values of rewards one step further back", x=0.01, ha="left")
plt.show()

# %% [markdown]
# Each cell shows the best action, **C**over or **D**iversify, and the value. One sweep looks one step ahead, as a bandit
# does: it covers everywhere. Two sweeps look two steps ahead and diversify in some states. In the end, the best policy
# prepares fully while several targets are left. With one target left, it covers as soon as the diversity is 3.

# %%
best = value_iteration()
greedy_value, patient_value = (policy_values(threshold(m))[0, 4] for m in (1, 4))
print(f"from (0, 4): greedy {greedy_value:.2f}, m = 4 {patient_value:.2f}, best {best[0, 4]:.2f}")

# %% tags=["hidden"]
assert greedy_value < patient_value < best[0, 4]
one = value_iteration(sweeps=1)
assert not any(best_action(np.zeros_like(one), state) for state in STATES)
assert best_action(best, (2, 1)) and best_action(best, (3, 2)) and not best_action(best, (3, 1))

# %% [markdown]
# ## The discount is part of the task
#
# A smaller $\gamma$ means a search that may end sooner. Then preparation pays less.

# %%
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(8, 3.2))
for ax, gamma in zip(axes, (0.3, 0.7, 0.9), strict=True):
    draw_values(ax, gamma)
    ax.set_title(f"γ = {gamma}")
axes[0].set_ylabel("diversity")
fig.suptitle("The less the future counts, the sooner the best policy covers", x=0.01, ha="left")
plt.show()

# %% tags=["hidden"]
prepares = [
    sum(best_action(value_iteration(gamma), state, gamma) for state in STATES)
    for gamma in (0.3, 0.7, 0.9)
]
assert prepares[0] < prepares[1] < prepares[2]

# %% [markdown]
# ## The toy of this course
#
# `fitgym/Toy-v0` will be our test bench in the next lessons. An episode has a fixed number of steps $H$, and no discount. An
# action pays its rate, multiplied by what was made of the run so far:
#
# $$R = \text{rate} \cdot 1.15^{\min(n_\text{ground}, 5)} \cdot 0.93^{n_\text{mirage}}$$
#
# | action | rate | meaning |
# |---|---|---|
# | steady | 0.4 | always helps a little |
# | fading | $0.9 \cdot 0.85^{n_\text{fading}}$ | its targets get covered |
# | rising | $0.8 \cdot t / (H - 1)$ | worth nothing early, much late |
# | mirage | 0.9 | pays at once and harms everything that follows |
# | ground | 0 | pays nothing, and up to five of it raise everything that follows |
#
# Here $n_a$ is how often action $a$ was taken before, and $t$ is the step, from 0.

# %%
grounds = predict(
    "An episode has 20 steps. How often does the best policy take ground, which pays nothing?",
    None,  # your prediction
)
grounds

# %% [markdown]
# The toy has an end and no chance, so one recursion suffices. The value after the last step is 0. Before it, take the
# action with the largest reward plus value of the next state. A cache keeps each state from being computed twice.

# %%
HORIZON = 20


def reward(action, t, fading, mirage, ground):
    """What an action pays in step t, after these numbers of uses."""
    rates = {
        "steady": 0.4,
        "fading": 0.9 * 0.85**fading,
        "rising": 0.8 * t / (HORIZON - 1),
        "mirage": 0.9,
        "ground": 0.0,
    }
    return rates[action] * 1.15**ground * 0.93**mirage


@cache
def best_from(t, fading=0, mirage=0, ground=0):
    """The best return from this state on, and the action that leads there."""
    if t == HORIZON:
        return 0.0, ""
    choices = []
    for action in ACTIONS:
        after = (
            fading + (action == "fading"),
            mirage + (action == "mirage"),
            min(5, ground + (action == "ground")),
        )
        now = reward(action, t, fading, mirage, ground)
        choices.append((now + best_from(t + 1, *after)[0], action))
    return max(choices)


print(f"our best return: {best_from(0)[0]:.4f}, fitgym's: {optimum(HORIZON)[0]:.4f}")

# %% tags=["hidden"]
assert abs(best_from(0)[0] - optimum(HORIZON)[0]) < 1e-9


# %%
def episode(choose):
    """The actions and rewards of an episode; `choose` is called with the environment."""
    env = gymnasium.make("fitgym/Toy-v0", horizon=HORIZON).unwrapped
    env.reset(seed=0)
    rewards = [env.step(choose(env))[1] for _ in range(HORIZON)]
    return env.actions_taken, np.array(rewards)


def pays_most_now(env):
    """The action with the largest next reward: it tries each on a copy."""
    return int(np.argmax([env.fork().step(action)[1] for action in range(len(ACTIONS))]))


rng = np.random.default_rng(0)
policies = {
    "best policy": (lambda env: env.best_action(), "k"),
    "random choice": (lambda env: rng.integers(len(ACTIONS)), "#7f7f7f"),
    "largest next reward": (pays_most_now, "#D55E00"),
}
fig, ax = plt.subplots()
played = {}
for name, (choose, colour) in policies.items():
    played[name] = episode(choose)
    earned = played[name][1].cumsum()
    ax.plot(range(1, HORIZON + 1), earned, color=colour, label=f"{name}: {earned[-1]:.1f}")
ax.set(xlabel="step", ylabel="return so far", xticks=range(0, HORIZON + 1, 5))
ax.set_title("The best policy earns nothing for five steps, and most in the end")
ax.legend()
plt.show()
grounds.compare(list(played["best policy"][0]).count("ground"), tolerance=0)

# %%
for name in ("best policy", "largest next reward"):
    print(f"{name}:", *played[name][0])

# %% tags=["hidden"]
actions, rewards = played["best policy"]
assert list(actions[:5]) == ["ground"] * 5 and rewards[:5].sum() == 0
assert rewards.sum() > 1.7 * played["largest next reward"][1].sum()

# %% [markdown]
# The rule that takes the largest next reward chooses *mirage* again and again, which harms all that follows. A bandit tries to
# learn exactly this rule. The better it learns, the worse it does here.
#
# ## Exercises
#
# **1. A return.** Write the return of a list of rewards: a function of `rewards` and `gamma`.


# %% tags=["check"]
def check_discounted_return(answer):
    if abs(answer([1.0], 0.5) - 1) > 1e-9:
        return f"The first reward counts in full: the return of [1.0] is 1, yours is {answer([1.0], 0.5):g}."
    for rewards, gamma in (([0.0, 0.0, 8.0], 0.5), ([1.0, 2.0, 3.0, 4.0], 0.9), ([], 0.9)):
        expected = sum(gamma**k * reward for k, reward in enumerate(rewards))
        if abs(answer(rewards, gamma) - expected) > 1e-9:
            return (
                f"The return of {rewards} with gamma {gamma} is {expected:g}, "
                f"yours is {answer(rewards, gamma):g}."
            )


# %% tags=["exercise"]
def discounted_return(rewards, gamma): ...  # your answer


# %%
exercise(
    "discounted_return",
    discounted_return,
    check_discounted_return,
    hint="The reward after k earlier ones weighs gamma to the power of k.",
)

# %% [markdown]
# **2. Values of random choice.** Write one sweep for the policy that takes *cover* or *diversify* with equal probability. The
# function gets `q`, an array of action values with the shape (states, 2), and returns the values of the states. Then the
# harder half: with the argument `epsilon` the policy takes the best action, and with probability `epsilon` a random one.


# %% tags=["check"]
def check_sweep(answer):
    q = np.array([[1.0, 3.0], [2.0, 0.0], [4.0, 4.0]])
    for epsilon, expected in ((1.0, [2, 1, 4]), (0.0, [3, 2, 4]), (0.2, [2.8, 1.8, 4])):
        got = np.asarray(answer(q, epsilon), float)
        if got.shape != (3,):
            return f"The result has the shape {got.shape}, expected one value for each of 3 states."
        if not np.allclose(got, expected):
            return f"With q = {q.tolist()} and epsilon {epsilon} the values are {expected}, yours {got.tolist()}."


# %% tags=["exercise"]
def sweep(q, epsilon): ...  # your answer


# %%
exercise(
    "sweep",
    sweep,
    check_sweep,
    hint="A random action is worth the mean of a row. It may be the best action by luck.",
)

# %% [markdown]
# **3. How much future is enough?** In the state (1, 4), *cover* pays with probability 1/4. For small discounts the best policy
# covers there, for large ones it diversifies. Find the discount at which it changes, to two decimals.


# %% tags=["check"]
def check_turning_point(answer):
    if not 0 <= answer <= 1:
        return f"{answer} is no discount: expected a number from 0 to 1."
    below, above = (
        best_action(value_iteration(gamma), (1, 4), gamma)
        for gamma in (answer - 0.011, answer + 0.011)
    )
    if below == DIVERSIFY:
        return f"The best policy diversifies already at {answer - 0.01:.2f}."
    if above == COVER:
        return f"The best policy still covers at {answer + 0.01:.2f}."


# %% tags=["exercise"]
turning_point = ...  # your answer

# %%
exercise(
    "turning_point",
    turning_point,
    check_turning_point,
    hint="Call `best_action(value_iteration(gamma), (1, 4), gamma)` for some values of gamma.",
)

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "What is the value of a state?",
        (
            "the next reward in it",
            "the expected return from it on, under some policy",
            "the largest reward that was ever seen in it",
        ),
        1,
        "A value always belongs to a policy. Without a policy, the best policy is meant.",
    ),
    Question(
        "The rewards are 0, 0, 8 and γ is 0.5. What is the return?",
        ("1", "2", "8"),
        1,
        "8 comes after two steps and weighs 0.5 · 0.5.",
    ),
    Question(
        "Why does one sweep of value iteration act like a bandit?",
        (
            "It begins with values of 0, so only the next reward counts",
            "It explores too little",
            "It uses a large discount",
        ),
        0,
        "After n sweeps, the values include the next n rewards.",
    ),
    Question(
        "What does value iteration need that a real search does not offer?",
        ("a fast computer", "the probabilities of all outcomes", "a discount"),
        1,
        "A real search has no function `outcomes`. Lesson 09 learns values from experience.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **A known world.** All computations used `outcomes` or the formula of the toy. A test generator has neither.
# * **Few states.** Our search has 20 states. Two more numbers with five levels each would make 500. Tables do not scale, which
#   is why lesson 09 uses features.
# * **The discount is a choice.** A policy that is best for γ = 0.9 may be poor for the budget that you have.
# * **A toy made for values.** In `Toy-v0` nearly everything depends on the future. Real rewards may follow at once, and then a
#   bandit with context is enough (lesson 07).
#
# ## Next
#
# Lesson 09 learns values from rewards alone, without knowing the world.
