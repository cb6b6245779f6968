# %% [markdown]
# # 03 What does a search see of one execution?
#
# A test case runs, and comes back with more than *passed* or *failed*: with a *trace*, from which every fitness function
# takes what it needs. This notebook follows one call through eight lines of code, down to the number that guides the
# search.

# %% [markdown]
# **Predict first.** For a triangle with the sides `a`, `b`, `c` (see the code below) we want to see `"equilateral"`. Three
# calls miss it:
#
# 1. `triangle(3, 4, 9)` is none at all: 3 + 4 is not more than 9
# 2. `triangle(4, 6, 7)` is a triangle, and `a == b` fails by 2
# 3. `triangle(5, 5, 6)` gets to `b == c`, which fails by 1
#
# Order them by how near they are. Then: give each a number, so that a search could tell.

# %% tags=["setup"]
import os
import tempfile
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

from fitgym.execution.executor import Executor
from fitgym.fitness.branch import Branch
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.trace import Trace
from fitgym.instrument.transformer import instrument
from fitgym.subject.source import locate

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %%
SOURCE = """\
def triangle(a, b, c):
    if a + b <= c:
        return "none"
    if a == b:
        if b == c:
            return "equilateral"
        return "isosceles"
    return "scalene"
"""
temporary = tempfile.TemporaryDirectory()
file = Path(temporary.name, "triangles.py")
file.write_text(SOURCE)
with Executor(locate(str(file))) as executor:  # a worker process imports it and says what there is
    subject = executor.subject
for site in subject.sites[1:]:
    print(f"line {site.line}, site {site.id:2}: {site.kind} {site.operator}")

# %%
code, recorder = instrument(SOURCE, "triangles.py"), Recorder(subject.sites)
module = {}
exec(code.code(recorder.probe), module)  # the same code, with a probe at each site


def trace(*sides):
    """What one call records."""
    recorder.begin()
    module["triangle"](*sides)
    return Trace(*recorder.snapshot())


calls = [(3, 4, 9), (4, 6, 7), (5, 5, 6)]
fig, axes = plt.subplots(1, 3, figsize=(9, 2.5))
for ax, sides in zip(axes, calls, strict=True):
    trace(*sides)
    reached = {s.line for s in subject.sites if recorder.counts[s.id]}
    for number, text in enumerate(SOURCE.splitlines(), 1):
        color = "C0" if number in reached else "0.75"
        ax.text(0, -number, text, family="monospace", size=8.5, color=color)
    ax.set(title=f"triangle{sides}", xlim=(0, 1), ylim=(-9, 0))
    ax.axis("off")
plt.show()

# %% [markdown]
# Blue lines were executed. Lines alone say little: the second call and the third took different ways, but *how near* the
# second one was to the other way is not in them. That is what the *sites* are for. fitgym rewrites the code once: each
# comparison `a == b` becomes a call `site(a, b)` that returns the same outcome and notes how far the operands were from
# each of the three relations that two numbers can have.
#
# | to make true | least change of the operands, with $g = \lvert a - b \rvert$ |
# |---|---|
# | `a < b` | 0 if so already, else $g + 1$ |
# | `a == b` | $g$ |
# | `a > b` | 0 if so already, else $g + 1$ |

# %%
comparisons = [site for site in subject.sites if site.kind == "comparison"]
for sides in calls:
    trace(*sides)
    print(f"triangle{sides}")
    for site in comparisons:
        less, equal, greater = (float(d) for d in recorder.distances[site.slot : site.slot + 3])
        row, start, _, end = site.span
        text = SOURCE.splitlines()[row - 1][start:end]
        print(f"    {text:10} to < {less:4}   to == {equal:4}   to > {greater:4}")

# %% [markdown]
# Infinite means: not reached. From three numbers per comparison follows the **branch distance** of both of its outcomes:
# `a + b <= c` is made false by making `>` true. And where a comparison was not even reached, the **approach level** counts
# how many decisions away the execution turned off. Both together, with $\nu(d) = d / (d + 1)$ so that a level always counts
# for more than any distance:
#
# $$f(t, x) = \text{approach level} + \nu(\text{branch distance where it turned off})$$

# %%
branch = Branch(subject)
names = [f"line {line}: {outcome}" for _, line, _, outcome in (t.key for t in branch.targets)]
equilateral = names.index("line 5: True")
distances = branch.distances([trace(*sides) for sides in calls])
for sides, distance in zip(calls, distances[:, equilateral], strict=True):
    print(f"triangle{sides}: {distance:.3f} from equilateral")
