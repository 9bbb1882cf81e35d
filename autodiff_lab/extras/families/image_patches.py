"""Patches of images, one vector of pixels each."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import constant
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.extras.families.image import images_of
from autodiff_lab.kernels.convolution.reference import Sizes, fits, out_sizes
from autodiff_lab.ops.array.gathering import gather
from autodiff_lab.ops.array.repeating import pad
from autodiff_lab.ops.array.shaping import reshape, transpose
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.nn.convolution import paddings, too_large
from autodiff_lab.ops.nn.convolution import sizes as two_of

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, PaddingLike, TensorLike


@lru_cache(64)
def _pixels(width: int, out: Sizes, window: Sizes, steps: Sizes, holes: Sizes) -> Any:
    """Return the pixels of each patch, (*out, *window), counted along the rows of an image."""
    rows, columns = (np.arange(m)[:, None] * step + np.arange(k) * hole
                     for m, k, step, hole in zip(out, window, steps, holes, strict=True))
    return rows[:, None, :, None] * width + columns[:, None, :]


def extract_patches(images: TensorLike, sizes: IntsLike, strides: IntsLike, rates: IntsLike, padding: PaddingLike,
                    name: str | None = None) -> Tensor:
    x = images_of(images, "extract_patches")
    if x._held.ndim != 4:
        raise ShapeMismatch(f"extract_patches: expected images (b, h, w, c), got shape {x._held.shape}.")
    window, steps, holes = (two_of(numbers, 2, f"extract_patches: {what}")
                            for numbers, what in ((sizes, "sizes"), (strides, "strides"), (rates, "rates")))
    around = paddings(padding, x._held.shape[1:3], window, steps, holes)
    out = out_sizes(x._held.shape[1:3], window, steps, around, holes)
    if not fits(x._held.shape[1:3], out):
        raise too_large("extract_patches", window, holes, x._held.shape[1:3])
    if any(map(any, around)):
        x = pad(x, [(0, 0), *around, (0, 0)])
    b, h, w, c = x._held.shape
    shape = (b, *out, window[0] * window[1] * c)
    if window == steps and holes == (1, 1):  # side by side
        tiled = reshape(x[:, :out[0] * window[0], :out[1] * window[1]], (b, out[0], window[0], out[1], window[1], c))
        return reshape(transpose(tiled, (0, 1, 3, 2, 4, 5)), shape, name=name)
    places = constant(_pixels(w, out, window, steps, holes))
    return named(reshape(gather(reshape(x, (b, h * w, c)), places, axis=1), shape), name)


extract_patches.__doc__ = doc(
    "The pixels in each position of a window: a convolution without its filter, such as the patches of a transformer.",
    shapes="images (b, h, w, c), sizes, strides, rates [1, rows, columns, 1] -> (b, h', w', rows · columns · c)",
    dtypes="any", derivative="1 for each pixel in each patch that holds it", raises=("shape", "argument", "convert"),
    notes="A patch holds its pixels row by row, and the channels of each; `rates` are the distances of its pixels,\n"
          "`strides` those of patches.  `padding` is 'VALID', or 'SAME', which adds zeros around images.",
    example=">>> images = lab.reshape(lab.range(9), (1, 3, 3, 1))\n"
            ">>> print(lab.image.extract_patches(images, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')[0, 1])\n"
            "Tensor([[3 4 6 7]\n [4 5 7 8]], shape=(2, 4), dtype=int32)")
