"""Forwarding: keyword arguments that reach other functions, on small functions and classes."""

import pytest

from fitgym.subject.introspection.forwarding import forwarded


class Shape:
    def __init__(self, colour, *, width=1, height=2):
        self.colour, self.size = colour, (width, height)

    def draw(self, pen, **options):
        return self.stroke(pen, **options)

    def stroke(self, pen, dashed=False, round_ends=False):
        return pen, dashed, round_ends

    @classmethod
    def red(cls, **options):
        return cls("red", **options)

    @staticmethod
    def named(name, limit=3):
        return name[:limit]

    def label(self, **options):
        return self.named("shape", **options)


class Circle(Shape):
    def __init__(self, radius, **options):
        super().__init__("red", **options)
        self.radius = radius


class Anything(Shape):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)


class Old(Shape):
    def __init__(self, **options):
        Shape.__init__(self, **options)


class Grandchild(Circle):
    def __init__(self, **options):
        super().__init__(1, **options)


def build(kind, **options):
    return Shape(kind, **options)


def twice(**options):
    return [build("a", **options), build("b", height=3, **options)]


def endless(**options):
    return endless(**options)


def kept(**options):
    return options


def unknown(**options):
    return missing_function(**options)  # noqa: F821


@pytest.mark.parametrize(
    ("target", "owner", "expected"),
    [
        (Circle, None, {"width", "height"}),
        (Anything, None, {"colour", "width", "height"}),
        (Old, None, {"colour", "width", "height"}),
        (Grandchild, None, {"width", "height"}),
        (Shape.draw, Shape, {"dashed", "round_ends"}),
        (Shape.red.__func__, Shape, {"width", "height"}),
        (Shape.label, Shape, {"limit"}),
        (build, None, {"width", "height"}),
        (twice, None, {"width", "height"}),
        (endless, None, set()),
        (kept, None, set()),
        (unknown, None, set()),
        (Shape, None, set()),
        (len, None, set()),
    ],
)
def test_the_parameters_of_the_receiving_function_are_found(target, owner, expected):
    assert {one.entry.name for one in forwarded(target, owner)} == expected


def test_each_name_is_found_once_in_the_order_of_the_receiver():
    assert [one.entry.name for one in forwarded(Circle)] == ["width", "height"]


def test_positional_arguments_that_are_passed_on_too_are_told():
    assert {one.entry.name: one.by_position for one in forwarded(Anything)} == {
        "colour": True,
        "width": False,
        "height": False,
    }


def test_the_receiver_and_its_class_are_told():
    (first, *_) = forwarded(Circle)
    assert (first.receiver, first.owner) == (Shape.__init__, Circle)
