# %% [markdown]
# # 13 When does choosing pay?
#
# An agent cannot gain more than there is to gain. This lesson measures that amount, the *headroom*, before anyone trains
# an agent.
#
# **Time:** 25 minutes. **You need:** lessons 08 and 12. **You will be able to:** build a ladder of simple policies, measure
# headroom without fooling yourself, and say where training an agent is worth the effort.

# %% tags=["setup"]
import csv
import os
from collections import defaultdict
from importlib.metadata import version

import matplotlib.pyplot as plt
import numpy as np

from fitgym.course import Question, exercise, predict, quiz
from fitgym.formulas.landscapes import ACTIONS, Landscapes
from fitgym.headroom.ladder import Ladder, Rung

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions of the same lesson
plt.style.use("lesson.mplstyle")
RANDOM, CONSTANT, LEARNED, INFORMED = "#888888", "#0072B2", "#E69F00", "#009E73"
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## A ladder of policies
#
# We use `Landscapes-v0`, the environment of formulas that imitates a search on a program. A program has twelve parts. Most of
# them are locked, and eight of the locks never open. An episode has 30 decisions: which part gets the next slice of the
# budget? The score is the share of coverable branches that the episode covered.
#
# A ladder has a rung for each kind of policy:
#
# | rung | policy |
# |---|---|
# | random | draws an action at every decision |
# | best constant | one action for the whole episode, the best on average over all tasks |
# | best constant for each task | one action for the whole episode, another one for each task |
# | informed | knows which locks open, which no agent can see |
#
# **Headroom** is the distance from the best constant to the informed policy. The best constant needs no learning and no
# observation, so it is the rung that an agent has to beat.

# %%
guess = predict("Random actions score about 0.6. What does the informed policy score?", None)
guess

# %%
TASKS, SEEDS = 30, 8 if FAST else 32
tasks, seeds = np.repeat(np.arange(200, 200 + TASKS), SEEDS), np.arange(TASKS * SEEDS)


def scores(choose, seed=0):
    """The score of a policy for each task and seed; `choose` names a part for each episode."""
    world, rng = Landscapes(tasks.size), np.random.default_rng(seed)
    world.reset(np.ones(tasks.size, dtype=bool), tasks, seeds)
    for _ in range(30):
        world.spend(choose(world, rng))
    return world.score.reshape(TASKS, SEEDS)


def constant(action):
    """Takes one action at every decision."""
    return lambda world, rng: world.pointers()[:, ACTIONS.index(action)]


def random(world, rng):
    """Draws an action at every decision."""
    return world.pointers()[np.arange(world.n), rng.integers(len(ACTIONS), size=world.n)]


def informed(world, rng):
    """Stays with a part that can be covered until it is covered; 12 stands for all parts."""
    useful = world.open & ~world.dead
    return np.where(useful.any(axis=1), useful.argmax(axis=1), 12)


# %%
constants = {action: scores(constant(action)) for action in ACTIONS}
by_action = np.array(list(constants.values()))  # action, task, seed
best = max(constants, key=lambda action: constants[action].mean())
rungs = {"random": scores(random), f"best constant: {best}": constants[best]}
rungs["informed"] = scores(informed)
gap = rungs["informed"].mean() - constants[best].mean()

fig, ax = plt.subplots(figsize=(8, 2.4))
for y, values in enumerate(rungs.values()):
    color = (RANDOM, CONSTANT, INFORMED)[y]
    ax.plot(values.mean(axis=1), np.full(TASKS, y), "|", color=color, alpha=0.5)
    ax.plot(values.mean(), y, "o", color=color, markersize=10)
guess.draw(ax, axis="x")
ax.set_yticks(range(3), list(rungs))
ax.set(xlim=(0, 1), ylim=(-0.5, 2.5), xlabel="score: a line for each task, a dot for the mean")
ax.set_title(f"Perfect information is worth {100 * gap:.0f} points more than the best constant")
if guess.guess is not None:
    ax.legend()
plt.show()
guess.compare(rungs["informed"].mean())

# %% tags=["hidden"]
assert 0.55 < rungs["random"].mean() < 0.65 < rungs["informed"].mean() - 0.1
assert gap > 0.1