assert distances[0, equilateral] == 2 + 3 / 4, "2 decisions away; 9 - 7 + 1 = 3 short of a triangle"
assert distances[1, equilateral] == 1 + 2 / 3, "1 decision away; a and b differ by 2"
assert distances[2, equilateral] == 0 + 1 / 2, "there; b and c differ by 1"

# %% [markdown]
# ## The landscape of eight lines
#
# Now the same for all `a` and `b` up to 40, with `c` = 20. What for one target is a plain is a slope for another.

# %%
SIDE, C = 41, 20
grid = branch.distances([trace(a, b, C) for b in range(SIDE) for a in range(SIDE)])
shown = ["line 2: True", "line 4: True", "line 5: True"]
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(9, 3.4))
for ax, name in zip(axes, shown, strict=True):
    surface = grid[:, names.index(name)].reshape(SIDE, SIDE)
    image = ax.imshow(surface, origin="lower", cmap="cividis", vmin=0, vmax=3)
    b, a = np.nonzero(surface == 0)
    ax.plot(a, b, "*", color="C1", markersize=12 if a.size == 1 else 3)
    ax.set(title=f"to {name}", xlabel="a")
    ax.grid(visible=False)
axes[0].set_ylabel("b")
fig.colorbar(image, ax=axes, label="distance", shrink=0.8)
plt.show()

# %% [markdown]
# Orange marks cover the target. The one star on the right, `triangle(20, 20, 20)`, is one of 1681 inputs: guessing needs a
# thousand tries. But there is a way down to it: over the edge to $a + b > c$, then along to the diagonal $a = b$, then along
# the diagonal. Notebook 02 has shown what a climber makes of that.

# %%
surface = grid[:, equilateral].reshape(SIDE, SIDE)
assert (surface == 0).sum() == 1 and surface[20, 20] == 0
levels = [(surface >= level).mean() for level in (1, 2)]
print(f"two decisions away: {100 * levels[1]:.0f} %, at least one: {100 * levels[0]:.0f} %")
diagonal = surface.diagonal()[11:21]
assert (np.diff(diagonal) < 0).all(), "on the diagonal each step towards 20 is nearer"

# %% [markdown]
# Every fitness function of fitgym is made from the same traces: `line` from the counts, `exception` from what was raised,
# `weak_mutation` from what the distances say about `<` in the place of `<=`. That is why an agent can exchange them in the
# middle of a search, and nothing has to be run again.

# %% [markdown]
# ## Exercise
#
# Find three sides whose trace is exactly **1.5** from *equilateral*. (How many decisions away, and how far off there?)

# %% tags=["exercise"]
answer = ...  # a tuple (a, b, c) of whole numbers


# %% tags=["checker"] jupyter={"source_hidden": true}
def check(answer):
    if answer is ...:
        return print("Your turn: set `answer` above, run that cell, then this one.")
    distance = branch.distances([trace(*answer)])[0, equilateral]
    print(f"triangle{answer} is {distance:.3f} from equilateral")
    hint = (
        "one decision away means: a triangle, for which a == b fails. By how much is nu(d) = 1/2?"
    )
    assert distance == 1.5, hint
    print("Right.")


check(answer)

# %% [markdown] tags=["solution"]
# <details>
# <summary>Solution</summary>
#
# ```python
# answer = (5, 6, 7)
# ```
#
# A triangle, so `a == b` is reached; it fails by 1, and $\nu(1) = 1/2$. What `c` is does not matter.
#
# </details>
# <details>
# <summary>A tempting answer that fails</summary>
#
# ```python
# answer = (5, 5, 6)
# ```
#
# One number off, but at the last decision: that is 0.5.
#
# </details>

# %% [markdown]
# ## What could fool you here
#
# * **Near is not soon.** A distance of 0.5 can be a plateau whose end is far away, and 2.9 one lucky step from 0. The
#   distance orders inputs; it is no estimate of the work left.
# * **Levels count decisions, not difficulty.** A trivial `if` and a checksum are one level each.
# * **Numbers are kind.** For `x is None` or an object of one's own there is no *almost*: true or false, a plateau.
# * **The order of the operands' code.** Swap the two inner conditions, and what was one decision away is two. The program
#   does the same, and its landscape is another.
