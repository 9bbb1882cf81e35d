"""IndexedSlices are accepted wherever the dense tensor is, and pass gradients to their rows."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab


def test_ops_take_it_as_the_whole_tensor() -> None:
    rows = lab.IndexedSlices([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 0, 2], [3, 2])
    whole = [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]
    assert lab.convert_to_tensor(rows).numpy().tolist() == whole
    assert rows.numpy().tolist() == whole
    assert (lab.constant(np.ones((3, 2), np.float32)) * rows).numpy().tolist() == whole
    assert float(lab.reduce_sum(rows)) == 21.0
    assert lab.convert_to_tensor(-rows).numpy().tolist() == (-np.array(whole)).tolist()
    assert (rows.shape, rows.dtype) == ((3, 2), lab.float32)


def test_gradients_reach_the_rows() -> None:
    values = lab.Variable([[1.0], [2.0], [3.0]])
    with lab.GradientTape() as tape:
        whole = lab.convert_to_tensor(lab.IndexedSlices(values, [1, 0, 1], [2, 1]))
        y = lab.reduce_sum(whole**2)
    assert tape.gradient(y, values).numpy().ravel().tolist() == [8.0, 4.0, 8.0]


def test_it_can_be_a_source() -> None:
    rows = lab.IndexedSlices([[1.0], [2.0]], [1, 0], [2, 1])
    with lab.GradientTape() as tape:
        tape.watch(rows)
        y = lab.reduce_sum(lab.square(rows))
    gradient = tape.gradient(y, rows)
    assert isinstance(gradient, lab.IndexedSlices)
    assert gradient.values.numpy().ravel().tolist() == [2.0, 4.0]


def test_without_a_shape_it_is_no_tensor() -> None:
    rows = lab.IndexedSlices([[1.0]], [4])
    assert rows.shape == (None, 1)
    assert rows.dense_shape is None
    with pytest.raises(lab.errors.ConversionError, match="dense_shape"):
        lab.convert_to_tensor(rows)


def test_it_prints_its_parts_and_wants_a_position_for_each_row() -> None:
    rows = lab.IndexedSlices([1.0], [4], [5])
    assert str(rows) == (
        "IndexedSlices(indices=Tensor([4], shape=(1,), dtype=int32), values=Tensor([1.], shape=(1,), dtype=float32), "
        "dense_shape=Tensor([5], shape=(1,), dtype=int32))"
    )
    with pytest.raises(lab.errors.ShapeMismatch, match="n integer indices"):
        lab.IndexedSlices([[1.0]], [1, 2])
    with pytest.raises(lab.errors.ShapeMismatch, match="float32 indices"):
        lab.IndexedSlices([[1.0]], [1.0])


def test_a_wanted_dtype_is_checked() -> None:
    rows = lab.IndexedSlices([1.0], [0], [1])
    with pytest.raises(lab.errors.DtypeMismatch, match="float32"):
        lab.convert_to_tensor(rows, dtype=lab.float64)


def test_clipping_and_scaling_keep_the_rows_without_a_shape() -> None:
    rows = lab.IndexedSlices([[3.0, 0.0], [0.0, 4.0]], [1, 7])
    for clipped in (lab.clip_by_norm(rows, 1.0), lab.clip_by_global_norm([rows, None], 1.0)[0][0]):
        assert isinstance(clipped, lab.IndexedSlices)
        np.testing.assert_allclose(clipped.values, [[0.6, 0.0], [0.0, 0.8]], rtol=1e-6)
        assert (clipped.indices.numpy().tolist(), clipped.dense_shape) == ([1, 7], None)
    assert float(lab.linalg.global_norm([rows])) == 5.0
    assert lab.scalar_mul(2.0, rows).values.numpy().tolist() == [[6.0, 0.0], [0.0, 8.0]]
    assert lab.clip_by_value(rows, 0.0, 1.0).values.numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert rows.consumers() == []


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Nadam", "Adamax", "Adadelta"])
def test_optimizers_take_rows_without_a_shape_as_rows_of_the_variable(name: str) -> None:
    sparse, dense = (lab.Variable([[1.0], [2.0], [3.0]]) for _ in range(2))
    for v, gradient in (
        (sparse, lab.IndexedSlices([[1.0], [2.0]], [2, 0])),
        (dense, lab.constant([[2.0], [0.0], [1.0]])),
    ):
        optimizer = getattr(lab.optimizers, name)(0.1)
        for _ in range(3):
            optimizer.apply_gradients([(gradient, v)])
    np.testing.assert_allclose(sparse, dense)


@pytest.mark.parametrize("positions", [[1, 1, 3], [2, 2, 2], [0, 3, 1]])
def test_clipping_is_that_of_the_tensor_where_positions_are_repeated(positions: list[int]) -> None:
    table = lab.Variable(np.arange(12.0, dtype=np.float32).reshape(4, 3))

    def clipped() -> Any:
        with lab.GradientTape() as tape:
            loss = lab.reduce_sum(lab.gather(table, positions) ** 2.0)
        g = tape.gradient(loss, table)
        both, norm = lab.clip_by_global_norm([g, None], 2.0)
        return (g, lab.clip_by_norm(g, 1.0), lab.clip_by_norm(g, 1.0, axes=[0]), lab.clip_by_value(g, -10.0, 10.0),
                both[0], norm, lab.linalg.global_norm([g, g]))  # fmt: skip

    compiled = lab.function(clipped)
    for run in (clipped, compiled, compiled):
        g, *found = run()
        whole = lab.constant(g.numpy())
        assert all(isinstance(one, lab.IndexedSlices) for one in (g, *found[:4]))
        both, norm = lab.clip_by_global_norm([whole], 2.0)
        wanted = (lab.clip_by_norm(whole, 1.0), lab.clip_by_norm(whole, 1.0, axes=[0]),
                  lab.clip_by_value(whole, -10.0, 10.0), both[0], norm,
                  lab.linalg.global_norm([whole, whole]))  # fmt: skip
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)
    assert compiled.fallbacks == 0


def test_distinct_positions_stay_where_they_are_when_clipped() -> None:
    rows = lab.IndexedSlices([[3.0, 4.0], [0.0, 12.0]], [5, 2])
    clipped = lab.clip_by_norm(rows, 1.0)
    assert clipped.indices is rows.indices