# %% [markdown]
# The best constant is hardly better than random actions. The informed policy is far above both. So
# choosing *can* pay here: about twenty points are left. Whether an agent finds them without seeing the locks is the question
# of lesson 14.
#
# ## Hindsight lies
#
# Nobody has an informed policy for a real module. It is tempting to use hindsight instead: play every constant once,
# and keep the best one *of each episode*. Watch what that does to policies that are all alike.

# %%
lucky = predict(
    "Seven copies of the random policy play each episode. What is the mean of the best copy?",
    None,
)
lucky

# %%
copies = np.array([scores(random, number) for number in range(7)])


def judged_apart(values):
    """The best action of each task, chosen on half of its seeds and judged on the other half."""
    half = values.shape[2] // 2
    chosen = values[:, :, :half].mean(axis=2).argmax(axis=0)
    return values[chosen, np.arange(values.shape[1]), half:].mean()


# %%
NAMES = "best\non average", "best of\neach episode", "best of each task,\njudged on new seeds"
titles = "Seven copies of random: the gain is luck", "Seven constants: part of it is luck"
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(8.5, 3))
for ax, values, title in zip(axes, (copies, by_action), titles, strict=True):
    heights = values.mean(axis=(1, 2)).max(), values.max(axis=0).mean(), judged_apart(values)
    bars = ax.bar(NAMES, heights, color=CONSTANT, width=0.6)
    bars[1].set(facecolor="#dddddd", edgecolor=CONSTANT, hatch="//")  # contains luck
    ax.tick_params(axis="x", labelsize=9)
    ax.bar_label(bars, fmt="%.2f")
    ax.grid(visible=False, axis="x")
    ax.set_title(title)
lucky.draw(axes[0])
axes[0].set(ylim=(0, 1), ylabel="score")
plt.show()
lucky.compare(copies.max(axis=0).mean())

# %% tags=["hidden"]
assert copies.max(axis=0).mean() > copies.mean(axis=(1, 2)).max() + 0.08
assert abs(judged_apart(copies) - copies.mean()) < 0.03
assert judged_apart(by_action) < by_action.max(axis=0).mean() - 0.02

# %% [markdown]
# Seven copies of the same policy cannot differ, and yet hindsight gives them more than ten points. The maximum of seven noisy numbers is
# large because they are noisy. **Choose on some seeds, judge on others**: then the gain of the copies disappears.
#
# The right picture shows the real constants. Most of what hindsight claims is luck here as well. What remains is real: some
# tasks do prefer another constant.
#
# ## The map
#
# `fitgym headroom` builds such a ladder for any environment. `benchmarks/headroom/` has the ladders of seven environments,
# with more rungs: simple rules, schedules of up to three phases, and an *oracle* that tries every action on copies of the
# environment. The highest rung counts as 1 here.

# %%
rows = defaultdict(lambda: defaultdict(list))
with open("../benchmarks/headroom/environments/ladder.csv") as file:
    for row in csv.DictReader(file):
        rows[row["env"]][row["rung"]].append((row["task"], float(row["final"])))


def ladder(env):
    """The committed ladder of an environment."""
    names = tuple(dict.fromkeys(task for task, _ in rows[env]["random"]))
    found = []
    for name, played in rows[env].items():
        final = np.array([value for _, value in played]).reshape(len(names), -1)
        found.append(Rung(name, name, final, final))
    rungs = [one for one in found if one.name != "greedy" and one.final.size == found[0].final.size]
    return Ladder(env, names, tuple(rungs))


ladders = {env: ladder(env) for env in rows}
headroom = {e: one.gap(one.rung("best constant"), one.top) for e, one in ladders.items()}
shares = {e: headroom[e].value / one.top.mean("final") for e, one in ladders.items()}
order = sorted(shares, key=shares.get)

# %%
fig, ax = plt.subplots(figsize=(8.5, 3.6))
for y, env in enumerate(order):
    one = ladders[env]
    top = one.top.mean("final")
    fixed, chance = (one.rung(name).mean("final") / top for name in ("best constant", "random"))
    ax.plot([fixed, 1], [y, y], color=INFORMED, linewidth=7, alpha=0.35, solid_capstyle="butt")
    for x, marker, color in ((chance, "x", RANDOM), (fixed, "o", CONSTANT), (1, "D", INFORMED)):
        ax.plot(x, y, marker, color=color, markersize=8, markeredgewidth=2)
    ax.text(1.03, y, f"{100 * shares[env]:+.0f} %", va="center")
