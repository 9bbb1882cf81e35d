"""Images of another height and width, by fixed weights; `lab.image.resize` and layers use it."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import tell_made
from autodiff_lab.kernels.arrays import beside
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.resizing import reference as kernel
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import gather_axis


def _work(x: Any, height: int, width: int, method: str, antialias: bool) -> float:
    """Return the work of resizing: NumPy takes some passes over the images, and over those that replace them."""
    return 4 * (x.size + x.size // max(1, x.shape[-3] * x.shape[-2]) * height * width)


METHODS = ("nearest", "area", *kernel.METHODS)
"""What images can be resized by."""
_FACTS: dict[str, Any] = {"locals_latex": (r"w",), "keeps": "nothing"}
resize_images = general(
    "resize", chosen("resize", kernel.resize, work=_work),
    lambda ops, g, out, x, height, width, **how: ops.resize_input(g, height=x.shape[-3], width=x.shape[-2], **how),
    symbol="resize", latex=r"\operatorname{{resize}}({0})", sentence="resizes the images {0}",
    doc="The kernel-level change of height and width; `lab.image.resize` is the public function.", **_FACTS)
resize_input = general(
    "resize_input", chosen("resize_input", kernel.resize_input, work=_work),
    lambda ops, g, out, u, height, width, **how: ops.resize(g, height=u.shape[-3], width=u.shape[-2], **how),
    symbol="resizeᵀ", latex=r"\operatorname{{resize}}^T({0})",
    sentence="gives each pixel of {0} to those it was made of",
    doc="The gradient of resizing; the rule of `resize` uses it.", **_FACTS)


def resized(images: Tensor, height: int, width: int, method: str, antialias: bool = False) -> Tensor:
    """Return images (*b, h, w, c) of another height and width, in their dtype; integers as float32, unless `nearest`.

    Raises
    ------
    InvalidArgumentError
        If there are no pixels to make an image of.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(resized(lab.constant([[[0.0], [1.0]]]), 1, 4, "bilinear")[0, :, 0])
    Tensor([0.   0.25 0.75 1.  ], shape=(4,), dtype=float32)
    """
    h, w = images._held.shape[-3:-1]
    if not (h and w):
        raise InvalidArgumentError(f"resize: images of {h} by {w} pixels have nothing to be resized.")
    if not images.dtype.is_floating:
        if method == "nearest":
            for axis, n, m in ((-3, h, height), (-2, w, width)):
                if n != m:
                    places = tell_made(wrap(beside(images._held, kernel.nearest(n, m))))
                    images = gather_axis(images, places, axis=axis, dense=True)
            return images
        images = cast(images, "float32")
    return resize_images(images, height=height, width=width, method=method,
                         antialias=antialias and method in kernel.METHODS)
