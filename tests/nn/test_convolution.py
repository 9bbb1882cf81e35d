"""Convolutions of every kind against SciPy's correlation and each other; incompatible arguments are refused."""

from typing import Any

import numpy as np
import pytest
import scipy.signal

import autodiff_lab as lab
from tests.refusals import refused

nn = lab.nn
RNG = np.random.default_rng(0)


def correlated(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the convolution of machine learning without padding: SciPy's correlation, channel by channel."""
    out = [
        [sum(scipy.signal.correlate(image[..., i], w[..., i, o], "valid") for i in range(x.shape[-1])) for o in
         range(w.shape[-1])]
        for image in x
    ]  # fmt: skip
    return np.moveaxis(np.array(out), 1, -1)


@pytest.mark.parametrize(
    ("function", "rank"), [(nn.conv1d, 1), (nn.conv2d, 2), (nn.conv3d, 3), *((nn.convolution, r) for r in (1, 2, 3))]
)
def test_a_convolution_is_a_correlation_summed_over_channels(function: Any, rank: int) -> None:
    x, w = RNG.normal(size=(2, *(6, 5, 4)[:rank], 3)), RNG.normal(size=(*(3, 2, 2)[:rank], 3, 2))
    np.testing.assert_allclose(function(x, w), correlated(x, w), 1e-10, 1e-12)


@pytest.mark.parametrize("strides", [1, 2, 3])
@pytest.mark.parametrize("length", [4, 5, 7])
def test_same_padding_gives_the_length_over_the_stride_and_puts_the_odd_zero_last(strides: int, length: int) -> None:
    x, w = RNG.normal(size=(1, length, 1)), RNG.normal(size=(4, 1, 1))
    out = nn.conv1d(x, w, strides, "SAME").numpy()
    assert out.shape[1] == -(-length // strides)
    total = max((out.shape[1] - 1) * strides + 4 - length, 0)
    padded = np.pad(x, ((0, 0), (total // 2, total - total // 2), (0, 0)))
    np.testing.assert_allclose(out, correlated(padded, w)[:, ::strides], 1e-10, 1e-12)


def test_gaps_are_zeros_between_the_points_of_the_window() -> None:
    x, w = RNG.normal(size=(1, 7, 8, 2)), RNG.normal(size=(2, 3, 2, 2))
    wide = np.zeros((3, 5, 2, 2))
    wide[::2, ::2] = w
    for out in (nn.conv2d(x, w, dilations=2), nn.atrous_conv2d(x, w, 2, "VALID")):
        np.testing.assert_allclose(out, correlated(x, wide), 1e-10, 1e-12)


def test_padding_can_be_given_in_pairs() -> None:
    x, w = RNG.normal(size=(1, 4, 4, 1)), RNG.normal(size=(2, 2, 1, 1))
    padded = np.pad(x, ((0, 0), (1, 2), (0, 1), (0, 0)))
    for pairs in (((1, 2), (0, 1)), ((0, 0), (1, 2), (0, 1), (0, 0))):
        np.testing.assert_allclose(nn.conv2d(x, w, padding=pairs), correlated(padded, w), 1e-10, 1e-12)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(("strides", "padding"), [(1, "VALID"), (2, "SAME"), (2, "VALID")])
def test_a_transposed_convolution_is_the_transpose_of_the_convolution(rank: int, strides: int, padding: str) -> None:
    """<conv(x), g> = <x, conv_transpose(g)> for every x and g."""
    shape = (1, *(5, 4, 3)[:rank], 2)
    x, w = RNG.normal(size=shape), RNG.normal(size=(*(2, 3, 2)[:rank], 2, 3))
    forward: Any = nn.convolution(x, w, strides, padding)
    g = RNG.normal(size=tuple(forward.shape))
    named: Any = {1: nn.conv1d_transpose, 2: nn.conv2d_transpose, 3: nn.conv3d_transpose}[rank]
    for back in (named(g, w, shape, strides, padding), nn.conv_transpose(g, w, shape, strides, padding)):
        np.testing.assert_allclose(np.sum(forward.numpy() * g), np.sum(x * back.numpy()), 1e-10)


def test_a_transposed_convolution_with_gaps_too() -> None:
    x, w = RNG.normal(size=(1, 6, 6, 1)), RNG.normal(size=(2, 2, 1, 2))
    forward = nn.atrous_conv2d(x, w, 2, "SAME").numpy()
    g = RNG.normal(size=forward.shape)
    back = nn.atrous_conv2d_transpose(g, w, (1, 6, 6, 1), 2, "SAME").numpy()
    np.testing.assert_allclose(np.sum(forward * g), np.sum(x * back), 1e-10)


def test_a_depthwise_convolution_treats_each_channel_by_itself() -> None:
    x, w = RNG.normal(size=(2, 5, 6, 3)), RNG.normal(size=(2, 3, 3, 2))
    out = nn.depthwise_conv2d(x, w).numpy()
    for k in range(3):
        alone = correlated(x[..., k : k + 1], w[:, :, k : k + 1])
        np.testing.assert_allclose(out[..., 2 * k : 2 * k + 2], alone, 1e-10, 1e-12)


@pytest.mark.parametrize(
    ("strides", "padding", "dilations"), [(2, "SAME", 1), ([1, 2, 2, 1], "VALID", 1), (1, "SAME", 2)]
)
def test_a_depthwise_convolution_of_one_filter_is_a_convolution_with_a_diagonal(
    strides: Any, padding: str, dilations: int
) -> None:
    x, w = RNG.normal(size=(1, 6, 6, 2)), RNG.normal(size=(3, 2, 2, 1))
    diagonal = w * np.eye(2)
    whole = nn.conv2d(x, diagonal, strides, padding, dilations=dilations)
    np.testing.assert_allclose(nn.depthwise_conv2d(x, w, strides, padding, dilations=dilations), whole, 1e-10, 1e-12)


def test_a_separable_convolution_is_one_with_the_product_of_its_filters() -> None:
    x, deep, point = RNG.normal(size=(1, 5, 5, 2)), RNG.normal(size=(2, 2, 2, 3)), RNG.normal(size=(1, 1, 6, 4))
    product = np.einsum("hwcm,cmo->hwco", deep, point[0, 0].reshape(2, 3, 4))
    np.testing.assert_allclose(nn.separable_conv2d(x, deep, point), correlated(x, product), 1e-10, 1e-12)
    check = lab.testing.check_gradient(nn.separable_conv2d, x, deep, point)
    assert check, str(check)


def test_the_gradients_of_depthwise_filters_are_correlations() -> None:
    x, w = RNG.normal(size=(1, 4, 4, 2)), RNG.normal(size=(2, 2, 2, 2))
    for how in ({}, {"strides": 2, "padding": "SAME"}, {"dilations": 2}):
        check = lab.testing.check_gradient(lambda a, b, how=how: nn.depthwise_conv2d(a, b, **how), x, w)
        assert check, str(check)


def test_an_empty_batch_gives_an_empty_batch() -> None:
    x, w = lab.zeros((0, 5, 5, 2)), lab.ones((3, 3, 2, 4))
    assert nn.conv2d(x, w).shape == (0, 3, 3, 4)
    assert nn.depthwise_conv2d(x, w).shape == (0, 3, 3, 8)


X, W = lab.ones((1, 4, 4, 2)), lab.ones((3, 3, 2, 2))
REFUSALS: dict[str, tuple[Any, type[Exception], str]] = {
    "rank of the input": (lambda: nn.conv2d(lab.ones((4, 4, 2)), W), lab.errors.ShapeMismatch, r"conv2d.*\(4, 4, 2\)"),
    "rank of the filter": (lambda: nn.conv2d(X, lab.ones((3, 2, 2))), lab.errors.ShapeMismatch, r"conv2d.*\(3, 2, 2\)"),
    "channels": (lambda: nn.conv2d(X, lab.ones((3, 3, 1, 3))), lab.errors.ShapeMismatch, "2 channels.*take 1"),
    "dtype": (lambda: nn.conv2d(X, lab.cast(W, "float64")), lab.errors.DtypeMismatch, "float32.*float64"),
    "window": (lambda: nn.conv2d(X, lab.ones((5, 1, 2, 2))), lab.errors.ShapeMismatch, "larger than the input"),
    "stride 0": (lambda: nn.conv2d(X, W, strides=0), lab.errors.InvalidArgumentError, "strides"),
    "stride of a fraction": (lambda: nn.conv2d(X, W, strides=1.5), lab.errors.InvalidArgumentError, "strides"),
    "strides for three axes": (lambda: nn.conv2d(X, W, strides=(1, 1, 1)), lab.errors.InvalidArgumentError, "strides"),
    "padding": (lambda: nn.conv2d(X, W, padding="FULL"), lab.errors.InvalidArgumentError, "'FULL'"),
    "padding below 0": (lambda: nn.conv2d(X, W, padding=((-1, 0), (0, 0))), lab.errors.InvalidArgumentError, "padding"),
    "padding, one axis": (lambda: nn.conv2d(X, W, padding=((1, 0),)), lab.errors.InvalidArgumentError, "padding"),
    "channels first": (lambda: nn.conv2d(X, W, data_format="NCHW"), lab.errors.UnimplementedError, "NCHW"),
    "convolution of a matrix": (lambda: nn.convolution(X, lab.ones((2, 2))), lab.errors.ShapeMismatch, "convolution"),
    "shape of the transpose": (
        lambda: nn.conv2d_transpose(X, W, (1, 9, 9, 2), 1), lab.errors.ShapeMismatch, r"\(1, 9, 9, 2\)",
    ),
    "channels of the transpose": (
        lambda: nn.conv2d_transpose(X, W, (1, 4, 4, 5), 1), lab.errors.ShapeMismatch, "has 5",
    ),
    "rank of the transpose": (
        lambda: nn.conv2d_transpose(X, W, (4, 4, 2), 1), lab.errors.ShapeMismatch, "conv2d_transpose",
    ),
    "dtype of the transpose": (
        lambda: nn.conv2d_transpose(X, lab.cast(W, "float64"), (1, 4, 4, 2), 1), lab.errors.DtypeMismatch, "float64",
    ),
    "depthwise channels": (
        lambda: nn.depthwise_conv2d(X, lab.ones((3, 3, 3, 1))), lab.errors.ShapeMismatch, "depthwise_conv2d",
    ),
    "depthwise window": (
        lambda: nn.depthwise_conv2d(X, lab.ones((5, 5, 2, 1))), lab.errors.ShapeMismatch, "larger than the input",
    ),
    "pointwise window": (
        lambda: nn.separable_conv2d(X, W, lab.ones((2, 2, 4, 1))), lab.errors.ShapeMismatch, "pointwise",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_does_not_fit_is_refused_by_name_with_the_shapes(name: str) -> None:
    call, error, words = REFUSALS[name]
    with refused(error, words):
        call()
