# %% [markdown]
# # 18 What changes when a study runs on a cluster?
#
# A study is hundreds of runs that know nothing of each other. On one core they take a night, on a cluster minutes. Only the
# time should change. This notebook runs the same study in this process and on a Ray cluster, a small one: two workers
# on this machine. `--address` is all that a real one needs more.

# %% [markdown]
# **Predict first.** Forty short runs, a tenth of a second or so each.
#
# 1. How much faster are two Ray workers than one process, the start of the cluster included? Twice, equal, slower?
# 2. Runs end in another order than they were asked for. Will the *results* be equal to those of one process, digit for digit?
# 3. What if a worker dies in the middle?

# %% tags=["setup"]
import logging
import os
import tempfile
import time
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

from fitgym.study import campaign
from fitgym.study.plan import Plan
from fitgym.study.results import Results
from fitgym.study.store import Store

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
assert find_spec("ray"), "this notebook needs Ray: pip install -e '.[ray]'"
os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}  # all on this machine
logging.disable(logging.INFO)  # Ray speaks of itself
warnings.filterwarnings("ignore", message="IProgress not found")
import ray

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, ray {version('ray')}, {'fast' if FAST else 'full'} mode")

# %%
plan = Plan.of(
    {
        "name": "spread",
        "trial": "artificial",
        "subjects": ["gradient:30", "gradient:10+infeasible:20"],
        "seeds": 10 if FAST else 100,
        "budget": "1000x",
        "arms": [{"name": "MOSA", "search": "mosa"}, {"name": "WTS", "search": "whole_suite"}],
    }
)
temporary = tempfile.TemporaryDirectory()


def run(executor, began):
    """Make the whole study; when each run ended, in seconds since it began."""
    ended, folder = [], Path(temporary.name, executor)

    def watch(progress):
        ended.append(time.monotonic() - began)

    campaign.run(plan, folder, executor=executor, watch=watch)
    return ended


# %%
ended = {"serial": run("serial", time.monotonic())}
began = time.monotonic()
ray.init(num_cpus=2, log_to_driver=False)  # or address="ray://head:10001"
start = time.monotonic() - began
ended["ray"] = run("ray", began)
ray.shutdown()
fig, ax = plt.subplots(figsize=(8, 2.8))
for executor, seconds in ended.items():
    ax.step(seconds, range(1, len(seconds) + 1), where="post", label=executor)
ax.set(xlabel="seconds", ylabel="runs that have ended", xlim=(0, None))
ax.legend()
plt.show()
print({executor: f"{seconds[-1]:.1f} s" for executor, seconds in ended.items()})

# %% [markdown]
# For a study this small a cluster does not pay: it takes seconds until the first run has ended on it. What can be gained has a
# limit (Amdahl): if starting takes $S$ and the runs take $T$ on one core, then $n$ workers take at least $S + T / n$.

# %%
work = ended["serial"][-1]
workers = np.arange(1, 65)
fig, ax = plt.subplots(figsize=(8, 2.8))
for times, label in (
    (1, "this study"),
    (100, "a hundred times as long"),
    (10_000, "ten thousand times"),
):
    ax.plot(workers, times * work / (start + times * work / workers), label=label)
ax.plot(workers, workers, "k:", label="the limit")
ax.set(xlabel="workers", ylabel="speed-up at most", xscale="log", yscale="log")
ax.set_xticks([1, 4, 16, 64], [1, 4, 16, 64])
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# ## The same numbers
#
# A run depends on its settings and its seed: nothing is drawn from a shared generator, nothing depends on the order. So
# everything but the times is equal.


# %%
def records(executor):
    """All records of a study without their times, in the order of the plan."""
    found = Store.open(Path(temporary.name, executor)).records()
    return [{**record, "seconds": {}} for record in found]


assert records("serial") == records("ray")
results = Results(plan, records("ray"))
for arm, values in results.metric.items():
    print(
        f"{arm:5}",
        *[
            f"{100 * share:.0f} % of {s}"
            for s, share in zip(plan.subjects, values.mean(axis=1), strict=True)
        ],
    )

# %% [markdown]
# ## When something dies
#
# Each run writes its own record. A study that was cut off goes on with the runs that have none, on any executor. Here ten
# records get lost on the cluster, and this process makes up for them.

# %%
lost = sorted(Path(temporary.name, "ray", "records").rglob("*.json*"))[:10]
for file in lost:
    file.unlink()
made = []
status = campaign.run(plan, Path(temporary.name, "ray"), executor="serial", watch=made.append)
print(f"{len(made)} runs made again, {status.done} done, {status.open} open")
assert len(made) == len(lost) == 10 and status.open == 0
assert records("serial") == records("ray"), "and again all numbers are the same"

# %% [markdown]
# On the command line:
#
# ```
# fitgym study run studies/mio.toml --executor ray --address ray://head:10001
# fitgym study resume results/mio
# ```
#
# A node that is lost takes its runs with it, and they are made again elsewhere; nodes need no common file system, because
# a task brings its record back. With SLURM: `--executor slurm`.

# %% [markdown]
# ## Exercise
#
# Starting a cluster takes 20 s; a study takes two hours on one core. How many workers does it take to have it done in five
# minutes? (All runs are short beside that.)

# %% tags=["exercise"]
answer = ...  # a whole number of workers, the smallest that does it


# %% tags=["checker"] jupyter={"source_hidden": true}
def check(answer):
    if answer is ...:
        return print("Your turn: set `answer` above, run that cell, then this one.")

    def minutes(workers):
        return (20 + 2 * 3600 / workers) / 60

    print(f"{answer} workers take at least {minutes(answer):.2f} minutes")
    assert minutes(answer) <= 5, "too late: the start is part of it"
    assert minutes(answer - 1) > 5, "fewer would do"
    print("Right.")


check(answer)

# %% [markdown] tags=["solution"]
# <details>
# <summary>Solution</summary>
#
# ```python
# answer = 26
# ```
#
# 280 s are left for 7200 s of work: 25.7.
#
# </details>
# <details>
# <summary>A tempting answer that fails</summary>
#
# ```python
# answer = 24
# ```
#
# Two hours by five minutes: right, if starting were free.
#
# </details>

# %% [markdown]
# ## What could fool you here
#
# * **More workers than cores.** They share what there is, budgets in *seconds* then buy less search, and a comparison by seconds
#   is void. Budgets in executions are not touched by it.
# * **Times of a loaded machine.** The picture above is of one moment on one machine. That is why nothing about times is
#   asserted here, only about results.
# * **Equal results need equal code.** A cluster with another version of fitgym or Python gives other numbers. Records say which
#   version made them, and the report lists them.
# * **The last run.** A long run that starts last keeps one worker busy and all others idle: the bound above is a bound.
