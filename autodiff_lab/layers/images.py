"""Layers that bring images to one height and width; none has weights."""

from __future__ import annotations

from typing import Any, Unpack

from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers.calling import channels_last
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.joining import slice_axis
from autodiff_lab.ops.array.repeating import pad
from autodiff_lab.ops.checks import one_of
from autodiff_lab.ops.nn.resizing import METHODS, resized


class _ToSize(Layer):
    several = False
    floating = True

    def __init__(self, height: int, width: int, data_format: str | None, name: str | None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        channels_last(type(self), data_format)
        self.height = as_integer(height, f"{type(self).__name__}: height", 1)
        self.width = as_integer(width, f"{type(self).__name__}: width", 1)

    def sizes(self, x: Tensor) -> tuple[int, int]:
        """Return the height and width of images."""
        if x.ndim not in (3, 4):
            raise ShapeMismatch(f"{self.name}: expected an input (h, w, c) or (b, h, w, c), got {tuple(x.shape)}.")
        return x.shape[-3], x.shape[-2]

    def middle(self, x: Tensor, height: int, width: int) -> Tensor:
        """Return the middle of images."""
        for axis, kept, length in zip((-3, -2), (height, width), self.sizes(x), strict=True):
            start = (length - kept) // 2
            x = slice_axis(x, axis=axis, start=start, stop=start + kept)
        return x

    def of_its_ratio(self, h: int, w: int) -> tuple[int, int]:
        """Return the largest height and width within an image that have the ratio of those of the result."""
        return (max(1, min(h, int(w * self.height / self.width))), max(1, min(w, int(h * self.width / self.height))))


class Resizing(_ToSize):
    """Resize images: (b, h, w, c) -> (b, height, width, c); integers become floats.

    Parameters
    ----------
    height, width : int
        Those of the result.
    interpolation : str
        A method of `lab.image.resize`.
    crop_to_aspect_ratio, pad_to_aspect_ratio : bool
        Whether images are first cropped, or surrounded by `fill_value`, to the ratio of `height` and `width`; else
        they are distorted.
    fill_mode : str
        ``"constant"``, the only supported mode.
    antialias : bool
        Whether each pixel is a mean of all those that it replaces where images become smaller.

    Raises
    ------
    InvalidArgumentError
        If a size is not positive, the interpolation is unknown, or both cropping and padding are requested.
    ShapeMismatch
        If the input is not an image or a batch of images.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Resizing(1, 4)([[[[0.0], [1.0]]]]).numpy().ravel())
    [0.   0.25 0.75 1.  ]
    """

    def __init__(self, height: int, width: int, interpolation: str = "bilinear", crop_to_aspect_ratio: bool = False,
                 pad_to_aspect_ratio: bool = False, fill_mode: str = "constant", fill_value: float = 0.0,
                 antialias: bool = False, data_format: str | None = None, name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(height, width, data_format, name, **more)
        self.interpolation = one_of(interpolation, METHODS, "Resizing: interpolation")
        self.fill_mode, self.fill_value = one_of(fill_mode, ("constant",), "Resizing: fill_mode"), fill_value
        if crop_to_aspect_ratio and pad_to_aspect_ratio:
            raise InvalidArgumentError("Resizing: images can be cropped or padded to a ratio, not both. Set one of "
                                       "crop_to_aspect_ratio and pad_to_aspect_ratio to False.")  # fmt: skip
        self.crop_to_aspect_ratio, self.pad_to_aspect_ratio = crop_to_aspect_ratio, pad_to_aspect_ratio
        self.antialias = antialias

    def call(self, x: Any) -> Tensor:
        h, w = self.sizes(x)
        if self.crop_to_aspect_ratio:
            x = self.middle(x, *self.of_its_ratio(h, w))
        elif self.pad_to_aspect_ratio:
            above = max(0, int(w * self.height / self.width) - h) // 2
            before = max(0, int(h * self.width / self.height) - w) // 2
            around = [*[(0, 0)] * (x.ndim - 3), (above, above), (before, before), (0, 0)]
            x = pad(x, around, constant_values=self.fill_value)
        return resized(x, self.height, self.width, self.interpolation, self.antialias)


class CenterCrop(_ToSize):
    """Crop the middle of images: (b, h, w, c) -> (b, height, width, c); smaller images are resized first.

    Parameters
    ----------
    height, width : int
        Those of the result.

    Raises
    ------
    InvalidArgumentError
        If a size is not positive.
    ShapeMismatch
        If the input is not an image or a batch of images.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.CenterCrop(1, 2)([[[[0.0], [1.0], [2.0], [3.0]]]]).numpy().ravel())
    [1. 2.]
    """

    def __init__(self, height: int, width: int, data_format: str | None = None, name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(height, width, data_format, name, **more)

    def call(self, x: Any) -> Tensor:
        h, w = self.sizes(x)
        if h >= self.height and w >= self.width:
            return self.middle(x, self.height, self.width)
        return resized(self.middle(x, *self.of_its_ratio(h, w)), self.height, self.width, "bilinear")
