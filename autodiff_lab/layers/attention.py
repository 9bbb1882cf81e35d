"""Multi-head attention: Vaswani et al. 2017, "Attention is all you need"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, Unpack

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.layers.calling import shapes
from autodiff_lab.layers.dropout import Dropout
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.options import LayerOptions
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.array.sequences import range as integers
from autodiff_lab.ops.array.shaping import expand_dims, reshape, transpose
from autodiff_lab.ops.linalg.products import matmul
from autodiff_lab.ops.math.comparison import less_equal, logical_and
from autodiff_lab.ops.nn.activations import softmax

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import InputShape, MaybeResult, NameOrCallable, TensorLike


class MultiHeadAttention(Layer):
    """``softmax(q kᵀ / sqrt(key_dim)) v`` in several heads, whose results are projected to one vector.

    Parameters
    ----------
    num_heads, key_dim : int
        Number of heads, and length of the queries and keys in each.
    value_dim : int, optional
        Length of the values in each head, `key_dim` by default.
    dropout : float
        Fraction of the attention weights that is dropped in training.
    use_bias : bool
        Whether the four projections have a bias.
    output_shape : int, optional
        Length of the result, that of the query by default.
    kernel_initializer, bias_initializer : str or Initializer

    Shapes: query (b, t, d), value (b, s, e) and key (b, s, e) -> (b, t, d); attention scores (b, heads, t, s).

    Raises
    ------
    ShapeMismatch
        If an input does not have three axes, or the mask does not fit.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> layer = lab.layers.MultiHeadAttention(num_heads=2, key_dim=4)
    >>> x = lab.ones((3, 5, 8))
    >>> layer(x, x).shape, layer.count_params()
    (TensorShape([3, 5, 8]), 288)
    """

    floating = True
    query_kernel: Variable
    key_kernel: Variable
    value_kernel: Variable
    output_kernel: Variable
    query_bias: Variable
    key_bias: Variable
    value_bias: Variable
    output_bias: Variable

    def __init__(self, num_heads: int, key_dim: int, value_dim: int | None = None, dropout: float = 0.0,
                 use_bias: bool = True, output_shape: int | None = None,
                 kernel_initializer: NameOrCallable = "glorot_uniform",
                 bias_initializer: NameOrCallable = "zeros", name: str | None = None,
                 **more: Unpack[LayerOptions]) -> None:  # fmt: skip
        super().__init__(name, **more)
        self.num_heads = as_integer(num_heads, "MultiHeadAttention: num_heads", 1)
        self.key_dim = as_integer(key_dim, "MultiHeadAttention: key_dim", 1)
        self.value_dim = (
            self.key_dim if value_dim is None else as_integer(value_dim, "MultiHeadAttention: value_dim", 1)
        )
        self.use_bias, self.width = use_bias, output_shape
        self.dropping = Dropout(dropout)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer

    def build(self, input_shape: InputShape) -> None:
        self._build_for(input_shape, input_shape, input_shape)

    def _build_for(self, query: Any, value: Any, key: Any) -> None:
        for given in (query, value, key):
            if len(given) != 3:
                raise ShapeMismatch(f"{self.name}: expected inputs (b, time, c), got shape {tuple(given)}.")
        heads, width = self.num_heads, query[-1] if self.width is None else self.width
        for name, length, size in (("query", query[-1], self.key_dim), ("key", key[-1], self.key_dim),
                                   ("value", value[-1], self.value_dim)):  # fmt: skip
            setattr(self, f"{name}_kernel", self._weight(name, "kernel", (length, heads, size)))
            if self.use_bias:
                setattr(self, f"{name}_bias", self._weight(name, "bias", (heads, size)))
        self.output_kernel = self._weight("attention_output", "kernel", (heads, self.value_dim, width))
        if self.use_bias:
            self.output_bias = self._weight("attention_output", "bias", (width,))
        self.built = True

    def _weight(self, part: str, kind: str, shape: tuple[int, ...]) -> Variable:
        return self.add_weight(f"{part}/{kind}", shape, getattr(self, f"{kind}_initializer"))

    def _projected(self, x: Any, name: str) -> Tensor:
        """Return the queries, keys or values of all heads, (b, heads, time, size)."""
        kernel: Variable = getattr(self, f"{name}_kernel")
        length, heads, size = kernel._held.shape
        flat = matmul(x, reshape(kernel, (length, heads * size)))
        if self.use_bias:
            flat = flat + reshape(getattr(self, f"{name}_bias"), (heads * size,))
        return transpose(reshape(flat, (*x.shape[:2], heads, size)), [0, 2, 1, 3])

    def call(self, query: Tensor, value: Tensor, key: Tensor | None = None, query_mask: Tensor | None = None,
             value_mask: Tensor | None = None, key_mask: Tensor | None = None, attention_mask: Tensor | None = None,
             return_attention_scores: bool = False, training: bool = False,
             use_causal_mask: bool = False) -> Any:  # fmt: skip
        """Attend from each step of `query` to the steps of `value`.

        Masks are true where there is something to attend to: `attention_mask` (b, t, s), the others (b, t) or (b, s).
        """
        key = value if key is None else key
        q, k, v = (self._projected(x, name) for x, name in ((query, "query"), (key, "key"), (value, "value")))
        scores = matmul(q * (1.0 / math.sqrt(self.key_dim)), k, transpose_b=True)
        if attention_mask is not None:
            self._check_mask(attention_mask, scores)
        masks = self._masks(query_mask, value_mask, key_mask, attention_mask)
        weights = weights_of(scores, [*masks, causal(scores)] if use_causal_mask else masks)
        mixed = matmul(self.dropping(weights, training=training), v)
        heads, size, width = self.output_kernel._held.shape
        joined = reshape(transpose(mixed, [0, 2, 1, 3]), (query.shape[0], query.shape[1], heads * size))
        result = matmul(joined, reshape(self.output_kernel, (heads * size, width)))
        result = result + self.output_bias if self.use_bias else result
        return (result, weights) if return_attention_scores else result

    def _check_mask(self, mask: Any, scores: Tensor) -> None:
        """Raise if a mask does not have a value for each pair of a step of `query` and one of `value`."""
        found, (batch, _, rows, columns) = tuple(convert(mask).shape), scores.shape
        if len(found) < 2 or found[-2] not in (1, rows) or found[-1] not in (1, columns):
            raise ShapeMismatch(
                f"{self.name}: expected an attention_mask of shape (b, t, s) = {(batch, rows, columns)}, got shape "
                f"{found}. Try mask[:, lab.newaxis, :] for a mask (b, s) of what is attended to."
            )

    def _masks(self, query_mask: Any, value_mask: Any, key_mask: Any, attention_mask: Any) -> list[Tensor]:
        """Return where attention is allowed, each (b or 1, 1 or heads, t or 1, s or 1)."""
        parts = [
            bools(mask, *axes)
            for mask, axes in ((query_mask, (1, 3)), (value_mask, (1, 2)), (key_mask, (1, 2))) if mask is not None
        ]  # fmt: skip
        if attention_mask is not None:
            part = bools(attention_mask)
            parts.append(part if part.ndim == 4 else reshape(part, (-1, 1, *part.shape[-2:])))
        return parts

    def __call__(
        self, inputs: TensorLike | Mapping[str, TensorLike] | None = None, *args: object, **kwargs: object
    ) -> Tensor | MaybeResult:
        """Build if necessary, for the widths of query, value and key, then run `call`."""
        given: Any = kwargs.pop("query", None) if inputs is None else inputs
        if given is None:
            raise InvalidArgumentError(f"{self.name}: expected a query and a value. Try layer(x, x).")
        value = args[0] if args else kwargs.get("value")
        if not self.built and value is not None:
            key = args[1] if len(args) > 1 else kwargs.get("key")
            self._build_for(*(shapes(x) for x in (given, value, value if key is None else key)))
        return super().__call__(given, *args, **kwargs)


def bools(mask: Any, *axes: int) -> Tensor:
    """Return a mask as bools, with new axes of length 1.

    Examples
    --------
    >>> print(bools([1, 0], 1).numpy().tolist())
    [[True], [False]]
    """
    made = cast(convert(mask), "bool")
    for axis in axes:
        made = expand_dims(made, axis)
    return made


def causal(scores: Tensor) -> Tensor:
    """Return the mask (t, s) for scores (..., t, s) that lets each step attend to itself and to those before it.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(causal(lab.zeros((1, 2, 3))).numpy().tolist())
    [[True, False, False], [True, True, False]]
    """
    rows, columns = scores.shape[-2:]
    return less_equal(integers(columns), expand_dims(integers(rows), 1))


def weights_of(scores: Tensor, masks: list[Tensor]) -> Tensor:
    """Return the attention weights: the softmax of the scores where all masks are true.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(weights_of(lab.zeros((1, 2)), [bools([True, False])]).numpy())
    [[1. 0.]]
    """
    if masks:
        lowest = convert(-1e9 if scores.dtype.name != "float16" else -3e4, scores)
        scores = where(reduce(logical_and, masks), scores, lowest)
    return softmax(scores)
