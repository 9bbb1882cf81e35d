"""The keywords that every layer takes after its own: type checkers report a misspelt one where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, NameOrCallable, ShapeLike


class OfWeights(TypedDict, total=False):
    """Regularizers and constraints by the name of the weight; a layer refuses those of weights that it lacks."""

    alpha_regularizer: NameOrCallable
    alpha_constraint: NameOrCallable
    beta_regularizer: NameOrCallable
    beta_constraint: NameOrCallable
    bias_regularizer: NameOrCallable
    bias_constraint: NameOrCallable
    depthwise_regularizer: NameOrCallable
    depthwise_constraint: NameOrCallable
    embeddings_regularizer: NameOrCallable
    embeddings_constraint: NameOrCallable
    gamma_regularizer: NameOrCallable
    gamma_constraint: NameOrCallable
    kernel_regularizer: NameOrCallable
    kernel_constraint: NameOrCallable
    pointwise_regularizer: NameOrCallable
    pointwise_constraint: NameOrCallable
    recurrent_regularizer: NameOrCallable
    recurrent_constraint: NameOrCallable


class LayerOptions(OfWeights, total=False):
    """Arguments that every layer has after its own."""

    trainable: bool
    dtype: DTypeLike | None
    input_shape: ShapeLike | None
    input_dim: int | None
    activity_regularizer: NameOrCallable


class WithDropout(LayerOptions, total=False):
    """Those, and what the recurrent layers have after their own."""

    dropout: float
    recurrent_dropout: float
    name: str | None


class RecurrenceOptions(WithDropout, total=False):
    """Those, and how the weights of a recurrent layer or cell are initialized."""

    kernel_initializer: NameOrCallable
    recurrent_initializer: NameOrCallable
    bias_initializer: NameOrCallable
