"""An arity predicts which calls fail before the function runs."""

import inspect

from hypothesis import given, settings
from hypothesis import strategies as st

from fitgym.worker.arity import Arity

P = inspect.Parameter
KINDS = [P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD, P.VAR_POSITIONAL, P.KEYWORD_ONLY, P.VAR_KEYWORD]


@st.composite
def signatures(draw):
    """Any signature of at most seven parameters."""
    counts = [draw(st.integers(0, limit)) for limit in (2, 2, 1, 2, 1)]
    kinds = [kind for kind, count in zip(KINDS, counts, strict=True) for _ in range(count)]
    names = draw(st.permutations("abcdefgh"))
    optional = False
    parameters = []
    for kind, name in zip(kinds, names, strict=False):
        if kind in KINDS[:2]:  # after a default only defaults
            optional = optional or draw(st.booleans())
            default = 0 if optional else P.empty
        else:
            default = 0 if kind is P.KEYWORD_ONLY and draw(st.booleans()) else P.empty
        parameters.append(P(name, kind, default=default))
    return inspect.Signature(parameters)


@settings(max_examples=400)
@given(signatures(), st.integers(0, 6), st.lists(st.sampled_from("abcdefghz"), unique=True, max_size=4))
def test_arguments_fit_if_a_function_takes_them(signature, count, keywords):
    namespace = {}
    exec(f"def function{signature}: pass", namespace)
    try:
        namespace["function"](*[None] * count, **dict.fromkeys(keywords))
    except TypeError:
        fits = False
    else:
        fits = True
    assert Arity(signature).fits(count, keywords) is fits


def test_a_name_that_can_only_be_passed_by_position_is_free_for_other_keywords():
    # `Signature.bind` refuses that before Python 3.13.
    assert Arity(inspect.signature(lambda a=0, /, **rest: None)).fits(0, ["a"])
