# %% [markdown]
# # 07 How can an agent learn more from every try?
#
# A bandit learns only about the action that it tries. Three ideas get more out of the same try: a *belief* about each
# action, the *context* of the decision, and the *parts* of an action.
#
# **Time:** 30 minutes.
# **You need:** lesson 06, the normal distribution, linear regression.
# **You will be able to:** write Thompson sampling, LinUCB and a factored bandit, and say when each of them helps.

# %% tags=["setup"]
import os
from importlib.metadata import version

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.agents.base import Transition, make
from fitgym.course import Question, exercise, predict, quiz
from fitgym.formulas.landscapes import ACTIONS, FEATURES

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
COLOURS = {
    "ucb": "#0072B2",
    "thompson": "#009E73",
    "linucb": "#56B4E9",
    "factored_ucb": "#E69F00",
    "uniform": "#7f7f7f",
}
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## 1. A belief about each action
#
# UCB keeps one number for each action: its bound. *Thompson sampling* keeps a probability distribution. It describes what
# the agent believes about the mean reward $\mu_a$ of action $a$.
#
# Suppose that rewards have the standard deviation $\sigma$, and that the belief before the first try is
# $\mathcal N(0, \sigma^2)$. After $N$ rewards with the sum $S$, Bayes' rule gives
#
# $$\mu_a \sim \mathcal N\left( \frac{S}{N + 1},\ \frac{\sigma^2}{N + 1} \right)$$
#
# To decide, the agent draws one number from each belief and takes the action with the largest draw. It takes an action
# exactly as often as it believes this action to be the best.

# %%
SIGMA = 0.5
CHANCES = np.linspace(0.2, 0.8, 5)  # five actions pay 1 with these probabilities, otherwise 0


def belief(counts, sums):
    """Mean and standard deviation of what is believed about each action."""
    return sums / (counts + 1), SIGMA / np.sqrt(counts + 1)


def thompson(counts, sums, rng):
    """The action with the largest draw."""
    return int(rng.normal(*belief(counts, sums)).argmax())


def bounds(counts, sums, c=2**0.5):
    """The upper confidence bounds of lesson 06; the last axis has the actions."""
    t = np.maximum(1, counts.sum(axis=-1, keepdims=True))
    tries = np.maximum(counts, 1e-9)
    return np.where(counts > 0, sums / tries + c * np.sqrt(np.log(t) / tries), 1e6)


def ucb(counts, sums, rng):
    """The action with the largest bound."""
    return int(bounds(counts, sums).argmax())


def play(rule, steps, seed):
    """One run: tries and sums of rewards of each action, and the regret after each step."""
    rng, k = np.random.default_rng(seed), len(CHANCES)
    counts, sums, lost = np.zeros(k), np.zeros(k), np.zeros(steps)
    for t in range(steps):
        action = rule(counts, sums, rng)
        counts[action] += 1
        sums[action] += rng.random() < CHANCES[action]
        lost[t] = CHANCES.max() - CHANCES[action]
    return counts, sums, lost.cumsum()


# %%
fig, axes = plt.subplots(1, 2, sharey=True)
levels = np.linspace(-0.4, 1.4, 300)
for ax, steps in zip(axes, (20, 500), strict=True):
    counts, sums, _ = play(thompson, steps, seed=4)
    for chance, mean, deviation, tries in zip(CHANCES, *belief(counts, sums), counts, strict=True):
        bell = np.exp(-0.5 * ((levels - mean) / deviation) ** 2)
        (line,) = ax.plot(levels, bell, label=f"{chance:.2f}, {tries:.0f} tries")
        ax.axvline(chance, ymax=0.05, color=line.get_color())
    ax.set(xlabel="mean reward", ylim=(0, 1.75), yticks=[])
    ax.legend(title="true mean", ncols=2, loc="upper center", fontsize=8)
axes[0].set(ylabel="belief (height 1)", title="After 20 steps all actions are possible")
axes[1].set(title="After 500 steps only the best belief is narrow")
plt.show()

# %% [markdown]
# The agent never learns exactly how bad the bad actions are. It only needs to know that they are not the best.

# %%
thompson_regret = predict(
    "After 500 steps UCB has a regret of about 60. What is the regret of Thompson sampling?",
    None,  # your prediction
)
thompson_regret

