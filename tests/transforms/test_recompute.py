"""Recomputation: the gradient of the plain function, and a process that does not grow by discarded values."""

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab


def _weights(rng: np.random.Generator, size: int, dtype: type) -> list[lab.Tensor]:
    return [lab.constant(rng.normal(scale=size**-0.5, size=(size, size)).astype(dtype)) for _ in range(3)]


def _block(h: lab.Tensor, *weights: lab.Tensor) -> lab.Tensor:
    for w in weights:
        h = lab.tanh(h @ w)
    return h


@pytest.mark.parametrize("size", [3, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_are_those_of_the_plain_function(size: int, dtype: type) -> None:
    rng = np.random.default_rng(0)
    weights = _weights(rng, size, dtype)
    x = lab.constant(rng.normal(size=(size + 1, size)).astype(dtype))
    found = []
    for function in (_block, lab.recompute_grad(_block)):
        with lab.GradientTape() as tape:
            tape.watch([x, *weights])
            value = lab.reduce_sum(lab.square(function(function(x, *weights), *weights)))
        found.append(tape.gradient(value, [x, *weights]))
    for plain, recomputed in zip(*found, strict=True):
        np.testing.assert_array_equal(plain.numpy(), recomputed.numpy())


def test_a_weight_given_twice_collects_both_shares() -> None:
    w = lab.constant(np.full((200, 200), 0.01, np.float32))
    x = lab.ones((3, 200))
    with lab.GradientTape() as tape:
        tape.watch(w)
        value = lab.reduce_sum(lab.recompute_grad(_block)(x, w, w))
    with lab.GradientTape() as plain_tape:
        plain_tape.watch(w)
        plain = lab.reduce_sum(_block(x, w, w))
    np.testing.assert_array_equal(tape.gradient(value, w).numpy(), plain_tape.gradient(plain, w).numpy())


def _dropped(x: lab.Tensor) -> lab.Tensor:
    return lab.nn.dropout(lab.nn.dropout(x, 0.5, seed=7) * lab.random.uniform(x.shape), 0.3)


def _nested(x: lab.Tensor) -> lab.Tensor:
    return lab.recompute_grad(_dropped)(lab.recompute_grad(_dropped)(x)) * lab.random.normal(x.shape)


def _gradient(function: Callable[[lab.Tensor], lab.Tensor], x: lab.Tensor) -> tuple[lab.Tensor, lab.Tensor]:
    with lab.GradientTape() as tape:
        tape.watch(x)
        value = lab.reduce_sum(function(x))
    lab.random.uniform((5,))  # what is drawn in between changes nothing
    return value, tape.gradient(value, x)


@pytest.mark.parametrize("body", [_dropped, _nested])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_second_run_draws_the_numbers_of_the_first(body: Callable[..., lab.Tensor], compiled: bool) -> None:
    x = lab.ones((20, 30))
    found: list[list[np.ndarray]] = []
    for function in (body, lab.recompute_grad(body)):
        step = lab.function(_gradient) if compiled else _gradient
        if compiled:
            step.compile(function, x)  # type: ignore[attr-defined]
        lab.random.set_seed(5)
        calls = [step(function, x) for _ in range(3)]
        assert not compiled or not step.skipped  # type: ignore[attr-defined]
        found.append([a.numpy() for call in calls for a in call] + [lab.random.uniform((3,)).numpy()])
        for value, gradient in calls:
            np.testing.assert_allclose(value, lab.reduce_sum(gradient), rtol=1e-4)  # linear in x, which is 1
    for plain, recomputed in zip(*found, strict=True):
        np.testing.assert_allclose(plain, recomputed, rtol=1e-5)


def test_each_backward_pass_of_a_persistent_tape_draws_them_as_well() -> None:
    x = lab.ones((20,))
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        value = lab.reduce_sum(lab.recompute_grad(_dropped)(x))
    lab.random.set_seed(11)
    first = tape.gradient(value, x).numpy()
    after = float(lab.random.uniform(()))
    np.testing.assert_array_equal(first, tape.gradient(value, x).numpy())
    np.testing.assert_allclose(first.sum(), value.numpy(), rtol=1e-5)
    lab.random.set_seed(11)
    assert after == float(lab.random.uniform(()))


def test_initial_weights_are_drawn_in_the_first_run_alone() -> None:
    found: list[list[float]] = []
    for wrap in (lambda f: f, lab.recompute_grad):
        lab.random.set_seed(2)
        dense = lab.layers.Dense(4)

        def block(x: lab.Tensor, dense: Any = dense) -> lab.Tensor:
            return lab.nn.dropout(dense(x), 0.5) * lab.cast(lab.random.categorical([[0.0, 1.0]], 4), lab.float32)

        value, gradient = _gradient(wrap(block), lab.ones((6, 3)))
        assert float(lab.reduce_sum(gradient)) == pytest.approx(float(value), abs=1e-5)
        found.append([float(value), float(lab.random.uniform(()))])
    assert found[0] == pytest.approx(found[1])


def test_a_function_may_take_gradients_of_recomputed_functions_and_draw_more() -> None:
    inner = lab.recompute_grad(lambda x: lab.nn.dropout(x, 0.5))

    def body(x: lab.Tensor) -> lab.Tensor:
        _, gradient = _gradient(inner, x)
        return x * lab.nn.dropout(lab.ones_like(x), 0.5) + 0.0 * gradient

    for function in (lab.recompute_grad(body), lab.recompute_grad(lab.recompute_grad(body))):
        value, gradient = _gradient(function, lab.ones((50,)))
        assert float(value) == float(lab.reduce_sum(gradient))


def test_threads_that_draw_do_not_come_between() -> None:
    block = lab.recompute_grad(lambda x: lab.nn.dropout(x, 0.5))
    x, wrong = lab.ones((40,)), []

    def run() -> None:
        for _ in range(100):
            value, gradient = _gradient(block, x)
            if float(value) != float(lab.reduce_sum(gradient)):
                wrong.append(value)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_seed_that_is_set_in_the_function_is_set_once() -> None:
    def seeded(x: lab.Tensor) -> lab.Tensor:
        lab.random.set_seed(3)
        return lab.nn.dropout(x, 0.5)

    value, gradient = _gradient(lab.recompute_grad(seeded), lab.ones((50,)))
    after = float(lab.random.uniform(()))
    assert float(value) == float(lab.reduce_sum(gradient))
    plain, _ = _gradient(seeded, lab.ones((50,)))
    assert (float(plain), float(lab.random.uniform(()))) == (float(value), after)


GROWTH = """
    import sys
    import numpy as np
    import autodiff_lab as lab

    def peak():
        return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024

    def segment(h, *weights):
        for w in weights:
            h = lab.tanh(h @ w)
        return h

    rng = np.random.default_rng(0)
    weights = [lab.constant(rng.normal(scale=1 / 16, size=(256, 256)).astype(np.float32)) for _ in range(64)]
    x = lab.constant(rng.normal(size=(int(sys.argv[2]), 256)).astype(np.float32))
    part = lab.recompute_grad(segment) if sys.argv[1] == "recomputed" else segment
    h = x
    with lab.GradientTape() as tape:
        tape.watch(weights)
        for k in range(0, 64, 8):
            h = part(h, *weights[k : k + 8])
        value = lab.reduce_mean(h * h)
    del h
    tape.gradient(value, weights)
    print(peak())
"""


def _peak(kind: str, rows: int) -> float:
    command = [sys.executable, "-c", textwrap.dedent(GROWTH), kind, str(rows)]
    quiet = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # threads have buffers of their own
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=quiet).stdout)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of a process from /proc")
def test_the_process_grows_by_at_most_half(figure: Callable[[str, str], None]) -> None:
    """Above what the weights, their gradients and Python itself take: that is the peak with eight rows."""
    plain = _peak("plain", 512) - _peak("plain", 8)
    recomputed = _peak("recomputed", 512) - _peak("recomputed", 8)
    figure("peak memory of a recomputed chain, of the plain one's", f"{recomputed / plain:.2f}")
    assert recomputed <= 0.5 * plain
