"""Python's garbage collector is called less often while a tape records, and the user's settings are restored."""

import gc
import threading
from collections.abc import Iterator

import pytest

import autodiff_lab as lab
from autodiff_lab.engine.backward import FEW_ENTRIES
from autodiff_lab.engine.collector import DEFAULTS, RAISED

USUAL = DEFAULTS[0]


@pytest.fixture(autouse=True)
def usual_settings() -> Iterator[None]:
    """Start from the interpreter's default, whatever the tests before left, and leave it so."""
    before, enabled = gc.get_threshold(), gc.isenabled()
    gc.set_threshold(USUAL, 11, 12)
    yield
    gc.set_threshold(*before)
    (gc.enable if enabled else gc.disable)()


def test_the_first_threshold_is_raised_while_a_tape_is_open_and_no_other() -> None:
    with lab.GradientTape():
        assert gc.get_threshold() == (RAISED, 11, 12)
    assert gc.get_threshold() == (USUAL, 11, 12)


def test_it_comes_back_after_an_error_and_after_the_inner_of_two_tapes_only_with_the_outer() -> None:
    with pytest.raises(ZeroDivisionError), lab.GradientTape():
        _ = 1 / 0
    assert gc.get_threshold()[0] == USUAL
    with lab.GradientTape():
        with lab.GradientTape():
            pass
        assert gc.get_threshold()[0] == RAISED
    assert gc.get_threshold()[0] == USUAL


def test_it_is_raised_during_the_sweep_and_comes_back_when_a_rule_raises() -> None:
    seen: list[int] = []
    x = lab.constant(1.0)

    def rule(ops: object, g: float, out: object, x: float) -> float:
        seen.append(gc.get_threshold()[0])
        if len(seen) > 1:
            raise ArithmeticError
        return g

    for _ in range(2):
        with lab.GradientTape() as tape:
            tape.watch(x)
            y = lab.sin(x)
            for _ in range(FEW_ENTRIES):
                y = y + x
        try:
            tape.gradient(y, x, engine=lab.Engine(rules={"sin": (rule,)}))
        except ArithmeticError:
            assert len(seen) == 2
        assert gc.get_threshold()[0] == USUAL
    assert seen == [RAISED, RAISED]


def test_a_threshold_that_the_user_chose_is_never_touched() -> None:
    for chosen in (0, 1, 10_000, RAISED):
        gc.set_threshold(chosen)
        with lab.GradientTape():
            assert gc.get_threshold()[0] == chosen
        assert gc.get_threshold()[0] == chosen


def test_a_threshold_that_the_user_sets_inside_the_block_stays() -> None:
    with lab.GradientTape():
        gc.set_threshold(1234)
    assert gc.get_threshold()[0] == 1234
    gc.set_threshold(USUAL)
    with lab.GradientTape():
        assert gc.get_threshold()[0] == RAISED  # the block before left nothing behind


def test_a_collector_that_is_off_stays_off_and_one_that_is_on_stays_on() -> None:
    gc.disable()
    with lab.GradientTape():
        assert not gc.isenabled()
    assert not gc.isenabled()
    gc.enable()
    with lab.GradientTape():
        assert gc.isenabled()


def test_a_generator_that_is_given_up_inside_a_tape_gives_it_back() -> None:
    def steps() -> Iterator[int]:
        with lab.GradientTape():
            yield 1
            yield 2

    running = steps()
    next(running)
    assert gc.get_threshold()[0] == RAISED
    running.close()
    assert gc.get_threshold()[0] == USUAL


def test_leaving_a_tape_twice_counts_once() -> None:
    with lab.GradientTape():
        tape = lab.GradientTape()
        tape.__enter__()
        tape.__exit__()
        tape.__exit__()
        assert gc.get_threshold()[0] == RAISED
    assert gc.get_threshold()[0] == USUAL


def test_threads_that_come_and_go_leave_the_default() -> None:
    start = threading.Barrier(8)
    x = lab.constant(2.0)
    slopes: list[float] = []

    def work() -> None:
        start.wait()
        found: set[float] = set()
        for _ in range(200):
            with lab.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            found.add(float(tape.gradient(y, x)))
        slopes.extend(found)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slopes == [4.0] * 8
    assert gc.get_threshold()[0] == USUAL


def test_garbage_in_cycles_is_still_found_while_a_tape_is_open() -> None:
    dead: list[int] = []

    class Node:
        def __init__(self, number: int) -> None:
            self.itself, self.number = self, number

        def __del__(self) -> None:
            dead.append(self.number)

    with lab.GradientTape():
        for number in range(RAISED + 10):
            Node(number)
        assert dead
