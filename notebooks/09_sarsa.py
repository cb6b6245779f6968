# %% [markdown]
# # 09 How can an agent learn values from experience?
#
# Lesson 08 computed values from the probabilities of all outcomes. A test generator does not know them. *Sarsa* learns the
# values from the rewards that it sees. *Features* decide which situations it can tell apart.
#
# **Time:** 30 minutes.
# **You need:** lesson 08.
# **You will be able to:** write Sarsa with a table and with features, and say which features make it fail.

# %% tags=["setup"]
import os
from importlib.metadata import version

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from packaging.version import Version

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.agents.base import Transition, make
from fitgym.agents.dsg_sarsa import DSGSarsa
from fitgym.course import Question, exercise, predict, quiz

assert Version(version("fitgym")) >= Version("0.1"), "too old: pip install -e '.[notebooks]'"
FAST = "FITGYM_FAST" in os.environ  # fewer repetitions, the same lesson: this is how it is tested
plt.style.use("lesson.mplstyle")
COLOUR = "#009E73"  # of Sarsa
print(f"fitgym {version('fitgym')}, numpy {version('numpy')}, {'fast' if FAST else 'full'} mode")

# %% [markdown]
# ## From Bellman's equation to Sarsa
#
# This is the small search of lesson 08. *cover* pays 1 with probability diversity / 4 and lowers the diversity. *diversify*
# pays nothing and raises it. Four targets are to be covered. The agent may now only call `search`. It never sees the
# probabilities.

# %%
TOP, COVER, DIVERSIFY, GAMMA = 4, 0, 1, 0.9


def search(state, action, rng):
    """One step: the reward and the next state."""
    diversity, left = state
    if action == DIVERSIFY:
        return 0, (min(TOP, diversity + 1), left)
    found = int(rng.random() < diversity / TOP)
    return found, (max(0, diversity - 1), left - found)


# %% [markdown]
# By Bellman's equation, the value of an action is the *mean* of $R + \gamma q(S', A')$. Here $A'$ is the action that the
# policy takes next. Sarsa replaces the mean by a sample. It takes the step, looks at what came, and moves its estimate a
# little in that direction:
#
# $$q(S, A) \leftarrow q(S, A) + \alpha \, \delta, \qquad \delta = R + \gamma \, q(S', A') - q(S, A)$$
#
# The name lists what one update needs: $S, A, R, S', A'$. The difference $\delta$ is the *temporal-difference error*: how much
# better the step was than expected. Actions are *epsilon-greedy*: mostly the best one, sometimes a random one.


# %%
def epsilon_greedy(values, epsilon, rng):
    """The action with the largest value, with probability epsilon a random one."""
    if rng.random() < epsilon:
        return int(rng.integers(len(values)))
    return int(np.argmax(values))


def sarsa(episodes, seed, alpha=0.1, epsilon=0.1):
    """The table of action values, and the return of each episode."""
    rng = np.random.default_rng(seed)
    q = np.zeros((TOP + 1, 5, 2))  # diversity, targets left, action
    returns = np.zeros(episodes)
    for episode in range(episodes):
        state, weight = (0, 4), 1.0
        action = epsilon_greedy(q[state], epsilon, rng)
        while state[1] > 0:
            reward, after = search(state, action, rng)
            action_after = epsilon_greedy(q[after], epsilon, rng)
            delta = reward + GAMMA * q[after][action_after] - q[state][action]
            q[state][action] += alpha * delta
            returns[episode] += weight * reward
            weight *= GAMMA
            state, action = after, action_after
    return q, returns


# %%
learned_return = predict(
    "Greedy has a return of 1.10, the best policy 1.98. What does Sarsa reach in 2000 episodes?",
    None,  # your prediction
)
learned_return

# %%
RUNS = 3 if FAST else 20
runs = [sarsa(2000, seed) for seed in range(RUNS)]
curve = np.mean([returns.reshape(-1, 50).mean(axis=1) for _, returns in runs], axis=0)
fig, ax = plt.subplots()
ax.plot(np.arange(1, 41) * 50, curve, color=COLOUR, label="Sarsa")
ax.axhline(1.98, color="k", linestyle="--", label="best policy")
ax.axhline(1.10, color="#D55E00", linestyle=":", label="greedy policy")
learned_return.draw(ax)
ax.set(xlabel="episode", ylabel="return (mean of 50 episodes)", ylim=(0, 2.2))
ax.set_title("Sarsa comes near to the best policy without knowing the probabilities")
ax.legend(loc="lower right")
plt.show()
learned_return.compare(curve[-10:].mean())

