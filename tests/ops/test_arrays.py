"""Public functions on arrays that are composed of several ops: values against NumPy, gradients against differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient
from tests.refusals import refused

RNG = np.random.default_rng(5)
X = RNG.normal(size=(2, 3, 4))

SMOOTH: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "sort": (lambda x: lab.sort(x, axis=1, direction="DESCENDING"), (X,)),
    "top_k": (lambda x: lab.math.top_k(x, 2).values, (X,)),
    "boolean_mask": (lambda x: lab.boolean_mask(x, X[0] > 0, axis=1), (X,)),
    "repeat": (lambda x: lab.repeat(x, [2, 0, 1], axis=1), (X,)),
    "repeat flat": (lambda x: lab.repeat(x, 3), (X,)),
    "tile": (lambda x: lab.tile(x, [2, 1, 3]), (X,)),
    "roll": (lambda x: lab.roll(x, [1, 5, -2], [1, 1, 2]), (X,)),
    "reverse": (lambda x: lab.reverse(x, [0, -1]), (X,)),
    "reverse_sequence": (lambda x: lab.reverse_sequence(x, [1, 3, 4], seq_axis=2, batch_axis=1), (X,)),
    "pad reflect": (lambda x: lab.pad(x, [[1, 0], [0, 2], [3, 1]], "REFLECT"), (X,)),
    "pad symmetric": (lambda x: lab.pad(x, [[1, 0], [0, 3], [4, 1]], "SYMMETRIC"), (X,)),
    "slice": (lambda x: lab.slice(x, [0, 1, 1], [-1, 2, 2]), (X,)),
    "strided_slice": (lambda x: lab.strided_slice(x, [0, 2], [2, 0], [1, -1]), (X,)),
    "dynamic_partition": (lambda x: lab.dynamic_partition(x, [[0, 1, 0], [1, 1, 1]], 2), (X,)),
    "dynamic_stitch": (lambda a, b: lab.dynamic_stitch([[0, 2], [1, 2]], [a, b]), (X[0, :2], X[1, :2])),
    "meshgrid": (lab.meshgrid, (X[0, 0], X[0, 1, :2])),
    "gather in batches": (lambda x: lab.gather(x, [[0, 2], [1, 1]], axis=1, batch_dims=1), (X,)),
    "gather_nd in batches": (lambda x: lab.gather_nd(x, [[[0, 1]], [[2, 3]]], batch_dims=1), (X,)),
    "space_to_batch": (lambda x: lab.space_to_batch(x, [3, 2], [[0, 0], [1, 1]]), (X,)),
    "batch_to_space": (lambda x: lab.batch_to_space(x, [2], [[1, 0]]), (X,)),
    "saturate_cast": (lambda x: lab.saturate_cast(x, lab.float64), (X,)),
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("order", [1, 2])
def test_gradients_agree_with_differences(name: str, order: int) -> None:
    function, inputs = SMOOTH[name]
    check = check_gradient(function, *inputs, order=order)
    assert check, check


def value(name: str) -> np.ndarray:
    function, inputs = SMOOTH[name]
    return np.asarray(function(*map(lab.constant, inputs)))


def test_values_are_those_of_numpy() -> None:
    at = np.arange(2)[:, None]
    expected = {
        "sort": -np.sort(-X, 1),
        "top_k": -np.sort(-X, -1)[..., :2],
        "boolean_mask": X[:, X[0] > 0],
        "repeat": np.repeat(X, [2, 0, 1], 1),
        "repeat flat": np.repeat(X, 3),
        "tile": np.tile(X, (2, 1, 3)),
        "roll": np.roll(np.roll(X, 6, 1), -2, 2),
        "reverse": X[::-1, :, ::-1],
        "pad reflect": np.pad(X, [(1, 0), (0, 2), (3, 1)], "reflect"),
        "pad symmetric": np.pad(X, [(1, 0), (0, 3), (4, 1)], "symmetric"),
        "slice": X[:, 1:3, 1:3],
        "strided_slice": X[0:2, 2:0:-1],
        "gather in batches": X[at, [[0, 2], [1, 1]]],
        "gather_nd in batches": X[at, [[0], [2]], [[1], [3]]],
        "saturate_cast": X,
    }
    for name, array in expected.items():
        np.testing.assert_array_equal(value(name), array, err_msg=name)


def test_a_mask_keeps_what_numpy_keeps() -> None:
    np.testing.assert_array_equal(lab.boolean_mask(X, X[:, 0, 0] > 0), X[X[:, 0, 0] > 0])
    np.testing.assert_array_equal(lab.boolean_mask(X, X > 0), X[X > 0])


def test_gathers_in_batches_with_axes_between() -> None:
    x = RNG.normal(size=(2, 3, 4, 5))
    at = RNG.integers(0, 4, (2, 6))
    expected = np.stack([np.take(x[b], at[b], axis=1) for b in range(2)])
    np.testing.assert_array_equal(lab.gather(x, at, axis=2, batch_dims=1), expected)
    with refused(lab.errors.InvalidArgumentError, "batch"):
        lab.gather(x, at[:1], axis=2, batch_dims=1)


def test_reversed_sequences_row_by_row() -> None:
    expected = X.copy()
    for row, n in enumerate([1, 3, 4]):
        expected[:, row, :n] = X[:, row, :n][:, ::-1]
    np.testing.assert_array_equal(value("reverse_sequence"), expected)


def test_parts_dealt_out_come_back_by_stitching() -> None:
    x = lab.constant(X[0, 0])
    where = [1, 0, 1, 2]
    parts = lab.dynamic_partition(x, where, 3)
    places = lab.dynamic_partition(lab.range(4), where, 3)
    np.testing.assert_array_equal(lab.dynamic_stitch(places, parts), x)
    np.testing.assert_array_equal(value("dynamic_stitch"), [X[0, 0], X[1, 0], X[1, 1]])
    with pytest.raises(lab.errors.InvalidArgumentError, match="index 1 is missing"):
        lab.dynamic_stitch([[0, 2]], [[1.0, 2.0]])


def test_space_goes_to_batches_and_back() -> None:
    x = RNG.normal(size=(2, 4, 6, 3))
    there = lab.space_to_batch(x, [2, 3], [[0, 0], [2, 1]])
    assert there.shape == (12, 2, 3, 3)
    padded = np.pad(x, [(0, 0), (0, 0), (2, 1), (0, 0)])
    for part in range(6):  # part after part of a block, for both images each
        np.testing.assert_array_equal(there[2 * part : 2 * part + 2], padded[:, part // 3 :: 2, part % 3 :: 3])
    np.testing.assert_array_equal(lab.batch_to_space(there, [2, 3], [[0, 0], [2, 1]]), x)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_grids_are_those_of_numpy(indexing: str) -> None:
    lines = [np.arange(3.0), np.arange(2.0), np.arange(4.0)]
    for count in (1, 2, 3):
        for ours, theirs in zip(
            lab.meshgrid(*lines[:count], indexing=indexing), np.meshgrid(*lines[:count], indexing=indexing), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)


def test_equal_elements_keep_their_order() -> None:
    x = [1.0, 2.0, 1.0, 2.0]
    np.testing.assert_array_equal(lab.argsort(x), [0, 2, 1, 3])
    np.testing.assert_array_equal(lab.argsort(x, direction="DESCENDING"), [1, 3, 0, 2])
    np.testing.assert_array_equal(lab.math.top_k(x, 3).indices, [1, 3, 0])


def test_ties_of_scattered_extremes_share_the_gradient() -> None:
    x, updates = lab.Variable([1.0, 2.0]), lab.Variable([2.0, 2.0])
    with lab.GradientTape() as tape:
        y = lab.tensor_scatter_nd_max(x, [[1], [1]], updates)
    of_x, of_updates = tape.gradient(y, [x, updates])
    np.testing.assert_allclose(of_x, [1.0, 1 / 3])
    np.testing.assert_allclose(of_updates, [1 / 3, 1 / 3])


def test_strided_slices_understand_their_masks() -> None:
    x = lab.constant(X)
    np.testing.assert_array_equal(lab.strided_slice(x, [0, 1], [0, 2], ellipsis_mask=1), X[..., 1:2])
    mixed = lab.strided_slice(x, [0, 0, 1], [0, 0, 0], new_axis_mask=1, shrink_axis_mask=4, end_mask=2)
    np.testing.assert_array_equal(mixed, X[None, 0:, 1])
    np.testing.assert_array_equal(lab.strided_slice(x, [1], [0], begin_mask=1, end_mask=1), X)


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("axis 3", lambda: lab.sort(X, axis=3)),
    ("direction", lambda: lab.argsort([1.0], direction="UP")),
    ("k=5", lambda: lab.math.top_k(X, 5)),
    ("vector", lambda: lab.unique(X)),
    ("mask", lambda: lab.boolean_mask(X, [True])),
    ("bool", lambda: lab.boolean_mask([1.0], [1])),
    ("multiple for each", lambda: lab.tile(X, [2])),
    ("repeats", lambda: lab.repeat(X, [1, 2, 3], axis=0)),
    ("shifts", lambda: lab.roll(X, [1, 2], [0])),
    ("paddings", lambda: lab.pad(X, [[1, 1]])),
    ("mirror", lambda: lab.pad(X, [[2, 0], [0, 0], [0, 0]], "REFLECT")),
    ("mode", lambda: lab.pad(X, [[0, 0]] * 3, "WRAP")),
    ("out of bounds", lambda: lab.slice(X, [0, 0, 0], [3, 1, 1])),
    ("strides", lambda: lab.strided_slice(X, [0], [1], [0])),
    ("partitions", lambda: lab.dynamic_partition([1.0], [2], 2)),
    ("do not broadcast", lambda: lab.broadcast_static_shape([2], [3])),
    ("side", lambda: lab.searchsorted([1.0], [1.0], side="middle")),
    ("indexing", lambda: lab.meshgrid([1.0], indexing="yx")),
]


@pytest.mark.parametrize(("words", "call"), REFUSED)
def test_wrong_arguments_are_refused_in_words(words: str, call: Callable[[], Any]) -> None:
    with refused(lab.errors.InvalidArgumentError, words):
        call()


@pytest.mark.parametrize(
    ("shape", "multiples"),
    [((3, 1), (1, 3)), ((3, 1), (1, 20)), ((2, 9), (2, 3)), ((2, 3), (2, 3)), ((2, 3, 8), (2, 1, 3)), ((4,), (1,)),
     ((2, 8), (0, 2)), ((0, 8), (2, 2)), ((), ()), ((2, 9), (1, 2)), ((2, 1, 1), (3, 4, 1))],
)  # fmt: skip
def test_tiles_and_their_sums_of_every_shape(shape: tuple[int, ...], multiples: tuple[int, ...]) -> None:
    """By columns, by blocks, and as NumPy does it, of views that are reversed."""
    x = np.arange(1.0, np.prod(shape) + 1).reshape(shape)[(slice(None, None, -1),) * len(shape)]
    wanted = np.tile(x, multiples)
    weights = np.random.default_rng(0).integers(0, 9, wanted.shape).astype(float)
    source = lab.constant(x)
    with lab.GradientTape() as tape:
        tape.watch(source)
        y = lab.tile(source, multiples)
    np.testing.assert_array_equal(y.numpy(), wanted, strict=True)
    where = np.tile(np.arange(x.size).reshape(shape), multiples)
    sums = np.bincount(where.ravel(), weights.ravel(), x.size).reshape(shape)
    np.testing.assert_array_equal(tape.gradient(y, source, output_gradients=weights).numpy(), sums)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
@pytest.mark.parametrize(("shape", "at", "count", "depth"), [
    ((3, 4, 5, 2), (3, 6), 1, 2), ((3, 4, 5), (3, 6), 1, 2), ((2, 3, 4, 5), (2, 3, 7), 2, 1),
    ((2, 3, 4, 5), (2, 3), 2, 2), ((3, 4, 5), (3, 2, 2), 1, 1), ((3, 4), (3, 2), 1, 0), ((0, 4, 5), (0, 2), 1, 2),
])  # fmt: skip
def test_coordinates_are_gathered_row_by_row(
    shape: tuple[int, ...], at: tuple[int, ...], count: int, depth: int, dtype: str
) -> None:
    rng, each = np.random.default_rng(2), int(np.prod(at[count:]))
    x = lab.constant(rng.normal(size=shape))
    indices = (
        np.stack([rng.integers(0, n, at) for n in shape[count : count + depth]], -1) if depth else np.zeros((*at, 0))
    )
    rows = [
        x.numpy()[(*b, *i)] for b in np.ndindex(*shape[:count]) for i in indices[b].reshape(each, depth).astype(int)
    ]
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.gather_nd(x, lab.constant(indices.astype(dtype)), batch_dims=count)
        loss = lab.reduce_sum(y * y)
    inner = shape[count + depth :]
    np.testing.assert_array_equal(y.numpy(), np.reshape(rows, (*at, *inner)) if rows else np.zeros((*at, *inner)))
    slope = np.zeros(shape)
    for b in np.ndindex(*shape[:count]):
        for i in indices[b].reshape(each, depth).astype(int):
            slope[(*b, *i)] += 2 * x.numpy()[(*b, *i)]
    np.testing.assert_allclose(tape.gradient(loss, x).numpy(), slope)


def test_a_recording_shows_the_coordinates_and_gives_the_same_gradient() -> None:
    x = lab.constant(np.arange(24.0).reshape(2, 3, 4))
    at = lab.constant([[[0, 1], [2, 3]], [[1, 1], [1, 1]]])

    def slope() -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            loss = lab.reduce_sum(lab.gather_nd(x, at, batch_dims=1) ** 2.0)
        return tape.gradient(loss, x).numpy()

    plain = slope()
    with lab.record() as recording:
        recorded = slope()
    np.testing.assert_array_equal(recorded, plain)
    assert "gather_nd" in recording.to_text()


def test_coordinates_outside_of_a_row_are_refused_by_the_axis_of_the_tensor() -> None:
    x = lab.ones((2, 3, 4))
    with pytest.raises(lab.errors.InvalidArgumentError, match=r"gather_nd: an index of axis 2 is not in \[0, 4\)"):
        lab.gather_nd(x, [[[0, 4]], [[0, 0]]], batch_dims=1)
    with pytest.raises(lab.errors.InvalidArgumentError, match=r"gather_nd: an index of axis 1 is not in \[0, 3\)"):
        lab.gather_nd(x, [[[-1, 0]], [[0, 0]]], batch_dims=1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("length", "k"), [(4096, 2), (5000, 700), (300, 2)])
@pytest.mark.parametrize("nans", [0, 1, 2, 900])
def test_the_largest_elements_of_long_rows_are_those_of_a_full_order(
    dtype: str, length: int, k: int, nans: int
) -> None:
    """With ties, infinities and nan, which is larger than all numbers and ordered by position."""
    draw = np.random.default_rng(length + k + nans)
    x = np.maximum(draw.standard_normal((3, length)), 0.5).astype(dtype)
    x[:, draw.integers(0, length, 9)] = np.inf
    x[0, draw.permutation(length)[: min(nans, length)]] = np.nan
    rank = np.where(np.isnan(x), -np.inf, -x), np.where(np.isnan(x), 0, 1)
    expected = np.stack([np.lexsort((np.arange(length), one, other)) for one, other in zip(*rank, strict=True)])[:, :k]
    values, places = lab.math.top_k(x, k)
    np.testing.assert_array_equal(places.numpy(), expected)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, expected, 1))
