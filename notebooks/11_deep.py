# %% [markdown]
# # 11 What do deep methods find that bandits and linear values do not?
#
# In `fitgym/Toy-v0` one option pays nothing, and up to five of it raise everything that comes after by 15 % each. The bandits
# of notebook 06 and the linear values of notebook 09 earned no more than chance there. Now a network: first the method that
# everybody uses, PPO from Stable-Baselines3, then *deep Q-learning* (DQN), written on one page.

# %% [markdown]
# **Predict first.** An episode has 20 decisions here. The best policy earns 20.1, chance 11, the best single option 9.8. PPO and
# DQN see the same number of steps: 40,000, or 10,240 in fast mode.
#
# 1. How many *episodes* is that, and how many has a test generator in one run?
# 2. Who is nearer to the best in the end, PPO or DQN?
# 3. When do they take the option that pays nothing?

# %% tags=["setup"]
import copy
import os
import random
from collections import deque
from importlib.metadata import version
from importlib.util import find_spec

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.envs.toy import ACTIONS, optimum

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
assert find_spec("stable_baselines3"), "this notebook needs the extra `deep`: see README.md"
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor

FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
print(f"fitgym {version('fitgym')}, torch {torch.__version__}, {'fast' if FAST else 'full'} mode")

# %%
HORIZON, STEPS = 20, 10_240 if FAST else 40_000
torch.set_num_threads(1)  # so small a network gains nothing from more
best, _ = optimum(HORIZON)
env = gymnasium.make("fitgym/Toy-v0", horizon=HORIZON)


def play(choose):
    """The actions and rewards of one episode; `choose` maps an observation to an action."""
    actions, rewards, ended = [], [], False
    seen, _ = env.reset(seed=0)
    while not ended:
        actions.append(int(choose(seen)))
        seen, reward, ended, _, _ = env.step(actions[-1])
        rewards.append(reward)
    return actions, rewards


_, wise = play(lambda seen: env.unwrapped.best_action())
_, greedy = play(lambda seen: ACTIONS.index("mirage"))
fig, ax = plt.subplots(figsize=(8, 2.6))
ax.plot(np.cumsum(wise), label=f"the best policy, {sum(wise):.1f}")
ax.plot(np.cumsum(greedy), label=f"what pays most at once, {sum(greedy):.1f}")
ax.set(xlabel="step", ylabel="earned so far", xticks=range(0, HORIZON, 5))
ax.legend()
plt.show()

# %% [markdown]
# The best policy earns nothing for five steps. Whoever learns from rewards as they come in has no reason to look there;
# who learns *what follows* can.
#
# ## PPO
#
# A policy network gives each action a probability. PPO plays with it for a while, asks of each action whether what followed
# was better than expected (*advantage*), makes the better ones more probable, a little (it clips large changes), and
# begins again. It learns from fresh experience only.

# %%
monitored = Monitor(gymnasium.make("fitgym/Toy-v0", horizon=HORIZON))
ppo = PPO(
    "MlpPolicy",
    monitored,
    n_steps=1024,
    batch_size=256,
    learning_rate=1e-3,
    gamma=1.0,  # the horizon is finite: what comes later counts as much
    ent_coef=0.01,
    device="cpu",
    seed=0,
).learn(STEPS)
ppo_returns = np.array(monitored.get_episode_rewards())
actions, rewards = play(lambda seen: ppo.predict(seen, deterministic=True)[0])
print(f"PPO: {sum(rewards):.2f} of {best:.2f} after {ppo_returns.size} episodes")
print(*[ACTIONS[action] for action in actions])
ppo_earns = sum(rewards)

# %% [markdown]
# ## DQN
#
# $Q(s, a)$ is what is to be earned from $s$ on if $a$ is taken now and the best actions afterwards. It must agree with
# itself, which is Bellman's equation:
#
# $$Q(s, a) = r + \gamma \max_{a'} Q(s', a')$$
#
# A network is fitted to the right side, on batches drawn from a memory of past steps. Two things keep it from running
# after itself: the right side comes from an older copy, and the newer one says which $a'$ (double DQN: with one network
# for both, the largest value is mostly one that errs upwards).


# %%
class DQN:
    """Double deep Q-learning."""

    def __init__(self, n_inputs, n_actions, gamma=1.0, hidden=64, seed=0):
        torch.manual_seed(seed)
        layers = (n_inputs, hidden), (hidden, hidden), (hidden, n_actions)
        parts = [part for sizes in layers for part in (torch.nn.Linear(*sizes), torch.nn.ReLU())]
        self.network = torch.nn.Sequential(*parts[:-1])
        self.older = copy.deepcopy(self.network)
        self.optimiser = torch.optim.Adam(self.network.parameters(), 1e-3)
        self.memory, self.chance, self.gamma = deque(maxlen=20_000), random.Random(seed), gamma

    def act(self, seen, epsilon=0.0):
        """The action with the largest value, with probability epsilon any."""
        with torch.no_grad():
            values = self.network(torch.as_tensor(seen)).numpy()
        random_one = self.chance.random() < epsilon
        return self.chance.randrange(values.size) if random_one else int(values.argmax())


# %%
def targets(rewards, ended, online, older, gamma):
    """The right side of Bellman's equation; `online` and `older` are Q(s', .)."""
    chosen = online.argmax(1, keepdim=True)
    return rewards + gamma * older.gather(1, chosen).squeeze(1) * ~ended