for marker, color, label in zip(
    "xoD", (RANDOM, CONSTANT, INFORMED), ("random", "best constant", "highest rung"), strict=True
):
    ax.plot([], [], marker, color=color, label=label, linestyle="none", markeredgewidth=2)
ax.set_yticks(range(len(order)), [env.removeprefix("fitgym/") for env in order])
ax.set(xlim=(0, 1.15), xlabel="mean final value, as a share of the highest rung")
ax.set_title("Choosing pays in five of seven environments")
ax.legend(loc="upper left")
plt.show()
for env in reversed(order):
    low, high = headroom[env].low, headroom[env].high
    print(f"{env.removeprefix('fitgym/'):16} {headroom[env].value:7.3f} [{low:.3f}, {high:.3f}]")

# %% tags=["hidden"]
pays = [env for env in order if shares[env] > 0.05 and headroom[env].low > 0]
assert len(pays) == 5 and "fitgym/Artificial-v0" not in pays, pays
assert shares["fitgym/ProjectBudget-v0"] < 0.03 < shares["fitgym/Programs-v0"]
assert order[-1] == "fitgym/Toy-v0"
toy = ladders["fitgym/Toy-v0"]
assert toy.rung("random").mean("final") > toy.rung("best constant").mean("final")

# %% [markdown]
# A thick green bar is headroom. The list gives it in units of each environment, with a 95 % interval.
#
# * **Toy-v0**: early choices change later rewards. A constant is worse than chance.
# * **LeadingOnes-v0**: the best step size depends on progress. A formula from theory knows how.
# * **Landscapes-v0, Programs-v0**: some parts are hopeless, and a policy that notices this saves budget. `Programs-v0` runs a real
#   search on generated code.
# * **Programs-easy-v0**: easy programs hide less. With twelve tasks, the interval only just leaves zero out.
# * **ProjectBudget-v0**: an interval above zero, and yet only two per cent. Not worth an agent.
# * **Artificial-v0**: one combination is best from beginning to end. Nothing is left to choose.
#
# ## The blank arm
#
# A trained agent may beat the best constant without looking at anything: it may have learnt a good *mixture* of actions.
# The **blank arm** is the same trained policy with an observation of zeros. The part of the score that disappears came
# from seeing. These are the committed results of PPO on unseen tasks.

# %%
seen, baselines = defaultdict(list), {}
with open("../benchmarks/learning/runs.csv") as file:
    for row in csv.DictReader(file):
        if row["env"] == "fitgym/Landscapes-v0":
            seen[row["judged"], row["seen"]].append(float(row["mean"]))
        elif row["judged"] == "fitgym/Programs-v0":
            baselines[row["env"]] = float(row["mean"])
landscapes = ladders["fitgym/Landscapes-v0"]
rungs = {
    "fitgym/Landscapes-v0": (
        landscapes.rung("best constant").mean("final"),
        landscapes.top.mean("final"),
    ),
    "fitgym/Programs-v0": (
        max(value for name, value in baselines.items() if name.startswith("constant")),
        baselines["informed"],
    ),
}
fig, axes = plt.subplots(1, 2, sharex=True, figsize=(8.5, 2.6))
for ax, env in zip(axes, ("fitgym/Landscapes-v0", "fitgym/Programs-v0"), strict=True):
    constant, informed = rungs[env]
    marks = {
        "blank arm": (np.mean(seen[env, "nothing"]), LEARNED, "o"),
        "best constant": (constant, CONSTANT, "o"),
        "trained PPO": (np.mean(seen[env, "all"]), LEARNED, "D"),
        "informed": (informed, INFORMED, "D"),
    }
    for y, (value, color, marker) in enumerate(marks.values()):
        ax.plot(value, y, marker, color=color, markersize=9)
        ax.text(value + 0.015, y, f"{value:.2f}", va="center")
    ax.set_yticks(range(4), list(marks))
    ax.set(ylim=(-0.5, 3.5), xlabel="score on unseen tasks")
axes[0].set(xlim=(0.5, 0.95), title="Landscapes: PPO gains it all")
axes[1].set(title="Programs, never trained there")
plt.show()

