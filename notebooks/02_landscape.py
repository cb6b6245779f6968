# %% [markdown]
# # 02 What makes a search easy or hard?
#
# A test generator searches for inputs: for the one `x` that makes `if x == 300:` true, for example. This lesson shows
# how a number called *distance* guides the search, and how it can mislead the search.
#
# * **Time:** 25 minutes.
# * **You need:** lesson 01, functions and loops of Python, a little NumPy.
# * **You will be able to:** read a fitness landscape, write a hill climber, and recognise gradients, plateaus and false
#   trails.

# %% tags=["setup"]
import os
from importlib.metadata import version

import matplotlib.pyplot as plt
import numpy as np

from fitgym.course import Question, exercise, predict, quiz

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## Warmer, colder
#
# We look for a whole number, the *goal*, between 0 and 1000. A blind guess hits it with probability 1/1001.
#
# Now suppose that each try is answered by a **distance**: 0 at the goal, above 0 everywhere else, such as $|300 - x|$.
# Then a search can tell *warmer* from *colder*. The distance, drawn over all inputs, is called the **fitness
# landscape**. Here are three landscapes for the same goal. They differ only on its right side.

# %%
LARGEST = 1000


def gradient(x, goal):
    return abs(goal - x)


def plateau(x, goal):
    return goal - x if x <= goal else 100


def deceptive(x, goal):
    return goal - x if x <= goal else 1 + LARGEST - x


LANDSCAPES = [gradient, plateau, deceptive]

# %% [markdown]
# The simplest search is a **hill climber**. It starts anywhere, tries a neighbour of its position, and moves there if
# the distance does not grow. (It "climbs" downwards here, because small distances are good.) A neighbour is a power of
# two away, up or down: 1, 2, 4, ..., 1024. So the climber can take large and small steps.


# %%
def neighbour(x, rng):
    """A number that is a power of two away, inside 0 to 1000."""
    step = 2 ** rng.integers(11)
    return min(LARGEST, x + step) if rng.random() < 0.5 else max(0, x - step)


def climb(distance, goal, budget, rng, start=None):
    """The position of the climber after each try; it stops at the goal."""
    x = rng.integers(LARGEST + 1) if start is None else start
    path = [x]
    while len(path) < budget and distance(x, goal) > 0:
        y = neighbour(x, rng)
        if distance(y, goal) <= distance(x, goal):
            x = y
        path.append(x)
    return path


# %% [markdown]
# Let five climbers start at the same five places of each landscape. Each has 100 tries.

# %%
GOAL, STARTS = 300, [20, 150, 420, 600, 850]
xs = np.arange(LARGEST + 1)
rng = np.random.default_rng(11)
paths = {land: [climb(land, GOAL, 100, rng, start) for start in STARTS] for land in LANDSCAPES}
STORY = {gradient: "every way leads down", plateau: "the right side is flat"}
STORY[deceptive] = "the right side leads away"

fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9.5, 3.2))
for ax, land in zip(axes, LANDSCAPES, strict=True):
    ax.plot(xs, [land(x, GOAL) for x in xs], color="0.75", linewidth=4)
    for number, path in enumerate(paths[land]):
        visited = [land(x, GOAL) for x in path]
        ax.plot(path, visited, ".", color=f"C{number}", markersize=4)
        ax.plot(path[0], visited[0], "o", color=f"C{number}", fillstyle="none", markersize=9)
    ax.plot(GOAL, 0, "*", color="C6", markersize=13, clip_on=False)
    ax.set(title=f"{land.__name__}: {STORY[land]}", xlabel="input x")
axes[0].set_ylabel("distance")
plt.show()

# %% [markdown]
# Each colour is one climber. The open circle is its start, the dots are the places that it visited, and the star is the
# goal. The next figure shows the same climbers over time.

# %%
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9.5, 3.2))
for ax, land in zip(axes, LANDSCAPES, strict=True):
    for number, path in enumerate(paths[land]):
        ax.plot(path, drawstyle="steps-post", color=f"C{number}")
    ax.axhline(GOAL, color="0.5", linewidth=1, linestyle=":")
    arrived = sum(path[-1] == GOAL for path in paths[land])
    ax.set(title=f"{land.__name__}: {arrived} of 5 arrive", xlabel="tries", xlim=(0, 100))
