# %% [markdown]
# # 15 Is it really better, or was it luck?
#
# A search depends on chance. With another seed it covers something else. So if a new algorithm beats an old one, it may be better, or
# its seeds may have been. This lesson contains a lie, and then the tools that detect it.
#
# **Time:** 35 minutes. **You need:** lesson 05. **You will be able to:** explain why three seeds prove nothing, choose a number of seeds,
# read an effect size with its interval, and correct for many comparisons and many looks.

# %% tags=["setup"]
import csv
import os
from collections import defaultdict
from importlib.metadata import version

import matplotlib.pyplot as plt
import numpy as np

from fitgym.course import Question, exercise, predict, quiz
from fitgym.formulas.artificial import ArtificialEngine, Problem
from fitgym.study.comparison import a12, contrast
from fitgym.study.statistics import holm, mann_whitney
from fitgym.study.verdict import judge

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions of the same lesson
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## Turbo
#
# *Turbo* is a new variant of the search algorithm MOSA. Both get the same problems and the same budget of 500 evaluations.

# %%
FIRST_SEED = {"MOSA": 0, "Turbo": 1000}


def covered(name, seed):
    """How many of 20 targets are covered with 500 evaluations."""
    seed += FIRST_SEED[name]
    problem, search = Problem.draw({"gradient": 20}, seed), "mosa:fresh=0.0,distinct=false"
    return ArtificialEngine(problem, search=search, seed=seed, budget=500).run().n_covered


few = {name: np.array([covered(name, seed) for seed in (43, 44, 45)]) for name in FIRST_SEED}
fig, ax = plt.subplots(figsize=(6, 2.2))
for y, values in enumerate(few.values()):
    ax.plot(values, [y] * 3, "o", color=f"C{y}", markersize=9)
    ax.plot(values.mean(), y, "|", color="k", markersize=28)
ax.set_yticks([0, 1], list(few))
ax.set(ylim=(-0.6, 1.6), xlim=(0, 8), xlabel="targets covered, a dot for each seed")
ax.set_title("Turbo covers more with every seed")
plt.show()

# %%
believe = predict("Is Turbo better than MOSA?", None, choices=("yes", "no", "cannot be told"))
winners = predict(
    "Of two equal algorithms, how often does one lead by 25 % or more, on three seeds each?",
    None,
    unit="of 100",
)
believe

# %%
winners

# %% [markdown]
# The numbers are true, and no run failed. An effect size and a test say:

# %%
ours, theirs = few["Turbo"], few["MOSA"]
print(f"Turbo leads by {100 * (ours.mean() / theirs.mean() - 1):.0f} %")
print(f"A12 = {a12(ours, theirs):.2f}, the probability that a run of Turbo covers more")
print(f"Mann and Whitney's test: p = {mann_whitney(ours, theirs).p:.2f}")

# %% tags=["hidden"]
assert a12(ours, theirs) == 1.0
assert mann_whitney(ours, theirs).p >= 0.1

# %% [markdown]
# An effect cannot be larger than 1.00, and yet p is 0.10. There are 20 ways to deal six different numbers to two sides, and 2 of them put
# all larger numbers on one side. **With three seeds each, an exact p is never below 0.1**, whatever comes out.
#
# Now look at the first cell again. `covered` runs the *same* search for both names. Turbo is MOSA with other seeds. That is the
# lie. How hard was it to find three seeds that tell it?

# %%
believe.compare("no")

# %%
N = 60 if FAST else 300
runs = {name: np.array([covered(name, seed) for seed in range(N)]) for name in FIRST_SEED}
pool = np.concatenate(list(runs.values()))
rng = np.random.default_rng(0)


def leads(n, times=4000):
    """By how much one side leads, in per cent, if both draw n runs from the same pool."""
    means = rng.choice(pool, size=(2, times, n)).mean(axis=2)
    return 100 * (means.max(axis=0) / np.maximum(means.min(axis=0), 1e-9) - 1)


found = {n: leads(n) for n in (3, 10, 30, 100)}
shares = {n: 100 * float((lead >= 25).mean()) for n, lead in found.items()}

# %%
fig, ax = plt.subplots(figsize=(8, 3))
bars = ax.bar([f"{n} seeds" for n in shares], list(shares.values()), color="#0072B2", width=0.6)
ax.bar_label(bars, fmt="%.0f")
winners.draw(ax)
ax.set(ylabel="comparisons of 100", ylim=(0, 100))
ax.set_title(
    f"With three seeds, {shares[3]:.0f} of 100 comparisons of equals have a lead of 25 % or more"
)
ax.grid(visible=False, axis="x")
if winners.guess is not None:
    ax.legend()
