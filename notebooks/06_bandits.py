# %% [markdown]
# # 06 Which option next, when only the chosen one pays?
#
# Every few generations an agent chooses a fitness function for the search. It sees the reward of its choice, and never
# the rewards of the other choices. This problem is called a *bandit*.
#
# **Time:** 25 minutes.
# **You need:** means, logarithms, numpy arrays.
# **You will be able to:** write the rule UCB, measure its regret, and say for which runs it has too little time.

# %% tags=["setup"]
import csv
import os
from collections import defaultdict
from importlib.metadata import version

import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

from fitgym.agents.base import Transition
from fitgym.agents.ucb import UCB
from fitgym.course import Question, exercise, predict, quiz
from fitgym.study.comparison import contrast
from fitgym.study.verdict import judge

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
COLOURS = {"ucb": "#0072B2", "greedy": "#D55E00", "uniform": "#7f7f7f"}
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## The problem
#
# In step $t$ the agent chooses an action $A_t$ out of $k$ and receives a reward $R_t$. It wants a large sum of rewards.
# Two wishes conflict. *Exploitation*: repeat the action that has paid most so far. *Exploration*: try the others, because
# their low means may be bad luck.
#
# Suppose that 50 steps are over. All rewards are between 0 and 1.
#
# | action | tries | mean reward |
# |---|---|---|
# | branch | 40 | 0.62 |
# | line | 5 | 0.55 |
# | output | 5 | 0.30 |

# %%
next_action = predict(
    "Which action should come next?",
    None,  # your prediction
    choices=("branch", "line", "output"),
)
next_action

# %% [markdown]
# ## How wrong can a mean be?
#
# Five tries tell less than forty. Hoeffding's inequality says how much less. Take $N$ independent rewards in $[0, 1]$.
# Their mean is too low by $u$ or more with a probability of at most $e^{-2 N u^2}$.
#
# We want a small probability that shrinks over time, such as $t^{-4}$. We set both equal and solve for $u$:
#
# $$e^{-2 N u^2} = t^{-4} \quad\Rightarrow\quad u = \sqrt{\frac{2 \ln t}{N}}$$
#
# So the true value of action $a$ is almost certainly below its *upper confidence bound*. With $Q_t(a)$ the mean reward of
# $a$ and $N_t(a)$ the number of its tries:
#
# $$\text{bound}_t(a) = Q_t(a) + c \sqrt{\frac{\ln t}{N_t(a)}}, \qquad c = \sqrt 2$$
#
# The rule *UCB1* takes the action with the largest bound (Auer, Cesa-Bianchi and Fischer 2002). If the action is good,
# the reward is high. If it is bad, its bound falls, and the rule soon prefers another action.

# %%
UNTRIED = 1e6  # the bound of an action without a try: such actions come first


def ucb(counts, sums, c=2**0.5):
    """The upper confidence bounds; the last axis of the arrays has the actions."""
    t = np.maximum(1, counts.sum(axis=-1, keepdims=True))
    tries = np.maximum(counts, 1e-9)
    return np.where(counts > 0, sums / tries + c * np.sqrt(np.log(t) / tries), UNTRIED)


def greedy(counts, sums):
    """The mean rewards: no bonus for exploration."""
    return ucb(counts, sums, c=0.0)


names = ("branch", "line", "output")
counts, means = np.array([40, 5, 5]), np.array([0.62, 0.55, 0.30])
bounds = ucb(counts, counts * means)
print(dict(zip(names, bounds.round(2).tolist(), strict=True)))

# %%
fig, ax = plt.subplots(figsize=(8, 2.4))
ax.hlines(range(3), means, bounds, color=COLOURS["ucb"])
ax.plot(means, range(3), "o", color=COLOURS["ucb"], label="mean reward")
ax.plot(bounds, range(3), ">", color=COLOURS["ucb"], markersize=10, label="upper confidence bound")
ax.set_yticks(range(3), names)
for y, tries in enumerate(counts):
    ax.annotate(f"{tries} tries", (means[y], y), (0, 8), textcoords="offset points", ha="center")