def correct(agent, batch=64):
    """Bring the values of one batch nearer to their targets."""
    steps = zip(*agent.chance.sample(agent.memory, batch), strict=True)
    seen, actions, rewards, after, ended = (torch.as_tensor(np.array(column)) for column in steps)
    with torch.no_grad():
        online, older = agent.network(after), agent.older(after)
        aims = targets(rewards.float(), ended, online, older, agent.gamma)
    values = agent.network(seen).gather(1, actions.unsqueeze(1)).squeeze(1)
    loss = torch.nn.functional.smooth_l1_loss(values, aims)
    agent.optimiser.zero_grad()
    loss.backward()
    agent.optimiser.step()


# %%
def train(agent, steps):
    """Learn; the return of each episode. Exploration falls from 1 to 0.05 over the first half."""
    returns, earned = [], 0.0
    seen, _ = env.reset(seed=0)
    for step in range(steps):
        action = agent.act(seen, epsilon=max(0.05, 1 - 2 * step / steps))
        after, reward, ended, _, _ = env.step(action)
        agent.memory.append((seen, action, reward, after, ended))
        earned, seen = earned + reward, after
        if step % 4 == 0 and len(agent.memory) >= 500:
            correct(agent)
        if step % 500 == 0:
            agent.older.load_state_dict(agent.network.state_dict())
        if ended:
            returns.append(earned)
            earned, (seen, _) = 0.0, env.reset()
    return np.array(returns)


dqn = DQN(env.observation_space.shape[0], len(ACTIONS))
dqn_returns = train(dqn, STEPS)
actions, rewards = play(dqn.act)
dqn_earns = sum(rewards)
print(f"DQN: {dqn_earns:.2f} of {best:.2f} after {dqn_returns.size} episodes")
print(*[ACTIONS[action] for action in actions])

# %%
fig, ax = plt.subplots()
for name, returns in (("PPO", ppo_returns), ("DQN", dqn_returns)):
    smooth = np.convolve(returns, np.ones(25) / 25, mode="valid")
    ax.plot((np.arange(smooth.size) + 25) * HORIZON / 1000, smooth, label=name)
ax.axhline(best, color="k", linestyle="--", label="best")
ax.axhline(11.1, color="0.5", linestyle=":", label="chance")
ax.set(xlabel="steps, in thousands", ylabel="return (mean of 25 episodes)", ylim=(0, 22))
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# Both take *ground* early, which pays nothing: they have found what bandits and linear values could not. In fast mode
# neither has come all the way. And look at the axis: **hundreds of episodes**, of which a test generator has one. That is why deep agents are
# trained beforehand, on other modules, and only *act* in a run: `fitgym train ppo`, or the agent `pretrained` that comes
# with fitgym.

# %%
rng = np.random.default_rng(0)
chance = np.mean([sum(play(lambda seen: rng.integers(len(ACTIONS)))[1]) for _ in range(50)])
print(f"chance {chance:.1f}, PPO {ppo_earns:.1f}, DQN {dqn_earns:.1f}, best {best:.1f}")
assert min(ppo_earns, dqn_earns) > chance + 2, "both are clearly above chance"
for choose in (lambda seen: ppo.predict(seen, deterministic=True)[0], dqn.act):
    first = [ACTIONS[action] for action in play(choose)[0][:8]]
    assert first.count("ground") >= 3, "they invest early"
assert ppo_returns.size >= 100, "and had hundreds of episodes for it"

# %% [markdown]
# What came of that in real runs, measured (`benchmarks/agents/table.md`): for no goal is a **difference between `pretrained`
# and a good fixed choice** shown. Finding a policy on a toy is one thing. Finding one that a test
# generator needs is an open question, and this project is there to ask it.

# %% [markdown]
# ## Exercise
#
# One step by hand: the reward was 1, the episode goes on, $\gamma = 0.9$. In the next state the network says
# $Q(s', \cdot) = (2, 5, 3)$ and its older copy $(4, 1, 6)$. What is the target of *double* DQN?

# %% tags=["exercise"]
answer = ...  # a number


# %% tags=["checker"] jupyter={"source_hidden": true}
def check(answer):
    if answer is ...:
        return print("Your turn: set `answer` above, run that cell, then this one.")
    online, older = torch.tensor([[2.0, 5.0, 3.0]]), torch.tensor([[4.0, 1.0, 6.0]])
    aim = targets(torch.tensor([1.0]), torch.tensor([False]), online, older, 0.9).item()
    hint = "one says which action comes next, the other what that is worth: which is which?"
    assert abs(answer - aim) < 1e-6, hint
    print("Right.")


check(answer)

# %% [markdown] tags=["solution"]
# <details>
# <summary>Solution</summary>
#
# ```python
# answer = 1 + 0.9 * 1
# ```
#
# The network chooses the second action, because 5 is its largest value; the older copy says that it is worth 1.
#
# </details>
# <details>
# <summary>A tempting answer that fails</summary>
#
# ```python
# answer = 1 + 0.9 * 6
# ```
#
# The largest value of the older copy: that is DQN without the second network, and why it is too optimistic. Of several noisy
# values the largest is mostly one that errs upwards.
#
# </details>

# %% [markdown]
# ## What could fool you here
#
# * **One seed.** Each curve is one run of a method that varies much from seed to seed. "PPO is better than DQN" cannot be read
#   off it: notebook 15.
# * **The same env to learn and to judge.** The toy has no noise, so a policy that is good here may have learnt it by heart. On
#   modules that is overfitting: train on some, judge on others.
# * **Knobs.** Step sizes, sizes of networks and batches were chosen so that this works in seconds. That search is not on the
#   axis.
# * **Samples are not equal.** A step of the toy takes microseconds, a step of a real search a tenth of a second and more.