# %% tags=["hidden"]
assert 1.6 < curve[-10:].mean() < 1.95

# %%
q = np.mean([table for table, _ in runs], axis=0)
print("diversity   best action with 4 targets left   its learned value")
for diversity in range(TOP, -1, -1):
    values = q[diversity, 4]
    print(f"{diversity:9}   {('cover', 'diversify')[values.argmax()]:33} {values.max():.2f}")

# %% tags=["hidden"]
assert q[4, 4].argmax() == COVER and q[1, 4].argmax() == q[0, 4].argmax() == DIVERSIFY

# %% [markdown]
# Sarsa stays a little below the best policy, because a tenth of its actions is random. Its values include these random
# actions, so they are lower than those of lesson 08: 3.02 for diversity 4 and 1.98 for diversity 0.
#
# ## A search without end
#
# A run of a test generator has no natural end, and its reward goes on. For such *continuing* tasks the natural measure is
# the *average reward* $\bar R$ per step. The value of an action is then how much *more than the average* follows it.
#
# Our search gets simpler: there are always targets left. *cover* pays diversity / 4 and lowers the diversity by 1. *diversify*
# pays nothing and raises it by 1.


# %%
def endless(diversity, action):
    """The reward and the next diversity."""
    if action == COVER:
        return diversity / TOP, max(0, diversity - 1)
    return 0.0, min(TOP, diversity + 1)