# %%
RUNS = 40 if FAST else 200
rules = {"ucb": ucb, "thompson": thompson}
regret = {
    name: np.array([play(rule, 500, seed)[2] for seed in range(RUNS)])
    for name, rule in rules.items()
}
fig, ax = plt.subplots()
for name, lost in regret.items():
    ax.plot(lost.mean(axis=0), color=COLOURS[name], label=f"{name}, mean")
    ax.plot(np.quantile(lost, 0.95, axis=0), ":", color=COLOURS[name], label=f"{name}, unlucky run")
thompson_regret.draw(ax)
ax.set(xlabel="step t", ylabel="regret", title="Thompson sampling loses less than UCB")
ax.legend()
plt.show()
thompson_regret.compare(regret["thompson"][:, -1].mean(), tolerance=0.2)

# %% tags=["hidden"]
ends = {name: lost[:, -1].mean() for name, lost in regret.items()}
assert 50 < ends["ucb"] < 70 and ends["thompson"] < 0.6 * ends["ucb"]

# %% [markdown]
# Both rules explore. UCB uses a bound that holds for any rewards in $[0, 1]$, which is more caution than these rewards
# need. The belief fits them better.
#
# fitgym's agent `thompson` has the same belief. Both see the same 100 rewards:

# %%
rng = np.random.default_rng(0)
agent = make("thompson:sigma=0.5,normalise=none", gymnasium.spaces.Discrete(5))
counts, sums = np.zeros(5), np.zeros(5)
for _ in range(100):
    action, reward = int(rng.integers(5)), float(rng.random())
    agent.observe(Transition(None, action, reward, None))
    counts[action] += 1
    sums[action] += reward
print("our means:   ", belief(counts, sums)[0].round(4))
print("fitgym means:", agent.posterior()[0].round(4))

# %% tags=["hidden"]
assert np.allclose(belief(counts, sums), agent.posterior())

# %% [markdown]
# ## 2. The context of the decision
#
# The best action often depends on the state of the search. `fitgym/Landscapes-v0` is a model of a search on a program with
# twelve parts. Some parts can be opened, most cannot. The agent has 30 decisions. In each it chooses where the search should
# look next: *stay* with the part, take the *first*, *second* or *third* part that is offered, the *nearest*, the most
# *promising*, or the *whole* program. The reward is the share of branches that were newly covered.
#
# Before each decision the agent sees a vector $x$ of 71 numbers: nine features of the part that each action points to, the
# last action, and the time. A *contextual bandit* predicts the reward of each action from $x$.

# %%
env = gymnasium.make("fitgym/Landscapes-v0")
seen, _ = env.reset(seed=0)
print("actions: ", *ACTIONS)
print("features:", *FEATURES)
print("x has", len(seen), "entries, such as", env.unwrapped.feature_names[:3])

# %% [markdown]
# *LinUCB* (Li, Chu, Langford and Schapire 2010) has a linear regression for each action. With the features $x_s$ and the
# rewards $R_s$ of all steps $s$ in which $a$ was taken:
#
# $$M_a = I + \sum_s x_s x_s^\top \qquad b_a = \sum_s R_s x_s \qquad \theta_a = M_a^{-1} b_a$$
#
# The predicted reward is $\theta_a^\top x$. Its uncertainty is $\sqrt{x^\top M_a^{-1} x}$: large if the agent has rarely taken
# $a$ in situations like $x$. LinUCB is optimistic, as UCB is:
#
# $$A = \arg\max_a \left[ \theta_a^\top x + \alpha \sqrt{x^\top M_a^{-1} x} \right]$$


# %%
class LinUCB:
    """A ridge regression for each of k actions on d features."""

    def __init__(self, k, d, alpha):
        self.inverse = np.stack([np.eye(d)] * k)  # of M
        self.b, self.theta, self.alpha = np.zeros((k, d)), np.zeros((k, d)), alpha

    def bounds(self, x):
        """The bounds of all actions, for each row of x."""
        variance = np.stack([((x @ inverse) * x).sum(axis=1) for inverse in self.inverse], axis=1)
        return x @ self.theta.T + self.alpha * np.sqrt(variance)

    def learn(self, x, action, reward):
        """One step. The inverse is updated by the formula of Sherman and Morrison."""
        inverse = self.inverse[action]
        ahead = inverse @ x
        inverse -= np.outer(ahead, ahead) / (1 + x @ ahead)
        self.b[action] += reward * x
        self.theta[action] = inverse @ self.b[action]


