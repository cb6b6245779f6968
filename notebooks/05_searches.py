# %% [markdown]
# # 05 How does a search pursue many goals at once?
#
# A module has hundreds of goals, and some of them cannot be covered at all. This lesson writes four searches in the
# open: random search, whole suite, MOSA and MIO. Then it lets them compete.
#
# * **Time:** 35 minutes.
# * **You need:** lessons 02 and 04.
# * **You will be able to:** explain archive, whole-suite fitness, preference sorting and feedback-directed sampling.

# %% tags=["setup"]
import os
import random
from importlib.metadata import version

import matplotlib.pyplot as plt
import numpy as np

from fitgym.course import Question, exercise, predict, quiz

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## Many goals, one budget
#
# Imagine a module with one function for each goal. A test is a pair `(goal, x)`. It calls one function with a number
# from 0 to 1000. It says nothing about the other goals. The landscapes are those of lesson 02, and a fourth:
# *impossible*, which no input covers. Distances are squeezed by $d / (d + 1)$ as in lesson 03, so a goal that no test
# has reached counts 1.
#
# All four searches share an **archive**. It keeps the first test that covers a goal. A covered goal is closed, and the
# search goes on with the **open** goals. The archive is the suite at the end.

# %%
LARGEST = 1000
AWAY = {  # the distance on the right side of the optimum
    "gradient": lambda x, best: x - best,
    "plateau": lambda x, best: 100,
    "deceptive": lambda x, best: 1 + LARGEST - x,
}


class Problem:
    """Goals of several kinds, an archive and a budget of executions."""

    def __init__(self, groups, seed, budget=1000):
        rng = random.Random(f"{seed}")
        kinds = [kind for kind, size in groups.items() for _ in range(size)]
        self.goals = [(kind, rng.randint(0, LARGEST)) for kind in kinds]
        self.open = set(range(len(self.goals)))
        self.archive = {}
        self.budget, self.executions = budget, 0
        self.spent_on = [0] * len(self.goals)  # executions for each goal

    def random_test(self, rng):
        return rng.randrange(len(self.goals)), rng.randint(0, LARGEST)

    def run(self, test):
        """Execute a test: its squeezed distance to its goal; 1 if the budget is used up."""
        if self.executions >= self.budget:
            return 1.0
        goal, x = test
        kind, best = self.goals[goal]
        self.executions += 1
        self.spent_on[goal] += 1
        if kind == "impossible":
            return 0.5
        distance = best - x if x <= best else AWAY[kind](x, best)
        if distance == 0:
            self.archive.setdefault(goal, test)
            self.open.discard(goal)
        return distance / (distance + 1)

    @property
    def done(self):
        return self.executions >= self.budget or not self.open


def mutate(test, rng):
    """The number goes up or down by a power of two; the goal stays."""
    goal, x = test
    step = rng.choice([-1, 1]) * 2 ** rng.randrange(11)
    return goal, min(LARGEST, max(0, x + step))


# %% [markdown]
# ## Random search
#
# It makes new tests all the time. Only the archive remembers anything.


# %%
def random_search(problem, rng):
    while not problem.done:
        problem.run(problem.random_test(rng))


# %% [markdown]
# ## Whole suite
#
# The individuals of a genetic algorithm can also be *suites*. The fitness of a suite adds up, over all goals, the
# distance of its nearest test. So a single number says how good a suite is, and a step is kept if the *sum* does not
# grow. Crossover exchanges tails of suites; mutation changes one test of the suite or replaces it by a new one.