def mean_reward(m, steps=400):
    """What a policy earns per step in the end, if it covers from the diversity m on."""
    rewards, diversity = [], 0
    for _ in range(steps):
        reward, diversity = endless(diversity, COVER if diversity >= m else DIVERSIFY)
        rewards.append(reward)
    return np.mean(rewards[steps // 2 :])


fig, ax = plt.subplots(figsize=(8, 2.4))
ax.bar(range(1, TOP + 1), [mean_reward(m) for m in range(1, TOP + 1)], width=0.6, color="0.5")
ax.set(xlabel="cover from this diversity on", ylabel="mean reward", xticks=range(1, TOP + 1))
ax.set_title("Without end, patience pays four times as much as greed")
plt.show()

# %% tags=["hidden"]
assert mean_reward(1) == 0.125 and mean_reward(TOP) == 0.5

# %% [markdown]
# ## Features
#
# A real search has more states than any table. So we describe a state by a few numbers, its *features* $x(s)$, and let a value
# be a weighted sum: $q(s, a) = w_a^\top x(s)$. One weight vector $w_a$ belongs to each action.
#
# *Differential semi-gradient Sarsa* (DSG-Sarsa; Sutton and Barto, section 10.3) updates the weights and the average reward:
#
# $$\delta = R - \bar R + q(S', A') - q(S, A)$$
# $$\bar R \leftarrow \bar R + \beta \delta \qquad\qquad w_A \leftarrow w_A + \alpha \, \delta \, x(S)$$
#
# *Differential*: rewards minus their average take the place of a discount. *Semi-gradient*: the update follows the gradient
# of $q(S, A)$ and treats $q(S', A')$ as a constant.


# %%
class Sarsa:
    """Differential semi-gradient Sarsa; weights of shape (actions, features)."""

    def __init__(self, n_actions, n_features, alpha=0.05, beta=0.05, epsilon=0.1):
        self.weights, self.average = np.zeros((n_actions, n_features)), 0.0
        self.alpha, self.beta, self.epsilon = alpha, beta, epsilon

    def choose(self, x, rng):
        """An epsilon-greedy action."""
        return epsilon_greedy(self.weights @ x, self.epsilon, rng)

    def learn(self, x, action, reward, x_after, action_after):
        """One update."""
        before, after = self.weights[action] @ x, self.weights[action_after] @ x_after
        delta = reward - self.average + after - before
        self.average += self.beta * delta
        self.weights[action] += self.alpha * delta * x


# %% [markdown]
# fitgym's agent `dsg_sarsa` is the same algorithm. We show both the same 300 steps. fitgym's agent chooses $A'$ as soon as it
# sees $S'$, and ours learns from this choice.

# %%
rng, theirs, ours = np.random.default_rng(0), DSGSarsa(2, epsilon=1.0), Sarsa(2, 2)
diversity = 2
theirs.begin_episode([diversity / TOP], {})
action = theirs.act([diversity / TOP], {})
for _ in range(300):
    reward, after = endless(diversity, action)
    theirs.observe(Transition([diversity / TOP], action, reward, [after / TOP]))
    action_after = theirs.act([after / TOP], {})
    x, x_after = np.array([diversity / TOP, 1]), np.array([after / TOP, 1])
    ours.learn(x, action, reward, x_after, action_after)
    diversity, action = after, action_after
print("our weights:   ", ours.weights.ravel().round(4))
print("fitgym weights:", theirs.arrays()["weights"].round(4))

# %% tags=["hidden"]
assert np.allclose(theirs.arrays()["weights"].reshape(2, 2), ours.weights)

# %% [markdown]
# ## Three pairs of eyes
#
# The same algorithm now sees the diversity in three ways:
#
# * *nothing*: the only feature is a constant 1;
# * *a number*: diversity / 4, and a constant 1;
# * *one for each level*: five features, of which one is 1 and the others 0. This is a table.

# %%
number_reward = predict(
    "The best policy earns 0.5 per step. What does the agent with a number earn at step 10,000?",
    None,  # your prediction
)
number_reward

# %%
EYES = {
    "nothing": lambda diversity: np.array([1.0]),
    "a number": lambda diversity: np.array([diversity / TOP, 1.0]),
    "one for each level": np.eye(TOP + 1).__getitem__,
}
STEPS = 40_000


def train(see, seed, steps=STEPS):
    """The agent after these steps, and the reward of each step."""
    rng, x = np.random.default_rng(seed), [see(diversity) for diversity in range(TOP + 1)]
    agent = Sarsa(2, len(x[0]))
    diversity, rewards = 0, np.zeros(steps)
    action = agent.choose(x[diversity], rng)
    for t in range(steps):
        rewards[t], after = endless(diversity, action)
        action_after = agent.choose(x[after], rng)
        agent.learn(x[diversity], action, rewards[t], x[after], action_after)
        diversity, action = after, action_after
    return agent, rewards


# %%
STYLES, EYE_RUNS = {"nothing": ":", "a number": "--", "one for each level": "-"}, 1 if FAST else 8
earned, final = {}, {}
fig, ax = plt.subplots()
for name, see in EYES.items():
    agents, rewards = zip(*[train(see, seed) for seed in range(EYE_RUNS)], strict=True)
    earned[name] = np.mean(rewards, axis=0).reshape(-1, 1000).mean(axis=1)
    final[name] = agents[0]
    ax.plot(np.arange(1, STEPS // 1000 + 1), earned[name], STYLES[name], color=COLOUR, label=name)
ax.axhline(0.5, color="k", linewidth=1, label="best policy")
number_reward.draw(ax)
ax.set(xlabel="steps, in thousands", ylabel="mean reward", ylim=(0, 0.55))
ax.set_title("One algorithm, three outcomes: the features decide")
ax.legend(title="The agent sees", loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
number_reward.compare(earned["a number"][9])

# %%
for name, rewards in earned.items():
    print(f"{name:20} after 10,000 steps {rewards[9]:.3f}, in the end {rewards[-5:].mean():.3f}")

# %% tags=["hidden"]
assert earned["nothing"].max() < 0.05
assert earned["one for each level"][9] > 0.45
assert earned["a number"][9] < 0.35 and earned["a number"][-5:].mean() > 0.4

# %% [markdown]
# * **Nothing.** On average, *cover* pays more than *diversify*. So this agent covers until the diversity is used up, and then
#   earns almost nothing. It behaves as a bandit does.
# * **One for each level.** The agent comes near to the best policy within a few thousand steps. Exploration costs the rest.
# * **A number.** The agent gets there late. At times its curve is flat, as if it had learned all that it can.

# %%
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(8, 3))
see = EYES["a number"]
early = train(see, seed=0, steps=10_000)[0]
for ax, steps, agent in zip(axes, (10_000, STEPS), (early, final["a number"]), strict=True):
    q = np.array([agent.weights @ see(diversity) for diversity in range(TOP + 1)])
    ax.plot(q[:, COVER], "o-", color="#0072B2", label="cover")
    ax.plot(q[:, DIVERSIFY], "s--", color="#E69F00", label="diversify")
    crossing = int(np.argmax(q[:, COVER] > q[:, DIVERSIFY]))
    ax.set(xlabel="diversity", xticks=range(TOP + 1))
    ax.set_title(f"{steps:,} steps: it covers from {crossing} on")
axes[0].set_ylabel("learned value q(s, a)")
axes[1].legend()
plt.show()

# %% [markdown]
# Why so slowly? Each action has only one line for all levels. What the agent learns at diversity 1 also moves the value at
# diversity 4. The lines cross where suits the levels that the agent visits now. Only after it has moved to higher levels
# do the values there pull the crossing upwards. **Features decide what can be learned, and how fast.**

# %% tags=["hidden"]
early_q, late_q = (
    np.array([agent.weights @ see(diversity) for diversity in range(TOP + 1)])
    for agent in (early, final["a number"])
)
crossings = [int(np.argmax(q[:, COVER] > q[:, DIVERSIFY])) for q in (early_q, late_q)]
assert crossings[0] < crossings[1], crossings

# %% [markdown]
# ## Too many features
#
# May an agent simply see everything? We give it one feature for each level and some useless ones: random numbers.


# %%
def with_noise(n_useless, seed, steps=6000):
    """The mean reward of the last 1000 steps with useless features."""
    rng, levels = np.random.default_rng(seed), np.eye(TOP + 1)
    agent, diversity, total = Sarsa(2, TOP + 1 + n_useless), 0, 0.0
    x = np.append(levels[diversity], rng.normal(size=n_useless))
    action = agent.choose(x, rng)
    for t in range(steps):
        reward, diversity = endless(diversity, action)
        x_after = np.append(levels[diversity], rng.normal(size=n_useless))
        action_after = agent.choose(x_after, rng)
        agent.learn(x, action, reward, x_after, action_after)
        x, action = x_after, action_after
        total += reward * (t >= steps - 1000)
    return total / 1000


numbers = (0, 5, 10, 20)
means = [np.mean([with_noise(n, seed) for seed in range(2 if FAST else 8)]) for n in numbers]
fig, ax = plt.subplots(figsize=(8, 2.6))
ax.bar(range(len(numbers)), means, color=COLOUR, width=0.6)
ax.axhline(0.5, color="k", linewidth=1, label="best policy")
ax.axhline(0.25, color="0.5", linestyle=":", label="random choice")
ax.set(
    ylim=(0, 0.55),
    xlabel="useless features",
    ylabel="mean reward",
    xticks=range(4),
    xticklabels=numbers,
)
ax.set_title("With twenty useless features Sarsa is no better than chance")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% tags=["hidden"]
assert means[0] > 0.4 and means[1] > 0.4 and means[3] < 0.33, means

# %% [markdown]
# Each useless feature adds noise to every value. In a real run the agent sees about 60 features and has 64 actions. That makes
# almost 4000 weights, and a run has 180 decisions.
#
# ## Where it pays, and where it does not
#
# We now take Sarsa to two environments. `fitgym/Toy-v0` is the toy of lesson 08, where the reward of *ground* comes many steps
# later. `fitgym/Landscapes-v0` is the simulated search of lesson 07: twenty searches share one agent, which sees 71 features.

# %%
N = 20


def covered(rounds, seed, alpha=0.01, beta=0.01):
    """The share of branches that the searches of each round cover, in percent."""
    env = gymnasium.make_vec("fitgym/Landscapes-v0", num_envs=N)
    rng, agent = np.random.default_rng(seed), Sarsa(7, 72, alpha, beta)
    seen, _ = env.reset(seed=seed)
    totals = np.zeros((rounds, N))
    for total in totals:
        x = np.hstack([seen, np.ones((N, 1))])
        actions, running = [agent.choose(row, rng) for row in x], np.ones(N, bool)
        for _ in range(30):
            seen, rewards, ended, _, _ = env.step(np.array(actions))
            after = np.hstack([seen, np.ones((N, 1))]) * ~ended[:, None]  # the end has the value 0
            following = [agent.choose(row, rng) for row in after]
            for i in np.flatnonzero(running):
                agent.learn(x[i], actions[i], 30 * rewards[i], after[i], following[i])
            total[running] += rewards[running]
            running &= ~ended
            x, actions = after, following
        seen, _ = env.reset()
    return 100 * totals.mean(axis=1)


def toy_returns(name, episodes=60):
    """The returns of one of fitgym's agents on the toy with 20 steps."""
    env = gymnasium.make("fitgym/Toy-v0", horizon=20)
    agent, rewards = make(name, env.action_space, action_names=env.unwrapped.action_names), []
    agent.learn(
        env, episodes=episodes, seed=0, callback=lambda _, seen: rewards.append(seen.reward)
    )
    return np.reshape(rewards, (episodes, 20)).sum(axis=1)


# %%
toy = {name: toy_returns(name) for name in ("dsg_sarsa", "uniform")}
ROUNDS = 8 if FAST else 20
landscapes = np.mean([covered(ROUNDS, seed) for seed in range(2 if FAST else 4)], axis=0)

fig, (left, right) = plt.subplots(1, 2)
left.plot(toy["dsg_sarsa"], color=COLOUR, label="Sarsa")
left.axhline(toy["uniform"].mean(), color="0.5", linestyle=":", label="random choice")
left.axhline(20.06, color="k", linewidth=1, label="best policy")
left.set(xlabel="episode", ylabel="return", ylim=(0, 22), title="Toy: worse than chance")
left.legend(loc="lower right")
right.plot(range(1, ROUNDS + 1), landscapes, "o-", color=COLOUR, label="Sarsa")
right.axhline(61, color="0.5", linestyle=":", label="random choice")
right.axhline(79, color="#56B4E9", linestyle="--", label="LinUCB (lesson 07)")
right.set(xlabel="round", ylabel="covered branches (%)", ylim=(45, 85))
right.set_title("Landscapes: better than chance")
right.legend(loc="lower right")
plt.show()

# %% tags=["hidden"]
assert toy["dsg_sarsa"][-20:].mean() < toy["uniform"].mean() - 1
assert 65 < landscapes[-4:].mean() < 77, landscapes

# %% [markdown]
# * **Toy.** *ground* loses every comparison long before its later effect has travelled back through the weights. So Sarsa
#   settles on *mirage*. The methods of lessons 10 and 11 find *ground*.
# * **Landscapes.** Sarsa learns where to look. But LinUCB, which predicts the next reward only, does better with the same
#   features and the same number of searches. Here most of the reward follows at once, and values of the future add noise.
#
# In the project's benchmark on real modules, `dsg_sarsa` learned within one run. For diversity it was better than random choice
# (A12 = 0.79) and worse than one fixed choice. For exceptions and strong mutation no difference was shown.
#
# ## Exercises
#
# **1. One update.** Write Sarsa's update: a function of the estimate `q`, the `reward`, the value `q_after` of the next state
# and action, `alpha` and `gamma`. It returns the new estimate.


# %% tags=["check"]
def check_update(answer):
    if abs(answer(2.0, 0.0, 3.0, 0.0, 0.9) - 2.0) > 1e-9:
        return "With alpha 0 the estimate must not change."
    for q, reward, q_after, alpha, gamma in ((2.0, 0.0, 3.0, 0.1, 0.9), (0.5, 1.0, 0.0, 0.5, 0.9)):
        expected = q + alpha * (reward + gamma * q_after - q)
        got = answer(q, reward, q_after, alpha, gamma)
        if abs(got - expected) > 1e-9:
            return (
                f"From q = {q}, reward {reward}, q_after = {q_after}, alpha {alpha} and gamma {gamma} "
                f"the new estimate is {expected:.4g}, yours is {got:.4g}."
            )


# %% tags=["exercise"]
def update(q, reward, q_after, alpha, gamma): ...  # your answer


# %%
exercise("update", update, check_update, hint="Write delta first.")

# %% [markdown]
# **2. Q-learning.** Sarsa learns the values of its own, partly random, policy. *Q-learning* learns the values of the best
# policy: in place of the value of the action $A'$ that follows, it takes the largest value of the next state. Write the
# right side $R + \gamma \max_a q(S', a)$. The function gets the `reward`, the array `values_after`, `ended` (True if the
# episode is over) and `gamma`. We train a table with it, and compare its values with those of lesson 08.


# %% tags=["check"]
def check_q_target(answer):
    if abs(answer(1.0, np.array([2.0, 5.0]), True, 0.9) - 1.0) > 1e-9:
        return "After the end nothing follows: the target is the reward alone, whatever values_after holds."
    if abs(answer(1.0, np.array([2.0, 5.0]), False, 0.9) - 5.5) > 1e-9:
        got = answer(1.0, np.array([2.0, 5.0]), False, 0.9)
        return f"With reward 1, values (2, 5) and gamma 0.9 the target is 1 + 0.9 * 5 = 5.5, yours is {got:.4g}."
    rng, q = np.random.default_rng(0), np.zeros((TOP + 1, 5, 2))
    for _ in range(2000):
        state = (0, 4)
        while state[1] > 0:
            action = epsilon_greedy(q[state], 0.3, rng)
            reward, after = search(state, action, rng)
            target = answer(reward, q[after], after[1] == 0, GAMMA)
            q[state][action] += 0.05 * (target - q[state][action])
            state = after
    if abs(q[0, 4].max() - 1.98) > 0.2:
        return f"The value of (0, 4) is 1.98; a table trained with your target says {q[0, 4].max():.2f}."


# %% tags=["exercise"]
def q_target(reward, values_after, ended, gamma): ...  # your answer


# %%
exercise(
    "q_target", q_target, check_q_target, hint="`values_after.max()`, unless the episode is over."
)

# %% [markdown]
# **3. Four features.** Find a feature vector of at most *four* numbers. With it the agent must earn at least 0.45 per step in
# steps 8,000 to 10,000. The answer is a function from the diversity, 0 to 4, to an array.


# %% tags=["check"]
def check_four_features(answer):
    length = len(answer(0))
    if length > 4:
        return f"These are {length} features, and at most 4 are allowed."
    reached = np.mean([train(answer, seed, 10_000)[1][-2000:] for seed in range(2)])
    if reached < 0.45:
        return f"With these {length} features the agent earns {reached:.2f} per step."


# %% tags=["exercise"]
def four_features(diversity): ...  # your answer


# %%
exercise(
    "four_features",
    four_features,
    check_four_features,
    hint="Two levels may share a feature if the best action in both is the same. Which two?",
)

# %% [markdown]
# ## Quiz

# %%
quiz(
    Question(
        "The temporal-difference error is positive. What does Sarsa do?",
        ("It raises the value of the action", "It lowers it", "It explores"),
        0,
        "The step was better than expected, so the estimate moves up.",
    ),
    Question(
        "Why does Sarsa learn lower values than value iteration?",
        (
            "It is less exact",
            "Its own policy takes random actions, and its values include them",
            "Its discount is smaller",
        ),
        1,
        "Sarsa learns the values of the policy that it follows. Q-learning learns those of the best policy.",
    ),
    Question(
        "An agent sees only the constant 1. What does it become?",
        ("a bandit", "a random choice", "the best policy"),
        0,
        "Without features all states look the same, and only the mean reward of each action is left.",
    ),
    Question(
        "When do values of the future help?",
        ("always", "when actions change what can be earned later", "when rewards are large"),
        1,
        "On Landscapes a bandit with context does better than Sarsa, because rewards follow at once.",
    ),
)

# %% [markdown]
# ## What could fool you here
#
# * **A toy made for the lesson.** In the endless search everything depends on the features and on the future. Real rewards may
#   follow at once.
# * **"The weights converge."** The blind agent converges too, on a policy that earns nothing. Look at what the policy earns,
#   beside chance and beside the best.
# * **A flat curve.** After 10,000 steps the agent with the number seemed to have reached its limit. Only more steps tell.
# * **Step sizes.** We chose alpha so that learning works. With features of a larger norm the same alpha makes the weights grow
#   without end.
#
# ## Next
#
# Lesson 10 learns a policy directly, without values of actions.
