"""Images of another size: resized, cropped, padded.

The weights of `resize` are those of TensorFlow 2: pixels have their centres at halves, and weights of pixels beyond the
edges are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from autodiff_lab.engine.convert import constant, convert
from autodiff_lab.engine.shape import as_integer, as_integers, flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras.families.image import images_of
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import gather_nd, where
from autodiff_lab.ops.array.joining import stack
from autodiff_lab.ops.array.repeating import pad
from autodiff_lab.ops.array.shaping import broadcast_to, expand_dims, reshape
from autodiff_lab.ops.checks import number_of, one_of
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.comparison import ceil, floor, logical_and
from autodiff_lab.ops.math.elementary import clip_by_value
from autodiff_lab.ops.nn.resizing import METHODS, resized

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike


class ResizeMethod:
    """Names of the methods of `resize`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.image.ResizeMethod.BICUBIC
    'bicubic'
    """

    AREA = "area"
    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    GAUSSIAN = "gaussian"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    MITCHELLCUBIC = "mitchellcubic"
    NEAREST_NEIGHBOR = "nearest"


def _real(x: Tensor, what: str) -> Tensor:
    """Return images of real numbers as float32."""
    if x.dtype.is_complex or x.dtype.name == "string":
        raise DtypeMismatch(f"{what}: expected an image of real numbers, got {x.dtype.name}. Try lab.math.real.")
    return cast(x, "float32")


def _to_size(x: Tensor, height: int, width: int, method: str, antialias: bool, what: str) -> Tensor:
    """Return images of a height and width, float32 unless they are only picked from."""
    if one_of(method, METHODS, f"{what}: method") != "nearest":
        x = _real(x, what)
    return resized(x, height, width, method, flag(antialias, f"{what}: antialias"))


def _positive(value: object, what: str) -> int:
    return as_integer(value, what, 1)


def resize(images: TensorLike, size: IntsLike, method: str = "bilinear", preserve_aspect_ratio: bool = False,
           antialias: bool = False, name: str | None = None) -> Tensor:
    x = images_of(images, "resize")
    lengths = as_integers(size, "resize: size")
    if len(lengths) != 2 or min(lengths) < 1:
        raise InvalidArgumentError(f"resize: size must be a positive height and width, got {lengths}.")
    height, width = lengths
    if flag(preserve_aspect_ratio, "resize: preserve_aspect_ratio"):
        h, w = x._held.shape[-3:-1]
        scale = min(height / max(h, 1), width / max(w, 1))
        height, width = max(1, round(scale * h)), max(1, round(scale * w))
    return named(_to_size(x, height, width, method, antialias, "resize"), name)


def resize_with_pad(image: TensorLike, target_height: int, target_width: int, method: str = "bilinear",
                    antialias: bool = False) -> Tensor:
    x = images_of(image, "resize_with_pad")
    height, width = (_positive(n, f"resize_with_pad: target_{what}")
                     for n, what in ((target_height, "height"), (target_width, "width")))
    h, w = x._held.shape[-3:-1]
    if w * height >= h * width:  # the width is what limits the scale
        small, top, left = (max(1, h * width // max(w, 1)), width), (height * w - h * width) // max(2 * w, 1), 0
    else:
        small, top, left = (height, max(1, w * height // h)), 0, (width * h - w * height) // (2 * h)
    made = _to_size(x, *small, method, antialias, "resize_with_pad")
    return pad_to_bounding_box(made, top, left, height, width)


def crop_to_bounding_box(image: TensorLike, offset_height: int, offset_width: int, target_height: int,
                         target_width: int) -> Tensor:
    x = images_of(image, "crop_to_bounding_box")
    (top, height), (left, width) = _box("crop_to_bounding_box", offset_height, offset_width, target_height,
                                        target_width)
    h, w = x._held.shape[-3:-1]
    if top + height > h or left + width > w:
        raise ShapeMismatch(f"crop_to_bounding_box: rows {top} to {top + height} and columns {left} to {left + width} "
                            f"do not lie in an image of {h} by {w} pixels.")
    return x[..., top:top + height, left:left + width, :]


def pad_to_bounding_box(image: TensorLike, offset_height: int, offset_width: int, target_height: int,
                        target_width: int) -> Tensor:
    x = images_of(image, "pad_to_bounding_box")
    (top, height), (left, width) = _box("pad_to_bounding_box", offset_height, offset_width, target_height, target_width)
    h, w = x._held.shape[-3:-1]
    below, right = height - top - h, width - left - w
    if below < 0 or right < 0:
        raise ShapeMismatch(f"pad_to_bounding_box: an image of {h} by {w} pixels at {(top, left)} does not lie in one "
                            f"of {height} by {width}.")
    if not (top or left or below or right):
        return x
    return pad(x, [*[[0, 0]] * (x._held.ndim - 3), [top, below], [left, right], [0, 0]])


def _box(what: str, top: object, left: object, height: object, width: object) -> tuple[tuple[int, int], ...]:
    return tuple([(as_integer(offset, f"{what}: offset_{side}", 0), _positive(length, f"{what}: target_{side}"))
                  for offset, length, side in ((top, height, "height"), (left, width, "width"))])


def resize_with_crop_or_pad(image: TensorLike, target_height: int, target_width: int) -> Tensor:
    x = images_of(image, "resize_with_crop_or_pad")
    h, w = x._held.shape[-3:-1]
    height, width = (_positive(n, f"resize_with_crop_or_pad: target_{what}")
                     for n, what in ((target_height, "height"), (target_width, "width")))
    top, left = max((h - height) // 2, 0), max((w - width) // 2, 0)
    part = x[..., top:top + height, left:left + width, :]
    above, before = max((height - h) // 2, 0), max((width - w) // 2, 0)
    return pad_to_bounding_box(part, above, before, height, width)


def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    x, kept = images_of(image, "central_crop"), number_of(central_fraction, "central_crop: central_fraction")
    if not 0 < kept <= 1:
        raise InvalidArgumentError(f"central_crop: central_fraction must be in (0, 1], got {kept}.")
    h, w = x._held.shape[-3:-1]
    top, left = int((h - h * kept) / 2), int((w - w * kept) / 2)
    return x[..., top:h - top, left:w - left, :] if top or left else x


def _places(starts: Tensor, stops: Tensor, count: int, length: int) -> Tensor:
    """Return where `count` pixels of each box lie on an axis of an image, from 0 to length - 1."""
    if count == 1:
        return expand_dims((starts + stops) * (0.5 * (length - 1)), -1)
    steps = constant(np.linspace(0.0, 1.0, count), starts.dtype)
    return (expand_dims(starts, -1) + expand_dims(stops - starts, -1) * steps) * float(length - 1)


def crop_and_resize(image: TensorLike, boxes: TensorLike, box_indices: TensorLike, crop_size: IntsLike,
                    method: str = "bilinear", extrapolation_value: float = 0.0, name: str | None = None) -> Tensor:
    what = "crop_and_resize"
    x, corners, numbers = _real(images_of(image, what), what), cast(boxes, "float32"), convert(box_indices)
    sizes = as_integers(crop_size, f"{what}: crop_size")
    one_of(method, ("bilinear", "nearest"), f"{what}: method")
    if len(sizes) != 2 or min(sizes) < 1:
        raise InvalidArgumentError(f"{what}: crop_size must be a positive height and width, got {sizes}.")
    count = numbers._held.shape[0] if numbers._held.ndim == 1 else -1
    if x._held.ndim != 4 or corners._held.shape != (count, 4):
        raise ShapeMismatch(f"{what}: expected images (b, h, w, c), boxes (n, 4) and their images (n,), got shapes "
                            f"{x._held.shape}, {corners._held.shape} and {numbers._held.shape}.")
    found = []
    for axis in (0, 1):
        length, first = x._held.shape[1 + axis], corners[:, axis]
        at = _places(first, corners[:, 2 + axis], sizes[axis], length)
        at = reshape(at, (count, -1, 1) if axis == 0 else (count, 1, -1))
        inside = logical_and(at >= 0.0, at <= length - 1.0)
        at = clip_by_value(at, 0.0, max(length - 1.0, 0.0))
        low = floor(at + 0.5 if method == "nearest" else at)
        found.append((inside, at - low, low, low if method == "nearest" else ceil(at)))
    (inside, down, top, bottom), (within, along, left, right) = found
    of_image = reshape(cast(numbers, "int32"), (count, 1, 1))

    def picked(row: Tensor, column: Tensor) -> Tensor:
        places = [broadcast_to(cast(n, "int32"), (count, *sizes)) for n in (of_image, row, column)]
        return gather_nd(x, stack(places, axis=-1))

    made = picked(top, left)
    if method == "bilinear":
        down, along = expand_dims(down, -1), expand_dims(along, -1)
        upper = made + (picked(top, right) - made) * along
        lower = picked(bottom, left)
        lower += (picked(bottom, right) - lower) * along
        made = upper + (lower - upper) * down
    beyond = number_of(extrapolation_value, f"{what}: extrapolation_value")
    return named(where(expand_dims(logical_and(inside, within), -1), made, beyond), name)


_WHOLE = "images (*b, h, w, c) -> (*b, h', w', c)"
document((
    (resize, "Images of another height and width: each pixel is a weighted mean of those around its place.", _WHOLE,
     "the weight of each pixel",
     ">>> print(lab.image.resize([[[0.0], [1.0]]], [1, 4])[0, :, 0])\n"
     "Tensor([0.   0.25 0.75 1.  ], shape=(4,), dtype=float32)",
     "The result is float32; with `nearest` it has the dtype of the images.  Methods are those of `ResizeMethod`: "
     "`nearest`,\n`bilinear`, `bicubic` (Keys 1981, a = -1/2), `area` (the mean over the area of a pixel), `lanczos3`, "
     "`lanczos5`,\n`gaussian`, `mitchellcubic` (Mitchell and Netravali 1988).  Pixel j of m lies at n (j + 1/2) / m "
     "of n; weights of\npixels beyond the edges are left out, and the others divided by their sum.  `antialias` "
     "stretches the weights by\nn / m where images become smaller, except for `nearest` and `area`; "
     "`preserve_aspect_ratio` keeps the ratio of height and width,\nand makes images as large as fits into the size."),
    (resize_with_pad, "Images resized to fit in a height and width, with zeros around them.", _WHOLE,
     "the weight of each pixel",
     ">>> print(lab.image.resize_with_pad([[[1.0], [1.0]]], 2, 2)[..., 0])\n"
     "Tensor([[1. 1.]\n [0. 0.]], shape=(2, 2), dtype=float32)", "Methods are those of `resize`."),
    (crop_and_resize, "Boxes of images, each resized to one height and width by its nearest pixels or `bilinear`.",
     "image (b, h, w, c), boxes (n, 4), box_indices (n) -> (n, h', w', c)",
     "the weight of each pixel; for boxes, the difference of pixels, 0 where one is met exactly",
     ">>> print(lab.image.crop_and_resize([[[[0.0], [1.0], [2.0]]]], [[0, 0, 0, 0.5]], [0], [1, 3])[0, 0, :, 0])\n"
     "Tensor([0.  0.5 1. ], shape=(3,), dtype=float32)",
     "A box is [y1, x1, y2, x2], of which 0 is the middle of the first pixel and 1 that of the last.  What lies "
     "outside is\n`extrapolation_value`."),
), "summary shapes derivative example notes", dtypes="any real", raises=("shape", "argument", "real", "convert"))
document((
    (resize_with_crop_or_pad, "The middle of images, cropped or surrounded by zeros to a height and width.", _WHOLE,
     "1 for the pixels that are kept",
     ">>> print(lab.image.resize_with_crop_or_pad([[[1], [2], [3]]], 1, 1)[0, 0])\n"
     "Tensor([2], shape=(1,), dtype=int32)"),
    (crop_to_bounding_box, "The part of images that begins at an offset and has a height and width.", _WHOLE,
     "1 for the pixels that are kept",
     ">>> print(lab.image.crop_to_bounding_box([[[1], [2], [3]]], 0, 1, 1, 2)[..., 0])\n"
     "Tensor([[2 3]], shape=(1, 2), dtype=int32)"),
    (pad_to_bounding_box, "Images at an offset in larger ones of zeros.", _WHOLE, "1 for the pixels of the images",
     ">>> print(lab.image.pad_to_bounding_box([[[1], [2]]], 0, 1, 1, 4)[..., 0])\n"
     "Tensor([[0 1 2 0]], shape=(1, 4), dtype=int32)"),
    (central_crop, "The middle of images: a fraction of their height and of their width.", _WHOLE,
     "1 for the pixels that are kept",
     ">>> print(lab.image.central_crop([[[1], [2], [3], [4]]], 0.5)[0, :, 0])\n"
     "Tensor([2 3], shape=(2,), dtype=int32)"),
), dtypes="any", raises=("shape", "argument", "convert"))
