"""Constraints: functions that an optimizer applies to a weight after each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.layers.configured import Configured, made_from
from autodiff_lab.ops.math.arithmetic import maximum, minimum, sqrt, square
from autodiff_lab.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, NameOrCallable, TensorLike

_EPSILON = 1e-7


class Constraint(Configured):
    """Base of constraints: a subclass maps a weight to the nearest one allowed.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Rounded(lab.keras.constraints.Constraint):
    ...     def __call__(self, w):
    ...         return lab.round(w)
    >>> print(Rounded()(lab.constant([0.4, 1.6])))
    Tensor([0. 2.], shape=(2,), dtype=float32)
    """

    def __call__(self, w: TensorLike) -> Tensor:
        """Return the weight that is allowed."""
        raise NotImplementedError


class NonNeg(Constraint):
    """Negative weights become 0.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.keras.constraints.NonNeg()([-1.0, 2.0]))
    Tensor([0. 2.], shape=(2,), dtype=float32)
    """

    def __call__(self, w: TensorLike) -> Tensor:
        return maximum(convert(w), 0.0)


class MinMaxNorm(Constraint):
    """Scale vectors along an axis so that their norms lie in an interval.

    Parameters
    ----------
    min_value, max_value : float
        The interval.
    rate : float
        1 enforces it; smaller numbers move towards it at each step.
    axis : int or sequence of int
        Over which the norm is taken: 0 for the kernel of a dense layer, whose columns belong to the units.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.keras.constraints.MinMaxNorm(0.0, 1.0)([[3.0], [4.0]]).numpy().round(3).tolist())
    [[0.6000000238418579], [0.800000011920929]]
    """

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: IntsLike = 0) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: TensorLike) -> Tensor:
        weight = convert(w)
        norms = sqrt(reduce_sum(square(weight), axis=self.axis, keepdims=True))
        wanted = minimum(maximum(norms, self.min_value), self.max_value)
        return weight * ((wanted * self.rate + norms * (1.0 - self.rate)) / (norms + _EPSILON))


class MaxNorm(MinMaxNorm):
    """Scale vectors along an axis down to a largest norm.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.keras.constraints.MaxNorm(10.0)([[3.0], [4.0]]).numpy().round(3).tolist())
    [[3.0], [4.0]]
    """

    def __init__(self, max_value: float = 2.0, axis: IntsLike = 0) -> None:
        super().__init__(0.0, max_value, 1.0, axis)


class UnitNorm(MinMaxNorm):
    """Scale vectors along an axis to norm 1.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.keras.constraints.UnitNorm()([[3.0], [4.0]]).numpy().round(3).tolist())
    [[0.6000000238418579], [0.800000011920929]]
    """

    def __init__(self, axis: IntsLike = 0) -> None:
        super().__init__(1.0, 1.0, 1.0, axis)


_BY_NAME: dict[str, type[Constraint]] = {
    "non_neg": NonNeg,
    "min_max_norm": MinMaxNorm,
    "max_norm": MaxNorm,
    "unit_norm": UnitNorm,
}
_KNOWN = {cls.__name__: cls for cls in _BY_NAME.values()} | _BY_NAME


def get(identifier: NameOrCallable) -> Callable[[Any], Any] | None:
    """Return the constraint for a name or a dict of class name and settings; others are returned as they are.

    Raises
    ------
    InvalidArgumentError
        If there is none with that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> type(lab.keras.constraints.get("non_neg")).__name__
    'NonNeg'
    """
    return made_from(identifier, _KNOWN, "constraint", _BY_NAME)