# %%
def whole_suite(problem, rng, size=10, n_tests=20):
    """Suites are lists of pairs (distance, test); inherited tests are not executed again."""

    def measured(test):
        return problem.run(test), test

    def fitness(suite):
        nearest = dict.fromkeys(problem.open, 1.0)  # a closed goal counts 0
        for distance, (goal, _) in suite:
            if goal in nearest:
                nearest[goal] = min(nearest[goal], distance)
        return sum(nearest.values())

    def child(mother, father):
        cut = rng.randrange(n_tests) if rng.random() < 0.75 else 0
        suite, place = father[:cut] + mother[cut:], rng.randrange(n_tests)
        old = suite[place][1]
        new = mutate(old, rng) if rng.random() < 0.9 else problem.random_test(rng)
        suite[place] = measured(new)
        return suite

    suites = [[measured(problem.random_test(rng)) for _ in range(n_tests)] for _ in range(size)]
    while not problem.done:
        suites = sorted(suites, key=fitness)[:size]
        parents = [suites[min(rng.choices(range(size), k=3))] for _ in range(2 * size)]
        suites += [child(*pair) for pair in zip(parents[:size], parents[size:], strict=True)]


# %% [markdown]
# ## MOSA
#
# MOSA (*many-objective sorting algorithm*, Panichella and others 2015) evolves single tests and does not add anything
# up. Its **preference criterion** keeps, for each open goal, the nearest test. These tests have rank 0. If there is
# room for more, the second nearest tests follow with rank 1, and so on.


# %%
def ranked(population, problem, rng):
    """Sorted by rank: how many tests are nearer to the goal of the test; ties are random."""
    by_goal = {}
    for distance, test in population:
        if test[0] in problem.open:
            by_goal.setdefault(test[0], []).append((distance, rng.random(), test))
    return sorted(
        (rank, tie, distance, test)
        for tests in by_goal.values()
        for rank, (distance, tie, test) in enumerate(sorted(tests))
    )


def mosa(problem, rng, size=50):
    population = []
    while not problem.done:
        children = set()
        for _ in range(size):
            if population and rng.random() < 0.9:
                test = mutate(min(rng.choices(population, k=3))[-1], rng)
            else:
                test = problem.random_test(rng)
            children.add((problem.run(test), test))
        living = {(distance, test) for *_, distance, test in population}
        population = ranked(living | children, problem, rng)
        n_nearest = sum(rank == 0 for rank, *_ in population)
        population = population[: max(size, n_nearest)]


# %% [markdown]
# ## MIO
#
# MIO (*many independent objective algorithm*, Arcuri 2017) keeps a small population for each goal: here a single test,
# the nearest so far. Each step mutates the test of *one* goal. Which one? **Feedback-directed sampling** counts how
# often each goal was chosen, and sets the count back to 0 when the goal gets nearer. The next goal is the one with the
# smallest count. So a goal that makes progress is chosen again, and a goal that never does waits. In the first half of
# the budget, random tests fade out.


# %%
def fewest(counts, rng):
    """The goal that was chosen least often since it last made progress."""
    return min(counts, key=lambda goal: (counts[goal], rng.random()))


def mio(problem, rng, choose=fewest):
    nearest = {}  # goal: (distance, test)
    counts = {}
    while not problem.done:
        spent = problem.executions / problem.budget
        if not counts or rng.random() < max(0, 0.5 - spent):
            test = problem.random_test(rng)
        else:
            goal = choose(counts, rng)
            counts[goal] += 1
            test = mutate(nearest[goal][1], rng)
        goal, distance = test[0], problem.run(test)
        best = nearest.get(goal, (1.0, None))[0]
        if distance < best:
            counts[goal] = 0  # progress
        if distance <= best:
            nearest[goal] = distance, test
        if goal not in problem.open:
            counts.pop(goal, None)


# %% [markdown]
# ## The competition
#
# Each search gets 1000 executions. We vary the number of goals (1, 10 or 50) and the landscape, and repeat each run
# with other optima. Before you look, predict something harder. Beside ten goals with a gradient there are 100
# impossible ones. No search knows which is which. MOSA covers nearly all of the ten when they are alone:

# %%
guess = predict("How many of the ten does MOSA cover beside 100 impossible goals?", None, unit="%")
guess

# %%
SEARCHES = {"MIO": mio, "MOSA": mosa, "whole suite": whole_suite, "random": random_search}
RUNS = 10 if FAST else 30


