"""Losses as functions: one number for each example, as defined by the classes in `losses` and `distances`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Unpack

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.layers import distances, losses
from autodiff_lab.layers.losses import OfEveryLoss

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

_DOC = """{summary} of each example, as `lab.losses.{kind}` computes it before taking the mean.

    Parameters
    ----------
    y_true, y_pred : Tensor
        {shapes}, both floating, or integer labels.
    options
        Those of `lab.losses.{kind}`, such as {options}.

    Returns
    -------
    Tensor
        Shape (*b).

    Raises
    ------
    ShapeMismatch
        If labels and predictions do not fit.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.{name}({example}).shape)
    (2,)
    """
_SAME, _PAIRS = "Shape (*b, n)", "[[0.0, 1.0], [1.0, 0.0]], [[0.2, 0.8], [0.5, 0.5]]"


class _OfHuber(OfEveryLoss, total=False):
    delta: float


class _OfSimilarity(OfEveryLoss, total=False):
    axis: int


class _OfProbabilities(_OfSimilarity, total=False):
    from_logits: bool
    label_smoothing: float


class _OfClassNumbers(_OfSimilarity, total=False):
    from_logits: bool
    ignore_class: int | None


class _Loss(Protocol):
    def __call__(self, y_true: TensorLike, y_pred: TensorLike, **options: Unpack[OfEveryLoss]) -> Tensor: ...


class _Huber(Protocol):
    def __call__(self, y_true: TensorLike, y_pred: TensorLike, **options: Unpack[_OfHuber]) -> Tensor: ...


class _Similarity(Protocol):
    def __call__(self, y_true: TensorLike, y_pred: TensorLike, **options: Unpack[_OfSimilarity]) -> Tensor: ...


class _Crossentropy(Protocol):
    def __call__(self, y_true: TensorLike, y_pred: TensorLike, **options: Unpack[_OfProbabilities]) -> Tensor: ...


class _SparseCrossentropy(Protocol):
    def __call__(self, y_true: TensorLike, y_pred: TensorLike, **options: Unpack[_OfClassNumbers]) -> Tensor: ...


def _function(name: str, kind: type[losses.Loss], summary: str, options: str = "`name`", shapes: str = _SAME,
              example: str = _PAIRS) -> Any:  # fmt: skip
    def loss(y_true: TensorLike, y_pred: TensorLike, **options: object) -> Tensor:
        given: Any = options
        return kind(reduction=None, **given)(y_true, y_pred)

    loss.__name__ = loss.__qualname__ = name
    loss.__doc__ = _DOC.format(
        name=name, kind=kind.__name__, summary=summary, options=options, shapes=shapes, example=example
    )
    return loss


_LOGITS = "`from_logits=True`"
mean_squared_error: _Loss = _function("mean_squared_error", losses.MeanSquaredError, "Mean of the squared differences")
mean_absolute_error: _Loss = _function(
    "mean_absolute_error", losses.MeanAbsoluteError, "Mean of the absolute differences"
)
mean_absolute_percentage_error: _Loss = _function(
    "mean_absolute_percentage_error", distances.MeanAbsolutePercentageError, "Mean of the relative differences"
)
mean_squared_logarithmic_error: _Loss = _function(
    "mean_squared_logarithmic_error", distances.MeanSquaredLogarithmicError, "Mean squared difference of logarithms"
)
huber: _Huber = _function(
    "huber", losses.Huber, "Squares of small differences, absolute values of large ones", "`delta`"
)
log_cosh: _Loss = _function("log_cosh", distances.LogCosh, "Mean logarithm of the hyperbolic cosine of the differences")
hinge: _Loss = _function("hinge", distances.Hinge, "Mean of max(1 - y_true y_pred, 0)")
squared_hinge: _Loss = _function(
    "squared_hinge", distances.SquaredHinge, "Mean of the square of max(1 - y_true y_pred, 0)"
)
poisson: _Loss = _function("poisson", distances.Poisson, "Mean of y_pred - y_true log(y_pred)")
kl_divergence: _Loss = _function("kl_divergence", distances.KLDivergence, "Kullback-Leibler divergence")
cosine_similarity: _Similarity = _function(
    "cosine_similarity", distances.CosineSimilarity, "Minus the cosine of the angle between the vectors", "`axis`"
)
binary_crossentropy: _Crossentropy = _function(
    "binary_crossentropy", losses.BinaryCrossentropy, "Mean binary cross entropy", _LOGITS
)
categorical_crossentropy: _Crossentropy = _function(
    "categorical_crossentropy", losses.CategoricalCrossentropy, "Cross entropy of label distributions", _LOGITS
)
sparse_categorical_crossentropy: _SparseCrossentropy = _function(
    "sparse_categorical_crossentropy", losses.SparseCategoricalCrossentropy, "Cross entropy of class numbers",
    _LOGITS, "Labels (*b), predictions (*b, n)", "[1, 0], [[0.2, 0.8], [0.5, 0.5]]",
)  # fmt: skip
