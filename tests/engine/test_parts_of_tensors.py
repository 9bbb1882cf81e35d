"""Contributions to parts of a tensor are added where they belong, so that the cost is not quadratic in the parts."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.engine.namespace import RAW, RECORDING

PADS = ("pad_axis", "unslice")


@pytest.fixture
def padded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the ops that made a whole tensor out of a part of it, in raw and in recorded passes."""
    met: list[str] = []

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **params: Any) -> Any:
            met.append(name)
            return function(*args, **params)

        return run

    for space in (RAW, RECORDING):
        for name in PADS:
            monkeypatch.setitem(vars(space), name, counted(name, getattr(space, name)))
    return met


READS: dict[str, Callable[[Any], list[Any]]] = {
    "unstack": lambda x: lab.unstack(x, axis=1),
    "split": lambda x: lab.split(x, x.shape[1], axis=1),
    "brackets": lambda x: [x[:, t] for t in range(x.shape[1])],
    "ranges that overlap": lambda x: [x[:, max(0, t - 2) : t + 1] for t in range(x.shape[1])],
    "backwards": lambda x: [x[::-1, -t - 1 :: -2] for t in range(x.shape[1])],
    "single elements": lambda x: [x[1, t] for t in range(x.shape[1])],
    "rows": list,
}


def loss_of(read: Callable[[Any], list[Any]], x: Any) -> Any:
    """Use each part, and the whole before, between and after them."""
    parts = read(x)
    half = len(parts) // 2
    total = lab.reduce_sum(lab.sin(x) * x)
    total += lab.add_n([lab.reduce_sum(part**3) * (n + 1.0) for n, part in enumerate(parts[:half])])
    total += lab.reduce_sum(x * x)
    total += lab.add_n([lab.reduce_sum(lab.tanh(part)) for part in parts[half:]])
    return total


def once(read: Callable[[Any], list[Any]], x: Any) -> Any:
    with lab.GradientTape() as tape:
        tape.watch(x)
        loss = loss_of(read, x)
    return tape.gradient(loss, x)


def stepped(read: Callable[[Any], list[Any]], x: Any) -> Any:
    """The same pass, one entry at a time: contributions are whole tensors there."""
    with lab.GradientTape() as tape:
        tape.watch(x)
        loss = loss_of(read, x)
    steps = tape.steps(loss, x)
    for _ in steps:
        pass
    return steps.adjoint(x)


def twice(read: Callable[[Any], list[Any]], x: Any) -> Any:
    with lab.GradientTape() as outer:
        outer.watch(x)
        first = once(read, x)
        total = lab.reduce_sum(first * first)
    return outer.gradient(total, x)


def numbers(dtype: str, steps: int = 6) -> Any:
    return lab.constant(np.random.default_rng(0).normal(size=(4, steps)).astype(dtype))


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex128"])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_parts_add_up_to_what_whole_contributions_add_up_to(read: Callable[[Any], list[Any]], dtype: str) -> None:
    x = numbers(dtype) if dtype != "complex128" else lab.complex(numbers("float64"), numbers("float64")[::-1])
    plain, whole = once(read, x), stepped(read, x)
    assert plain.dtype == x.dtype
    assert np.array_equal(plain.numpy(), whole.numpy())
    assert np.array_equal(lab.function(lambda x: once(read, x))(x).numpy(), plain.numpy())


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_second_derivatives_agree_with_differences_of_the_first(read: Callable[[Any], list[Any]]) -> None:
    x = numbers("float64")
    wanted, step = np.zeros((4, 6)), 1e-6
    for at in np.ndindex(4, 6):
        shift = np.zeros((4, 6))
        shift[at] = step
        high, low = (np.sum(once(read, lab.constant(x.numpy() + sign * shift)).numpy() ** 2) for sign in (1, -1))
        wanted[at] = (high - low) / (2 * step)
    np.testing.assert_allclose(twice(read, x).numpy(), wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(lab.function(lambda x: twice(read, x))(x).numpy(), twice(read, x).numpy(), rtol=1e-12)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("pass_over", [once, twice])
def test_the_number_of_whole_tensors_does_not_grow_with_the_parts(
    pass_over: Callable[..., Any], read: Callable[[Any], list[Any]], padded: list[str]
) -> None:
    counts = []
    for steps in (6, 24):
        padded.clear()
        pass_over(read, numbers("float64", steps))
        counts.append(len(padded))
    assert counts[0] == counts[1] <= 2


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_compiled_program_adds_all_parts_at_once(read: Callable[[Any], list[Any]], padded: list[str]) -> None:
    compiled = lab.function(lambda x: once(read, x))
    compiled(numbers("float64", 24))
    assert compiled.compiled
    ops = [line.op.name for line in compiled.program.lines]
    assert 1 <= ops.count("accumulate_parts") <= 2
    assert not set(PADS).intersection(ops)


def test_jacobians_and_persistent_tapes_add_parts_as_well() -> None:
    x = numbers("float64")

    def f(x: Any) -> Any:
        parts = lab.unstack(x, axis=1)
        return lab.stack([a * b for a, b in pairwise(parts)], axis=1)

    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    full = tape.jacobian(y, x).numpy()
    rows = np.array(
        [tape.gradient(y, x, output_gradients=lab.constant(e)).numpy() for e in np.eye(20).reshape(20, 4, 5)]
    )
    np.testing.assert_allclose(full.reshape(20, 4, 6), rows, rtol=1e-12)


def test_a_listener_hears_of_each_contribution() -> None:
    x = lab.Variable(numbers("float32"), name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            loss = lab.add_n([lab.reduce_sum(part * part) for part in lab.unstack(x, axis=1)])
        tape.gradient(loss, x)
    takes = [step for step in recording.sweeps[0].steps if recording.applications[step.application].op == "take"]
    assert len(takes) == 6


def test_the_cotangent_that_a_user_gives_is_not_written_to() -> None:
    x = numbers("float32")
    seed = lab.ones([4, 6])
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.identity(x)
        parts = lab.unstack(y, axis=1)
    gradients = tape.gradient([y, *parts], x, output_gradients=[seed, *[lab.ones([4])] * 6])
    assert np.array_equal(gradients.numpy(), np.full((4, 6), 2.0))
    assert np.array_equal(seed.numpy(), np.ones((4, 6)))