axes[0].set_ylabel("input x (dotted: the goal)")
plt.show()

# %% [markdown]
# On the gradient every climber arrives. On the plateau the climbers wander about without direction, until a jump takes
# them to the slope by chance. On the deceptive landscape nobody arrives: all five end at $x = 1000$. The distance there
# is only 1, and every other place nearby looks worse. Such a place is called a **local optimum**. Two climbers started
# on the left side, where the slope is good. They ended there too, because a step of 512 or 1024 carried them over the
# wall.
#
# Five climbers prove nothing. Let us run many, each with a goal and a start of its own. Predict first: on the deceptive
# landscape, how many of 100 climbers arrive within 200 tries? (Of 100 people who guess blindly 200 times, 18 hit the
# goal.)

# %%
guess = predict("How many of 100 climbers arrive on the deceptive landscape?", None, unit="of 100")
guess

# %%
RUNS, BUDGET = (300, 200) if FAST else (2000, 200)


def tries_needed(distance, climber=climb):
    """Of each run the number of tries until the goal; infinite if the budget was too small."""
    needed = []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        goal = rng.integers(LARGEST + 1)
        path = climber(distance, goal, BUDGET, rng)
        needed.append(len(path) if path[-1] == goal else np.inf)
    return np.array(needed)


needed = {land: tries_needed(land) for land in LANDSCAPES}
arrived = {land: 100 * (tries <= BUDGET).mean() for land, tries in needed.items()}
for land, share in arrived.items():
    print(f"{land.__name__:10} {share:5.1f} of 100 runs within {BUDGET} tries")
guess.compare(arrived[deceptive])

# %%
tries = np.arange(1, BUDGET + 1)
blind = 100 * (1 - (1 - 1 / (LARGEST + 1)) ** tries)  # at least one hit in so many guesses
fig, ax = plt.subplots(figsize=(8, 3.6))
for land in LANDSCAPES:
    ax.plot(tries, [100 * (needed[land] <= n).mean() for n in tries], label=land.__name__)
ax.plot(tries, blind, "--", color="C6", label="blind guessing")
ax.set(xlabel="tries", ylabel="runs at the goal, %", ylim=(0, 103))
ax.set_title("A slope beats guessing by far; a false trail is worse than guessing")
guess.draw(ax)
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% tags=["hidden"]
within = {land: 100 * (tries <= 100).mean() for land, tries in needed.items()}
assert within[gradient] > 8 * blind[99] and arrived[gradient] > 97
assert within[gradient] > within[plateau] + 10 > within[deceptive] + 30
assert arrived[deceptive] < blind[-1] - 5 and within[deceptive] > arrived[deceptive] - 2
assert [sum(path[-1] == GOAL for path in paths[land]) for land in LANDSCAPES] == [5, 3, 0]

# %% [markdown]
# After 100 tries the gradient is ten times as good as guessing: that is why test generators measure distances. The
# plateau costs time, but most climbers find the slope in the end. On the deceptive landscape the curve soon stops
# rising: a climber that has not arrived early is stuck on the local optimum. Guessing, which no landscape can mislead,
# overtakes it.
#
# ## Where landscapes come from
#
# The code decides which landscape its inputs have:
#
# | code | landscape of its input |
# |---|---|
# | `if x == 300:` | gradient: the distance is $\lvert x - 300 \rvert$ |
# | `if is_magic(x):`, which returns True or False | plateau: two heights, no slope |
# | `if hash(x) % 1001 == 300:` | rugged: neighbours have nothing to do with each other |
# | `x = min(x, 200)`, then `if x == 300:` | plateau above 200, and no input reaches the goal |
#
# A **fitness function** turns an execution into such a distance. The choice of the fitness function is the choice of
# the landscape. That is the subject of this whole course.
#
# ## Exercises
#
# **1.** Take the deceptive landscape with the goal 300. Find a number from which a step of 1 *away* from the goal
# lowers the distance.

# %% tags=["exercise"]
misled = ...  # a whole number between 0 and 1000


