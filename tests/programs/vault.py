"""Five parts: an open one, one that opens when the search stays with it, one that nothing opens, and two more."""


def plain(x: int, y: int) -> int:
    if x > y:
        return 1
    if x == 0:
        return 2
    return 3


def slope(x: int, y: int, z: int) -> int:
    gap = abs(3 * x - 7 * y - 120)
    if gap < 90:
        if gap < 30:
            if gap < 10:
                if z % 3 == 0:
                    return 1
                if z % 5 == 1:
                    return 2
                return 3
    return -1


def dead(x: int, y: int, z: int) -> int:
    gap = abs(2 * x - 5 * y + 60)
    gap += 60
    if gap < 90:
        if gap < 30:
            if z % 3 == 0:
                return 1
            return 2
    return -1


def word(text: str) -> int:
    if text[:1] == "q":
        if text[1:2] == "v":
            return 2
        return 1
    return 0


class Dial:
    def __init__(self, start: int) -> None:
        self.at = start % 5

    def turn(self, by: int) -> int:
        if 10 < by < 40:
            self.at += 1
        if self.at > 6:
            return 1
        return 0
