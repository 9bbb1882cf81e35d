"""How much images resemble others: the peak signal-to-noise ratio, and structural similarity.

Wang, Bovik, Sheikh, Simoncelli, Image quality assessment: from error visibility to structural similarity (2004), and
Wang, Simoncelli, Bovik, Multiscale structural similarity for image quality assessment (2003).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import constant
from autodiff_lab.engine.shape import as_integer, listed
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.families.image import images_of
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.joining import concat, split
from autodiff_lab.ops.array.repeating import pad
from autodiff_lab.ops.array.shaping import broadcast_to, reshape
from autodiff_lab.ops.checks import number_of
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.exponential import log
from autodiff_lab.ops.math.reductions import reduce_mean
from autodiff_lab.ops.nn.activations import relu
from autodiff_lab.ops.nn.depthwise import depthwise_conv2d
from autodiff_lab.ops.nn.pooling import avg_pool2d

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def _alike(first: TensorLike, second: TensorLike, what: str) -> tuple[Tensor, Tensor]:
    """Return two batches of images in float32, of one shape."""
    x, y = (cast(images_of(images, what), "float32") for images in (first, second))
    one, other = x._held.shape, y._held.shape
    try:
        shape = np.broadcast_shapes(one, other)
    except ValueError:
        shape = ()
    if not shape or one[-3:] != other[-3:]:
        raise ShapeMismatch(f"{what}: expected images of one height, width and number of channels, got shapes {one} "
                            f"and {other}. Try lab.image.resize.")
    return broadcast_to(x, shape), broadcast_to(y, shape)


def psnr(a: TensorLike, b: TensorLike, max_val: float, name: str | None = None) -> Tensor:
    x, y = _alike(a, b, "psnr")
    error = reduce_mean((x - y) ** 2, axis=(-3, -2, -1))
    return named((2 * math.log(_largest(max_val, "psnr")) - log(error)) * (10 / math.log(10)), name)


def _largest(max_val: float, what: str) -> float:
    largest = number_of(max_val, f"{what}: max_val")
    if not largest > 0:
        raise InvalidArgumentError(f"{what}: max_val must be positive, got {largest}.")
    return largest


@lru_cache(64)
def _gaussian(size: int, sigma: float) -> Any:
    weights = np.exp(-0.5 * ((np.arange(size) - (size - 1) / 2) / sigma) ** 2)
    return (weights / weights.sum()).astype(np.float32)


def _maps(x: Tensor, y: Tensor, what: str, max_val: float, size: int, sigma: float, k1: float, k2: float,
          ) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the similarity, and its part without luminance, of each window of images (n, h, w, c)."""
    _, h, w, c = x._held.shape
    if min(h, w) < size:
        raise ShapeMismatch(f"{what}: a window of {size} by {size} pixels is larger than images of {h} by {w}. "
                            "Try a smaller filter_size.")
    line = np.repeat(_gaussian(size, sigma), c)  # the window is a product: rows first, then columns
    means = depthwise_conv2d(concat([x, y, x * y, x * x + y * y], axis=0), constant(line.reshape(size, 1, c, 1)))
    means = depthwise_conv2d(means, constant(line.reshape(1, size, c, 1)))
    mean_x, mean_y, product, squares = split(means, 4, axis=0)
    both, alone = mean_x * mean_y * 2.0, mean_x * mean_x + mean_y * mean_y
    c1, c2 = [(number_of(k, f"{what}: {name}") * max_val) ** 2 for name, k in (("k1", k1), ("k2", k2))]
    structure = (product * 2.0 - both + c2) / (squares - alone + c2)
    return (both + c1) / (alone + c1) * structure, structure


def _settings(max_val: float, filter_size: int, filter_sigma: float, what: str) -> tuple[float, int, float]:
    sigma = number_of(filter_sigma, f"{what}: filter_sigma")
    if not sigma > 0:
        raise InvalidArgumentError(f"{what}: filter_sigma must be positive, got {sigma}.")
    return _largest(max_val, what), as_integer(filter_size, f"{what}: filter_size", 1), sigma


