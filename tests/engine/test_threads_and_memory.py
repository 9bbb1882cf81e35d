"""Each thread has its own tapes; unreferenced values are freed at once, without the cycle collector."""

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_threads_record_on_their_own_tapes_only() -> None:
    wrong: list[Any] = []
    everybody_records = threading.Barrier(4)

    def work(k: int) -> None:
        x = lab.constant(float(k))
        everybody_records.wait()
        for _ in range(200):
            with lab.GradientTape() as tape:
                tape.watch(x)
                y = x * x * x
            if len(tape.operations) != 2 or float(tape.gradient(y, x)) != 3 * k * k:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_op_in_another_thread_is_not_heard_by_a_tape_of_this_one() -> None:
    x = lab.Variable(3.0)
    made: list[Any] = []
    with lab.GradientTape() as tape:
        thread = threading.Thread(target=lambda: made.append(x * x))
        thread.start()
        thread.join()
    assert tape.operations == ()
    assert tape.gradient(made[0], x) is None


def test_variables_shared_by_threads_keep_whole_values() -> None:
    v = lab.Variable(np.zeros(100, np.float32))
    torn: list[float] = []

    def write(value: float) -> None:
        for _ in range(300):
            v.assign(np.full(100, value, np.float32))

    def read() -> None:
        for _ in range(300):
            values = v.read().numpy()
            if values.min() != values.max():
                torn.append(values.max())

    threads = [threading.Thread(target=write, args=(1.0,)), threading.Thread(target=write, args=(2.0,))]
    threads.append(threading.Thread(target=read))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torn == []


def test_tapes_and_their_values_die_by_reference_count_alone(no_collector: None) -> None:
    x = lab.Variable(np.ones(5, np.float32))
    with lab.GradientTape(persistent=True) as tape:
        y = lab.sin(x) * x
        z = lab.reduce_sum(y)
    tape.gradient(z, x)
    tape.jacobian(y, x)
    watched = [weakref.ref(obj) for obj in (tape, y, z, y._array)]
    del tape, y, z
    assert [ref() for ref in watched] == [None] * 4


def test_a_sweep_leaves_no_cycle_behind_when_a_rule_raises(no_collector: None) -> None:
    @lab.custom_gradient
    def broken(x: Any) -> Any:
        def back(upstream: Any) -> Any:
            raise ArithmeticError("no slope today")

        return lab.identity(x), back

    x = lab.Variable(3.0)
    with lab.GradientTape() as tape:
        y = broken(x)
    with pytest.raises(ArithmeticError, match="no slope today"):
        tape.gradient(y, x)
    ref = weakref.ref(tape)
    del tape
    assert ref() is None


def test_a_one_shot_sweep_lets_go_of_values_as_it_passes(no_collector: None) -> None:
    x = lab.constant(np.ones(1000, np.float32))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y: Any = x
        for _ in range(6):
            y = lab.sin(y)
    alive = [weakref.ref(entry[2][0]._array) for entry in tape._entries or ()]
    steps = tape.steps(y, x)
    del y
    counts = [sum(ref() is not None for ref in alive) for _ in steps]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] <= 2


def test_deleting_a_persistent_tape_keeps_the_tensors_valid(no_collector: None) -> None:
    x = lab.constant([1.0, 3.0])
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    g = tape.gradient(y, x)
    del tape
    assert (y + g).numpy().tolist() == [3.0, 15.0]
