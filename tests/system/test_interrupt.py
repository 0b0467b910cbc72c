"""Ctrl-C in a block that must not be interrupted: it comes after the block, once, and to whom it belongs."""

import signal
import threading

import pytest

from splitmerge.system.interrupt import uninterrupted


@pytest.fixture
def handler():
    """Let a handler be installed for the test; it is passed as a function."""
    before = signal.getsignal(signal.SIGINT)
    yield lambda own: signal.signal(signal.SIGINT, own)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("presses", [1, 3])
def test_it_is_deferred_and_not_lost(handler, presses):
    handler(signal.default_int_handler)
    done = []

    def block():
        with uninterrupted():
            for _ in range(presses):
                signal.raise_signal(signal.SIGINT)
            done.append("block")
        done.append("after")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done == ["block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("presses", [0, 1, 3])
def test_the_callers_handler_is_called_once_and_stays(handler, presses):
    seen = []

    def own(number, frame):
        seen.append(number)

    handler(own)
    with uninterrupted():
        for _ in range(presses):
            signal.raise_signal(signal.SIGINT)
        assert seen == []
    assert seen == [signal.SIGINT] * min(presses, 1)
    assert signal.getsignal(signal.SIGINT) is own
    signal.raise_signal(signal.SIGINT)
    assert len(seen) == min(presses, 1) + 1


@pytest.mark.parametrize("ignored", [signal.SIG_IGN, signal.SIG_DFL], ids=["SIG_IGN", "SIG_DFL"])
def test_what_is_no_function_is_put_back(handler, ignored):
    handler(ignored)
    with uninterrupted():
        if ignored is signal.SIG_IGN:
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is ignored


def test_nested_blocks_wait_for_the_outer_one(handler):
    handler(signal.default_int_handler)
    done = []

    def blocks():
        with uninterrupted():
            with uninterrupted():
                signal.raise_signal(signal.SIGINT)
            done.append("outer")

    with pytest.raises(KeyboardInterrupt):
        blocks()
    assert done == ["outer"]


def test_an_error_in_the_block_puts_the_handler_back(handler):
    handler(signal.default_int_handler)
    with pytest.raises(ZeroDivisionError), uninterrupted():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_leave_the_handler_alone(handler):
    handler(signal.default_int_handler)
    seen = []

    def work():
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
