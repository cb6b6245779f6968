"""Answers to the exercises of lesson 04."""


def copy_or_step(test, rng):
    """Half of the time copy one side to another, otherwise change each side with probability 1/3."""
    changed = list(test)
    if rng.random() < 0.5:
        to, source = rng.sample(range(3), 2)
        changed[to] = changed[source]
        return tuple(changed)
    for place in range(3):
        if rng.random() < 1 / 3:
            changed[place] = max(0, changed[place] + rng.choice([-1, 1]) * 2 ** rng.randrange(9))
    return tuple(changed)


def search_for_the_ends(goals, search):
    """Five goals are the ends of the ways; their tests cover the other three goals as well."""
    names = [
        "equilateral",
        "isosceles, c differs",
        "isosceles, a differs",
        "scalene",
        "no triangle",
    ]
    return [search(goals[name]) for name in names]


SOLUTIONS = {
    "children": [(1, 8, 9), (7, 2, 3)],
    "my_mutation": copy_or_step,
    "small_suite": search_for_the_ends,
}

TEMPTING = {
    "children": [[(1, 2, 9), (7, 8, 3)]],  # the cut is after the second side
    "my_mutation": [
        lambda test, rng: tuple(rng.randint(0, 500) for _ in test),  # guessing
        lambda test, rng: (7, 7, 7),  # covers one goal, and no other
    ],
    "small_suite": [
        lambda goals, search: [search(way) for way in goals.values()],
        lambda goals, search: [search(goals["equilateral"])],
    ],
}
