"""Code of a learner that does not end is interrupted, in any thread, and nothing is interrupted afterwards."""

from __future__ import annotations

import inspect
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from autodiff_lab.lessons import deadline
from autodiff_lab.lessons.attempt import attempt, checked
from autodiff_lab.lessons.result import CheckResult, passed

SHORT = 0.15


def loops() -> None:
    while True:
        pass


def sleeps() -> None:
    while True:
        time.sleep(0.01)


def catches_everything() -> None:
    while True:
        try:  # noqa: SIM105
            sum(range(10))
        except BaseException:  # noqa: BLE001 - what a learner may write
            pass


def catches_and_returns() -> int:
    try:
        loops()
    except BaseException:  # noqa: BLE001
        return 3
    return 4


def yields_for_ever() -> Any:
    return sum(1 for _ in iter(int, 1))


def multiplies() -> int:
    return len(str(7 ** (7**7)) + str(9 ** (9**7)))


ENDLESS = [loops, sleeps, catches_everything, catches_and_returns, yields_for_ever]


@checked
def check(function: Callable[[], Any]) -> CheckResult:
    return passed(f"{attempt(function)}")


def in_a_thread(run: Callable[[], Any]) -> Any:
    """Return what a call in another thread returns, or the exception that leaves it."""
    found: list[Any] = []

    def go() -> None:
        try:
            found.append(run())
        except BaseException as error:  # noqa: BLE001 - nothing may leave a check
            found.append(error)

    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect.unwrap(deadline.share_seconds), "__defaults__", (SHORT,))


def _with_a_timer(run: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(deadline, "_watch", deadline._Timed)
    return run()


WAYS: dict[str, Callable[[Callable[[], Any], pytest.MonkeyPatch], Any]] = {
    "main": lambda run, _: run(),
    "thread": lambda run, _: in_a_thread(run),
    "timer": _with_a_timer,
}


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", ENDLESS)
def test_what_never_ends_is_interrupted(function: Callable[[], Any], way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = WAYS[way](lambda: check(function), monkeypatch)
    assert isinstance(result, CheckResult)
    assert result.code == "TOO_LONG"
    assert function.__name__ in result.message


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarm")
def test_a_computation_with_huge_integers_is_interrupted() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert check(multiplies).code == "TOO_LONG"
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_interrupted_after_a_check(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that end just before, at and after the deadline; then plain code, for longer than it repeats."""

    def run() -> set[str]:
        codes = {check(lambda end=end: time.sleep(SHORT + end) or 1).code for end in (-0.01, -0.001, 0.0, 0.001, 0.01)}
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            sum(range(100))
        return codes

    assert WAYS[way](run, monkeypatch) <= {"", "TOO_LONG"}


def test_the_calls_of_one_check_share_their_seconds() -> None:
    @checked
    def many(function: Callable[[], Any]) -> CheckResult:
        for _ in range(50):
            attempt(function)
        return passed("all of them")

    began = time.monotonic()
    assert many(lambda: time.sleep(SHORT / 2) or 1).code == "TOO_LONG"
    assert time.monotonic() - began < 50 * SHORT / 2


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarm")
def test_an_alarm_of_the_users_own_is_left_alone() -> None:
    def ring(*_: Any) -> None:
        raise AssertionError("the user's alarm rang")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        assert check(loops).code == "TOO_LONG"
        assert signal.getsignal(signal.SIGALRM) is ring
    finally:
        signal.signal(signal.SIGALRM, before)
    assert check(loops).code == "TOO_LONG"
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_without_threads_and_alarms_a_check_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoTimer:
        daemon = False

        def __init__(self, *_: Any) -> None: ...

        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(deadline, "_watch", deadline._Timed)
    monkeypatch.setattr(deadline.threading, "Timer", NoTimer)
    assert check(lambda: 7).message == "7"


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no alarm")
def test_an_alarm_that_rings_while_it_is_taken_back_does_not_go_on_ringing(monkeypatch: pytest.MonkeyPatch) -> None:
    set_alarm = signal.setitimer

    def rings(which: int, seconds: float, again: float = 0.0) -> None:
        signal.raise_signal(signal.SIGALRM)
        set_alarm(which, seconds, again)

    monkeypatch.setattr(signal, "setitimer", rings)
    assert deadline.within_deadline(lambda: 3) == 3
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_nothing_is_said_of_an_alarm_in_a_destructor(monkeypatch: pytest.MonkeyPatch) -> None:
    """No exception leaves a destructor; Python reports it, which would be noise in a notebook."""

    class Slow:
        def __del__(self) -> None:
            until = time.monotonic() + 0.01
            while time.monotonic() < until:
                pass

    def dies_slowly() -> None:
        while True:
            Slow()

    lost: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: lost.append(found.exc_type))
    hook = sys.unraisablehook
    with deadline.share_seconds(SHORT), pytest.raises(deadline.TooLong):
        deadline.within_deadline(dies_slowly)
    assert lost == []
    assert sys.unraisablehook is hook
