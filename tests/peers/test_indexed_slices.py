"""Gradients of gathered tables, and what is done with them, as TensorFlow has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed, so there is no peer to compare with")
TABLE = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
Use = Callable[[Any, Any], Any]
USES: dict[str, Use] = {
    "gather": lambda L, v: L.gather(v, [2, 0, 2]),
    "gather, int64": lambda L, v: L.gather(v, L.constant([2, 0], L.int64)),
    "gather, nested": lambda L, v: L.gather(v, [[0, 1], [2, 2]]),
    "gather, one": lambda L, v: L.gather(v, 1),
    "gather, second axis": lambda L, v: L.gather(v, [0, 1], axis=1),
    "gather, batches": lambda L, v: L.gather(v, [[0], [1], [1], [2]], batch_dims=1),
    "embedding_lookup": lambda L, v: L.nn.embedding_lookup(v, [2, 0, 2]),
    "embedding_lookup, max_norm": lambda L, v: L.nn.embedding_lookup(v, [2, 0], max_norm=1.0),
    "gather_nd": lambda L, v: L.gather_nd(v, [[0], [1]]),
    "gather_nd, elements": lambda L, v: L.gather_nd(v, [[0, 0], [1, 1]]),
    "gather_nd, nested": lambda L, v: L.gather_nd(v, [[[0]], [[1]]]),
    "item": lambda L, v: v[1],
    "two gathers": lambda L, v: L.concat([L.gather(v, [2, 0, 2]), L.gather(v, [1])], 0),
    "gather and product": lambda L, v: L.gather(v, [2, 0, 2, 1]) + v * v,
    "product and gather": lambda L, v: v * v + L.gather(v, [2, 0, 2, 1]),
    "boolean_mask": lambda L, v: L.boolean_mask(v, [True, False, True, True]),
    "gather of a function": lambda L, v: L.gather(L.tanh(v), [2, 0, 2]),
    "repeat": lambda L, v: L.repeat(v, [1, 2, 0, 1], axis=0),
    "sort": lambda L, v: L.sort(v, axis=0),
    "segment_sum": lambda L, v: L.math.segment_sum(v, [0, 0, 1, 1]),
    "dynamic_partition": lambda L, v: L.dynamic_partition(v, [0, 1, 0, 1], 2)[0],
}


def parts(gradient: Any) -> list[Any]:
    """Return what a gradient consists of, as arrays."""
    if hasattr(gradient, "indices"):
        return [np.asarray(x) for x in (gradient.values, gradient.indices, gradient.dense_shape)]
    return [np.asarray(gradient)]


@pytest.mark.parametrize("variable", [True, False])
@pytest.mark.parametrize("name", USES)
def test_gradients_have_the_same_form_and_numbers(name: str, variable: bool) -> None:
    found = []
    for lib in (tf, lab):
        v = lib.Variable(TABLE) if variable else lib.constant(TABLE)
        with lib.GradientTape() as tape:
            tape.watch(v)
            y = lib.reduce_sum(lib.sin(USES[name](lib, v)))
        found.append(parts(tape.gradient(y, v)))
    assert len(found[0]) == len(found[1])
    for theirs, ours in zip(*found, strict=True):
        assert theirs.dtype == ours.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


DONE: dict[str, Callable[[Any, Any], Any]] = {
    "negative": lambda L, a: -a,
    "scalar_mul": lambda L, a: L.scalar_mul(2.0, a),
    "clip_by_norm": lambda L, a: L.clip_by_norm(a, 1.0),
    "clip_by_global_norm": lambda L, a: L.clip_by_global_norm([a], 1.0)[0][0],
    "clip_by_value": lambda L, a: L.clip_by_value(a, 0.0, 2.0),
    "global_norm": lambda L, a: L.linalg.global_norm([a]),
    "cast": lambda L, a: L.cast(a, L.float64),
    "identity": lambda L, a: L.identity(a),
    "stop_gradient": lambda L, a: L.stop_gradient(a),
    "cond": lambda L, a: L.cond(L.constant(True), lambda: a, lambda: a),
    "add_n": lambda L, a: L.add_n([a, a]),
    "plus a tensor": lambda L, a: a + L.ones((3, 2)),
    "add": lambda L, a: L.add(a, a),
    "multiply": lambda L, a: L.multiply(a, 2.0),
    "square": lambda L, a: L.square(a),
    "reduce_sum": lambda L, a: L.reduce_sum(a),
    "zeros_like": lambda L, a: L.zeros_like(a),
    "convert_to_tensor": lambda L, a: L.convert_to_tensor(a),
}


def slices(lib: Any, at: tuple[int, int] = (1, 1)) -> Any:
    return lib.IndexedSlices(lib.constant([[1.0, 2.0], [3.0, 4.0]]), lib.constant(at), lib.constant([3, 2]))


@pytest.mark.parametrize("name", DONE)
def test_functions_of_slices_give_slices_where_theirs_do(name: str) -> None:
    at = (0, 1) if name in ("clip_by_norm", "clip_by_global_norm", "clip_by_value", "global_norm") else (1, 1)
    theirs, ours = (parts(DONE[name](lib, slices(lib, at))) for lib in (tf, lab))
    assert len(theirs) == len(ours)
    for a, b in zip(theirs, ours, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=1e-6)


@pytest.mark.parametrize("name", ["assign", "assign_add", "assign_sub", *(f"scatter_{kind}" for kind in (
    "add", "sub", "update", "max", "min", "mul", "div"))])  # fmt: skip
def test_variables_change_as_theirs_do(name: str) -> None:
    found = []
    for lib in (tf, lab):
        v = lib.Variable(np.full((3, 2), 2.5, np.float32))
        getattr(v, name)(slices(lib))
        found.append(v.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1}, {"clipnorm": 1.0}, {"global_clipnorm": 1.0},
                                     {"clipvalue": 0.5}, {"momentum": 0.9}])  # fmt: skip
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_optimizers_take_slices_as_keras_does_where_no_position_repeats(name: str, options: dict[str, float]) -> None:
    if "momentum" in options and name not in ("SGD", "RMSprop"):
        pytest.skip("has no momentum")
    found = []
    for lib, home in ((tf, tf.keras.optimizers), (lab, lab.optimizers)):
        v = lib.Variable(np.ones((3, 2), np.float32))
        optimizer = getattr(home, name)(0.1, **options)
        for at in ((1, 0), (2, 1), (0, 2)):
            optimizer.apply_gradients([(slices(lib, at), v)])
        found.append(v.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=2e-5)