# %% tags=["hidden"]
assert np.mean(seen["fitgym/Landscapes-v0", "all"]) > 0.8
constant, informed = rungs["fitgym/Programs-v0"]
assert np.mean(seen["fitgym/Programs-v0", "all"]) > constant + 0.3 * (informed - constant)
assert np.mean(seen["fitgym/Programs-v0", "nothing"]) < constant + 0.1 * (informed - constant)

# %% [markdown]
# On landscapes the trained policy loses more than twenty points without its eyes: it does use what it sees. It reaches the
# level of the informed policy, which is a simple one and not the optimum. The same
# policies also choose well on generated programs, although they have never seen one. Lesson 14 looks at how.
#
# (The ladder has 30 test tasks, the PPO scores on landscapes have 100. Differences of two or three points between the two mean nothing.)
#
# ## Real modules
#
# Nobody can compute an informed policy for a real module, and looking ahead takes hours. But the distances between
# simple arms say much. Here are 24 runs for each arm on real modules, as a share of the best run on the same module.

# %%
ARMS = ("random search", "uniform", "random_fixed", "best constant", "fixed own", "ucb")
found = defaultdict(list)
with open("../benchmarks/agents/runs.csv") as file:
    records = [row for row in csv.DictReader(file) if row["population"] == "50"]
most = defaultdict(float)
for row in records:
    key = row["goal"], row["subject"]
    most[key] = max(most[key], float(row["value"]))
for row in records:
    highest = most[row["goal"], row["subject"]]
    found[row["goal"], row["agent"]].append(float(row["value"]) / highest if highest else 1.0)

# %%
titles = {
    "exceptions": "Exceptions: all alike",
    "strong_mutation": "Mutants: all alike",
    "diversity": "Diversity: what guides decides",
}
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9, 2.9))
for ax, (goal, title) in zip(axes, titles.items(), strict=True):
    for y, arm in enumerate(ARMS):
        values = np.array(found[goal, arm])
        color = (
            "#D55E00" if arm == "ucb" else CONSTANT if "fixed" in arm or "const" in arm else RANDOM
        )
        ax.plot(values, np.full(values.size, y), "|", color=color, alpha=0.4)
        ax.plot(values.mean(), y, "o", color=color, markersize=9)
    ax.set(title=title, xlim=(0, 1.05), xlabel="share of the best run")
axes[0].set_yticks(range(len(ARMS)), ARMS)
plt.show()

# %% tags=["hidden"]
means = {key: np.mean(values) for key, values in found.items()}
for goal in ("exceptions", "strong_mutation"):
    assert np.ptp([means[goal, arm] for arm in ARMS]) < 0.1, goal
assert means["diversity", "fixed own"] > means["diversity", "random search"] + 0.5
assert means["diversity", "best constant"] > means["diversity", "ucb"]

# %% [markdown]
# * For **exceptions** and **mutants** even random search, which follows no fitness function, keeps up. What guides the search hardly
#   matters with these budgets, so an agent that chooses the guide cannot gain much.
# * For **diversity** the guide decides. But the goal's own function is a good answer from beginning to end, so a constant
#   is enough, and `ucb` pays for trying the others.
#
# So the rule of this lesson has two parts. Choosing pays where (1) the choice matters *and* (2) the best choice changes,
# from task to task or from one moment to the next. Without (2), take the best constant and go home.

# %% [markdown]
# ## Exercises
#
# **1. `gap`.** Write the headroom of paired scores: a function of two arrays of shape (tasks, seeds), the scores of the best
# constant and of the informed policy. It returns the mean difference.

# %% tags=["exercise"]
gap_of = ...  # your function of (constant, informed)


# %% tags=["check"]
def check_gap_of(answer):
    low, high = np.array([[0.5, 0.7], [0.2, 0.4]]), np.array([[0.6, 0.9], [0.4, 0.8]])
    got = answer(low, high)
    if not np.isclose(got, 0.225):
        return f"The differences are 0.1, 0.2, 0.2 and 0.4, so expect 0.225; yours is {got:.3f}."
    return None


exercise("gap_of", gap_of, check_gap_of, hint="The informed policy comes first in the difference.")

