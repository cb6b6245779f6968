"""Answers to the exercises of lesson 14, and tempting ones that are wrong."""


def _returns(rewards, gamma):
    found, later = [], 0.0
    for reward in reversed(rewards):
        later = reward + gamma * later
        found.append(later)
    return found[::-1]


def _forward(rewards, gamma):
    found, before = [], 0.0
    for reward in rewards:
        before = reward + gamma * before
        found.append(before)
    return found


SOLUTIONS = {
    "captured": lambda learned, constant, informed: (learned - constant) / (informed - constant),
    "returns": _returns,
    "reported": lambda validation, test: test[validation.index(max(validation))],
}

TEMPTING = {
    "captured": [
        lambda learned, constant, informed: learned / informed,
        lambda learned, constant, informed: learned - constant,
    ],
    "returns": [_forward, lambda rewards, gamma: [sum(rewards)] * len(rewards)],
    "reported": [lambda validation, test: max(test), lambda validation, test: max(validation)],
}
