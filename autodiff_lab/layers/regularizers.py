"""Regularizers: penalties on weights that are added to the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.configured import Configured, made_from
from autodiff_lab.ops.array.creation import eye
from autodiff_lab.ops.array.shaping import reshape
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.ops.math.arithmetic import abs, maximum, sqrt, square
from autodiff_lab.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import NameOrCallable, TensorLike


class Regularizer(Configured):
    """Base of regularizers: a subclass maps a weight to a penalty, a scalar.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Centered(lab.keras.regularizers.Regularizer):
    ...     def __call__(self, x):
    ...         return lab.reduce_sum(x) ** 2
    >>> layer = lab.layers.Dense(1, kernel_regularizer=Centered(), kernel_initializer="ones")
    >>> _ = layer([[1.0, 2.0]])
    >>> [float(loss) for loss in layer.losses]
    [4.0]
    """

    def __call__(self, x: TensorLike) -> Tensor:
        """Return the penalty."""
        raise NotImplementedError


class L1L2(Regularizer):
    """``l1 * sum(|x|) + l2 * sum(x ** 2)``.

    Parameters
    ----------
    l1, l2 : float
        Factors, not negative.

    Raises
    ------
    InvalidArgumentError
        If a factor is negative or not a number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.keras.regularizers.L1L2(l1=1.0, l2=0.5)([1.0, -2.0]))
    Tensor(5.5, shape=(), dtype=float32)
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = _factor(l1, "l1"), _factor(l2, "l2")

    def __call__(self, x: TensorLike) -> Tensor:
        weight = convert(x)
        total = reduce_sum(abs(weight)) * self.l1 if self.l1 else None
        if self.l2 or total is None:
            squares = reduce_sum(square(weight)) * self.l2
            total = squares if total is None else total + squares
        return total


class L1(L1L2):
    """``l1 * sum(|x|)``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.keras.regularizers.L1(0.5)([1.0, -2.0]))
    Tensor(1.5, shape=(), dtype=float32)
    """

    def __init__(self, l1: float = 0.01) -> None:
        super().__init__(l1=l1)

    def get_config(self) -> dict[str, float]:
        """Return the settings."""
        return {"l1": self.l1}


class L2(L1L2):
    """``l2 * sum(x ** 2)``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.keras.regularizers.L2(0.5)([1.0, -2.0]))
    Tensor(2.5, shape=(), dtype=float32)
    """

    def __init__(self, l2: float = 0.01) -> None:
        super().__init__(l2=l2)

    def get_config(self) -> dict[str, float]:
        """Return the settings."""
        return {"l2": self.l2}


class OrthogonalRegularizer(Regularizer):
    """Penalize rows (or columns) of a matrix that are not orthogonal: ``factor * sum(|cos|)`` over pairs, halved.

    Parameters
    ----------
    factor : float
    mode : {'rows', 'columns'}

    Raises
    ------
    InvalidArgumentError
        If the mode is unknown, or the weight is not a matrix.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.keras.regularizers.OrthogonalRegularizer(1.0)([[1.0, 0.0], [0.0, 2.0]]))
    Tensor(0.0, shape=(), dtype=float32)
    """

    def __init__(self, factor: float = 0.01, mode: str = "rows") -> None:
        if mode not in ("rows", "columns"):
            raise InvalidArgumentError(f"OrthogonalRegularizer: mode must be 'rows' or 'columns', got {mode!r}.")
        self.factor, self.mode = _factor(factor, "factor"), mode

    def __call__(self, x: TensorLike) -> Tensor:
        weight = convert(x)
        if weight.ndim != 2:
            raise InvalidArgumentError(f"OrthogonalRegularizer: expected a matrix, got shape {tuple(weight.shape)}.")
        axis = 1 if self.mode == "rows" else 0
        lengths = sqrt(maximum(reduce_sum(square(weight), axis=axis), 1e-12))
        unit = weight / reshape(lengths, (-1, 1) if axis else (1, -1))
        cosines = matmul(unit, unit, transpose_b=True) if axis else matmul(unit, unit, transpose_a=True)
        count = cosines._held.shape[0]
        apart = abs(cosines * (1.0 - eye(count, dtype=weight.dtype)))
        return reduce_sum(apart) * (self.factor / (count * max(count - 1, 1)))


def _factor(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not number >= 0:
        raise InvalidArgumentError(f"regularizers: {what} must be a number that is not negative, got {value!r}.")
    return number


_BY_NAME: dict[str, type[Regularizer]] = {
    "l1": L1,
    "l2": L2,
    "l1_l2": L1L2,
    "orthogonal_regularizer": OrthogonalRegularizer,
}
_KNOWN = {cls.__name__: cls for cls in _BY_NAME.values()} | _BY_NAME


def get(identifier: NameOrCallable) -> Callable[[TensorLike], Tensor] | None:
    """Return the regularizer for a name or a dict of class name and settings; others are returned as they are.

    Raises
    ------
    InvalidArgumentError
        If there is none with that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.keras.regularizers.get("l2").get_config()
    {'l2': 0.01}
    """
    return made_from(identifier, _KNOWN, "regularizer", _BY_NAME)