# %% [markdown]
# **2. `honest`.** Write a function of an array of shape (actions, tasks, seeds) with an even number of seeds. Choose the best
# action of each task on the first half of the seeds and judge it on the second half. Then do it the other way round. Return
# the mean of both.

# %% tags=["exercise"]
honest = ...  # your function of values


# %% tags=["check"]
def check_honest(answer):
    noise = np.random.default_rng(0).normal(size=(7, 200, 4))
    if answer(noise) > 0.2:
        return f"Seven useless actions get {answer(noise):.2f}: the same seeds choose and judge."
    skill = np.zeros((2, 3, 4))
    skill[1] = 1.0
    if not np.isclose(answer(skill), 1.0):
        return f"An action that is always better by 1 should give 1; yours is {answer(skill):.2f}."
    lopsided = np.array([[[0.0, 0.0, 4.0, 4.0]], [[1.0, 1.0, 1.0, 1.0]]])
    if not np.isclose(answer(lopsided), 0.5):
        return f"Judge on both halves: 0.5 is right in an example, yours is {answer(lopsided):.2f}."
    return None


exercise(
    "honest", honest, check_honest, hint="`judged_apart` above does one of the two directions."
)

# %% [markdown]
# **3. `worth_it`.** A colleague asks where to train an agent. Write a function of a dictionary from environment to differences
# (an array, one per task, informed minus best constant). Return the set of environments whose difference is above 0 beyond
# doubt: the 2.5 % quantile of the bootstrap means, with tasks drawn with replacement, is above 0.

# %% tags=["exercise"]
worth_it = ...  # your function of differences


# %% tags=["check"]
def check_worth_it(answer):
    rng = np.random.default_rng(1)
    differences = {
        "clear": rng.normal(0.2, 0.1, size=30),
        "noisy": np.array([0.9, -0.4, -0.3, 0.5, -0.45, 0.1]),
        "negative": rng.normal(-0.2, 0.1, size=30),
        "small but sure": rng.normal(0.02, 0.01, size=40),
    }
    got = set(answer(differences))
    if "noisy" in got:
        return "The mean of `noisy` is above 0, but other tasks could easily have made it negative."
    if "negative" in got:
        return "`negative` has a difference below 0: the best constant is better there."
    if got != {"clear", "small but sure"}:
        return f"Expected `clear` and `small but sure`, yours is {sorted(got)}."
    return None


exercise(
    "worth_it", worth_it, check_worth_it, hint="`rng.choice(values, size=(2000, len(values)))`"
)

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "Agent, best constant and informed policy have the same score. What next?",
        ("Train for longer", "Use a larger network", "Use the constant: there is no headroom"),
        2,
        "No policy can gain what is not there.",
    ),
    Question(
        "Why is the best of ten runs no measure of headroom?",
        (
            "Ten runs are too few",
            "The maximum of noisy numbers contains luck",
            "Runs depend on one another",
        ),
        1,
        "Ten runs of one and the same policy have a good maximum as well.",
    ),
    Question(
        "A trained policy keeps its score when its observation is set to zeros. What did it learn?",
        ("A good mixture of actions", "To read the state of the search", "Nothing"),
        0,
        "What it sees plays no part, but which actions it prefers may still be worth something.",
    ),
    Question(
        "For which goal on real modules is there least to gain from choosing fitness functions?",
        ("Diversity", "Exceptions", "They are all alike"),
        1,
        "Even random search finds as many exceptions as any guided search there.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **The highest rung is no upper bound.** The informed policy is simple, and the oracle looks ahead with a simple policy. PPO comes
#   level with it on landscapes. Headroom can be larger than measured, hardly smaller.
# * **A seed can repeat the same luck.** In landscapes a seed fixes the luck of all tasks. The committed ladder plays 30 tasks with the
#   same two seeds, and `first` looks best with 0.68. With a new seed for each episode, as above, `nearest` is best.
# * **The best constant was chosen too.** The best of seven contains some luck, unless it is chosen on other tasks.
# * **Budget decides.** Without enough budget nothing matters, and with too much everything is covered. Headroom belongs to
#   a setting, not to an environment.
# * **Few modules.** The last figure has twelve modules for each goal and two seeds. It can show large differences only.
#
# ## Next
#
# Lesson 14 trains a policy where there is headroom, watches it learn, and finds out whether the skill survives on other code.
