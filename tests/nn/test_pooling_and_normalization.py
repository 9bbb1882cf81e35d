"""Pooling, normalization, dropout, space-to-depth: against NumPy, and refusals."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused

nn = lab.nn
RNG = np.random.default_rng(1)
IMAGE = RNG.permutation(2 * 6 * 4 * 3).reshape(2, 6, 4, 3).astype(np.float64)


def blocks(x: np.ndarray) -> np.ndarray:
    """Return the windows of 2 by 2 without overlap: (n, h/2, w/2, c, 4)."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 5, 2, 4).reshape(n, h // 2, w // 2, c, 4)


@pytest.mark.parametrize("pooling", [nn.max_pool, nn.max_pool2d, lambda x, k: nn.pool(x, k, "MAX", strides=k)])
def test_max_pooling_takes_the_largest_of_each_window(pooling: Any) -> None:
    np.testing.assert_array_equal(pooling(IMAGE, 2), blocks(IMAGE).max(-1))


@pytest.mark.parametrize("pooling", [nn.avg_pool, nn.avg_pool2d, lambda x, k: nn.pool(x, k, "AVG", strides=k)])
def test_average_pooling_takes_the_mean_of_each_window(pooling: Any) -> None:
    np.testing.assert_allclose(pooling(IMAGE, 2), blocks(IMAGE).mean(-1), 1e-12)


def test_padding_never_wins_and_never_counts() -> None:
    x = -np.ones((1, 3, 1))
    np.testing.assert_array_equal(nn.max_pool1d(x, 2, 2, "SAME").numpy().ravel(), [-1, -1])
    np.testing.assert_array_equal(nn.avg_pool1d(x, 2, 2, "SAME").numpy().ravel(), [-1, -1])


def test_of_equal_elements_the_first_takes_the_whole_gradient() -> None:
    x = lab.Variable(np.ones((1, 4, 1)))
    with lab.GradientTape() as tape:
        y = nn.max_pool1d(x, 2)
    np.testing.assert_array_equal(np.ravel(tape.gradient(y, x)), [1, 0, 1, 0])


@pytest.mark.parametrize("whole", [False, True])
def test_positions_point_at_the_largest_elements(whole: bool) -> None:
    values, at = nn.max_pool_with_argmax(IMAGE, 2, 2, include_batch_in_index=whole)
    flat = IMAGE.reshape(-1) if whole else IMAGE.reshape(2, -1)
    found = flat[at.numpy()] if whole else np.take_along_axis(flat, at.numpy().reshape(2, -1), 1).reshape(at.shape)
    np.testing.assert_array_equal(found, values)
    assert at.dtype == lab.int64
    check = lab.testing.check_gradient(lambda x: nn.max_pool_with_argmax(x, 2, 2)[0], IMAGE)
    assert check, str(check)


def test_moments_are_those_of_numpy_and_so_are_their_second_derivatives() -> None:
    x = RNG.normal(size=(3, 4, 2))
    for axes in ([0], [0, 1], [-1], [0, 1, 2]):
        for keepdims in (False, True):
            mean, variance = nn.moments(x, axes, keepdims=keepdims)
            np.testing.assert_allclose(mean, x.mean(tuple(axes), keepdims=keepdims), 1e-12, 1e-14)
            np.testing.assert_allclose(variance, x.var(tuple(axes), keepdims=keepdims), 1e-12)
    for order in (1, 2):
        check = lab.testing.check_gradient(lambda t: nn.moments(t, [0, 1]), x, order=order)
        assert check, str(check)


def test_statistics_gathered_in_two_parts_give_the_moments_of_the_whole() -> None:
    x = RNG.normal(3.0, 2.0, (10, 3))
    parts = [nn.sufficient_statistics(part, [0], shift=3.0) for part in (x[:4].copy(), x[4:].copy())]
    count, total, squares = (lab.add(parts[0][i], parts[1][i]) for i in range(3))
    mean, variance = nn.normalize_moments(count, total, squares, parts[0][3])
    np.testing.assert_allclose(mean, x.mean(0), 1e-12)
    np.testing.assert_allclose(variance, x.var(0), 1e-10)


def test_weights_count_like_repetitions() -> None:
    x, weights = np.array([1.0, 5.0, 2.0]), np.array([2.0, 1.0, 3.0])
    repeated = np.repeat(x, weights.astype(int))
    mean, variance = nn.weighted_moments(x, [0], weights)
    np.testing.assert_allclose([float(mean), float(variance)], [repeated.mean(), repeated.var()], 1e-12)


def test_batch_normalization_is_its_formula_with_or_without_scale_and_offset() -> None:
    x, mean, variance = RNG.normal(size=(4, 3)), RNG.normal(size=3), RNG.uniform(0.5, 2, 3)
    offset, scale = RNG.normal(size=3), RNG.normal(size=3)
    plain = (x - mean) / np.sqrt(variance + 0.01)
    np.testing.assert_allclose(nn.batch_normalization(x, mean, variance, None, None, 0.01), plain, 1e-12)
    np.testing.assert_allclose(
        nn.batch_normalization(x, mean, variance, offset, scale, 0.01), plain * scale + offset, 1e-12
    )
    check = lab.testing.check_gradient(lambda *v: nn.batch_normalization(*v, 0.01), x, mean, variance, offset, scale)
    assert check, str(check)