# %% tags=["check"]
def check_misled(answer):
    if answer == 300:
        return "This is the goal itself."
    away = answer + (1 if answer > 300 else -1)
    if not 0 <= answer <= LARGEST or not 0 <= away <= LARGEST:
        return "The number and the step must stay between 0 and 1000."
    if deceptive(away, 300) >= deceptive(answer, 300):
        return f"From {answer} to {away} the distance does not fall."
    return None


# %%
exercise("misled", misled, check_misled, hint="Look at the right side of the third landscape.")

# %% [markdown]
# **2.** A climber that is stuck can start again elsewhere. The one below does so after `patience` tries in a row that
# did not lower the distance. Choose the patience so that at least 23 of 100 climbers arrive on the deceptive landscape.
# That is more than guessing achieves.


# %%
def climb_again(patience):
    """A hill climber that starts again after so many tries without progress."""

    def climber(distance, goal, budget, rng):
        path = []
        while len(path) < budget and (not path or path[-1] != goal):
            x, idle = rng.integers(LARGEST + 1), 0
            path.append(x)
            while idle < patience and len(path) < budget and x != goal:
                y = neighbour(x, rng)
                idle = 0 if distance(y, goal) < distance(x, goal) else idle + 1
                x = y if distance(y, goal) <= distance(x, goal) else x
                path.append(x)
        return path

    return climber


# %% tags=["exercise"]
patience = ...  # a whole number of tries


# %% tags=["check"]
def check_patience(answer):
    share = 100 * (tries_needed(deceptive, climb_again(answer)) <= BUDGET).mean()
    if share < 23:
        return f"With a patience of {answer}, {share:.0f} of 100 climbers arrive."
    return None


# %%
exercise("patience", patience, check_patience, hint="How long does a good climber wait?")

# %% [markdown]
# **3.** The code `if word == "search":` compares texts. Write its distance: a function of the word that is 0 only for
# `"search"` and leads a climber there. The climber changes one letter of a word of six letters, and has 3000 tries.
# There are 309 million such words.


# %%
def climb_words(distance, rng, budget=3000):
    """The last word of a hill climber on words of six letters."""
    word = "".join(chr(97 + rng.integers(26)) for _ in range(6))
    for _ in range(budget):
        if distance(word) == 0:
            break
        place, letter = rng.integers(6), chr(97 + rng.integers(26))
        changed = word[:place] + letter + word[place + 1 :]
        if distance(changed) <= distance(word):
            word = changed
    return word


# %% tags=["exercise"]
word_distance = ...  # a function, such as: lambda word: len(word)


# %% tags=["check"]
def check_word_distance(answer):
    if answer("search") != 0:
        return f'The distance of "search" is {answer("search")}, expected 0.'
    if answer("seerch") <= 0:
        return f'The distance of "seerch" is {answer("seerch")}, expected a number above 0.'
    ends = [climb_words(answer, np.random.default_rng(seed)) for seed in range(10)]
    if ends.count("search") < 9:
        return f'{ends.count("search")} of 10 climbers arrive. One ended at "{ends[0]}".'
    return None


# %%
exercise(
    "word_distance", word_distance, check_word_distance, hint="How many letters are still wrong?"
)

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "What does a hill climber need from a distance?",
        ("Its exact value", "Only whether one place is lower than another", "Its formula"),
        1,
        "The climber compares two places. Any distance with the same order gives the same walk.",
    ),
    Question(
        "A climber on the deceptive landscape has not arrived after 100 tries. What helps?",
        ("100 more tries", "A new start elsewhere", "Smaller steps"),
        1,
        "It sits on a local optimum. More tries from there change nothing.",
    ),
    Question(
        "Why does `if is_magic(x):` give a search no direction?",
        ("It is slow.", "It has no goal.", "Every wrong input has the same distance."),
        2,
        "True or False has only two heights. All wrong inputs look alike: a plateau.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **The landscape belongs to the moves.** With steps of 1 only, the gradient takes hundreds of tries. "This problem is
#   hard" means that it is hard for these moves.
# * **One goal.** A module has hundreds of goals at once. What a search spends on one goal is lost for the others:
#   lesson 05.
# * **One budget.** After 10 tries the landscapes look almost alike, after 200 they do not. Look at the whole curve.
#
# ## Next
#
# Where does the distance of *real* code come from? Lesson 03 builds the measuring instrument.
