"""Images: arrays (*batch, height, width, channels).

`adjust_contrast` deliberately has no gradient: a sweep through it raises LookupError, as for any op without a rule,
until one is added with `RegisterGradient`.  The other functions are composed of ops that have rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.op import UNREGISTERED
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, ShapeMismatch
from autodiff_lab.kernels.arrays import beside
from autodiff_lab.kernels.base.halves import in_float32
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.ops.math.arithmetic import abs, add
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


@in_float32
def _adjust_contrast(image: Any, factor: Any) -> Any:
    if not image.size:
        return image.copy()
    mean = np.mean(image, axis=(-3, -2), keepdims=True, dtype=image.dtype)
    return (image - mean) * factor + mean


contrast = general(
    "adjust_contrast", _adjust_contrast, UNREGISTERED, shared=True, symbol="contrast",
    latex=r"({0} - \overline{{{0}}}) \cdot {1} + \overline{{{0}}}", locals_latex=("?", "?"),
    sentence="stretches {0} about the mean of each channel by {1}", registered="AdjustContrastv2", stacked=False,
    doc="The kernel-level change of contrast; `lab.image.adjust_contrast` is the public function.")


def images_of(value: Any, what: str) -> Tensor:
    """Return images as a tensor; `what` names the function that asks.

    Raises
    ------
    ShapeMismatch
        If there are fewer than three axes.
    """
    tensor = convert(value)
    if tensor._held.ndim < 3:
        raise ShapeMismatch(f"{what}: expected an image (..., height, width, channels), got shape "
                            f"{tensor._held.shape}. Try lab.reshape or lab.expand_dims(image, -1).")
    return tensor


def _floating(value: Any, what: str) -> Tensor:
    tensor = images_of(value, what)
    if not tensor.dtype.is_floating:
        raise DtypeMismatch(f"{what}: expected a floating-point image, got {tensor.dtype.name}. "
                            "Try lab.cast(image, lab.float32) / 255.0.")
    return tensor


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    image = _floating(images, "adjust_contrast")
    factor = convert(contrast_factor, image)
    if factor._held.ndim:
        raise ShapeMismatch(f"adjust_contrast: contrast_factor must be a scalar, got shape {factor._held.shape}.")
    if factor._held.dtype != image._held.dtype:
        raise DtypeMismatch(f"adjust_contrast: dtypes {image.dtype.name} of the image and {factor.dtype.name} of the "
                            f"factor differ. Try lab.cast(factor, lab.{image.dtype.name}).")
    return contrast(image, factor)


@structured(by_element=True)
def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    return add(_floating(image, "adjust_brightness"), delta)


def flip_left_right(image: TensorLike) -> Tensor:
    return images_of(image, "flip_left_right")[..., ::-1, :]


def flip_up_down(image: TensorLike) -> Tensor:
    return images_of(image, "flip_up_down")[..., ::-1, :, :]


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    image = _floating(images, "rgb_to_grayscale")
    if image._held.shape[-1] != 3:
        raise ShapeMismatch(f"rgb_to_grayscale: expected 3 channels on the last axis, got shape {image._held.shape}.")
    weights = np.array([[0.2989], [0.587], [0.114]])  # ITU-R BT.601: the perceived brightness of red, green and blue
    return named(matmul(image, beside(image._held, weights.astype(image._held.dtype))), name)


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    image = _floating(images, "total_variation")
    down = abs(image[..., 1:, :, :] - image[..., :-1, :, :])
    right = abs(image[..., :, 1:, :] - image[..., :, :-1, :])
    return named(reduce_sum(down, axis=(-3, -2, -1)) + reduce_sum(right, axis=(-3, -2, -1)), name)


_IMAGE = "images (*b, h, w, c) -> (*b, h, w, c)"
for _function, _words, _shapes, _derivative, _example in (
    (adjust_contrast, "Scale the contrast of images about the mean of each channel: (x - mean) * factor + mean.",
     _IMAGE, "none: a sweep raises LookupError until a gradient is registered",
     ">>> print(lab.image.adjust_contrast([[[0.0], [1.0]]], 0.5)[..., 0])\n"
     "Tensor([[0.25 0.75]], shape=(1, 2), dtype=float32)"),
    (adjust_brightness, "Add a number to every value of an image.", _IMAGE, "1 for the image and for delta",
     ">>> print(lab.image.adjust_brightness([[[0.0], [0.5]]], 0.25)[..., 0])\n"
     "Tensor([[0.25 0.75]], shape=(1, 2), dtype=float32)"),
    (flip_left_right, "Mirror images: the first column becomes the last.", _IMAGE, "the mirrored g",
     ">>> print(lab.image.flip_left_right([[[1.0], [2.0]]])[..., 0])\n"
     "Tensor([[2. 1.]], shape=(1, 2), dtype=float32)"),
    (flip_up_down, "Flip images upside down: the first row becomes the last.", _IMAGE, "the flipped g",
     ">>> print(lab.image.flip_up_down([[[1.0]], [[2.0]]])[..., 0, 0])\n"
     "Tensor([2. 1.], shape=(2,), dtype=float32)"),
    (rgb_to_grayscale, "Convert colour images to grayscale: 0.2989 red + 0.587 green + 0.114 blue (ITU-R BT.601).",
     "images (*b, h, w, 3) -> (*b, h, w, 1)", "the weight of each channel",
     ">>> print(lab.image.rgb_to_grayscale([[[1.0, 0.0, 0.0]]]))\n"
     "Tensor([[[0.2989]]], shape=(1, 1, 1), dtype=float32)"),
    (total_variation, "Sum of the absolute differences between neighbouring pixels: small for smooth images.",
     "images (*b, h, w, c) -> (*b)", "the sign of each difference",
     ">>> print(lab.image.total_variation([[[0.0], [1.0], [3.0]]]))\nTensor(3.0, shape=(), dtype=float32)"),
):
    _function.__doc__ = doc(_words, shapes=_shapes, derivative=_derivative, example=_example,
                            raises=("shape", "dtypes", "convert"))
