"""Kernels of recurrent cells against their references, and against steps written out."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.recurrent import reference
from tests.kernels.agreement import DTYPES, both, declined, layouts

import_module("autodiff_lab.ops.nn.recurrent")  # it registers the kernels of this family
ALL = ("lstm", "lstm_grad", "gru", "gru_grad", "simple_rnn", "simple_rnn_grad")
GATES = {"lstm": (2, 4), "gru": (1, 3), "simple_rnn": (1, 1)}
# Examples, steps, features, units: single ones, vectors with elements left over.
SIZES = [(1, 1, 1, 1), (2, 3, 4, 5), (3, 7, 2, 17), (5, 4, 3, 64)]


def call(
    name: str, size: tuple[int, int, int, int], dtype: str, seed: int = 0, masks: tuple[Any, ...] = ()
) -> tuple[list[Any], dict[str, Any]]:
    """Arrays and parameters of a call, with adjoints of all results where it is a gradient's."""
    rng, (b, t, k, n) = np.random.default_rng(seed), size
    cell = name.removesuffix("_grad")
    states, gates = GATES[cell]
    bias = (2, gates * n) if cell == "gru" else (gates * n,)
    shapes = [(b, t, k), *[(b, n)] * states, (k, gates * n), (n, gates * n), bias]
    inputs = [(0.5 * rng.normal(size=shape)).astype(dtype) for shape in shapes]
    if cell == name:
        return [*inputs, *masks], {}
    results = getattr(reference, cell)(*inputs, *masks)
    results = results if isinstance(results, tuple) else (results,)
    adjoints = [rng.normal(size=r.shape).astype(dtype) for r in results]
    return [*adjoints, *results, *inputs[:-1], *masks], {"wanted": tuple(range(len(inputs)))}


def check(name: str, arrays: list[Any], params: dict[str, Any]) -> None:
    within = 2e-5 if arrays[0].dtype == np.float32 else 1e-12
    results = both(name, *arrays, **params)
    pairs = zip(*results, strict=True) if isinstance(results[0], tuple) else [results]
    for ours, expected in pairs:
        assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(ours, expected, rtol=within, atol=within * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL)
def test_overrides_agree_with_their_references(name: str, dtype: str) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    for size in SIZES:
        check(name, *call(name, size, dtype))


@pytest.mark.parametrize("name", ALL)
def test_overrides_take_arrays_of_every_layout(name: str) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    arrays, params = call(name, (2, 3, 4, 5), "float64")
    for position, array in enumerate(arrays):
        for _, laid_out in layouts(array):
            check(name, [*arrays[:position], laid_out, *arrays[position + 1 :]], params)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALL)
def test_rows_that_a_mask_leaves_out_keep_their_states_and_adjoints(name: str, dtype: str) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    draw = np.random.default_rng(1)
    for size in SIZES:
        rows, steps = size[:2]
        ends = np.arange(steps) < draw.integers(0, steps + 1, rows)[:, None]
        for mask in (ends, ends[:, ::-1], draw.random((steps, rows)).T > 0.5, np.ones_like(ends), np.zeros_like(ends)):
            check(name, *call(name, size, dtype, masks=(mask,)))


@pytest.mark.parametrize("name", ["lstm_grad", "gru_grad", "simple_rnn_grad"])
@pytest.mark.parametrize("units", [4, 100])
def test_an_infinite_adjoint_of_a_state_that_stays_reaches_nothing_else(units: int, name: str) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    arrays, params = call(name, (2, 3, 2, units), "float64", masks=(np.array([[0, 1, 0], [1, 0, 1]], np.bool_),))
    arrays[0][0, 0, 0] = np.inf
    for gradients in both(name, *arrays, **params):
        state = gradients[1].copy()
        assert state[0, 0] == np.inf
        state[0, 0] = 0
        for gradient in (gradients[0], state, *gradients[2:]):
            assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_left_to_the_reference(name: str) -> None:
    pytest.importorskip("numba", reason="overrides need Numba")
    empty, params = call(name, (0, 3, 4, 5), "float32")
    assert declined(name, *empty, **params)
    for result in getattr(reference, name)(*empty, **params):
        assert not result.any()


def test_gradients_of_the_other_results_count_where_they_are_not_zero() -> None:
    """An adjoint that is all zeros is skipped, so one that is not must change the gradients."""
    for name, results in (("lstm_grad", 3), ("gru_grad", 2)):
        arrays, params = call(name, (2, 3, 4, 5), "float64")
        whole = getattr(reference, name)(*arrays, **params)
        parts: Any = 0.0
        for k in range(results):
            alone = [a if j == k or j >= results else np.zeros_like(a) for j, a in enumerate(arrays)]
            parts = parts + np.concatenate([g.ravel() for g in getattr(reference, name)(*alone, **params)])
        np.testing.assert_allclose(parts, np.concatenate([g.ravel() for g in whole]), 1e-10, 1e-10)


def test_half_floats_are_computed_in_float32() -> None:
    arrays, _ = call("lstm", (2, 3, 4, 5), "float16")
    hidden, _, _ = reference.lstm(*arrays)
    wide, _, _ = reference.lstm(*[a.astype(np.float32) for a in arrays])
    np.testing.assert_array_equal(hidden, wide.astype(np.float16))