# %% [markdown]
# We let twenty searches run side by side. They share one agent, which learns from all of them. After 30 decisions each
# search begins again on another program. This is one *round*.

# %%
N, DECISIONS = 20, 30


def with_one(x):
    """The features and a constant 1."""
    return np.hstack([x, np.ones((len(x), 1))])


def covered(act, learn, rounds, seed):
    """The share of branches that the searches of each round cover, shape (rounds,)."""
    env = gymnasium.make_vec("fitgym/Landscapes-v0", num_envs=N)
    seen, _ = env.reset(seed=seed)
    totals = np.zeros((rounds, N))
    for each_round in totals:
        running = np.ones(N, bool)
        for _ in range(DECISIONS):
            actions = act(seen)
            after, rewards, ended, _, _ = env.step(actions)
            each_round[running] += rewards[running]
            for i in np.flatnonzero(running):
                learn(seen[i], actions[i], 30 * rewards[i])  # about 1 on average
            running &= ~ended
            seen = after
        seen, _ = env.reset()
    return totals.mean(axis=1)


# %%
linucb_share = predict(
    "Random choice covers 61 % of the branches. How many does LinUCB cover in the end?",
    None,  # your prediction
    unit="%",
)
linucb_share


# %%
def run_linucb(rounds, seed, columns=slice(None), alpha=0.3):
    """LinUCB that sees only these columns of x."""
    agent = LinUCB(len(ACTIONS), 1 + len(seen[columns]), alpha)
    return covered(
        lambda x: agent.bounds(with_one(x[:, columns])).argmax(axis=1),
        lambda x, action, reward: agent.learn(np.append(x[columns], 1), action, reward),
        rounds,
        seed,
    )


def run_ucb(rounds, seed):
    """UCB1, which sees nothing but rewards."""
    counts, sums = np.zeros(len(ACTIONS)), np.zeros(len(ACTIONS))

    def learn(x, action, reward):
        counts[action] += 1
        sums[action] += reward

    return covered(lambda x: np.full(N, bounds(counts, sums).argmax()), learn, rounds, seed)


def run_uniform(rounds, seed):
    """Random choice."""
    rng = np.random.default_rng(seed)
    return covered(lambda x: rng.integers(len(ACTIONS), size=N), lambda *_: None, rounds, seed)


# %%
ROUNDS, SEEDS = (8, 2) if FAST else (15, 3)
runs = {"linucb": run_linucb, "ucb": run_ucb, "uniform": run_uniform}
shares = {
    name: 100 * np.array([run(ROUNDS, seed) for seed in range(SEEDS)]) for name, run in runs.items()
}
fig, ax = plt.subplots()
for name, share in shares.items():
    ax.plot(range(1, ROUNDS + 1), share.T, ".", color=COLOURS[name], alpha=0.4)
    ax.plot(range(1, ROUNDS + 1), share.mean(axis=0), color=COLOURS[name], label=name)
linucb_share.draw(ax)
ax.set(xlabel="round (20 searches each)", ylabel="covered branches (%)", ylim=(45, 90))
ax.set_title("With the context LinUCB learns where to look; UCB stays near chance")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
linucb_share.compare(shares["linucb"][:, -4:].mean(), tolerance=0.05)

# %% tags=["hidden"]
late = {name: share[:, -4:].mean() for name, share in shares.items()}
assert late["linucb"] > late["ucb"] + 8 and late["linucb"] > 73, late
assert abs(late["ucb"] - late["uniform"]) < 8, late

# %% [markdown]
# **Here learning pays.** No action is the best in all situations, so a rule that ignores the situation cannot win. LinUCB
# needs a few rounds, because it has 7 regressions with 72 weights each.
#
# fitgym's agent `linucb:features=observation` is the same rule:

# %%
rng = np.random.default_rng(0)
ours = LinUCB(3, 4, alpha=0.3)
theirs = make("linucb:features=observation,alpha=0.3,normalise=none", gymnasium.spaces.Discrete(3))
for _ in range(100):
    x, action, reward = rng.random(3), int(rng.integers(3)), float(rng.random())
    ours.learn(np.append(x, 1), action, reward)
    theirs.observe(Transition(x, action, reward, x))
x = rng.random(3)
print("our bounds:   ", ours.bounds(with_one(x[None]))[0].round(4))
print("fitgym bounds:", theirs.bounds(x).round(4))

