# %% [markdown]
# # 18 What changes when a study runs on a cluster?
#
# A study consists of hundreds of runs that know nothing of each other. On one core they take a night, on a cluster minutes. Only the time
# should change, and no result.
#
# **Time:** 20 minutes. **You need:** lesson 16 and `pip install -e '.[ray]'`. **You will be able to:** run a study on a Ray cluster, estimate
# whether it pays, and show that the results are the same.

# %% tags=["setup"]
import logging
import os
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from fitgym.course import Question, exercise, predict, quiz
from fitgym.study import campaign
from fitgym.study.plan import Plan
from fitgym.study.results import Results
from fitgym.study.store import Store

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}  # this machine only
logging.disable(logging.INFO)  # of Ray
warnings.filterwarnings("ignore", message="IProgress not found")
import ray

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions of the same lesson
plt.style.use("lesson.mplstyle")
SERIAL, RAY = "#0072B2", "#D55E00"
print(f"fitgym {version('fitgym')}, ray {version('ray')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## One study, twice
#
# The study compares MOSA and WTS on two artificial problems. Each run takes a few hundredths of a second. It is made in this process, and then
# on a small Ray cluster: two workers on this machine. For a real cluster, add only its address.

# %%
even = predict("How many such runs does it take until two Ray workers pay?", None, unit="runs")
equal = predict("Are the results equal, digit for digit?", None, choices=("yes", "no"))
even

# %%
equal

# %%
plan = Plan.of(
    {
        "name": "spread",
        "trial": "artificial",
        "subjects": ["gradient:30", "gradient:10+infeasible:20"],
        "seeds": 10 if FAST else 40,
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
    return np.array(ended)


# %%
serial = run("serial", time.monotonic())
began = time.monotonic()
ray.init(num_cpus=2, log_to_driver=False)  # or address="ray://head:10001"
on_ray = run("ray", began)
ray.shutdown()
n_runs = len(plan.cells())

fig, ax = plt.subplots(figsize=(8, 2.8))
for label, seconds, color in (("one process", serial, SERIAL), ("Ray, two workers", on_ray, RAY)):
    ax.step([0, *seconds], range(len(seconds) + 1), where="post", label=label, color=color)
ax.set(xlabel="seconds", ylabel="runs that have ended", xlim=(0, None), ylim=(0, None))
faster = "Ray" if on_ray[-1] < serial[-1] else "one process"
ax.set_title(f"{n_runs} runs: {faster} is done first; Ray begins after {on_ray[0]:.1f} s")
ax.legend()
plt.show()
print(f"one process {serial[-1]:.1f} s, Ray {on_ray[-1]:.1f} s")

# %% [markdown]
# Ray needs some seconds to start its processes and to import fitgym in each of them. After that it makes the runs at a higher rate. So the
# question is not *whether* a cluster is faster, but *from which size of a study on*.
#
# ## When does it pay?
#
# Let starting take $S$ seconds and all runs $T$ on one core. Then $n$ workers need at least $S + T / n$ seconds. Both numbers were just
# measured, so the break-even can be computed.

# %%
one = serial[-1] / n_runs  # seconds for a run in one process
start = on_ray[0]
two = one / 2  # with two workers at their best
break_even = start / (one - two)

runs = np.linspace(0, 2.5 * break_even, 100)
fig, ax = plt.subplots(figsize=(8, 3))
ax.plot(runs, runs * one, color=SERIAL, label="one process")
ax.plot(runs, start + runs * two, color=RAY, label="Ray, two workers at their best")
ax.axvline(break_even, color="k", linestyle=":", linewidth=1)
even.draw(ax, axis="x")
ax.set(xlabel="runs of the study", ylabel="seconds", xlim=(0, runs[-1]), ylim=(0, None))
ax.set_title(f"On this machine two workers pay from {break_even:.0f} runs on")
ax.legend()
plt.show()
even.compare(break_even, tolerance=0.5)

# %% [markdown]
# The number depends on the machine and on what else it is doing, so yours is another one. The rule does not: a cluster pays if the
# runs take many times as long as its start. Real runs of a study take seconds to minutes instead of hundredths.
#
# ## How far does it go?
#
# The start cannot be divided among workers. So there is a limit to the speed-up, $(S + T) / S$, however many workers there are (Amdahl 1967).

# %%
work = serial[-1]
workers = np.arange(1, 257)
fig, ax = plt.subplots(figsize=(8, 3))
for factor, label in (
    (1, "this study"),
    (100, "100 times as long"),
    (10_000, "10,000 times as long"),
):
    total = factor * work
    ax.plot(workers, (start + total) / (start + total / workers), label=label)
ax.plot(workers, workers, "k:", label="no start at all")
ax.set(xlabel="workers", ylabel="speed-up at most", xscale="log", yscale="log")
ax.set_xticks([1, 4, 16, 64, 256], [1, 4, 16, 64, 256])
ax.set_yticks([1, 4, 16, 64, 256], [1, 4, 16, 64, 256])
ax.set_title("Only long studies use many workers")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# ## The same numbers
#
# A run depends on its settings and its seed. Nothing is drawn from a shared generator, and nothing depends on the order in which runs end.


# %%
def records(executor):
    """All records of a study without their times, in the order of the plan."""
    found = Store.open(Path(temporary.name, executor)).records()
    return [{**record, "seconds": {}} for record in found]


same = "yes" if records("serial") == records("ray") else "no"
results = Results(plan, records("ray"))
for arm, values in results.metric.items():
    shares = [
        f"{100 * share:.0f} % of {s}"
        for s, share in zip(plan.subjects, values.mean(axis=1), strict=True)
    ]
    print(f"{arm:5}", *shares)
equal.compare(same)

# %% tags=["hidden"]
assert same == "yes"

# %% [markdown]
# ## When something dies
#
# Each run writes its own record. A study that was interrupted continues with the runs that have no record, on any executor. Here ten records
# of the cluster are deleted, and this process makes the runs again.

# %%
lost = sorted(Path(temporary.name, "ray", "records").rglob("*.json*"))[:10]
for file in lost:
    file.unlink()
made = []
status = campaign.run(plan, Path(temporary.name, "ray"), executor="serial", watch=made.append)
restored = records("serial") == records("ray")
print(f"{len(made)} runs made again, {status.open} open, results as before: {restored}")

# %% tags=["hidden"]
assert len(made) == len(lost) == 10 and status.open == 0 and restored
temporary.cleanup()

# %% [markdown]
# On the command line:
#
# ```
# fitgym study run studies/mio.toml --executor ray --address ray://head:10001
# fitgym study resume results/mio
# ```
#
# If a node is lost, its runs are made again elsewhere. Nodes need no common file system, because a task returns its record. With SLURM, use
# `--executor slurm`.

# %% [markdown]
# ## Exercises
#
# **1. `workers_needed`.** Starting a cluster takes 20 s. A study takes two hours on one core, in many short runs. How many workers does it
# take at least to finish within five minutes?

# %% tags=["exercise"]
workers_needed = ...  # a whole number


# %% tags=["check"]
def check_workers_needed(answer):
    minutes = (20 + 7200 / answer) / 60
    if minutes > 5:
        return f"{answer} workers take {minutes:.2f} minutes. The start is part of it."
    if (20 + 7200 / (answer - 1)) / 60 <= 5:
        return f"{answer} workers do it, but fewer would do it as well."
    return None


exercise(
    "workers_needed", workers_needed, check_workers_needed, hint="280 s are left for the work."
)

# %% [markdown]
# **2. `speed_up`.** Write the largest speed-up as a function of the start (seconds), the work (seconds on one core) and the number of workers. The
# start is needed with one worker too.

# %% tags=["exercise"]
speed_up = ...  # your function of (start, work, workers)


# %% tags=["check"]
def check_speed_up(answer):
    for start, work, workers, expected in ((0, 60, 4, 4.0), (10, 90, 9, 5.0), (10, 90, 1, 1.0)):
        got = answer(start, work, workers)
        if not np.isclose(got, expected):
            return f"Start {start}, work {work}, {workers} workers: {expected:g}; yours is {got:g}."
    return None


exercise(
    "speed_up", speed_up, check_speed_up, hint="Time with one worker divided by time with many."
)

# %% [markdown]
# **3. `finish`.** A long run that starts last keeps one worker busy while all others wait. Write a function of a list of durations and a number of
# workers: the longest run starts first, and each next one goes to the worker that is free first. It returns when all are done.

# %% tags=["exercise"]
finish = ...  # your function of (durations, workers)


# %% tags=["check"]
def check_finish(answer):
    cases = (([4, 4, 8], 2, 8), ([1, 1, 1, 1, 4], 2, 4), ([3, 3, 2, 2, 2], 2, 7), ([5], 3, 5))
    for durations, workers, expected in cases:
        got = answer(list(durations), workers)
        if got != expected:
            return f"{durations} on {workers} workers end at {expected}; yours at {got:g}."
    return None


exercise("finish", finish, check_finish, hint="Keep a list of the times at which workers are free.")

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "Why are the results equal on any number of workers?",
        ("Ray sorts them", "Each run has its own seed and shares nothing", "They are only similar"),
        1,
        "No run can influence another one, so their order does not matter.",
    ),
    Question(
        "Ten workers share two cores. The budget of a run is ten seconds. What happens?",
        ("The study is faster", "Runs get less search for their seconds", "Nothing"),
        1,
        "Budgets in executions are not affected, only budgets in seconds.",
    ),
    Question(
        "The start takes 10 s, the runs 90 s on one core. What is the largest speed-up?",
        ("10", "90", "There is none"),
        0,
        "(10 + 90) / 10: with any number of workers at least the start remains.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **More workers than cores.** They share the cores. Budgets in *seconds* then buy less search, and a comparison by seconds is void.
# * **Times of a busy machine.** The pictures show one moment on one machine. Nothing about times is a claim of this lesson.
# * **Equal results need equal code.** Another version of fitgym or Python may give other numbers. Records name the version that made them.
# * **The model is optimistic.** It assumes that work is divided perfectly, and that two workers make exactly twice as many runs.
#
# ## Next
#
# This was the last lesson. Take a question of your own, write it as a study file, and let a cluster answer it. `studies/README.md` shows how.
