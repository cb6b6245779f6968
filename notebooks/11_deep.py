# %% [markdown]
# # 11 What does a neural network add?
#
# Tables and linear values fail where values depend on combinations of features. A *neural network* can represent them. We
# write *deep Q-learning* (DQN), compare it with PPO, and look at several seeds of both.
#
# **Time:** 30 minutes.
# **You need:** lessons 09 and 10, the extra `deep` (torch and Stable-Baselines3, see README.md).
# **You will be able to:** write DQN with memory and double targets, compare deep agents over seeds, and run a trained
# network without torch.

# %% tags=["setup"]
import copy
import csv
import os
import random
from collections import deque
from importlib.metadata import version
from importlib.util import find_spec

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from packaging.version import Version

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.agents.base import make
from fitgym.course import Question, exercise, predict, quiz
from fitgym.envs.toy import ACTIONS, optimum
from fitgym.study.comparison import contrast

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
assert find_spec("stable_baselines3"), "this lesson needs the extra `deep`: see README.md"
import torch

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
COLOURS = {"dqn": "#009E73", "ppo": "#0072B2", "uniform": "#7f7f7f"}
print(f"fitgym {version('fitgym')}, torch {torch.__version__}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## The task
#
# `fitgym/Toy-v0` with 20 steps, as in lessons 08 to 10. Random choice has a return of 11.1. The best policy has 20.1: it takes
# *ground* five times first, which pays nothing. Sarsa with linear values settled on *mirage* and reached 10.

# %%
HORIZON, STEPS, SEEDS = 20, 6000 if FAST else 12_000, 2 if FAST else 3
torch.set_num_threads(1)  # a network this small gains nothing from more
best, _ = optimum(HORIZON)
env = gymnasium.make("fitgym/Toy-v0", horizon=HORIZON)


def play(choose):
    """The actions of one episode, and its return; `choose` maps an observation to an action."""
    (seen, _), actions, total, ended = env.reset(seed=0), [], 0.0, False
    while not ended:
        actions.append(int(choose(seen)))
        seen, reward, ended, _, _ = env.step(actions[-1])
        total += reward
    return actions, total


# %% [markdown]
# ## Deep Q-learning
#
# $q(s, a)$ is the return of taking $a$ in $s$ and the best actions after it. Bellman's optimality equation of lesson 08 says
# that it equals the *target* $R + \gamma \max_{a'} q(s', a')$. Q-learning (exercise 2 of lesson 09) moves a table towards this
# target. DQN does the same with a network (Mnih and others 2015). Three additions keep it stable:
#
# * **A memory.** Each update uses 64 random steps of the past. Consecutive steps are too similar to learn from.
# * **An older copy.** The target comes from a copy of the network that changes only every 500 steps. Otherwise each update would
#   move its own target.
# * **Double targets.** The maximum of noisy values is too large on average. So the network chooses the action $a'$, and the older
#   copy says what it is worth.


# %%
class DQN:
    """Double deep Q-learning."""

    def __init__(self, n_inputs, n_actions, seed, hidden=64):
        torch.manual_seed(seed)
        self.network = torch.nn.Sequential(
            torch.nn.Linear(n_inputs, hidden),
            torch.nn.ReLU(),
            torch.nn.Linear(hidden, hidden),
            torch.nn.ReLU(),
            torch.nn.Linear(hidden, n_actions),
        )
        self.older = copy.deepcopy(self.network)
        self.optimiser = torch.optim.Adam(self.network.parameters(), 1e-3)
        self.memory, self.chance = deque(maxlen=20_000), random.Random(seed)

    def act(self, seen, epsilon=0.0):
        """The action with the largest value, with probability epsilon a random one."""
        with torch.no_grad():
            values = self.network(torch.as_tensor(seen)).numpy()
        if self.chance.random() < epsilon:
            return self.chance.randrange(values.size)
        return int(values.argmax())


# %%
def targets(rewards, ended, online, older, gamma):
    """The double targets; `online` and `older` have the shape (batch, actions)."""
    chosen = online.argmax(1, keepdim=True)
    return rewards + gamma * older.gather(1, chosen).squeeze(1) * ~ended


def improve(agent, batch=64):
    """Move the values of one batch towards their targets."""
    steps = zip(*agent.chance.sample(agent.memory, batch), strict=True)
    seen, actions, rewards, after, ended = (torch.as_tensor(np.array(column)) for column in steps)
    with torch.no_grad():
        aims = targets(rewards.float(), ended, agent.network(after), agent.older(after), gamma=1.0)
    values = agent.network(seen).gather(1, actions.unsqueeze(1)).squeeze(1)
    loss = torch.nn.functional.smooth_l1_loss(values, aims)
    agent.optimiser.zero_grad()
    loss.backward()
    agent.optimiser.step()


def train_dqn(seed):
    """The agent and all returns. Exploration falls from 1 to 0.05 in the first half."""
    agent, returns, total = DQN(env.observation_space.shape[0], len(ACTIONS), seed), [], 0.0
    seen, _ = env.reset(seed=0)
    for step in range(STEPS):
        action = agent.act(seen, epsilon=max(0.05, 1 - 2 * step / STEPS))
        after, reward, ended, _, _ = env.step(action)
        agent.memory.append((seen, action, reward, after, ended))
        total, seen = total + reward, after
        if step % 4 == 0 and len(agent.memory) >= 500:
            improve(agent)
        if step % 500 == 0:
            agent.older.load_state_dict(agent.network.state_dict())
        if ended:
            returns.append(total)
            total, (seen, _) = 0.0, env.reset()
    return agent, np.array(returns)


# %% [markdown]
# For PPO we take fitgym's agent `ppo`. It is the algorithm of lesson 10 with two networks, one for the policy and one for the
# critic, by Stable-Baselines3.


# %%
def train_ppo(seed):
    """fitgym's agent and the return of each episode."""
    options = "n_steps=500,batch_size=100,learning_rate=0.001,gamma=1.0"
    agent, rewards = make(f"ppo:{options}", env.action_space, action_names=ACTIONS, seed=seed), []
    agent.learn(env, STEPS, seed=0, callback=lambda _, step: rewards.append(step.reward))
    complete = len(rewards) // HORIZON * HORIZON
    return agent, np.reshape(rewards[:complete], (-1, HORIZON)).sum(axis=1)


# %%
worst_seed = predict(
    f"{SEEDS} DQN agents differ in nothing but the seed. What does the worst of them return?",
    None,  # your prediction
)
worst_seed

# %%
trained = {
    "dqn": [train_dqn(seed) for seed in range(SEEDS)],
    "ppo": [train_ppo(seed) for seed in range(SEEDS)],
}
ends = {
    "dqn": [play(agent.act) for agent, _ in trained["dqn"]],
    "ppo": [
        play(lambda x, a=agent: a.predict(x, deterministic=True)[0]) for agent, _ in trained["ppo"]
    ],
}
finals = {name: [total for _, total in found] for name, found in ends.items()}
fig, axes = plt.subplots(1, 2, sharey=True)
for ax, (name, runs) in zip(axes, trained.items(), strict=True):
    for seed, (_, returns) in enumerate(runs):
        smooth = np.convolve(returns, np.ones(25) / 25, mode="valid")
        steps = (np.arange(smooth.size) + 25) * HORIZON / 1000
        ax.plot(steps, smooth, ("-", "--", ":")[seed], color=COLOURS[name], label=f"seed {seed}")
    ax.axhline(best, color="k", linewidth=1)
    ax.axhline(11.1, color=COLOURS["uniform"], linestyle="--")
    ax.set(xlabel="steps, in thousands", ylim=(0, 22))
    ax.set_title(
        f"{name}: trained policies reach {min(finals[name]):.1f} to {max(finals[name]):.1f}"
    )
worst_seed.draw(axes[0])
for ax in axes:
    ax.legend(loc="lower right")
axes[0].set_ylabel("return (mean of 25 episodes)")
plt.show()
spread = {name: np.ptp(found) for name, found in finals.items()}
worst_seed.compare(min(finals["dqn"]))

# %% tags=["hidden"]
assert min(finals["ppo"]) > 14 and max(finals["dqn"]) > 12 and max(finals["ppo"]) < best, finals
assert spread["ppo"] < spread["dqn"], spread

# %% [markdown]
# The black line is the best policy, and the dashed grey line is random choice. DQN's curve rises late, because it explores
# at random in the first half. Its seeds end far apart. PPO's seeds stay closer together. **One seed of a deep method says
# little.**
#
# What do the trained policies do? Each row below is one episode.

# %%
PALETTE = ["#E69F00", "#CC79A7", "#009E73", "#D55E00", "#0072B2"]
rows = {"best policy": play(lambda _: env.unwrapped.best_action())[0]}
rows |= {f"{name} {seed}": actions for name in ends for seed, (actions, _) in enumerate(ends[name])}
fig, ax = plt.subplots(figsize=(8, 0.7 + 0.35 * len(rows)))
ax.imshow(list(rows.values()), cmap=ListedColormap(PALETTE), vmin=-0.5, vmax=4.5, aspect="auto")
for action, colour in zip(ACTIONS, PALETTE, strict=True):
    ax.plot([], [], "s", color=colour, label=action)
ax.set_yticks(range(len(rows)), rows)
ax.set(xlabel="step", xticks=range(0, HORIZON, 5))
ax.grid(False)
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
ax.set_title("PPO learned to take ground first; DQN less clearly")
plt.show()

# %% tags=["hidden"]
ground = ACTIONS.index("ground")
early = {name: [actions[:10].count(ground) for actions, _ in found] for name, found in ends.items()}
assert min(early["ppo"]) >= 3 and max(early["dqn"]) >= 3, early

# %% [markdown]
# ## A policy without torch
#
# Training needs torch. Acting does not: a network is a few matrices. fitgym keeps them as numpy arrays, so a trained agent
# can act where torch is not installed. Here is the policy of the first PPO agent, by hand:

# %%
agent = trained["ppo"][0][0]
arrays = agent.arrays()
layers = [
    (arrays[f"{name}.weight"], arrays[f"{name}.bias"])
    for name in ("mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2", "action_net")
]
seen, _ = env.reset(seed=0)
x = seen
for number, (weights, bias) in enumerate(layers):
    x = weights @ x + bias
    if number < len(layers) - 1:
        x = np.tanh(x)
print("our preferences:   ", x.round(4))
print("fitgym preferences:", agent.scores(seen).round(4))
print("numbers in the policy:", sum(weights.size + bias.size for weights, bias in layers))

# %% tags=["hidden"]
assert np.allclose(x, agent.scores(seen), atol=1e-5)

# %% [markdown]
# ## Does it pay on searches?
#
# On `fitgym/Landscapes-v0`, the network of fitgym's `ppo` can be compared with the linear policies of lessons 07 and 10.

# %%
with open("../benchmarks/learning/runs.csv") as file:
    rows = [
        row for row in csv.DictReader(file) if row["env"] == row["judged"] == "fitgym/Landscapes-v0"
    ]
seeing, blind = (
    100 * np.mean([float(row["mean"]) for row in rows if row["seen"] == seen])
    for seen in ("all", "nothing")
)
shares = {
    "random choice": 61,
    "ppo, network, sees nothing": blind,
    "LinUCB (lesson 07)": 79,
    "PPO, linear (lesson 10)": 81,
    "ppo, network": seeing,
}
fig, ax = plt.subplots(figsize=(8, 2.4))
bars = ax.barh(
    list(shares), list(shares.values()), color=["0.6", "0.6", "#56B4E9", "#0072B2", "#0072B2"]
)
ax.bar_label(bars, fmt="%.0f %%", padding=3)
ax.set(xlim=(0, 100), xlabel="covered branches (%)")
ax.set_title("The features matter most; the network adds a little", x=0)
plt.show()

# %% tags=["hidden"]
assert 82 < seeing < 86 and abs(blind - 61) < 2

# %% [markdown]
# Now real modules. fitgym comes with policies that PPO has trained for three goals, the agent `pretrained`. The project's
# benchmark compares it with random choice and with one sensible fixed choice, on twelve modules with ten seeds each.

# %%
values = {}
with open("../benchmarks/agents/runs.csv") as file:
    for row in csv.DictReader(file):
        if row["budget"] in ("1000x", "400x") and not row["error"]:
            of_agent = values.setdefault((row["goal"], row["agent"]), {})
            of_agent.setdefault(row["subject"], {})[int(row["seed"])] = float(row["value"])
goals = ("exceptions", "diversity", "strong_mutation")
baselines = {"uniform": "random choice", "fixed own": "one fixed choice"}
real = {
    (goal, agent): contrast("pretrained", agent, values[goal, "pretrained"], values[goal, agent])
    for agent in baselines
    for goal in goals
}
fig, ax = plt.subplots(figsize=(8, 2.6))
for y, one in enumerate(real.values()):
    ax.plot([one.low, one.high], [y, y], color=COLOURS["ppo"])
    ax.plot(one.a12, y, "o", color=COLOURS["ppo"])
ax.axvline(0.5, color="k", linestyle="--")
ax.set_yticks(range(6), [f"{goal}: against {baselines[agent]}" for goal, agent in real])
ax.set(xlim=(0, 1.02), ylim=(5.5, -0.5), xlabel="probability that pretrained reaches more (A12)")
ax.set_title("The trained policies beat chance, but no fixed choice", x=0)
plt.show()

# %% tags=["hidden"]
assert all((one.low > 0.5) == (agent == "uniform") for (_, agent), one in real.items()), real

# %% [markdown]
# The policies have learned something: their intervals against random choice lie above 0.5. (For exceptions, the test that
# corrects for all comparisons does not confirm it.) A gain over one good fixed choice has not been shown. Lessons 13 and 14
# ask why.
#
# ## Exercises
#
# **1. The double target.** Write the target for one step: a function of the `reward`, `ended`, the values `online` and `older`
# of the next state (one number for each action), and `gamma`.


# %% tags=["check"]
def check_double_target(answer):
    online, older = np.array([2.0, 5.0, 3.0]), np.array([4.0, 1.0, 6.0])
    if abs(answer(1.0, True, online, older, 0.9) - 1.0) > 1e-9:
        return "After the end nothing follows, so the target is the reward alone."
    got = answer(1.0, False, online, older, 0.9)
    if abs(got - 1.9) > 1e-9:
        return (
            f"Your target is {got:.4g}. The network prefers action 1, and the older copy says that "
            "action 1 is worth 1, so the target is 1 + 0.9 * 1 = 1.9."
        )


# %% tags=["exercise"]
def double_target(reward, ended, online, older, gamma): ...  # your answer


# %%
exercise(
    "double_target",
    double_target,
    check_double_target,
    hint="One array says which action comes next, the other what it is worth.",
)

# %% [markdown]
# **2. Why double?** Ten actions all have the true value 0. A network estimates each with independent normal noise of standard
# deviation 1. What is the mean of the *largest* estimate? Find it by simulation, to one decimal.


# %% tags=["check"]
def check_largest_of_ten(answer):
    if abs(answer - 1.54) > 0.07:
        return f"{answer:.3g} is not the mean of the largest of ten standard normal numbers."


# %% tags=["exercise"]
largest_of_ten = ...  # your answer

# %%
exercise(
    "largest_of_ten",
    largest_of_ten,
    check_largest_of_ten,
    hint="`np.random.default_rng(0).normal(size=(10_000, 10))` has ten estimates in each row.",
)

# %% [markdown]
# **3. DQN without torch.** Write a network in numpy: a function of `layers`, a list of pairs (weights, bias), and of the input
# `x`. Between the layers of DQN stands the function `max(0, x)`, and after the last layer stands none.


# %% tags=["check"]
def check_forward(answer):
    network, rng = trained["dqn"][0][0].network, np.random.default_rng(0)
    layers = [(part.weight.detach().numpy(), part.bias.detach().numpy()) for part in network[::2]]
    for _ in range(5):
        x = rng.normal(size=layers[0][0].shape[1]).astype(np.float32)
        with torch.no_grad():
            expected = network(torch.as_tensor(x)).numpy()
        got = np.asarray(answer(layers, x))
        if got.shape != expected.shape:
            return f"The result has the shape {got.shape}, expected {expected.shape}."
        if not np.allclose(got, expected, atol=1e-3):
            return f"For one input torch says {expected.round(2)}, you say {got.round(2)}."
    if (np.asarray(answer([(np.eye(2), np.array([-1.0, 0.0]))], np.zeros(2))) != [-1, 0]).any():
        return "The last layer must keep negative numbers."


# %% tags=["exercise"]
def forward(layers, x): ...  # your answer


# %%
exercise(
    "forward",
    forward,
    check_forward,
    hint="`weights @ x + bias`, then `np.maximum(0, x)` except at the end.",
)

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "Why does DQN learn from a memory of old steps?",
        (
            "Consecutive steps are too similar to each other",
            "Old steps are better than new ones",
            "It saves memory",
        ),
        0,
        "Random steps of the past vary, so one update does not undo the last one.",
    ),
    Question(
        "Can PPO use the same memory of old steps?",
        ("Yes", "No, its steps must come from nearly the present policy"),
        1,
        "The ratio corrects small differences between policies only. Q-learning does not care who took the step.",
    ),
    Question(
        "One run of DQN ends with 15.7, one run of PPO with 18.6. What do you conclude?",
        ("PPO is better", "DQN needs more steps", "Nothing yet: run more seeds"),
        2,
        "DQN's own seeds differ by several points. Lesson 15 shows how many runs are needed.",
    ),
    Question(
        "How many episodes did each agent see here, and how many has a test generator in one run?",
        ("300 or more, and 1", "20, and 180", "as many as a test generator"),
        0,
        "That is why deep agents are trained in advance, on other modules, and only act in a run.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **The same task to learn and to judge.** The toy has no chance. A policy may have learned one episode by heart. On modules
#   this is overfitting: train on some, judge on others.
# * **Settings.** Step sizes, sizes of networks and batches were chosen so that the lesson takes seconds. This search for settings
#   is not on any axis.
# * **Unequal steps.** A step of the toy takes microseconds, a step of a real search a tenth of a second and more.
# * **Numbers from other lessons.** 79 and 81 % come from other programs and other numbers of searches than 84 %.
#
# ## Next
#
# Part III begins. Lesson 12 shows the environment in which agents choose fitness functions for real modules.
