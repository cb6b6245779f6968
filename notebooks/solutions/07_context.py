"""Solutions of lesson 07, and tempting answers that are wrong."""


def uniform_beliefs(low, high, rng):
    """The action with the largest draw."""
    return int(rng.uniform(low, high).argmax())


def largest_mean(low, high, rng):
    """Greedy: no draw."""
    return int(((low + high) / 2).argmax())


def one_draw_for_all(low, high, rng):
    """The same quantile for every action."""
    return int((low + rng.random() * (high - low)).argmax())


def weighted_lottery(low, high, rng):
    """Draws an action in proportion to its mean."""
    means = (low + high) / 2
    return int(rng.choice(len(means), p=means / means.sum()))


def odd(bits):
    """The number of active functions must be odd: no function helps or harms on average."""
    return float(sum(bits) % 2)


def all_or_nothing(bits):
    """Each function harms by itself, and all together are the best set, which UCB rarely finds in time either."""
    return 1.0 if sum(bits) == 6 else 0.3 * (1 - sum(bits) / 6)


def exactly_one(bits):
    """Two functions help only if exactly one is active; the factored bandit settles one and then finds the other."""
    return 0.5 * float(bits[0] != bits[1]) + 0.5 * float(bits[2] != bits[3])


def one_harms(bits):
    """A sum, which is what the factored bandit assumes."""
    return 0.5 - 0.4 * bits[0] + 0.4 * bits[1]


SOLUTIONS = {
    "uniform_beliefs": uniform_beliefs,
    "two_features": ["idle", "covered"],
    "trap": odd,
}
TEMPTING = {
    "uniform_beliefs": [largest_mean, weighted_lottery],
    "two_features": [["distance"], ["gain", "approach"]],
    "trap": [one_harms, exactly_one, all_or_nothing],
}
