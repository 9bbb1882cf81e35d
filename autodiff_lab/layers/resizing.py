"""Layers that permute, repeat, pad and crop axes; none has weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers.calling import channels_last, check_rank
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.joining import pad_axis, slice_axis
from autodiff_lab.ops.array.shaping import broadcast_to, reshape, transpose
from autodiff_lab.ops.checks import one_of
from autodiff_lab.ops.nn.resizing import METHODS, resized

Pairs = tuple[tuple[int, int], ...]


def _pairs(value: Any, rank: int, name: str) -> Pairs:
    """Return a pair for each axis, given one number, one per axis, or pairs."""
    parts: list[Any] = [value] * rank if isinstance(value, int) else list(value)
    if rank == 1 and len(parts) == 2 and all(isinstance(p, int) for p in parts):
        parts = [tuple(parts)]
    found = tuple((p, p) if isinstance(p, int) else tuple(p) for p in parts)
    if len(found) != rank or any(len(p) != 2 or min(p) < 0 for p in found):
        raise InvalidArgumentError(f"{name}: {value!r} is not a number, or a pair of numbers, for each of {rank} axes.")
    return tuple((int(low), int(high)) for low, high in found)


class _Padding(Layer):
    several = False
    rank = 0

    def __init__(self, padding: Any = 1, data_format: str | None = None, name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        channels_last(type(self), data_format, self.rank)
        self.padding = _pairs(padding, self.rank, type(self).__name__)

    def call(self, x: Any) -> Tensor:
        check_rank(x, self.rank, self.name)
        for axis, (before, after) in enumerate(self.padding):
            x = pad_axis(x, axis=axis - self.rank - 1, before=before, after=after)
        return x


class ZeroPadding1D(_Padding):
    """Pad with zeros before and after: (b, n, c) -> (b, n + p + q, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.ZeroPadding1D(2)(lab.ones((1, 3, 1))).shape
    TensorShape([1, 7, 1])
    """

    rank = 1


class ZeroPadding2D(_Padding):
    """Pad with zeros around: (b, h, w, c) -> (b, h + p + q, w + r + s, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.ZeroPadding2D(((1, 0), (2, 2)))(lab.ones((1, 3, 3, 1))).shape
    TensorShape([1, 4, 7, 1])
    """

    rank = 2


class _Cropping(Layer):
    several = False
    rank = 0

    def __init__(self, cropping: Any = None, data_format: str | None = None, name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        channels_last(type(self), data_format, self.rank)
        cropping = int(self.rank == 1) if cropping is None else cropping  # Keras's defaults, which differ by rank
        self.cropping = _pairs(cropping, self.rank, type(self).__name__)

    def call(self, x: Any) -> Tensor:
        check_rank(x, self.rank, self.name)
        for axis, (before, after) in enumerate(self.cropping):
            length = x.shape[axis + 1]
            if before + after > length:
                raise ShapeMismatch(f"{self.name}: {before} and {after} cannot be cut from an axis of {length}.")
            x = slice_axis(x, axis=axis - self.rank - 1, start=before, stop=length - after)
        return x


class Cropping1D(_Cropping):
    """Crop both ends: (b, n, c) -> (b, n - p - q, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Cropping1D(1)(lab.ones((1, 5, 1))).shape
    TensorShape([1, 3, 1])
    """

    rank = 1


class Cropping2D(_Cropping):
    """Crop the edges: (b, h, w, c) -> (b, h - p - q, w - r - s, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Cropping2D(1)(lab.ones((1, 5, 4, 1))).shape
    TensorShape([1, 3, 2, 1])
    """

    rank = 2


class _Repeating(Layer):
    several = False
    rank = 0

    def __init__(self, size: Any = 2, data_format: str | None = None, name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        channels_last(type(self), data_format, self.rank)
        self.size = (size,) * self.rank if isinstance(size, int) else tuple(int(n) for n in size)
        if len(self.size) != self.rank or min(self.size) < 1:
            raise InvalidArgumentError(f"{type(self).__name__}: {size!r} is not a positive number for each axis.")

    def call(self, x: Any) -> Tensor:
        check_rank(x, self.rank, self.name)
        batch, *spatial, channels = x.shape
        opened, spread, whole = [batch], [batch], [batch]
        for n, k in zip(spatial, self.size, strict=True):
            opened += [n, 1]
            spread += [n, k]
            whole.append(n * k)
        return reshape(broadcast_to(reshape(x, [*opened, channels]), [*spread, channels]), [*whole, channels])


class UpSampling1D(_Repeating):
    """Repeat each step: (b, n, c) -> (b, n·k, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.UpSampling1D(2)(lab.constant([[[1.0], [2.0]]])).numpy().ravel())
    [1. 1. 2. 2.]
    """

    rank = 1


class UpSampling2D(_Repeating):
    """Repeat each point, or interpolate between points: (b, h, w, c) -> (b, h·k, w·m, c).

    Parameters
    ----------
    size : int or pair of int
        k and m.
    interpolation : str
        ``"nearest"``, which repeats, or another method of `lab.image.resize`, such as ``"bilinear"``.

    Raises
    ------
    InvalidArgumentError
        If a size is not positive, or the interpolation is unknown.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.UpSampling2D((2, 3))(lab.ones((1, 4, 4, 1))).shape
    TensorShape([1, 8, 12, 1])
    >>> print(lab.layers.UpSampling2D((1, 2), interpolation="bilinear")([[[[0.0], [1.0]]]]).numpy().ravel())
    [0.   0.25 0.75 1.  ]
    """

    rank = 2

    def __init__(self, size: int | Sequence[int] = 2, data_format: str | None = None, interpolation: str = "nearest",
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(size, data_format, name, **more)
        self.interpolation = one_of(interpolation, METHODS, "UpSampling2D: interpolation")
        self.floating = self.interpolation != "nearest"  # which repeats integers as they are

    def call(self, x: Any) -> Tensor:
        if self.interpolation == "nearest":
            return super().call(x)
        check_rank(x, self.rank, self.name)
        return resized(x, x.shape[1] * self.size[0], x.shape[2] * self.size[1], self.interpolation)


class Permute(Layer):
    """Permute the axes after the first, counted from 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.Permute((2, 1))(lab.zeros((5, 3, 4))).shape
    TensorShape([5, 4, 3])
    """

    several = False

    def __init__(self, dims: Sequence[int], name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.dims = tuple(int(d) for d in dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise InvalidArgumentError(f"Permute: {dims!r} is not a permutation of the axes 1 to {len(self.dims)}.")

    def call(self, x: Tensor) -> Tensor:
        return transpose(x, (0, *self.dims))


class RepeatVector(Layer):
    """Repeat a vector along a new axis: (b, c) -> (b, n, c).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.layers.RepeatVector(3)(lab.zeros((5, 4))).shape
    TensorShape([5, 3, 4])
    """

    several = False

    def __init__(self, n: int, name: str | None = None, **more: Unpack[LayerOptions]) -> None:
        super().__init__(name, **more)
        self.n = int(n)

    def call(self, x: Tensor) -> Tensor:
        if x.ndim != 2:
            raise ShapeMismatch(f"{self.name}: expected an input (b, c), got shape {tuple(x.shape)}.")
        batch, channels = x.shape
        return broadcast_to(reshape(x, (batch, 1, channels)), (batch, self.n, channels))