next_action.draw(ax, axis="y")
ax.set(xlabel="reward", xlim=(0, 2), ylim=(-0.5, 2.7))
ax.invert_yaxis()
ax.set_title("Few tries, high bound: line comes next")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
next_action.compare(names[bounds.argmax()])

# %% tags=["hidden"]
assert names[bounds.argmax()] == "line" and bounds[2] > bounds[0]

# %% [markdown]
# Even *output* has a higher bound than *branch*, although it paid half as much.
#
# fitgym's agent `ucb` computes the same bounds. Here both watch 100 random actions with random rewards.

# %%
rng, agent = np.random.default_rng(0), UCB(3, names, c=np.sqrt(2), normalise="none")
counts, sums = np.zeros(3), np.zeros(3)
largest_difference = 0.0
for _ in range(100):
    action, reward = int(rng.integers(3)), float(rng.random())
    agent.observe(Transition(None, action, reward, None))
    counts[action] += 1
    sums[action] += reward
    if counts.min() > 0:
        difference = np.abs(agent.indices() - ucb(counts, sums)).max()
        largest_difference = max(largest_difference, difference)
print("ours:  ", ucb(counts, sums).round(4))
print("fitgym:", agent.indices().round(4))
print(f"largest difference in 100 steps: {largest_difference:.0e}")

# %% tags=["hidden"]
assert largest_difference < 1e-6

# %% [markdown]
# ## Regret: what exploration costs
#
# Five actions pay 1 with probability 0.2, 0.35, 0.5, 0.65 and 0.8, and otherwise 0. The *regret* after $t$ steps is the expected
# reward that was lost so far, compared with always taking the best action.
#
# The function below plays many runs at once. Row $i$ of each array belongs to run $i$.

# %%
RUNS = 500 if FAST else 2000


def play(rule, chances, runs=RUNS, discount=1.0, seed=0):
    """The loss of each run in each step, shape (runs, T); `chances` has the shape (T, k)."""
    rng = np.random.default_rng(seed)
    horizon, k = chances.shape
    counts, sums, lost = np.zeros((runs, k)), np.zeros((runs, k)), np.zeros((runs, horizon))
    each = np.arange(runs)
    tie_breaker = 1e-6 * rng.random((runs, k))
    for t in range(horizon):
        actions = (rule(counts, sums) + tie_breaker).argmax(axis=1)
        rewards = rng.random(runs) < chances[t, actions]
        counts, sums = discount * counts, discount * sums  # a discount below 1 forgets: exercise 3
        counts[each, actions] += 1
        sums[each, actions] += rewards
        lost[:, t] = chances[t].max() - chances[t, actions]
    return lost


# %%
greedy_regret = predict(
    "What is the mean regret of greedy after 2000 steps? Random choice has a regret of 600.",
    None,  # your prediction
)
greedy_regret

# %%
rng = np.random.default_rng(1)
rules = {"greedy": greedy, "ucb": ucb, "uniform": lambda counts, sums: rng.random(counts.shape)}
five_actions = np.tile(np.linspace(0.2, 0.8, 5), (2000, 1))
regret = {name: play(rule, five_actions).cumsum(axis=1) for name, rule in rules.items()}

fig, (left, right) = plt.subplots(1, 2, sharex=True, sharey=True)
for name, lost in regret.items():
    left.plot(lost.mean(axis=0), color=COLOURS[name], label=name)
    right.plot(np.quantile(lost, 0.95, axis=0), color=COLOURS[name], label=name)
greedy_regret.draw(left)
left.set(
    xlabel="step t", ylabel="regret", ylim=(0, 640), title="Mean: greedy loses about as much as UCB"
)
right.set(xlabel="step t", title="Unlucky run (1 in 20): greedy equals chance")
left.legend()
plt.show()
greedy_regret.compare(regret["greedy"][:, -1].mean())

# %%
print("regret      median   mean   unlucky run")
for name, lost in regret.items():
    end = lost[:, -1]
    print(f"{name:10} {np.median(end):7.0f} {end.mean():6.0f} {np.quantile(end, 0.95):9.0f}")

