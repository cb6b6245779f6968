# %% [markdown]
# # 10 Can an agent learn a policy without learning values first?
#
# A *policy gradient* method changes the policy itself: it makes actions more likely if good returns followed them. We write
# the oldest of these methods, REINFORCE, and then add what makes it PPO.
#
# **Time:** 35 minutes.
# **You need:** lesson 08, derivatives.
# **You will be able to:** write REINFORCE and PPO in numpy, and say what baseline, critic, reuse and clipping are for.

# %% tags=["setup"]
import csv
import os
from importlib.metadata import version

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.course import Question, exercise, predict, quiz
from fitgym.envs.toy import ACTIONS, Toy, optimum

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
COLOURS = {"REINFORCE": "#E69F00", "PPO": "#0072B2", "uniform": "#7f7f7f"}
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## A policy with weights
#
# The agent sees a vector $x$. Each action $a$ has a weight vector $w_a$ and the *preference* $w_a^\top x$. The policy turns
# preferences into probabilities by the *softmax*:
#
# $$\pi(a \mid x) = \frac{e^{w_a^\top x}}{\sum_b e^{w_b^\top x}}$$
#
# With all weights 0, every action is equally likely. The larger a preference, the more likely its action.
#
# To change the probability of action $A$, we need its derivative. The logarithm has a simple one:
#
# $$\frac{\partial \log \pi(A \mid x)}{\partial w_b} = \left( \mathbb 1_{b = A} - \pi(b \mid x) \right) x$$


