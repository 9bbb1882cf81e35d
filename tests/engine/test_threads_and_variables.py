"""Adding to a variable is atomic: concurrent threads lose no update, eagerly or compiled."""

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.assigning import combined

THREADS, TIMES = 4, 400


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(act: Callable[[], Any]) -> None:
    threads = [threading.Thread(target=lambda: [act() for _ in range(TIMES)]) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("shape", [(), (3,)])
def test_eager_additions_are_all_kept(shape: tuple[int, ...]) -> None:
    v = lab.Variable(np.zeros(shape, np.float32))
    together(lambda: v.assign_add(np.ones(shape, np.float32)))
    assert np.array_equal(v.numpy(), np.full(shape, THREADS * TIMES, np.float32))
    together(lambda: v.assign_sub(np.ones(shape, np.float32)))
    assert not v.numpy().any()


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_compiled_additions_are_all_kept(backend: str) -> None:
    v, w = lab.Variable([0.0, 0.0]), lab.Variable(0.0)

    @lab.function(backend=backend)
    def add(x: Any) -> Any:
        v.assign_add(x)
        w.assign(w + lab.reduce_sum(x))
        return v * 2.0

    one = lab.constant([1.0, 2.0])
    add(one)
    together(lambda: add(one))
    assert v.numpy().tolist() == [THREADS * TIMES + 1, 2 * (THREADS * TIMES + 1)]
    assert float(w) == 3 * (THREADS * TIMES + 1)


def test_eager_and_compiled_additions_mix() -> None:
    v = lab.Variable(0.0)
    add = lab.function(lambda x: v.assign_add(x) * 1.0)
    one = lab.constant(1.0)
    add(one)
    turns = iter([add, v.assign_add] * (THREADS * TIMES))
    lock = threading.Lock()

    def act() -> None:
        with lock:
            turn = next(turns)
        turn(one)

    together(act)
    assert float(v) == THREADS * TIMES + 1


def test_an_assignment_that_listens_to_garbage_does_not_wait_for_itself() -> None:
    """What runs when an array goes away may itself assign to a variable."""
    v = lab.Variable([1.0, 2.0])

    class Last:
        def __del__(self) -> None:
            v.assign_add([1.0, 1.0])

    class Held(np.ndarray):
        last: Any = None

    array = np.zeros(2, np.float32).view(Held)
    array.last = Last()
    v._held = array
    del array
    v.assign_add([1.0, 1.0])
    assert v.numpy().tolist() in ([1.0, 1.0], [2.0, 2.0])


def test_nothing_is_lost_while_a_function_is_traced() -> None:
    """Another thread adds between the read and the assignment of an addition that a trace hears."""
    v = lab.Variable(1.0)
    met: list[float] = []

    def meddled(before: Any, delta: Any) -> Any:
        if not met:
            met.append(float(before))
            v.assign_add(10.0)
        return before + delta

    assert float(combined(v, meddled, lab.constant(2.0))) == 13.0
    assert float(v) == 13.0
    assert met == [1.0]


def test_the_first_calls_of_threads_are_all_kept() -> None:
    for _ in range(5):
        v = lab.Variable(0.0)
        add = lab.function(lambda x, v=v: v.assign_add(x), backend="numpy")
        threads = [threading.Thread(target=add, args=(lab.constant(1.0),)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert float(v) == 8.0