plt.show()
winners.compare(shares[3], tolerance=0.15)

# %% tags=["hidden"]
assert shares[3] > 50 and shares[30] < 15 and shares[100] < 1
assert abs(runs["Turbo"].mean() - runs["MOSA"].mean()) < 0.5, "with all seeds the lead is gone"

# %% [markdown]
# More than every second comparison on three seeds has such a "winner". Nobody has to cheat for that. It is enough to try an idea on three seeds,
# keep it if it looks good, and try the next one otherwise.
#
# ## Looking too often
#
# With more seeds a test helps, if it is made *once*. Here both sides are equal again. Someone looks at p after every five seeds
# and stops at the first p below 0.05.

# %%
LOOKS = range(5, 61, 5)
TIMES = 150 if FAST else 1000


def first_win():
    """The number of seeds after which p < 0.05 for two equal sides; infinite if never."""
    x, y = rng.choice(pool, size=(2, LOOKS[-1]))
    return next((n for n in LOOKS if mann_whitney(x[:n], y[:n]).p < 0.05), np.inf)


stops = np.array([first_win() for _ in range(TIMES)])
share = [100 * (stops <= n).mean() for n in LOOKS]
fig, ax = plt.subplots(figsize=(8, 2.8))
ax.step(LOOKS, share, where="post", color="#D55E00", label="stop at the first p < 0.05")
ax.axhline(5, color="k", linestyle="--", label="a single test: 5 %")
ax.set(xlabel="seeds looked at", ylabel="false wins in %", ylim=(0, None))
ax.set_title(f"Twelve looks turn 5 % false wins into {share[-1]:.0f} %")
ax.legend()
plt.show()

# %% tags=["hidden"]
assert share[-1] > 10

# %% [markdown]
# So the number of seeds, the budget and the metric are fixed *before* the first run. A study file of fitgym holds them (lesson 16).
#
# ## Looking in too many places
#
# A real comparison has several subjects. Here are runs of this project's benchmark: `ucb` on twelve modules with ten seeds, 1,000
# executions each, beside two baselines. An earlier version made them.
#
# Twelve tests at 0.05 give at least one false win with a probability of $1 - 0.95^{12} = 46$ %. Holm's correction
# multiplies the smallest p by 12, the next one by 11, and so on.

# %%
values = defaultdict(lambda: defaultdict(dict))
with open("../benchmarks/agents/runs.csv") as file:
    for row in csv.DictReader(file):
        if (row["goal"], row["budget"]) == ("exceptions", "1000x") and not row["error"]:
            values[row["agent"]][row["subject"]][int(row["seed"])] = float(row["value"])
subjects = sorted(values["ucb"])


def sides(agent, baseline, subject):
    """What the runs of both found on a subject."""
    return tuple(list(values[name][subject].values()) for name in (agent, baseline))


def p_values(agent, baseline):
    """One for each subject: uncorrected, and corrected."""
    p = [mann_whitney(*sides(agent, baseline, subject)).p for subject in subjects]
    return np.array(p), np.array(holm(p))


# %%
baselines = ("uniform", "fixed own")
table = judge([contrast("ucb", name, values["ucb"], values[name]) for name in baselines])
judged = dict(zip(baselines, table, strict=True))
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 3.6))
for ax, baseline in zip(axes, baselines, strict=True):
    effects = [a12(*sides("ucb", baseline, subject)) for subject in subjects]
    p, corrected = p_values("ucb", baseline)
    color = np.where(corrected < 0.05, "#D55E00", np.where(p < 0.05, "#0072B2", "#bbbbbb"))
    ax.barh(subjects, np.array(effects) - 0.5, left=0.5, color=color)
    whole = judged[baseline]
    ax.axvspan(whole.evidence.low, whole.evidence.high, color="k", alpha=0.1)
    title = f"ucb beside {baseline}: {whole.verdict}"
    ax.set(xlim=(0, 1), xlabel="A12; above 0.5 ucb finds more", title=title)
    print(f"{baseline}: p < 0.05 on {(p < 0.05).sum()}, corrected on {(corrected < 0.05).sum()}")
plt.show()
for baseline, found in judged.items():
    print(f"{baseline}: A12 {found.evidence}, Holm-adjusted p {found.shown_p}: {found.verdict}")

# %% tags=["hidden"]
for baseline in baselines:
    found = judged[baseline]
    assert not found.verdict.stated or found.p < 0.05
    assert not found.verdict.stated or not found.evidence.low <= 0.5 <= found.evidence.high
    p, corrected = p_values("ucb", baseline)
    assert (corrected >= p).all() and (corrected < 0.05).sum() <= (p < 0.05).sum()

