"""Structural similarity and the peak signal-to-noise ratio, by their formulas in loops over windows."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused

RNG = np.random.default_rng(0)
ONE = RNG.random((2, 9, 8, 2))
OTHER = np.clip(ONE + 0.2 * RNG.standard_normal(ONE.shape), 0, 1)


def maps(x: np.ndarray, y: np.ndarray, top: float, size: int, sigma: float, k1: float, k2: float) -> Any:
    """Return the similarity of each window of (h, w) arrays, and its part without luminance, one window at a time."""
    offsets = np.arange(size) - (size - 1) / 2
    window = np.exp(-(offsets[:, None] ** 2 + offsets**2) / (2 * sigma**2))
    window /= window.sum()
    c1, c2 = (k1 * top) ** 2, (k2 * top) ** 2
    places = [(i, j) for i in range(x.shape[0] - size + 1) for j in range(x.shape[1] - size + 1)]
    found = []
    for i, j in places:
        a, b = x[i : i + size, j : j + size], y[i : i + size, j : j + size]
        m, n = (window * a).sum(), (window * b).sum()
        covariance = (window * (a - m) * (b - n)).sum()
        variances = (window * (a - m) ** 2).sum() + (window * (b - n) ** 2).sum()
        structure = (2 * covariance + c2) / (variances + c2)
        found.append(((2 * m * n + c1) / (m * m + n * n + c1) * structure, structure))
    return np.reshape(found, (x.shape[0] - size + 1, x.shape[1] - size + 1, 2))


def similarity(x: np.ndarray, y: np.ndarray, top: float, size: int, sigma: float) -> np.ndarray:
    """Return both for each window of images, as (b, c, h', w', 2)."""
    return np.array([[maps(x[b, ..., c], y[b, ..., c], top, size, sigma, 0.01, 0.03) for c in range(x.shape[-1])]
                     for b in range(len(x))])  # fmt: skip


def halved(x: np.ndarray) -> np.ndarray:
    _, h, w, _ = x.shape
    x = np.pad(x, [(0, 0), (0, h % 2), (0, w % 2), (0, 0)], mode="edge")
    return (x[:, ::2, ::2] + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2]) / 4


@pytest.mark.parametrize(("size", "sigma"), [(5, 1.5), (4, 0.8), (1, 1.0)])
def test_similarity(size: int, sigma: float) -> None:
    expected = similarity(ONE, OTHER, 1.0, size, sigma)[..., 0]
    how: dict[str, Any] = {"max_val": 1.0, "filter_size": size, "filter_sigma": sigma}
    np.testing.assert_allclose(lab.image.ssim(ONE, OTHER, **how), expected.mean((1, 2, 3)), rtol=1e-4)
    found = lab.image.ssim(ONE, OTHER, return_index_map=True, **how)
    np.testing.assert_allclose(found, expected.mean(1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(lab.image.ssim(ONE[0], OTHER[0], **how), expected[0].mean(), rtol=1e-4)


def test_similarity_of_bytes_and_of_equal_images() -> None:
    a, b = ((255 * x).astype(np.uint8) for x in (ONE, OTHER))
    expected = similarity(a.astype(float), b.astype(float), 255.0, 7, 1.5)[..., 0].mean((1, 2, 3))
    np.testing.assert_allclose(lab.image.ssim(a, b, 255, filter_size=7), expected, rtol=1e-4)
    np.testing.assert_allclose(lab.image.ssim(a, a, 255, filter_size=7), [1.0, 1.0], rtol=1e-6)


@pytest.mark.parametrize("powers", [(0.3, 0.7), (1.0,), (0.2, 0.3, 0.5)])
def test_similarity_over_scales(powers: tuple[float, ...]) -> None:
    x, y, expected = ONE, OTHER, np.ones((2, 2))
    for scale, power in enumerate(powers):
        part = int(scale < len(powers) - 1)
        found = similarity(x, y, 1.0, 2, 1.5)[..., part]
        expected *= np.maximum(found.mean((2, 3)), 0) ** power
        x, y = halved(x), halved(y)
    found = lab.image.ssim_multiscale(ONE, OTHER, 1.0, powers, filter_size=2)
    np.testing.assert_allclose(found, expected.mean(1), rtol=1e-4)


def test_signal_to_noise() -> None:
    expected = 10 * np.log10(4.0 / ((ONE - OTHER) ** 2).mean((1, 2, 3)))
    np.testing.assert_allclose(lab.image.psnr(ONE, OTHER, 2.0), expected, rtol=1e-5)
    assert float(lab.image.psnr(ONE[0], ONE[0], 1.0)) == np.inf


def test_gradients_of_both_orders() -> None:
    """The first agrees with differences of the loops; the second, along a direction, with differences of the first."""
    x, y = lab.Variable(ONE[:1], dtype=lab.float32), OTHER[:1]
    direction = RNG.standard_normal(x.shape).astype(np.float32)

    def slope(values: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(values)
            loss = lab.reduce_sum(lab.image.ssim(values, y, 1.0, filter_size=5))
        return tape.gradient(loss, values)

    with lab.GradientTape() as outer:
        first = slope(x)
        along = lab.reduce_sum(first * direction)
    second = outer.gradient(along, x)
    for place in ((0, 4, 4, 0), (0, 0, 7, 1), (0, 8, 2, 0)):
        step = np.zeros(x.shape)
        step[place] = 1e-5
        up, down = (similarity(ONE[:1] + d, y, 1.0, 5, 1.5)[..., 0].mean() for d in (step, -step))
        np.testing.assert_allclose(first[place], (up - down) / 2e-5, rtol=1e-2, atol=1e-5)
    up, down = (slope(lab.constant(x + 1e-3 * s * direction)).numpy() for s in (1, -1))
    np.testing.assert_allclose(second, (up - down) / 2e-3, rtol=0.05, atol=0.02 * np.abs(second).max())


def test_a_compiled_function_gives_the_same() -> None:
    def loss(x: Any) -> Any:
        return 1.0 - lab.reduce_mean(lab.image.ssim(x, OTHER, 1.0, filter_size=5))

    x = lab.constant(ONE.astype(np.float32))
    compiled = lab.function(lab.gradient(loss))
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), lab.gradient(loss)(x), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lab.image.ssim(ONE, OTHER, 1.0), lab.errors.ShapeMismatch, "11 by 11 .* smaller filter_size"),
        (lambda: lab.image.ssim(ONE, OTHER[:, 1:], 1.0), lab.errors.ShapeMismatch, "one height, width"),
        (lambda: lab.image.ssim(ONE, OTHER, 1.0, 5, 0.0), lab.errors.InvalidArgumentError, "filter_sigma"),
        (lambda: lab.image.ssim(ONE, OTHER, 1.0, 0), lab.errors.InvalidArgumentError, "filter_size must be at least 1"),
        (lambda: lab.image.ssim_multiscale(ONE, OTHER, 1.0), lab.errors.ShapeMismatch, "filter_size"),
        (lambda: lab.image.ssim_multiscale(ONE, OTHER, 1.0, ()), lab.errors.InvalidArgumentError, "each scale"),
        (lambda: lab.image.psnr(ONE, OTHER[:, :1], 1.0), lab.errors.ShapeMismatch, "Try lab.image.resize"),
    ],
)
def test_refusals_say_why(call: Any, error: type[Exception], words: str) -> None:
    with refused(error, words):
        call()