# %% tags=["hidden"]
assert np.allclose(ours.bounds(with_one(x[None]))[0], theirs.bounds(x))

# %% [markdown]
# ## 3. The parts of an action
#
# In real runs an action is often a *set*: which fitness functions should be active? Six functions have 64 sets. A try of
# {branch, line} says something about every set that contains *branch*. UCB ignores that.
#
# A *factored* bandit has two values for each function: one for *in* and one for *out*. That makes 12 numbers in place of 64.
# It chooses each function by itself. With a small probability it takes a random value, so that two functions do not
# always change together.

# %%
EFFECTS = np.array([0.25, 0.15, 0.10, -0.05, -0.10, -0.15])  # of each function on the reward
SETS = (np.arange(64)[:, None] >> np.arange(6)) & 1  # all sets, a row of six bits each


def value(bits):
    """The mean reward of a set; a reward has a noise of 0.2."""
    return 0.4 + bits @ EFFECTS


def ucb_on_sets(value, steps, rng, c=0.5):
    """The mean rewards of the sets that UCB takes."""
    counts, sums, earned = np.zeros(64), np.zeros(64), np.zeros(steps)
    tie_breaker = 1e-6 * rng.random(64)
    for t in range(steps):
        action = (bounds(counts, sums, c) + tie_breaker).argmax()
        earned[t] = value(SETS[action])
        counts[action] += 1
        sums[action] += earned[t] + 0.2 * rng.normal()
    return earned


def factored(value, steps, rng, c=0.5, epsilon=0.1):
    """The same for a bandit that rates the two values of each bit."""
    counts, sums, earned = np.zeros((6, 2)), np.zeros((6, 2)), np.zeros(steps)
    for t in range(steps):
        bits = bounds(counts, sums, c).argmax(axis=1)
        bits = np.where(rng.random(6) < epsilon, rng.integers(2, size=6), bits)
        earned[t] = value(bits)
        counts[range(6), bits] += 1
        sums[range(6), bits] += earned[t] + 0.2 * rng.normal()
    return earned


# %%
def mean_curve(agent, value, steps=180, runs=100):
    """The mean over many runs."""
    chance = np.random.default_rng(0)
    return np.mean([agent(value, steps, chance) for _ in range(runs)], axis=0)


fig, ax = plt.subplots()
curves = {"factored_ucb": mean_curve(factored, value), "ucb": mean_curve(ucb_on_sets, value)}
for name, curve in curves.items():
    ax.plot(curve, color=COLOURS[name], label=name)
ax.axhline(0.9, color="k", linestyle="--", label="best set")
ax.axhline(0.5, color=COLOURS["uniform"], linestyle=":", label="random sets")
ax.set(xlabel="decision", ylabel="mean reward", ylim=(0, 1))
ax.set_title("The factored bandit is good before UCB has tried every set once")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% tags=["hidden"]
assert curves["factored_ucb"][50:60].mean() > 0.75
assert curves["ucb"][:60].mean() < 0.55
assert curves["factored_ucb"].mean() > curves["ucb"].mean() + 0.1

# %% [markdown]
# UCB needs 64 decisions for its first tries. The factored bandit has 12 estimates, and every decision updates six of them.
# fitgym's agent `factored_ucb` is this rule. In the longer runs of the project's benchmark (374 decisions, goal diversity) it
# beats random choice with A12 = 0.92, and `ucb` does with 0.85. Neither is shown to beat the best fixed set.
#
# ## Exercises
#
# **1. Thompson's draw.** Write the decision of Thompson sampling for beliefs that are *uniform* between `low` and `high`, two
# arrays with a number for each action. The function returns the number of an action and draws with the generator `rng`.


# %% tags=["check"]
def check_uniform_beliefs(answer):
    rng = np.random.default_rng(0)
    low, high = np.array([0.0, 0.4, 0.2]), np.array([1.0, 0.6, 0.3])
    taken = np.array([int(answer(low, high, rng)) for _ in range(4000)])
    shares = [float(np.mean(taken == action)) for action in range(3)]
    if len(set(taken.tolist())) == 1:
        return "It always takes the same action. Thompson sampling draws, so its choices vary."
    if shares[2] > 0.01:
        return (
            "Action 2 is at most 0.3, and action 1 is at least 0.4. Action 2 cannot have the largest "
            f"draw, but you take it in {shares[2]:.0%} of the decisions."
        )
    if abs(shares[0] - 0.5) > 0.04:
        return f"Action 0 has the largest draw in half of the decisions; you take it in {shares[0]:.0%}."