# %% [markdown]
# A bar is a subject: grey if p is 0.05 or more, blue if p is below 0.05, orange if it still is after the correction.
#
# The grey band answers the question that matters: is it better on a module *like these*? It is the 95 % interval of the
# mean A12 over subjects and seeds. No single subject answers that, however small its p is.
#
# The verdict in the title needs two things. The band excludes one half, *and* Wilcoxon's signed-rank test over the subjects gives
# p < 0.05 after Holm's correction for both comparisons. Otherwise it reads "no difference shown".

# %% [markdown]
# ## Exercises
#
# **1. `effect`.** Write A12 yourself: a function of two lists, the share of pairs in which the first value is larger. Ties count as
# one half.

# %% tags=["exercise"]
effect = ...  # your function of (ours, theirs)


# %% tags=["check"]
def check_effect(answer):
    for x, y in (([3, 4], [1, 2]), ([1, 2], [1, 2]), ([1, 5, 5], [2, 5])):
        if not np.isclose(answer(x, y), a12(x, y)):
            return f"For {x} and {y} it is {a12(x, y):.3f}; yours is {answer(x, y):.3f}."
    return None


exercise(
    "effect",
    effect,
    check_effect,
    hint="Compare every value of one list with every value of the other.",
)

# %% [markdown]
# **2. `seeds`.** Let the true A12 be 0.64, by convention a medium effect. How many seeds does each side need, so that Mann and Whitney's
# test finds the effect (p < 0.05) in 75 of 100 studies? Give a number between the smallest that does it and 100.

# %% tags=["exercise"]
seeds = ...  # seeds for each side


# %% tags=["check"]
def check_seeds(answer):
    drawn = np.random.default_rng(0).normal(size=(400, 2, answer))
    drawn[:, 0] += 0.507  # normal values that are larger with a probability of 0.64
    power = 100 * np.mean([mann_whitney(x, y).p < 0.05 for x, y in drawn])
    if answer > 100:
        return f"{answer} seeds find it in {power:.0f} of 100 studies. 100 seeds are enough."
    if power < 75:
        return f"{answer} seeds find it in {power:.0f} of 100 studies, 75 are asked for."
    return None


exercise("seeds", seeds, check_seeds, hint="Try 30 first. Many studies use it.")

# %% [markdown]
# **3. `corrected_p`.** Write Holm's correction: a function of a list of p-values that returns the corrected ones in the same order. The smallest of
# n is multiplied by n, the next by n - 1, and so on. No corrected p is smaller than one before it in this order, and none is above 1.

# %% tags=["exercise"]
corrected_p = ...  # your function of a list of p


# %% tags=["check"]
def check_corrected_p(answer):
    for p in ([0.01, 0.04, 0.03], [0.5, 0.9], [0.2, 0.01, 0.02, 0.02]):
        got = np.asarray(answer(p), dtype=float)
        if got.shape != (len(p),) or not np.allclose(got, holm(p)):
            right = ", ".join(f"{value:.2f}" for value in holm(p))
            return f"{p} becomes {right}; yours are {', '.join(f'{value:.2f}' for value in got)}."
    return None


exercise(
    "corrected_p", corrected_p, check_corrected_p, hint="`np.argsort`, then a running maximum."
)

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "Two sides with three seeds each: what is the smallest possible exact p?",
        ("0.001", "0.05", "0.1"),
        2,
        "2 of 20 ways to deal the values are as extreme as the most extreme one.",
    ),
    Question(
        "p = 0.001 with a thousand seeds. Is the difference large?",
        ("Yes", "No", "The p does not say"),
        2,
        "A tiny difference gets a tiny p if there are enough seeds. Report A12 with its interval.",
    ),
    Question(
        "A study with 30 seeds shows no significant difference. What follows?",
        (
            "The two are equal",
            "The interval says how large a difference is still possible",
            "Nothing",
        ),
        1,
        "30 seeds miss about half of all medium effects.",
    ),
    Question(
        "You add seeds until p < 0.05. What is wrong?",
        ("Nothing", "The chance of a false win grows with every look", "The p becomes too large"),
        1,
        "Each look is another chance to be fooled.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **This lesson chose its seeds.** 43, 44 and 45 were searched for. Whoever shows you three seeds may have done the same, or may have been lucky
#   without knowing.
# * **A p-value is no size.** With a thousand seeds a difference that nobody cares about has a tiny p.
# * **The subjects were drawn too.** Twelve modules of one library say little about web services, however many seeds there are.
# * **Equal budgets?** The easiest way to win is to get more of something that was not counted. Here both sides had the same executions.
#
# ## Next
#
# Lesson 16 uses these tools on two published studies. One of them comes out again.