def ssim(img1: TensorLike, img2: TensorLike, max_val: float, filter_size: int = 11, filter_sigma: float = 1.5,
         k1: float = 0.01, k2: float = 0.03, return_index_map: bool = False) -> Tensor:
    x, y = _alike(img1, img2, "ssim")
    *batch, h, w, c = x._held.shape
    n = math.prod(batch)
    x, y = reshape(x, (n, h, w, c)), reshape(y, (n, h, w, c))
    found, _ = _maps(x, y, "ssim", *_settings(max_val, filter_size, filter_sigma, "ssim"), k1, k2)
    made = reduce_mean(found, axis=-1) if return_index_map else reduce_mean(found, axis=(1, 2, 3))
    return reshape(made, (*batch, *made._held.shape[1:]))


_FACTORS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Of the scales, the finest first: what Wang, Simoncelli and Bovik found by asking people."""


def ssim_multiscale(img1: TensorLike, img2: TensorLike, max_val: float, power_factors: Sequence[float] = _FACTORS,
                    filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> Tensor:
    what = "ssim_multiscale"
    settings = _settings(max_val, filter_size, filter_sigma, what)
    x, y = _alike(img1, img2, what)
    *batch, h, w, c = x._held.shape
    n = math.prod(batch)
    powers = [number_of(power, f"{what}: power_factors[{i}]")
              for i, power in enumerate(listed(power_factors, f"{what}: power_factors"))]
    both, made = concat([reshape(x, (n, h, w, c)), reshape(y, (n, h, w, c))], axis=0), None
    for scale, power in enumerate(powers):
        if scale:  # edges of odd lengths are repeated
            rest = [[0, 0], *[[0, length % 2] for length in both._held.shape[1:3]], [0, 0]]
            both = avg_pool2d(pad(both, rest, "SYMMETRIC"), 2)
        first, second = split(both, 2, axis=0)
        found, structure = _maps(first, second, what, *settings, k1, k2)
        part = relu(reduce_mean(structure if scale < len(powers) - 1 else found, axis=(1, 2))) ** power
        made = part if made is None else made * part
    if made is None:
        raise InvalidArgumentError(f"{what}: power_factors must hold a number for each scale, got none.")
    return reshape(reduce_mean(made, axis=-1), tuple(batch))


_PAIR = "img1, img2 (*b, h, w, c) -> (*b)"
document((
    (psnr, "The peak signal-to-noise ratio in decibels: 10 log₁₀(max_val² / mean squared error).",
     "a, b (*b, h, w, c) -> (*b)", "that of the logarithm of the mean squared error",
     ">>> print(lab.image.psnr([[[0.0]]], [[[0.1]]], max_val=1.0))\nTensor(20.0, shape=(), dtype=float32)",
     "Images are compared in float32; `max_val` is the difference of the largest and the smallest possible value."),
    (ssim, "Structural similarity (Wang et al. 2004), 1 for equal images: the mean over all windows and channels.",
     _PAIR, "that of the formula",
     ">>> image = lab.reshape(lab.range(256.0), (1, 16, 16, 1)) / 255.0\n"
     ">>> print(lab.image.ssim(image, image * 0.8, max_val=1.0).numpy().round(3))\n[0.953]",
     "With μ the means, σ² the variances and σ₁₂ the covariance under a Gaussian window of `filter_size` pixels:\n"
     "(2 μ₁μ₂ + c₁) (2 σ₁₂ + c₂) / ((μ₁² + μ₂² + c₁) (σ₁² + σ₂² + c₂)), where c₁ = (k1 max_val)² and\n"
     "c₂ = (k2 max_val)².  `return_index_map` gives the mean over channels for each window, (*b, h', w')."),
    (ssim_multiscale, "Structural similarity over scales, each of half the size (Wang, Simoncelli and Bovik 2003).",
     _PAIR, "that of the formula",
     ">>> image = lab.reshape(lab.range(1024.0), (1, 32, 32, 1)) / 1023.0\n"
     ">>> print(lab.image.ssim_multiscale(image, image * 0.8, 1.0, power_factors=[0.5, 0.5]).numpy().round(3))\n"
     "[0.967]",
     "The product over scales of the second factor of `ssim`, and at the last scale of all of it, each raised to its\n"
     "power; negative factors count as 0.  Images must have `filter_size` pixels at the last scale."),
), "summary shapes derivative example notes", dtypes="any real", raises=("shape", "argument", "convert"))