def covered(groups, search, runs=RUNS, budget=1000):
    """The share of the possible goals that each run covers, in per cent."""
    shares = []
    for seed in range(runs):
        problem = Problem(groups, seed, budget)
        search(problem, random.Random(seed))
        possible = sum(kind != "impossible" for kind, _ in problem.goals)
        shares.append(100 * len(problem.archive) / possible)
    return np.array(shares)


COLOR = {"MIO": "C0", "MOSA": "C1", "whole suite": "C2", "random": "0.5"}
SIZES = (1, 10, 50)
mean = {
    (kind, name, size): covered({kind: size}, search, 5 * RUNS if size == 1 else RUNS).mean()
    for kind in AWAY
    for name, search in SEARCHES.items()
    for size in SIZES
}

# %%
FINDINGS = {
    "gradient": "MIO and MOSA lead",
    "plateau": "only MIO covers ten",
    "deceptive": "MIO is misled",
}
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9.5, 3.2))
for kind, ax in zip(AWAY, axes, strict=True):
    for name, marker in zip(SEARCHES, "osv^", strict=True):
        values = [mean[kind, name, size] for size in SIZES]
        ax.plot(values, marker=marker, color=COLOR[name], label=name)
    ax.set_xticks(range(3), SIZES)
    ax.set(title=f"{kind}: {FINDINGS[kind]}", xlabel="goals", ylim=(-3, 104))
axes[0].set_ylabel("covered, %")
axes[2].legend()
plt.show()

# %% tags=["hidden"]
for kind in ("gradient", "plateau"):
    assert mean[kind, "MIO", 10] > 90 and mean[kind, "random", 10] < 20
    assert mean[kind, "random", 10] + 8 < mean[kind, "whole suite", 10]
    assert mean[kind, "whole suite", 10] < mean[kind, "MOSA", 10] - 10
assert mean["gradient", "MOSA", 10] > 90 and mean["plateau", "MOSA", 10] < 75
assert max(mean["deceptive", name, 10] for name in SEARCHES) < 25
assert mean["deceptive", "MIO", 1] < mean["deceptive", "random", 1] - 20
assert mean["deceptive", "MOSA", 1] > 90
assert max(mean["gradient", name, 50] for name in SEARCHES) < 25
narrow = covered({"plateau": 10}, lambda problem, rng: mosa(problem, rng, 10))
assert narrow.mean() > mean["plateau", "MOSA", 10] + 15, "a smaller population goes deeper"

# %% [markdown]
# **Gradient.** MIO and MOSA keep the nearest test of *each* goal, so ten goals are no problem. The whole suite beats
# random search, but stays far behind them. Each mutation changes one of twenty tests, and most of them are not the
# nearest to any goal. Also, what one suite has found, the other nine have not.
#
# **Plateau.** All tests on the plateau are equally near, and only many small steps in a row lead to the slope. MOSA
# spends its 1000 executions on 20 generations of 50 tests, so no test is further than 20 steps from its ancestor. MIO
# keeps a single test for each goal and makes all its steps from there.
#
# **Deceptive.** With one goal, MIO's single test is lost if it walks up the false trail: MIO covers far less than
# random search. MOSA keeps fifty *different* tests, and some stay on the right slope. With ten goals there is no room
# for such variety, and no search is good any more.
#
# And 50 goals are too many for 1000 executions: 20 for each.
#
# ## What cannot be covered
#
# Every real module has goals that no input covers, such as dead code or a condition that always holds. Their distance
# stays where it is. Now to your prediction. A fifth search shows what feedback-directed sampling does: it is MIO, but
# it draws the next goal by lot.


# %%
def anyone(counts, rng):
    """Some goal that has a test; the counts do not matter."""
    return rng.choice(list(counts))


def mio_without_feedback(problem, rng):
    mio(problem, rng, choose=anyone)


searches = {**SEARCHES, "MIO without feedback": mio_without_feedback}
COLOR["MIO without feedback"] = "C5"
BESIDE = (0, 20, 100)
beside = {
    name: [covered({"gradient": 10, "impossible": size}, search).mean() for size in BESIDE]
    for name, search in searches.items()
}
guess.compare(beside["MOSA"][2])