# %% tags=["hidden"]
end = {name: lost[:, -1] for name, lost in regret.items()}
steps = regret["ucb"].mean(axis=0)
assert steps[1999] - steps[1599] < 0.5 * (steps[400] - steps[0]), "the curve of UCB bends"
assert np.median(end["greedy"]) < 20 < end["ucb"].mean() < 0.3 * end["uniform"].mean()
assert np.quantile(end["greedy"], 0.95) > 3 * np.quantile(end["ucb"], 0.95)
assert 0.7 < end["greedy"].mean() / end["ucb"].mean() < 1.5

# %% [markdown]
# * **Greedy gambles.** Half of its runs lose almost nothing. But if the best action pays nothing on its first try, greedy
#   may never return to it. Such a run loses the same amount in every step, so its regret grows like $t$.
# * **UCB pays for certainty.** It keeps trying all actions, less and less often. Its curve bends, because its regret grows
#   only like $\ln t$, and an unlucky run loses little more than a mean run.
#
# ## Does it pay in a short run?
#
# A run of a test generator has about 180 decisions. With the eight fitness functions of the goal `exceptions` there are 64
# combinations to choose from. We now spread the chances evenly from 0.1 to 0.8, and change the number of actions.

# %%
sizes = (2, 4, 8, 16, 32, 64)


def earned_share(rule, k, horizon=180, seed=0):
    """The expected reward of a rule, as a share of the reward of the best action."""
    chances = np.tile(np.linspace(0.1, 0.8, k), (horizon, 1))
    return 1 - play(rule, chances, runs=200, seed=seed).mean() / 0.8


shares = {name: [earned_share(rule, k) for k in sizes] for name, rule in rules.items()}
fig, ax = plt.subplots()
for name, share in shares.items():
    ax.plot(sizes, share, "o-", color=COLOURS[name], label=name)
ax.set(xlabel="number of actions k", ylabel="share of the best reward", ylim=(0, 1), xscale="log")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set_title("In 180 decisions and with many actions, UCB is hardly better than chance")
ax.legend(loc="lower left")
plt.show()

# %% tags=["hidden"]
assert shares["ucb"][0] > 0.8
assert shares["ucb"][-1] < shares["uniform"][-1] + 0.1 < shares["greedy"][-1]

# %% [markdown]
# With 64 actions, UCB spends a third of the run on the first try of each action, and one try says little. Greedy earns more
# here. It stays with the first action that pays well. In so short a run, a good action is better than a long search for the
# best one.
#
# ## And in real runs?
#
# Here are 120 real runs of each agent: twelve modules of the standard library, ten seeds. There are two goals: raise
# many different exceptions, and make a diverse suite. A12 is the probability that a run of `ucb` ends with a higher value
# than a run of the other agent. At 0.5 there is no difference.

# %%
runs, steps = defaultdict(lambda: defaultdict(dict)), []
with open("../benchmarks/agents/runs.csv") as file:
    for row in csv.DictReader(file):
        if row["budget"] == "1000x" and not row["error"]:
            of_agent = runs[row["goal"], row["agent"]]
            of_agent[row["subject"]][int(row["seed"])] = float(row["value"])
            steps.append(int(row["steps"]))
print(f"decisions in a run: {min(steps)} to {max(steps)}, median {np.median(steps):.0f}")

# %%
baselines = {"uniform": "random choice", "fixed own": "one fixed choice"}
found = {
    (goal, agent): contrast("ucb", agent, runs[goal, "ucb"], runs[goal, agent])
    for goal in ("diversity", "exceptions")
    for agent in baselines
}
fig, ax = plt.subplots(figsize=(8, 2.4))
for y, one in enumerate(found.values()):
    ax.plot([one.low, one.high], [y, y], color=COLOURS["ucb"])
    ax.plot(one.a12, y, "o", color=COLOURS["ucb"])