# %%
def softmax(preferences):
    """Probabilities; the last axis has the actions. Subtracting the maximum avoids overflow."""
    powers = np.exp(preferences - preferences.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def log_gradient(weights, x, action):
    """The derivative of log pi(action | x), of the shape of the weights: (features, actions)."""
    chosen = np.eye(weights.shape[1])[action]
    return np.outer(x, chosen - softmax(x @ weights))


rng = np.random.default_rng(0)
weights, x, tiny = rng.normal(size=(3, 4)), rng.normal(size=3), 1e-6
numeric = np.zeros_like(weights)
for i in np.ndindex(weights.shape):
    moved = weights.copy()
    moved[i] += tiny
    numeric[i] = (np.log(softmax(x @ moved)[2]) - np.log(softmax(x @ weights)[2])) / tiny
difference = np.abs(numeric - log_gradient(weights, x, 2)).max()
print(f"largest difference between the formula and a numerical derivative: {difference:.0e}")

# %% tags=["hidden"]
assert difference < 1e-5

# %% [markdown]
# ## REINFORCE
#
# The idea takes one sentence: play an episode, and raise the log-probability of each action in proportion to the return $G_t$
# that followed it (Williams 1992):
#
# $$W \leftarrow W + \alpha \sum_t G_t \, \nabla \log \pi(A_t \mid x_t)$$
#
# On average, this is the direction in which the expected return grows fastest. A single episode is very noisy, so we average
# over 30 episodes.
#
# On the toy all returns are positive, so *every* action becomes more likely, the good ones only a little more than the bad ones.
# A *baseline* helps: subtract the mean return of the same step. Then actions with a return above the mean become more
# likely, and the others less likely. The expected direction does not change, and the noise falls.

# %%
HORIZON, EPISODES = 20, 30


def play_toy(weights, rng):
    """30 episodes: features, actions and rewards, each with the axes (step, episode)."""
    toys = [Toy(horizon=HORIZON) for _ in range(EPISODES)]
    seen = [toy.reset(seed=0)[0] for toy in toys]
    xs, actions, rewards = [], [], []
    for _ in range(HORIZON):
        x = np.hstack([seen, np.ones((EPISODES, 1))])
        chance = softmax(x @ weights).cumsum(axis=1)
        action = (chance > rng.random((EPISODES, 1))).argmax(axis=1)
        steps = [toy.step(a) for toy, a in zip(toys, action, strict=True)]
        seen = [step[0] for step in steps]
        xs.append(x)
        actions.append(action)
        rewards.append([step[1] for step in steps])
    return np.array(xs), np.array(actions), np.array(rewards)


def reinforce(iterations, seed, baseline, alpha=2.0):
    """The weights after every iteration, and the mean return of each."""
    rng, weights = np.random.default_rng(seed), np.zeros((12, len(ACTIONS)))
    history, returns = [weights], []
    for _ in range(iterations):
        x, actions, rewards = play_toy(weights, rng)
        following = rewards[::-1].cumsum(axis=0)[::-1]  # G: the rewards from each step on
        if baseline:
            following = following - following.mean(axis=1, keepdims=True)
        surprise = np.eye(len(ACTIONS))[actions] - softmax(x @ weights)
        gradient = np.einsum("tei,tea,te->ia", x, surprise, following) / actions.size
        weights = weights + alpha * gradient
        history.append(weights)
        returns.append(rewards.sum(axis=0).mean())
    return history, np.array(returns)


# %%
toy_return = predict(
    "Random choice has a return of 11, the best policy 20. What does REINFORCE reach?",
    None,  # your prediction
)
toy_return

# %%
ITERATIONS, SEEDS = (100, 2) if FAST else (200, 4)
with_baseline, without = (
    [reinforce(ITERATIONS, seed, baseline) for seed in range(SEEDS)] for baseline in (True, False)
)
fig, ax = plt.subplots()
for runs, style, label in ((with_baseline, "-", "with baseline"), (without, ":", "without")):
    for _, returns in runs:
        ax.plot(returns, style, color=COLOURS["REINFORCE"], linewidth=1, label=label)
        label = None
ax.axhline(optimum(HORIZON)[0], color="k", linewidth=1, label="best policy")
ax.axhline(11.1, color=COLOURS["uniform"], linestyle="--", label="random choice")
toy_return.draw(ax)
ax.set(xlabel="iteration (30 episodes each)", ylabel="mean return", ylim=(8, 21))
ax.set_title("REINFORCE learns what bandits and Sarsa could not; the baseline makes it steady")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
toy_return.compare(np.mean([returns[-10:].mean() for _, returns in with_baseline]))

# %% tags=["hidden"]
late = [np.mean([returns[-10:].mean() for _, returns in runs]) for runs in (with_baseline, without)]
assert late[0] > 15 and late[0] > late[1] + 0.5, late

# %% [markdown]
# What has the policy learned? The next figure shows the probability of each action in each step of an episode, averaged over
# 30 episodes, before, during and after training.

# %%
fig, axes = plt.subplots(1, 3, sharey=True, figsize=(8, 3))
history = with_baseline[0][0]
for ax, iteration in zip(axes, (0, 20, ITERATIONS), strict=True):
    x, _, _ = play_toy(history[iteration], np.random.default_rng(0))
    shares = softmax(x @ history[iteration]).mean(axis=1)
    ax.stackplot(range(HORIZON), shares.T[::-1], labels=ACTIONS[::-1])
    ax.set(xlabel="step", xlim=(0, HORIZON - 1), ylim=(0, 1), xticks=(0, 5, 10, 15))
    ax.set_title(f"iteration {iteration}")
axes[0].set_ylabel("probability")
axes[2].legend(loc="center left", bbox_to_anchor=(1, 0.5))
fig.suptitle("The policy learns to take ground first", x=0.01, ha="left")
plt.show()

# %% tags=["hidden"]
ground = ACTIONS.index("ground")
assert shares[:3, ground].mean() > 0.5 and shares[8:, ground].mean() < 0.2, shares[:, ground]

# %% [markdown]
# Why does this work, although Sarsa failed? REINFORCE credits *ground* with the whole return that follows, measured and not
# estimated. It never has to carry values backwards step by step. The price is noise: it needed thousands of episodes.
#
# ## A task from testing
#
# We return to `fitgym/Landscapes-v0`, the simulated search of lesson 07. 64 searches run at a time, each on a new program. The
# agent sees 71 features and points to the part where the search should look next. All methods below use the same linear
# policy.

# %%
N, DECISIONS, FEATURES, POINTERS = 64, 30, 72, 7


def searches(env, weights, rng):
    """64 searches: features, actions, rewards, and whether each search was still running."""
    seen, _ = env.reset()
    running, steps = np.ones(N, bool), []
    for _ in range(DECISIONS):
        x = np.hstack([seen, np.ones((N, 1))])
        chance = softmax(x @ weights).cumsum(axis=1)
        actions = (chance > rng.random((N, 1))).argmax(axis=1)
        seen, rewards, ended, _, _ = env.step(actions)
        steps.append((x, actions, rewards * running, running))
        running = running & ~ended
    return tuple(np.array(column) for column in zip(*steps, strict=True))


class Adam:
    """Gradient ascent in which every weight has its own step size (Kingma and Ba 2015)."""

    def __init__(self, shape, alpha):
        self.mean, self.square, self.alpha, self.t = np.zeros(shape), np.zeros(shape), alpha, 0

    def step(self, gradient):
        """The change of the weights."""
        self.t += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.01 * (gradient**2 - self.square)
        mean, square = self.mean / (1 - 0.9**self.t), self.square / (1 - 0.99**self.t)
        return self.alpha * mean / (np.sqrt(square) + 1e-8)


# %% [markdown]
# ## What PPO adds
#
# *Proximal policy optimisation* (Schulman and others 2017) adds three things to REINFORCE.
#
# **1. A critic.** The baseline becomes a value $v(x)$ that depends on the state. We fit it by linear regression to the returns.
# The *advantage* is how much better the step was than the critic expected. Its simplest form is the temporal-difference
# error $\delta_t = R_t + v(x_{t+1}) - v(x_t)$ of lesson 09. *Generalised advantage estimation* adds later errors with
# falling weights:
#
# $$\hat A_t = \delta_t + \lambda \delta_{t+1} + \lambda^2 \delta_{t+2} + \dots$$
#
# **2. Reuse.** REINFORCE takes one gradient step and throws its episodes away. PPO takes ten steps with the same episodes. The
# policy then differs from the one that played. The ratio $\rho = \pi_\text{new}(A \mid x) / \pi_\text{old}(A \mid x)$
# corrects for that: each step follows the gradient of the mean of $\rho \hat A$.
#
# **3. Clipping.** With reuse the policy can run away from its data. So an action gets no further push once its ratio has left
# $[1 - \epsilon, 1 + \epsilon]$ in the direction of its advantage.


# %%
def critic_advantages(x, rewards, running, critic, trace=0.9):
    """Generalised advantages, and the critic fitted to these returns."""
    values = x @ critic * running
    after = np.vstack([values[1:], np.zeros((1, N))])
    errors = rewards + after - values
    advantages = np.zeros_like(errors)
    for t in reversed(range(DECISIONS)):
        later = advantages[t + 1] if t + 1 < DECISIONS else 0.0
        advantages[t] = errors[t] + trace * later
    returns, seen = rewards[::-1].cumsum(axis=0)[::-1], x[running]
    squares = seen.T @ seen + 0.1 * np.eye(FEATURES)
    return advantages, np.linalg.solve(squares, seen.T @ returns[running])


def push(advantages, ratios, clip):
    """The factor of each log-gradient: the ratio times the advantage, 0 where it is clipped."""
    too_far = ((advantages > 0) & (ratios > 1 + clip)) | ((advantages < 0) & (ratios < 1 - clip))
    return np.where(too_far, 0.0, ratios * advantages)


# %%
def train(iterations, seed, critic=True, epochs=10, clip=0.2, alpha=0.03):
    """The weights, and the share that the searches of each iteration covered, in percent."""
    rng = np.random.default_rng(seed)
    env = gymnasium.make_vec("fitgym/Landscapes-v0", num_envs=N)
    env.reset(seed=seed)
    weights, values = np.zeros((FEATURES, POINTERS)), np.zeros(FEATURES)
    adam, covered = Adam(weights.shape, alpha), []
    for _ in range(iterations):
        x, actions, rewards, running = searches(env, weights, rng)
        covered.append(100 * rewards.sum(axis=0).mean())
        if critic:
            advantages, values = critic_advantages(x, rewards, running, values)
        else:
            returns = rewards[::-1].cumsum(axis=0)[::-1]
            advantages = returns - returns.mean(axis=1, keepdims=True)
        x, actions, advantages = x[running], actions[running], advantages[running]
        advantages = (advantages - advantages.mean()) / advantages.std()
        each = np.arange(len(actions))
        old = softmax(x @ weights)[each, actions]
        for _ in range(epochs):
            chances = softmax(x @ weights)
            factors = push(advantages, chances[each, actions] / old, clip)
            surprise = np.eye(POINTERS)[actions] - chances
            weights = weights + adam.step(x.T @ (surprise * factors[:, None]) / len(actions))
    return weights, np.array(covered)


# %% [markdown]
# The same function plays all variants. REINFORCE has no critic, one step per iteration, and no clipping.

# %%
ppo_share = predict(
    "Random choice covers 61 % of the branches, LinUCB about 79 %. What does PPO cover?",
    None,  # your prediction
    unit="%",
)
ppo_share

# %%
VARIANTS = {
    "REINFORCE": {"critic": False, "epochs": 1, "clip": np.inf},
    "+ critic": {"epochs": 1, "clip": np.inf},
    "+ reuse": {"clip": np.inf},
    "+ clipping = PPO": {},
}
VARIANT_COLOURS = dict(zip(VARIANTS, ("#E69F00", "#009E73", "#D55E00", "#0072B2"), strict=True))
ROUNDS, LANDSCAPE_SEEDS = (35, 1) if FAST else (60, 2)
runs = {
    name: [train(ROUNDS, seed, **options) for seed in range(LANDSCAPE_SEEDS)]
    for name, options in VARIANTS.items()
}
curves = {name: np.mean([covered for _, covered in found], axis=0) for name, found in runs.items()}

# %%
fig, ax = plt.subplots()
for name, curve in curves.items():
    smooth = np.convolve(curve, np.ones(5) / 5, mode="valid")
    ax.plot(np.arange(5, ROUNDS + 1), smooth, color=VARIANT_COLOURS[name], label=name)
ax.axhline(61, color=COLOURS["uniform"], linestyle="--", label="random choice")
ppo_share.draw(ax)
ax.set(xlabel="iteration (64 searches each)", ylabel="covered branches (%)", ylim=(55, 85))
ax.set_title("Reuse needs clipping: together they make PPO")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
ppo_share.compare(curves["+ clipping = PPO"][-10:].mean(), tolerance=0.05)

# %% tags=["hidden"]
late = {name: curve[-10:].mean() for name, curve in curves.items()}
assert late["+ clipping = PPO"] > 76, late
assert all(late["+ clipping = PPO"] > late[name] + 4 for name in list(VARIANTS)[:3]), late

# %% [markdown]
# * **The critic** helps a little: its baseline knows whether a program is easy or hard.
# * **Reuse alone** does harm. After some of the ten steps the policy is far from the one that played, and the data say nothing
#   about it any more.
# * **Reuse with clipping** learns most from the same searches.
#
# Compare with lesson 07: LinUCB covered about 79 % after a few hundred searches. PPO needs about two thousand for that. So PPO
# is for training in advance, on many programs.
#
# fitgym's agent `ppo` is the same algorithm with a neural network, from the library Stable-Baselines3. It was trained with ten
# seeds in the project's benchmark, and judged on test programs that it had never seen:

# %%
with open("../benchmarks/learning/runs.csv") as file:
    rows = [
        row for row in csv.DictReader(file) if row["env"] == row["judged"] == "fitgym/Landscapes-v0"
    ]
for seen in ("all", "nothing"):
    means = [100 * float(row["mean"]) for row in rows if row["seen"] == seen]
    print(f"fitgym's ppo, sees {seen:8} {np.mean(means):.1f} % covered, {len(means)} seeds")


# %%
def judged(weights, seed=0, sees=1.0):
    """The share that a policy covers on 200 test programs, in percent."""
    env = gymnasium.make_vec("fitgym/Landscapes-v0", num_envs=200, split="test")
    seen, _ = env.reset(seed=seed)
    rng, running, total = np.random.default_rng(seed), np.ones(200, bool), np.zeros(200)
    for _ in range(DECISIONS):
        x = np.hstack([sees * seen, np.ones((200, 1))])
        chance = softmax(x @ weights).cumsum(axis=1)
        seen, rewards, ended, _, _ = env.step((chance > rng.random((200, 1))).argmax(axis=1))
        total += rewards * running
        running &= ~ended
    return 100 * total.mean()


weights = runs["+ clipping = PPO"][0][0]
ours, blind, untrained = judged(weights), judged(weights, sees=0.0), judged(0 * weights)
print(f"our PPO on test programs: {ours:.1f} %")
print(f"the same, all features 0: {blind:.1f} %")
print(f"random choice:            {untrained:.1f} %")

# %% tags=["hidden"]
assert ours > 75 > 70 > blind and abs(untrained - 61) < 3, (ours, blind, untrained)

# %% [markdown]
# Our linear policy holds on programs that it has never seen. It owes its success to what it sees: with all features set to 0
# it is near chance. **Learning pays here**, because the programs differ and the features tell how.
#
# ## Exercises
#
# **1. What followed.** Write the returns $G_t$ of one episode for all steps at once: a function of `rewards` and `gamma` that
# gives an array of the same length.


# %% tags=["check"]
def check_returns(answer):
    for rewards, gamma in (([1.0, 2.0, 3.0], 1.0), ([0.0, 0.0, 8.0], 0.5), ([5.0], 0.9)):
        expected, later = [], 0.0
        for reward in reversed(rewards):
            later = reward + gamma * later
            expected.insert(0, later)
        got = np.asarray(answer(np.array(rewards), gamma), float)
        if got.shape != (len(rewards),):
            return (
                f"For {len(rewards)} rewards the shape is {got.shape}, expected ({len(rewards)},)."
            )
        if not np.allclose(got, expected):
            return f"For {rewards} and gamma {gamma} the returns are {expected}, yours are {got.tolist()}."


# %% tags=["exercise"]
def returns(rewards, gamma): ...  # your answer


# %%
exercise(
    "returns",
    returns,
    check_returns,
    hint="Go backwards: each return is its reward plus gamma times the next.",
)

# %% [markdown]
# **2. The clipped objective.** The paper writes PPO's objective as the smaller of two terms:
#
# $$L = \min\left( \rho \hat A,\ \text{clip}(\rho, 1 - \epsilon, 1 + \epsilon) \, \hat A \right)$$
#
# Write it as a function of the arrays `ratios` and `advantages` and of `epsilon`. We compare its slope with our function
# `push`.


# %% tags=["check"]
def check_objective(answer):
    ratios, advantages = np.array([0.5, 0.5, 1.0, 1.5, 1.5]), np.array([2.0, -2.0, 1.0, 2.0, -2.0])
    got = np.asarray(answer(ratios, advantages, 0.2), float)
    if got.shape != (5,):
        return f"The shape is {got.shape}, expected one value for each of 5 ratios."
    slope = (np.asarray(answer(ratios + 1e-6, advantages, 0.2)) - got) / 1e-6
    expected = np.array([1.0, -1.6, 1.0, 2.4, -3.0])
    for i in range(5):
        if abs(got[i] - expected[i]) > 1e-9:
            return f"For ratio {ratios[i]} and advantage {advantages[i]} it is {expected[i]}, yours {got[i]:.3g}."
    if not np.allclose(slope * ratios, push(advantages, ratios, 0.2), atol=1e-4):
        return "The values are right here, but the slope differs from `push`."


# %% tags=["exercise"]
def objective(ratios, advantages, epsilon): ...  # your answer


# %%
exercise(
    "objective",
    objective,
    check_objective,
    hint="`np.clip` and `np.minimum`. What changes if the advantage is negative?",
)

# %% [markdown]
# **3. Learn faster.** After 12 iterations PPO as above covers about 71 % of the test programs. Find `alpha`, `epochs` and
# `clip` with which it covers at least 74 % (mean of two seeds). Answer with a dictionary such as `{"alpha": 0.03, "epochs": 10, "clip": 0.2}`.


# %% tags=["check"]
def check_settings(answer):
    if not set(answer) <= {"alpha", "epochs", "clip"}:
        return f"The settings are {sorted(answer)}, expected alpha, epochs and clip."
    if answer.get("epochs", 10) > 50:
        return "At most 50 epochs, please."
    covered = np.mean([judged(train(12, seed, **answer)[0]) for seed in range(2)])
    if covered < 74:
        return f"With these settings it covers {covered:.1f} %."


# %% tags=["exercise"]
settings = ...  # your answer

# %%
exercise(
    "settings",
    settings,
    check_settings,
    hint="With clipping, larger or more steps are safe. Try one setting at a time.",
)

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "All returns are positive, and there is no baseline. What does REINFORCE do to an action that was just taken?",
        ("It makes it more likely", "It makes it less likely", "That depends on the action"),
        0,
        "Only on average do better actions gain more than worse ones. A baseline removes most of this noise.",
    ),
    Question(
        "Why does REINFORCE find *ground*, although Sarsa does not?",
        (
            "It explores more",
            "It credits an action with the whole return that followed",
            "It has more weights",
        ),
        1,
        "Sarsa must carry the later rewards backwards through its estimates, which bootstrapping makes slow and biased.",
    ),
    Question(
        "An action has a positive advantage, and its ratio is 1.5 with ε = 0.2. What does PPO do?",
        ("It raises its probability", "It lowers its probability", "It leaves it as it is"),
        2,
        "The ratio is beyond 1 + ε in the direction of the advantage, so the action gets no further push.",
    ),
    Question(
        "A policy covers 61 % when its features are set to 0. What do you conclude?",
        ("It owes its success to what it sees", "It has learned nothing", "It is overfitted"),
        0,
        "61 % is chance. The same weights with features cover far more.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **Many searches.** PPO saw thousands of searches. A run of a test generator is one. So such a policy is trained in advance, and
#   only *acts* in the run.
# * **Simulated programs.** `fitgym/Programs-v0` has real code and a real search. Lesson 14 looks at how much of the skill survives
#   there.
# * **Few seeds.** Each curve is the mean of one or two runs. Which of two methods is better needs more: lesson 15.
# * **One step size for all.** Each variant might do better with its own. A fair comparison tunes all of them equally.
#
# ## Next
#
# Lesson 11 replaces the weights by a neural network, and adds a second method: deep Q-learning.
