"""Layers that prepare data: scaling by given numbers, and normalization by the statistics of a data set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from autodiff_lab.engine.convert import constant
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.checks import axes_in_order
from autodiff_lab.ops.math.arithmetic import maximum, sqrt

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, IntsLike, TensorLike


class Rescaling(Layer):
    """``x * scale + offset``, such as ``Rescaling(1 / 255)`` for images of bytes.

    Parameters
    ----------
    scale, offset : float or sequence of float
        One number, or one for each entry of the last axis.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Rescaling(0.5, offset=-1)([0, 4]))
    Tensor([-1.  1.], shape=(2,), dtype=float32)
    """

    several = False
    floating = True

    def __init__(
        self, scale: TensorLike, offset: TensorLike = 0.0, name: str | None = None, **more: Unpack[LayerOptions]
    ) -> None:
        super().__init__(name, **more)
        self.scale, self.offset = scale, offset

    def call(self, x: Tensor) -> Tensor:
        whole = cast(x, self.dtype)
        return whole * self.scale + self.offset


class Normalization(Layer):
    """Subtract a mean and divide by a standard deviation: numbers given, or those of the data passed to `adapt`.

    Parameters
    ----------
    axis : int, sequence of int or None
        Axes whose entries have a mean and a variance of their own; None for one of each.
    mean, variance : float or array, optional
        Instead of `adapt`.
    invert : bool
        Whether the layer undoes the normalization.

    Raises
    ------
    InvalidArgumentError
        If only one of mean and variance is given, or the layer is called before `adapt`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.Normalization()
    >>> layer.adapt([[0.0], [2.0]])
    >>> print(layer([[1.0], [3.0]]))
    Tensor([[0.]
     [2.]], shape=(2, 1), dtype=float32)
    """

    several = False
    floating = True

    def __init__(self, axis: IntsLike = -1, mean: TensorLike | None = None, variance: TensorLike | None = None,
                 invert: bool = False,
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        if (mean is None) != (variance is None):
            raise InvalidArgumentError("Normalization: mean and variance must be given together. Try adapt(data).")
        self.axis, self.invert = axis, invert
        self._numbers = None if mean is None else (mean, variance)
        self.mean: Any = None
        self.variance: Any = None

    def _kept(self, rank: int) -> tuple[int, ...]:
        if self.axis is None:
            return ()
        return tuple(sorted(axis + rank for axis in axes_in_order(self.axis, rank, "Normalization")))

    def build(self, input_shape: InputShape) -> None:
        kept = self._kept(len(input_shape))
        shape = tuple(n if axis in kept else 1 for axis, n in enumerate(input_shape))
        if self._numbers is None:
            self.mean = self.add_weight("mean", shape, "zeros", trainable=False)
            self.variance = self.add_weight("variance", shape, "ones", trainable=False)
        else:
            self.mean, self.variance = (
                constant(np.broadcast_to(np.asarray(given, self.dtype), shape)) for given in self._numbers
            )

    def adapt(self, data: TensorLike | Iterable[TensorLike]) -> None:
        """Take the mean and the variance of data: an array, or an iterable of batches such as a dataset.

        Raises
        ------
        InvalidArgumentError
            If there is no data.
        """
        if self._numbers is not None:
            raise InvalidArgumentError("Normalization: mean and variance were given, so there is nothing to adapt.")
        batches: Any = [data] if hasattr(data, "__array__") or isinstance(data, (list, tuple)) else data
        count, total, squares = 0, 0.0, 0.0
        shape: tuple[int, ...] = ()
        for batch in batches:
            array = np.asarray(batch, np.float64)
            kept = self._kept(array.ndim)
            axes = tuple(axis for axis in range(array.ndim) if axis not in kept)
            size = array.size // max(1, int(np.prod([array.shape[axis] for axis in kept])))
            mean = array.mean(axes, keepdims=True) if size else np.zeros(())
            # as in Chan, Golub & LeVeque 1979: sums of squares around the means of the parts
            apart = mean - total / count if count else 0.0
            squares = squares + ((array - mean) ** 2).sum(axes, keepdims=True)
            squares = squares + np.square(apart) * (count * size / max(count + size, 1))
            total, count, shape = total + mean * size, count + size, array.shape
        if not count:
            raise InvalidArgumentError("Normalization: adapt was given no data.")
        if not self.built:
            self.ensure_built(np.empty(shape, self.dtype))
        self.mean.assign(np.reshape(total / count, self.mean.shape).astype(self.dtype))
        self.variance.assign(np.reshape(squares / count, self.variance.shape).astype(self.dtype))

    def call(self, x: Tensor) -> Tensor:
        whole = cast(x, self.dtype)
        deviation = maximum(sqrt(self.variance), 1e-7)
        return whole * deviation + self.mean if self.invert else (whole - self.mean) / deviation