ax.axvline(0.5, color="k", linestyle="--")
ax.set_yticks(range(4), [f"{goal}: ucb against {baselines[agent]}" for goal, agent in found])
ax.set(xlim=(0, 1), ylim=(3.5, -0.5), xlabel="probability that a run of ucb reaches more (A12)")
ax.set_title("UCB beats chance for diversity only", x=0)
plt.show()

# %%
verdicts = {key: one.verdict for key, one in zip(found, judge(list(found.values())), strict=True)}
for (goal, agent), verdict in verdicts.items():
    print(f"{goal}: ucb against {baselines[agent]}: {verdict}")

# %% tags=["hidden"]
assert 150 < np.median(steps) < 3 * 64
assert (
    verdicts["diversity", "uniform"] == "better" and verdicts["diversity", "fixed own"] == "worse"
)
assert (
    verdicts["exceptions", "uniform"] != "better"
    and verdicts["exceptions", "fixed own"] != "better"
)

# %% [markdown]
# Both goals have 64 actions and runs of equal length. For diversity the rewards differ so much between actions that a
# single try tells them apart, and UCB beats random choice clearly. For exceptions one try says almost nothing.
# One sensible fixed choice does still better for diversity, because UCB spends a third of its run on trying everything.
# Lesson 07 shows how to get more out of every try.
#
# ## Exercises
#
# **1. Explore by lot.** *Epsilon-greedy* takes a uniformly random action with probability `epsilon`, and otherwise the one
# with the best mean. Write it for one run: a function of `means`, `epsilon` and the generator `rng` that returns the number
# of an action.


# %% tags=["check"]
def check_epsilon_greedy(answer):
    rng, means = np.random.default_rng(0), np.array([0.2, 0.7, 0.1, 0.4])
    taken = np.array([answer(means, 0.4, rng) for _ in range(4000)])
    shares = [float(np.mean(taken == action)) for action in range(4)]
    if answer(means, 0.0, rng) != 1:
        return "With epsilon 0 the action with the best mean must be taken, which is number 1 here."
    if shares[1] > 0.97 or min(shares) == 0:
        return "Some actions are never taken. Every action needs a chance in an exploring step."
    if abs(shares[1] - 0.7) > 0.03:
        return (
            f"With epsilon 0.4 the best of four actions should be taken in 70 % of the steps, yours "
            f"takes it in {shares[1]:.0%}. An exploring step may take the best action too."
        )


# %% tags=["exercise"]
def epsilon_greedy(means, epsilon, rng): ...  # your answer


# %%
exercise(
    "epsilon_greedy",
    epsilon_greedy,
    check_epsilon_greedy,
    hint="`rng.random() < epsilon` is true in a share epsilon of all steps.",
)

# %% [markdown]
# **2. How many actions can a run afford?** The chances go from 0.1 to 0.8 as above. What is the largest `k` in `sizes` with
# which UCB still earns 80 % of the best reward, if the run has **1000** decisions? Use `earned_share`.


# %% tags=["check"]
def check_most_actions(answer):
    if answer not in sizes:
        return f"{answer} is not in `sizes`: choose 2, 4, 8, 16, 32 or 64."
    share, more = (earned_share(ucb, k, 1000) for k in (answer, 2 * answer))
    if share < 0.8:
        return f"With {answer} actions UCB earns only {share:.0%} of the best reward."
    if more >= 0.8:
        return f"{answer} is not the largest: with {2 * answer} actions UCB still earns {more:.0%}."


# %% tags=["exercise"]
most_actions = ...  # your answer

# %%
exercise(
    "most_actions",
    most_actions,
    check_most_actions,
    hint="The third argument of `earned_share` is the number of decisions.",
)

# %% [markdown]
# **3. A changing world.** A fitness function pays while it has targets left. Then another one takes over. Below, the best of
# four actions changes every 500 steps. *Discounted UCB* forgets (Garivier and Moulines 2011): before each step it multiplies
# all counts and sums by a discount $\gamma$. A reward from $s$ steps ago then weighs $\gamma^s$.

