"""Solutions of lesson 08, and tempting answers that are wrong."""


def discounted_return(rewards, gamma):
    """The first reward counts in full."""
    return sum(gamma**k * reward for k, reward in enumerate(rewards))


def discounted_from_the_start(rewards, gamma):
    """Discounts the first reward too."""
    return sum(gamma ** (k + 1) * reward for k, reward in enumerate(rewards))


def linear_discount(rewards, gamma):
    """Multiplies by the number of steps instead of raising to their power."""
    return sum((gamma * k if k else 1) * reward for k, reward in enumerate(rewards))


def sweep(q, epsilon):
    """The best action, and with probability epsilon any."""
    return (1 - epsilon) * q.max(axis=1) + epsilon * q.mean(axis=1)


def never_the_best_by_luck(q, epsilon):
    """The random action is always the other one."""
    return (1 - epsilon) * q.max(axis=1) + epsilon * q.min(axis=1)


SOLUTIONS = {"discounted_return": discounted_return, "sweep": sweep, "turning_point": 0.51}
TEMPTING = {
    "discounted_return": [discounted_from_the_start, linear_discount],
    "sweep": [never_the_best_by_luck, lambda q, epsilon: q.mean(axis=1)],
    "turning_point": [0.25, 0.9],
}