# %%
fig, ax = plt.subplots(figsize=(9, 3.3))
for shift, (name, values) in enumerate(beside.items()):
    ax.bar(np.arange(3) + 0.16 * (shift - 2), values, 0.16, label=name, color=COLOR[name])
ax.set_xticks(range(3), [f"{size} impossible goals" for size in BESIDE])
ax.set_ylabel("covered of the ten, %")
ax.set_title("Impossible goals hurt every search, and MIO with feedback least")
guess.draw(ax)
ax.grid(visible=False, axis="x")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# Why? Let us count for whom the searches spend their executions. Only 10 of the 110 goals are possible, so a search
# without any idea spends 9 % on them.


# %%
def spent_on_possible(search):
    """The share of its executions that a search spends on the ten possible goals, in per cent."""
    shares = []
    for seed in range(RUNS):
        problem = Problem({"gradient": 10, "impossible": 100}, seed)
        search(problem, random.Random(seed))
        shares.append(100 * sum(problem.spent_on[:10]) / problem.executions)
    return np.mean(shares)


spent = {name: spent_on_possible(search) for name, search in searches.items()}
fig, ax = plt.subplots(figsize=(8, 2.8))
bars = ax.barh(list(spent), list(spent.values()), 0.6, color=[COLOR[name] for name in spent])
ax.bar_label(bars, [f"{share:.0f} %" for share in spent.values()], padding=3)
ax.axvline(100 / 11, color="0.5", linestyle=":")
ax.set(xlabel="executions for the ten possible goals, % (dotted: 10 of 110)", xlim=(0, 40))
ax.set_title("Only MIO with feedback spends more on the possible goals than chance would")
ax.invert_yaxis()
ax.grid(visible=False, axis="y")
plt.show()

# %% tags=["hidden"]
assert beside["MIO"][1] > beside["MIO without feedback"][1] + 15
assert beside["MIO"][2] > 2 * max(values[2] for name, values in beside.items() if name != "MIO")
assert spent["MIO"] > 2 * 100 / 11 > 2 * 0.9 * max(v for name, v in spent.items() if name != "MIO")

# %% [markdown]
# MIO with feedback spends more than twice as much on the possible goals as the others do. A goal that makes progress is
# chosen again at once; an impossible goal makes none, and waits. The whole suite does worst. Any test of an impossible
# goal lowers its sum at once, from 1 to 0.5, so the suites fill up with such tests.
#
# ## The same in fitgym
#
# fitgym has these searches as published, with all their options, for real modules and for problems like ours. The names
# are those of `fitgym list searches`.

# %%
from fitgym.formulas.artificial import ArtificialEngine
from fitgym.formulas.artificial import Problem as Published

PUBLISHED = {
    "MIO": "mio:population=1",
    "MOSA": "mosa:fresh=0.0,distinct=false,neutral=false",
    "whole suite": "whole_suite:initial_tests=50,max_tests=50,crossover=0.7",
    "random": "random_search",
}  # with the settings of the paper that compared them (Arcuri 2017)
for name, search in PUBLISHED.items():
    shares = []
    for seed in range(3 if FAST else 10):
        problem = Published.draw({"gradient": 10}, seed)
        engine = ArtificialEngine(problem, search=search, seed=seed, budget=1000).run()
        shares.append(10 * engine.n_covered)
    print(f"{name:12} {np.mean(shares):3.0f} %   (ours: {mean['gradient', name, 10]:3.0f} %)")

# %% [markdown]
# MIO, MOSA and random search agree with ours. But the published whole suite is no better than random search! Is whole
# suite bad? Do exercise 2 before you answer.
#
# ## Exercises
#
# **1.** In a real module a test can be near several goals. The table has the distances of five tests to three open
# goals. Which tests does MOSA's preference criterion keep (rank 0)?

# %%
NEAR = {  # test: distance to goal A, B, C
    "t1": (0.5, 1.0, 0.9),
    "t2": (0.6, 0.2, 0.8),
    "t3": (0.7, 0.3, 0.4),
    "t4": (0.9, 0.4, 0.5),
    "t5": (0.6, 0.6, 0.7),
}

