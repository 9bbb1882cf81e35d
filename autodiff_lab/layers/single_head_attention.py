"""Attention of one head without projections: `Attention` with the scores of Luong, `AdditiveAttention` of Bahdanau."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers.attention import bools, causal, weights_of
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.array.shaping import expand_dims
from autodiff_lab.ops.linalg.products import matmul, matvec
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.ops.math.trigonometric import tanh
from autodiff_lab.ops.nn.spatial import dropout as dropped

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, MaybeResult, TensorLike


class Attention(Layer):
    """``softmax(q kᵀ) v``, dot-product attention of one head: Luong, Pham & Manning 2015.

    Called with a list [query (b, t, d), value (b, s, e)] or [query, value, key (b, s, d)], where the key is the value
    if it is left out, it returns (b, t, e).

    Parameters
    ----------
    use_scale : bool
        Whether the scores are multiplied by a weight `scale`, a scalar that starts at 1.
    score_mode : {'dot', 'concat'}
        With 'concat' the scores are the sums of tanh(q + k) along the last axis, times a weight `concat_score_weight`,
        a scalar; `scale` is then applied to q + k.
    dropout : float
        Fraction of the attention weights that is dropped in training.
    seed : int, optional
        Makes the dropout repeatable.

    Raises
    ------
    InvalidArgumentError
        If `score_mode` is unknown, the rate is not in [0, 1), or inputs or masks are not lists of two or three.
    ShapeMismatch
        If an input does not have three axes, or queries, keys and values do not fit.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.Attention()
    >>> query, value = lab.ones((2, 3, 4)), lab.ones((2, 5, 4))
    >>> mask = [None, lab.constant([[True] * 5, [True, True, False, False, False]])]
    >>> result, scores = layer([query, value], mask=mask, return_attention_scores=True)
    >>> print(result.shape, scores[1, 0].numpy())
    (2, 3, 4) [0.5 0.5 0.  0.  0. ]
    """

    several = True
    floating = True
    scale: Variable | None = None
    concat_score_weight: Variable

    def __init__(self, use_scale: bool = False, score_mode: str = "dot", dropout: float = 0.0, seed: int | None = None,
                 name: str | None = None, **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        if score_mode not in ("dot", "concat"):
            raise InvalidArgumentError(f"{self.name}: score_mode must be 'dot' or 'concat', got {score_mode!r}.")
        if not 0 <= dropout < 1:
            raise InvalidArgumentError(f"{self.name}: the dropout rate must be in [0, 1), got {dropout}.")
        self.use_scale, self.score_mode, self.dropout, self.seed = use_scale, score_mode, dropout, seed

    def build(self, input_shape: InputShape) -> None:
        self._check(input_shape)
        if self.use_scale:
            self.scale = self.add_weight("scale", (), "ones")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight("concat_score_weight", (), "ones")

    def _check(self, given: Any) -> None:
        """Check that shapes are those of a query, a value and perhaps a key."""
        if not isinstance(given, (list, tuple)) or len(given) not in (2, 3) or isinstance(given[0], int | None):
            raise InvalidArgumentError(
                f"{self.name}: expected [query, value] or [query, value, key]. Try layer([x, x])."
            )
        query, value, key = given if len(given) == 3 else (*given, given[1])
        pairs = [(query[:1], value[:1]), (key[:2], value[:2]), (query[2:], key[2:])]
        if any(len(shape) != 3 for shape in given) or not all(_may_be_equal(a, b) for a, b in pairs):
            raise ShapeMismatch(
                f"{self.name}: expected a query (b, t, d), a value (b, s, e) and a key (b, s, d), or a value (b, s, d) "
                f"alone, got {', '.join(str(tuple(shape)) for shape in given)}."
            )

    def call(self, inputs: Sequence[TensorLike], mask: Sequence[TensorLike | None] | None = None,
             training: bool = False, return_attention_scores: bool = False,
             use_causal_mask: bool = False) -> Tensor | MaybeResult:  # fmt: skip
        """Attend from each step of the query to the steps of the value.

        `mask` is [query_mask (b, t), value_mask (b, s)], either of which may be None: values are attended to where it
        is true, and results of queries are zero where it is false. With `use_causal_mask` each step attends to itself
        and to those before it. With `return_attention_scores` the weights (b, t, s) are returned as well.
        """
        given: Any = inputs
        self._check([x.shape for x in given] if isinstance(given, (list, tuple)) else given)
        if mask is not None and (not isinstance(mask, (list, tuple)) or len(mask) not in (2, 3)):
            raise InvalidArgumentError(f"{self.name}: mask must be [query_mask, value_mask]. Try None for one of them.")
        of_query, of_value = (None, None) if mask is None else mask[:2]
        query, value, key = given[0], given[1], given[-1]
        scores = self._scores(query, key)
        masks = [] if of_value is None else [self._mask(of_value, value, 1)]
        weights = weights_of(scores, [*masks, causal(scores)] if use_causal_mask else masks)
        kept = dropped(weights, self.dropout, seed=self.seed) if training and self.dropout else weights
        result = matmul(kept, value)
        if of_query is not None:
            result = where(self._mask(of_query, query, 2), result, 0.0)
        return (result, weights) if return_attention_scores else result

    def _mask(self, mask: Any, x: Any, axis: int) -> Tensor:
        """Return the mask of queries or values with a further axis."""
        found = bools(mask, axis)
        if tuple(found.shape) != (*x.shape[:axis], 1, *x.shape[axis:2]):
            raise ShapeMismatch(
                f"{self.name}: expected a mask (b, time) = {tuple(x.shape[:2])}, got {tuple(bools(mask).shape)}."
            )
        return found

    def _scores(self, query: Any, key: Any) -> Tensor:
        """Return how well each query fits each key, (b, t, s)."""
        if self.score_mode == "dot":
            scores = matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        total = _pairs(query, key)
        return reduce_sum(tanh(total if self.scale is None else total * self.scale), -1) * self.concat_score_weight


class AdditiveAttention(Attention):
    """``softmax(Σ scale · tanh(q + k)) v``, additive attention of one head: Bahdanau, Cho & Bengio 2015.

    Called with a list [query (b, t, d), value (b, s, d)] or [query, value (b, s, e), key (b, s, d)] it returns (b, t,
    d) or (b, t, e). Masks and the other arguments of a call are those of `Attention`.

    Parameters
    ----------
    use_scale : bool
        Whether the elements of tanh(q + k) are multiplied by a weight `scale` (d) before they are added.
    dropout : float
        Fraction of the attention weights that is dropped in training.
    seed : int, optional
        Makes the dropout repeatable.

    Raises
    ------
    InvalidArgumentError, ShapeMismatch
        As `Attention`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.AdditiveAttention()
    >>> layer([lab.ones((2, 3, 4)), lab.ones((2, 5, 4))]).shape, layer.scale.shape
    (TensorShape([2, 3, 4]), TensorShape([4]))
    """

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, seed: int | None = None, name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(use_scale, "dot", dropout, seed, name, **more)

    def build(self, input_shape: InputShape) -> None:
        self._check(input_shape)
        if self.use_scale:
            shapes: Any = input_shape
            self.scale = self.add_weight("scale", (shapes[0][-1],))

    def _scores(self, query: Any, key: Any) -> Tensor:
        each = tanh(_pairs(query, key))
        return reduce_sum(each, -1) if self.scale is None else matvec(each, self.scale)


def _pairs(query: Any, key: Any) -> Tensor:
    """Return the sum of each query and each key, (b, t, s, d)."""
    return expand_dims(query, 2) + expand_dims(key, 1)


def _may_be_equal(lengths: Any, others: Any) -> bool:
    """Return whether lengths are the same; None, in a symbolic shape, is any length."""
    return all(a == b or a is None or b is None for a, b in zip(lengths, others, strict=True))
