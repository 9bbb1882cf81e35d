"""Gradient clipping by norm, for the `clipnorm` and `global_clipnorm` of optimizers.

No norm is read back: gradients are multiplied by a factor that is 1 where nothing is to be done, so that a trace sees
all ops and a GPU does not wait.
"""

from __future__ import annotations

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.math.arithmetic import divide
from autodiff_lab.ops.math.clipping import global_norm


def clipped_by_norm(gradients: list[Tensor], limit: float) -> list[Tensor]:
    """Clip each tensor to a norm of at most `limit`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(clipped_by_norm([lab.constant([3.0, 4.0])], 1.0)[0])
    Tensor([0.6 0.8], shape=(2,), dtype=float32)
    """
    return [_shortened(g, limit, global_norm([g])) for g in gradients]


def clipped_by_global_norm(gradients: list[Tensor], limit: float) -> list[Tensor]:
    """Clip tensors to a joint norm of at most `limit`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [float(g) for g in clipped_by_global_norm([lab.constant(3.0), lab.constant(4.0)], 2.5)]
    [1.5, 2.0]
    """
    whole = global_norm([cast(g, "float64") if g.dtype.is_floating else g for g in gradients])
    return [_shortened(g, limit, whole) for g in gradients]


def _shortened(g: Tensor, limit: float, norm: Tensor) -> Tensor:
    length = cast(norm, "float64")
    return g * cast(where(length > limit, divide(limit, length), 1.0), g.dtype)