# %% tags=["exercise"]
kept = ...  # a set of names, such as {"t4", "t5"}


# %% tags=["check"]
def check_kept(answer):
    nearest = {min(NEAR, key=lambda test: NEAR[test][goal]) for goal in range(3)}
    if set(answer) - nearest:
        return f"{sorted(set(answer) - nearest)[0]} is not the nearest to any goal."
    if nearest - set(answer):
        return "One of the goals has lost its nearest test."
    return None


# %%
exercise("kept", kept, check_kept, hint="Go down each of the three columns.")

# %% [markdown]
# **2.** The paper has 50 suites with up to 50 tests, 25 on average. Our `whole_suite` has 10 suites of 20 tests. Choose
# the two numbers so that it covers at least 65 % of ten goals with a gradient.

# %% tags=["exercise"]
settings = ...  # a tuple (number of suites, tests in a suite), such as (50, 25)


# %% tags=["check"]
def check_settings(answer):
    size, n_tests = answer

    def search(problem, rng):
        whole_suite(problem, rng, size, n_tests)

    share = covered({"gradient": 10}, search).mean()
    if share < 65:
        first = size * n_tests
        return f"It covers {share:.0f} %. The first population takes {first} of 1000 executions."
    return None


# %%
exercise("settings", settings, check_settings, hint="How much budget is left to evolve?")

# %% [markdown]
# **3.** Write a search that covers at least 24 % of *five deceptive goals*. Random search covers about 17 %, MIO 8 %.
# Of the searches of this lesson only MOSA achieves this, and MOSA does not count. Use `problem.open`,
# `problem.run(test)`, `problem.done` and `mutate(test, rng)`.

# %% tags=["exercise"]
my_search = ...  # a function: def my_search(problem, rng): ...


# %% tags=["check"]
def check_my_search(answer):
    if answer in searches.values():
        return "This is a search of the lesson. Write one of your own."
    share = covered({"deceptive": 5}, answer, runs=20).mean()
    return None if share >= 24 else f"It covers {share:.0f} %."


# %%
exercise("my_search", my_search, check_my_search, hint="What helped the climber of lesson 02?")

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "What is the archive?",
        (
            "All tests that were ever executed",
            "One test for each covered goal",
            "The best population so far",
        ),
        1,
        "A covered goal is closed and keeps its test. The archive is the suite at the end.",
    ),
    Question(
        "A mutant of a suite comes nearer to goal A, but loses its nearest test for B. "
        "What does a whole-suite search do?",
        ("It keeps it.", "It rejects it.", "It depends on the sum of the distances."),
        2,
        "The fitness of a suite is one number for all goals.",
    ),
    Question(
        "What does MIO's counter measure?",
        (
            "How often a goal was chosen since it last came nearer",
            "How far a goal is",
            "How many tests cover a goal",
        ),
        0,
        "Progress sets it to 0. Goals without progress have to wait.",
    ),
    Question(
        "Why does a large population help on a deceptive landscape and harm on a plateau?",
        (
            "It keeps variety, but makes fewer generations.",
            "It executes more tests.",
            "It has a larger archive.",
        ),
        0,
        "The budget is the same. Breadth is paid for with depth.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **Settings.** "Whole suite is no better than random" was true of one setting: its first population alone takes more
#   than the budget. A comparison of algorithms is always one of settings.
# * **One budget.** With 100 executions no search covers much. With 100,000 even random search covers all ten goals. A
#   comparison at one budget is a point of a curve.
# * **Independent goals.** Here a test is near one goal only, which suits MIO. In real code a test is near many goals at
#   once, and whole suite and MOSA look better.
# * **Simplified searches.** Ours leave out much, such as crossover of tests and secondary objectives.
#
# ## Next
#
# The best search depends on the landscape, and you do not see the landscape before you search. So a choice has to be
# made while the search runs. Part II is about such decisions. Lesson 06 begins with the simplest problem of this kind,
# the bandit.