def test_local_response_normalization_divides_by_the_neighbouring_channels() -> None:
    x = RNG.normal(size=(1, 2, 2, 5))
    expected = np.empty_like(x)
    for c in range(5):
        around = x[..., max(0, c - 1) : c + 2]
        expected[..., c] = x[..., c] / (2.0 + 0.5 * (around**2).sum(-1)) ** 0.75
    out = nn.local_response_normalization(x, depth_radius=1, bias=2.0, alpha=0.5, beta=0.75)
    np.testing.assert_allclose(out, expected, 1e-12)
    check = lab.testing.check_gradient(lambda t: nn.lrn(t, 1, 2.0, 0.5, 0.75), x)
    assert check, str(check)


def test_bias_is_added_to_the_channels_wherever_they_are() -> None:
    x, b = RNG.normal(size=(2, 3, 4)), np.arange(3.0)
    np.testing.assert_array_equal(nn.bias_add(x, np.arange(4.0)), x + np.arange(4.0))
    np.testing.assert_array_equal(nn.bias_add(x, b, data_format="NCHW"), x + b[:, None])
    check = lab.testing.check_gradient(lambda t, u: nn.bias_add(t, u, data_format="NC..."), x, b)
    assert check, str(check)


def test_dropout_scales_what_it_keeps_and_follows_the_seed() -> None:
    lab.random.set_seed(3)
    y = nn.dropout(lab.ones((100, 100)), 0.2, seed=1).numpy()
    assert set(np.unique(y)) == {np.float32(0), np.float32(1.25)}
    assert abs((y == 0).mean() - 0.2) < 0.02
    lab.random.set_seed(3)
    np.testing.assert_array_equal(y, nn.dropout(lab.ones((100, 100)), 0.2, seed=1))
    columns = nn.dropout(lab.ones((50, 8)), 0.5, noise_shape=(1, 8)).numpy()
    assert np.all((columns == columns[0]).all(0))


def test_pixels_go_into_channels_and_come_back() -> None:
    x = RNG.normal(size=(2, 4, 6, 3))
    deep = nn.space_to_depth(x, 2)
    assert deep.shape == (2, 2, 3, 12)
    np.testing.assert_array_equal(deep[0, 1, 2], np.concatenate([x[0, 2, 4], x[0, 2, 5], x[0, 3, 4], x[0, 3, 5]]))
    np.testing.assert_array_equal(nn.depth_to_space(deep, 2), x)
    check = lab.testing.check_gradient(lambda t: nn.space_to_depth(t, 2), x)
    assert check, str(check)


REFUSALS: dict[str, tuple[Any, str]] = {
    "pool of a matrix": (lambda: nn.max_pool(lab.ones((2, 2)), 2), "max_pool: expected an input"),
    "pool of another rank": (lambda: nn.max_pool2d(lab.ones((1, 4, 1)), 2), "max_pool2d: expected an input"),
    "pool of whole numbers": (lambda: nn.avg_pool(lab.ones((1, 4, 1), "int32"), 2), "average_pool.*floating"),
    "pool too large": (lambda: nn.max_pool(lab.ones((1, 2, 1)), 3), "larger than the input"),
    "pool channels first": (lambda: nn.avg_pool(lab.ones((1, 2, 1)), 1, data_format="NCW"), "NCW"),
    "pool of another kind": (lambda: nn.pool(lab.ones((1, 2, 1)), 1, "MIN"), "'MIN'"),
    "pool with gaps": (lambda: nn.pool(lab.ones((1, 2, 1)), 1, "MAX", dilations=2), "dilations"),
    "moments over a missing axis": (lambda: nn.moments(lab.ones((2,)), [1]), "moments: axis 1"),
    "moments over an axis twice": (lambda: nn.moments(lab.ones((2, 2)), [0, -2]), "moments.*duplicates"),
    "moments of whole numbers": (lambda: nn.moments([1, 2], [0]), "moments: expected a floating-point tensor"),
    "response of a matrix": (lambda: nn.lrn(lab.ones((2, 2))), "local_response_normalization: expected an input"),
    "bias of another length": (lambda: nn.bias_add(lab.ones((2, 3)), lab.ones(2)), r"bias_add.*\(2, 3\) and \(2,\)"),
    "bias of another dtype": (lambda: nn.bias_add(lab.ones((2, 3)), lab.ones(3, "float64")), "bias_add.*float64"),
    "dropout of all": (lambda: nn.dropout(lab.ones(3), 1.0), r"dropout.*\[0, 1\)"),
    "dropout of whole numbers": (lambda: nn.dropout([1, 2], 0.5), "dropout: expected a floating-point tensor"),
    "noise of another shape": (lambda: nn.dropout(lab.ones((3, 2)), 0.5, noise_shape=(2, 2)), "noise_shape"),
    "noise of another rank": (lambda: nn.dropout(lab.ones(3), 0.5, noise_shape=(None, None)), "noise_shape"),
    "positions with a point": (
        lambda: nn.max_pool_with_argmax(lab.ones((1, 2, 2, 1)), 2, 2, output_dtype="float32"),
        "output_dtype",
    ),
    "blocks that do not fit": (lambda: nn.space_to_depth(lab.ones((1, 3, 4, 1)), 2), "space_to_depth.*multiples"),
    "channels that do not fit": (lambda: nn.depth_to_space(lab.ones((1, 2, 2, 3)), 2), "depth_to_space.*multiple"),
    "blocks of 0": (lambda: nn.depth_to_space(lab.ones((1, 2, 2, 4)), 0), "block_size"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_does_not_fit_is_refused_by_name(name: str) -> None:
    call, words = REFUSALS[name]
    with refused(lab.errors.LabError, words):
        call()
