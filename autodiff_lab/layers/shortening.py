"""Gradients that are too long, made shorter: what optimizers do for `clipnorm` and `global_clipnorm`.

No norm is read: gradients are multiplied by a factor that is 1 where nothing is to be done, so that a trace hears all
of it and a GPU goes on.
"""

from __future__ import annotations

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.math.arithmetic import divide
from autodiff_lab.ops.math.clipping import global_norm


def shortened_each(gradients: list[Tensor], limit: float) -> list[Tensor]:
    """Tensors, each of a norm of `limit` at most.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(shortened_each([lab.constant([3.0, 4.0])], 1.0)[0])
    Tensor([0.6 0.8], shape=(2,), dtype=float32)
    """
    return [_shortened(g, limit, global_norm([g])) for g in gradients]


def shortened_together(gradients: list[Tensor], limit: float) -> list[Tensor]:
    """Tensors that together have a norm of `limit` at most.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [float(g) for g in shortened_together([lab.constant(3.0), lab.constant(4.0)], 2.5)]
    [1.5, 2.0]
    """
    whole = global_norm([cast(g, "float64") if g.dtype.is_floating else g for g in gradients])
    return [_shortened(g, limit, whole) for g in gradients]


def _shortened(g: Tensor, limit: float, norm: Tensor) -> Tensor:
    length = cast(norm, "float64")
    return g * cast(where(length > limit, divide(limit, length), 1.0), g.dtype)
