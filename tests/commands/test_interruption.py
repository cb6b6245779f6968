"""An interruption during loading is raised after loading."""

import signal

import pytest

from fitgym.commands.interruption import held


@pytest.fixture
def handler():
    """That of Python, also where the tests run in the background, which ignores interruptions."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_it_is_raised_at_the_end_of_the_block(handler):
    reached = []
    with pytest.raises(KeyboardInterrupt), held():
        signal.raise_signal(signal.SIGINT)
        reached.append("the end")
    assert reached == ["the end"]
    assert signal.getsignal(signal.SIGINT) is handler


def test_without_one_nothing_is_raised(handler):
    with held():
        assert signal.getsignal(signal.SIGINT) is not handler
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_error_of_the_block_goes_first(handler):
    with pytest.raises(ImportError), held():
        signal.raise_signal(signal.SIGINT)
        raise ImportError
    assert signal.getsignal(signal.SIGINT) is handler


def test_who_ignored_it_ignores_it_still(handler):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