# %% tags=["exercise"]
def uniform_beliefs(low, high, rng): ...  # your answer


# %%
exercise(
    "uniform_beliefs",
    uniform_beliefs,
    check_uniform_beliefs,
    hint="One draw for each action, then the action with the largest draw.",
)

# %% [markdown]
# **2. What is worth seeing?** LinUCB sees nine features of the part that each action points to:
#
# | feature | meaning |
# |---|---|
# | covered | share of the part's branches that are covered |
# | distance | how far the nearest uncovered branch is |
# | gain, approach | what the last decision for the part brought: new branches, a smaller distance |
# | spent, idle | decisions spent on the part, and those since it last came nearer |
# | size, nesting, ahead | branches of the part, depth of its conditions, branches that wait behind them |
#
# Choose **at most two** of them with which LinUCB covers at least 73 % in rounds 5 to 8. All nine give about 78 %. Answer
# with a list of names.


# %% tags=["check"]
def check_two_features(answer):
    names = [answer] if isinstance(answer, str) else list(answer)
    if len(names) > 2 or not set(names) <= set(FEATURES):
        return f"Choose one or two of these names: {', '.join(FEATURES)}."
    columns = [
        len(FEATURES) * pointer + FEATURES.index(name)
        for pointer in range(len(ACTIONS))
        for name in names
    ]
    share = np.mean([run_linucb(8, seed, columns)[4:].mean() for seed in range(2)])
    if share < 0.73:
        return f"With {' and '.join(names)} LinUCB covers {share:.0%}. Random choice covers 61 %."


# %% tags=["exercise"]
two_features = ...  # your answer

# %%
exercise(
    "two_features",
    two_features,
    check_two_features,
    hint="A part wastes time after many tries without success, or when little is left in it.",
)

# %% [markdown]
# **3. Fool the factored bandit.** It assumes that each function helps or harms by itself. Write a `value` of six bits,
# between 0 and 1, with which UCB earns clearly more than the factored bandit in 180 decisions: 0.04 more per decision.
# This is harder than it looks.


# %% tags=["check"]
def check_trap(answer):
    values = np.array([float(answer(bits)) for bits in SETS])
    if values.min() < 0 or values.max() > 1:
        return f"The values are between {values.min():.2f} and {values.max():.2f}, expected 0 to 1."
    parts = mean_curve(factored, answer, runs=50).mean()
    whole = mean_curve(ucb_on_sets, answer, runs=50).mean()
    if whole < parts + 0.04:
        return f"UCB earns {whole:.2f} per decision, and the factored bandit {parts:.2f}."


# %% tags=["exercise"]
def trap(bits): ...  # your answer


# %%
exercise(
    "trap",
    trap,
    check_trap,
    hint="The two values of a bit must look equal on average, whatever the other bits are.",
)

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "An agent of Thompson sampling believes with 20 % that action 3 is the best. How often does it take action 3?",
        ("never", "in 20 % of such decisions", "always, until it is sure"),
        1,
        "It takes each action with the probability that this action is the best one.",
    ),
    Question(
        "When does a context help?",
        (
            "always",
            "when the best action differs between situations that the context tells apart",
            "when there are many actions",
        ),
        1,
        "If one action is the best everywhere, a bandit without context finds it with fewer tries.",
    ),
    Question(
        "LinUCB has 7 actions and 72 features. How many weights does it learn?",
        ("72", "79", "504"),
        2,
        "Each action has a regression of its own: 7 times 72. That is why it needs several rounds.",
    ),
    Question(
        "Six functions can be in or out. How many values does a factored bandit estimate?",
        ("6", "12", "64"),
        1,
        "Two values for each function: the mean reward when it is in, and when it is out.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **Helpful features.** The features of `Landscapes-v0` were designed to be useful, and its programs resemble each
#   other. Lesson 14 asks whether such learning transfers to real modules.
# * **Twenty searches at once.** LinUCB learned from hundreds of searches. One run on one module has about 180 decisions.
# * **An additive world.** `EFFECTS` are a sum by construction, which is the assumption of the factored bandit. Exercise 3 breaks
#   it.
# * **Only the next reward.** All agents so far credit a reward to the last action. An action that pays later looks useless.
#
# ## Next
#
# Lesson 08 gives a value to actions that pay later.
