"""Kernels of connectionist temporal classification against their reference: layouts, long sequences, threads."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.base import threads
from autodiff_lab.kernels.ctc import numba, reference
from tests.kernels.agreement import DTYPES, both, declined, layouts

pytest.importorskip("numba", reason="overrides need Numba")
pytestmark = pytest.mark.extras
NAMES = ("ctc_loss", "softmax_minus_occupancy")
# Steps, examples, classes, labels: single ones, rows shorter and longer than a vector, rows taken one by one.
SIZES = [(1, 1, 2, 0), (1, 1, 2, 1), (7, 3, 5, 3), (40, 4, 30, 17), (6, 2, 200, 2), (300, 2, 12, 40)]


@pytest.fixture(autouse=True)
def _registered() -> None:
    import_module("autodiff_lab.extras.families.ctc")


def call(size: tuple[int, int, int, int], dtype: str, seed: int = 0) -> list[Any]:
    steps, batch, classes, most = size
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3, size=(steps, batch, classes)).astype(dtype)
    labels = rng.integers(0, classes - 1, (batch, most))
    return [logits, labels, rng.integers(0, most + 1, batch), rng.integers(steps // 2, steps + 1, batch)]


def check(name: str, arrays: list[Any]) -> None:
    ours, expected = both(name, *arrays, blank=arrays[0].shape[-1] - 1)
    within = 1e-5 if arrays[0].dtype == np.float32 else 1e-12
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(ours, expected, rtol=within, atol=within)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_overrides_agree_with_the_reference(name: str, dtype: str) -> None:
    for size in SIZES:
        for seed in range(3):
            check(name, call(size, dtype, seed))


@pytest.mark.parametrize("name", NAMES)
def test_overrides_take_arrays_of_every_layout(name: str) -> None:
    arrays = call((7, 3, 5, 3), "float64")
    for position, array in enumerate(arrays):
        for _, laid_out in layouts(array):
            check(name, [*arrays[:position], laid_out, *arrays[position + 1 :]])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_and_bad_input_are_left_to_the_reference(name: str) -> None:
    logits, labels, of_labels, of_logits = call((4, 2, 5, 3), "float32")
    for changed in (
        (logits[:0], labels, of_labels, of_logits * 0), (logits, labels, of_labels + 9, of_logits),
        (logits, labels, of_labels, of_logits - 9), (logits, labels * 0 + 4, of_labels * 0 + 3, of_logits),
    ):  # fmt: skip
        assert declined(name, *changed, blank=4)


@pytest.mark.parametrize("name", NAMES)
def test_threads_share_the_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = call((20, 9, 6, 4), "float64")
    alone = getattr(numba, name)(*arrays, blank=5)
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    monkeypatch.setattr(numba, "_WORTH_A_THREAD", 1)
    np.testing.assert_array_equal(getattr(numba, name)(*arrays, blank=5), alone)


def test_a_long_sequence_of_float32_is_as_exact_as_its_last_digits() -> None:
    """A total of about 4,000 has steps of 0.0002 in float32, which would be the error of each probability."""
    arrays = call((1500, 2, 10, 60), "float32")
    for name, within in (("ctc_loss", 3e-7), ("softmax_minus_occupancy", 5e-5)):
        exact = getattr(reference, name)(arrays[0].astype(np.float64), *arrays[1:], blank=9)
        ours = getattr(numba, name)(*arrays, blank=9)
        np.testing.assert_allclose(ours, exact, rtol=within, atol=0 if name == "ctc_loss" else within)


@pytest.mark.parametrize("name", NAMES)
def test_occupancies_of_each_step_add_up_to_one(name: str) -> None:
    """So the gradient of each step adds up to 0, whatever the logits; the losses are above 0."""
    arrays = call((30, 3, 7, 6), "float64")
    made = getattr(reference, name)(*arrays, blank=6)
    if name == "ctc_loss":
        assert (made > 0).all()
    else:
        np.testing.assert_allclose(made.sum(-1), 0, atol=1e-13)