# %%
phases = [[0.8, 0.2, 0.2, 0.2], [0.1, 0.7, 0.2, 0.2], [0.1, 0.2, 0.7, 0.2], [0.1, 0.2, 0.2, 0.7]]
changing = np.repeat(np.array(phases), 500, axis=0)


def changing_regret(c, discount):
    """The mean regret after each step of the changing problem."""
    lost = play(lambda counts, sums: ucb(counts, sums, c), changing, 200, discount)
    return lost.mean(axis=0).cumsum()


fig, axes = plt.subplots(1, 2, sharey=True)
for ax, c in zip(axes, (2**0.5, 0.5), strict=True):
    for discount, style in ((1.0, "-"), (0.995, "--"), (0.95, ":")):
        label = f"discount {discount:g}"
        ax.plot(changing_regret(c, discount), style, color=COLOURS["ucb"], label=label)
    for change in (500, 1000, 1500):
        ax.axvline(change, color="k", alpha=0.2)
    ax.set(xlabel="step t", ylim=(0, None))
axes[0].set(ylabel="mean regret", title="Bonus c = √2: forgetting hurts")
axes[1].set(title="Bonus c = 0.5: slow forgetting helps")
axes[0].legend()
plt.show()

# %% tags=["hidden"]
ends = {(c, d): changing_regret(c, d)[-1] for c in (2**0.5, 0.5) for d in (1.0, 0.995)}
assert ends[2**0.5, 1.0] < ends[2**0.5, 0.995] and ends[0.5, 0.995] < 0.7 * ends[0.5, 1.0]

# %% [markdown]
# With the large bonus UCB explores so much that it notices every change. Forgetting then only adds more exploration. With a
# small bonus it explores little, and old means mislead it until it forgets them.
#
# Find a pair `(c, discount)` with a mean regret of at most 120 after 2000 steps.


# %% tags=["check"]
def check_knobs(answer):
    c, discount = answer
    if c < 0 or not 0 < discount <= 1:
        return "c must be at least 0, and the discount above 0 and at most 1."
    regret = changing_regret(c, discount)[-1]
    if regret > 120:
        return f"c = {c:.3g} with the discount {discount:g} has a regret of {regret:.0f}."


# %% tags=["exercise"]
knobs = ...  # your answer: a pair

# %%
exercise(
    "knobs",
    knobs,
    check_knobs,
    hint="A discount of d remembers about 1 / (1 - d) steps. How many tries per action is that?",
)

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "An action has not been tried for a long time. What happens to its upper confidence bound?",
        ("It falls", "It stays the same", "It rises slowly"),
        2,
        "N stays the same while ln t grows, so UCB returns to every action again and again.",
    ),
    Question(
        "Half of greedy's runs lose almost nothing. Why is its mean regret so large?",
        (
            "All runs lose a little",
            "A few runs lose very much",
            "The mean is computed over all steps",
        ),
        1,
        "A run that has rejected the best action loses the same amount in every step.",
    ),
    Question(
        "A run has 180 decisions and 64 actions. Which change helps UCB most?",
        ("a smaller set of actions", "a larger bonus", "another seed"),
        0,
        "With 8 actions UCB earns about 73 % of the best reward, with 64 about 60 %.",
    ),
    Question(
        "Rewards are in the thousands, and c is √2. How does UCB behave?",
        ("like greedy", "like random choice", "as with rewards in [0, 1]"),
        0,
        "The bonus is tiny beside such rewards. fitgym's `ucb` therefore measures rewards in units of their "
        "running standard deviation.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **Long curves.** Theorems and figures about bandits have thousands of steps. Count the decisions of *your* run first.
# * **The mean run.** The mean hides greedy's disasters. Look at the unlucky runs too.
# * **Regret against what?** A changing problem looks easier when the baseline is the best *fixed* action. Exercise 3 compares
#   with the best action of each moment.
# * **Tuned on the test problem.** In exercise 3 you chose the numbers on the problem that judges them. Choose on one problem
#   and report on another.
#
# ## Next
#
# Lesson 07 makes every try count for more: it adds beliefs, the state of the search, and the parts of an action.
