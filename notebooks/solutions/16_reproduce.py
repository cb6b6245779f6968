"""Answers to the exercises of lesson 16, and tempting ones that are wrong."""


def _judgement(low, high, claimed):
    if high < claimed:
        return "contradicted"
    return "confirmed" if low >= claimed else "undecided"


def _beside_one_half(low, high, claimed):
    if high < 0.5:
        return "contradicted"
    return "confirmed" if low > 0.5 else "undecided"


def _mean_is_near(at):
    names = next(iter(at.values()))
    mean = {name: sum(row[name] for row in at.values()) / len(at) for name in names}
    return mean["MIO"] >= max(mean.values()) - 5


SOLUTIONS = {
    "testable": {"b", "d"},
    "near_best": lambda at: all(row["MIO"] >= max(row.values()) - 5 for row in at.values()),
    "judgement": _judgement,
}

TEMPTING = {
    "testable": [{"a", "b", "d"}, {"b", "c", "d"}, {"d"}],
    "near_best": [
        _mean_is_near,
        lambda at: all(row["MIO"] >= max(row.values()) for row in at.values()),
    ],
    "judgement": [_beside_one_half],
}
