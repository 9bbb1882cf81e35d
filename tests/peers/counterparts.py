"""The torch counterpart of each op of the registry: functions of torch tensors and of the op's parameters.

Axes and parameters are those that rules use (negative axes, ``axes``, ``perm``), so that the samples of the table serve
here as well.  A counterpart raises NotImplementedError for a sample that torch cannot express.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
functional: Any = torch.nn.functional
Twin = Callable[..., Any]


def same(name: str) -> Twin:
    """Return torch's function of this name."""
    return getattr(torch, name)


def special(name: str) -> Twin:
    """Return a function of torch's special ones."""
    return getattr(torch.special, name)


def _pooled(x: Any, window: Any, strides: Any, padding: Any, pool: str, **more: Any) -> Any:
    rank = len(window)
    low, high = zip(*padding, strict=True)
    if low != high or any(2 * p > n for p, n in zip(low, window, strict=True)):
        raise NotImplementedError
    moved = torch.movedim(x, -1, 1)
    pooled = getattr(functional, f"{pool}_pool{rank}d")(moved, window, strides, low, **more)
    return torch.movedim(pooled, 1, -1)


def _convolved(x: Any, kernel: Any, strides: Any, padding: Any, dilations: Any) -> Any:
    rank = len(strides)
    pads = [side for pair in reversed(padding) for side in pair]
    moved = functional.pad(torch.movedim(x, -1, 1), pads)
    turned = torch.movedim(kernel, (-1, -2), (0, 1))
    if moved.shape[1] != turned.shape[1]:
        raise NotImplementedError
    found = getattr(functional, f"conv{rank}d")(moved, turned, None, strides, 0, dilations)
    return torch.movedim(found, 1, -1)


def _over(reduce: Callable[..., Any]) -> Twin:
    return lambda x, axes, keepdims: reduce(x, dim=axes, keepdim=keepdims) if axes else x


def _running(function: Callable[..., Any]) -> Twin:
    def run(x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
        if exclusive:
            raise NotImplementedError
        y = x.flip(axis) if reverse else x
        y = function(y, axis)
        return y.flip(axis) if reverse else y

    return run


def _product(x: Any, axes: Any, keepdims: bool) -> Any:
    for axis in axes:
        x = torch.prod(x, dim=axis, keepdim=True)
    return x if keepdims or not axes else x.squeeze(tuple(axes))


def _standard(x: Any, *scales: Any, axes: Any, epsilon: float) -> Any:
    """Rows alone, each with the same scale and offset, are torch's layer norm."""
    rows = tuple(x.shape[a] for a in axes)
    if not axes or axes != tuple(range(-len(axes), 0)) or any(tuple(scale.shape) != rows for scale in scales):
        raise NotImplementedError
    return functional.layer_norm(x, rows, *scales, eps=epsilon)


def _norm(x: Any, axes: Any, keepdims: bool) -> Any:
    return torch.linalg.vector_norm(x, dim=axes, keepdim=keepdims) if axes else x.abs()


def _gathered(x: Any, at: Any, axis: int) -> Any:
    taken = x.index_select(axis, at.ravel())
    place = x.ndim + axis
    return taken.reshape(*x.shape[:place], *at.shape, *x.shape[place + 1 :])


def _depthwise(x: Any, kernel: Any, strides: Any, padding: Any, dilations: Any) -> Any:
    rank, channels = len(strides), x.shape[-1]
    pads = [side for pair in reversed(padding) for side in pair]
    moved = functional.pad(torch.movedim(x, -1, 1), pads)
    turned = torch.movedim(kernel.flatten(-2).unsqueeze(-2), (-1, -2), (0, 1))
    found = getattr(functional, f"conv{rank}d")(moved, turned, None, strides, 0, dilations, channels)
    return torch.movedim(found, 1, -1)


def _band(x: Any, lower: int, upper: int) -> Any:
    x = x if lower < 0 else torch.triu(x, -lower)
    return x if upper < 0 else torch.tril(x, upper)


def _padded(x: Any, paddings: Any, value: float) -> Any:
    return functional.pad(x, [side for pair in reversed(paddings) for side in pair], value=value)


def _segments(x: Any, at: Any, count: int) -> Any:
    return torch.zeros((count, *x.shape[at.ndim :]), dtype=x.dtype).index_add(0, at.ravel(), x.flatten(0, at.ndim - 1))


def _columns(at: Any) -> Any:
    return tuple(at[..., k] for k in range(at.shape[-1]))


def _spectrum(name: str) -> Twin:
    def transform(x: Any, rank: int, length: int | None = None) -> Any:
        axes = tuple(range(-rank, 0))
        if length is None:
            return getattr(torch.fft, name)(x, dim=axes)
        return getattr(torch.fft, name)(x, s=[*x.shape[-rank:-1], length], dim=axes)

    return transform


def _polygamma(order: Any, x: Any) -> Any:
    if order.ndim:
        raise NotImplementedError
    return torch.polygamma(int(order), x)


SAME = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos", "cosh", "digamma",
    "divide", "erf", "erfc", "erfinv", "exp", "expm1", "floor", "lgamma", "log", "log1p", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "nextafter", "pow",
    "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "subtract", "tan",
    "tanh", "matmul", "xlogy", "igamma", "igammac",
]  # fmt: skip
SPECIAL = {
    "bessel_i0": "i0", "bessel_i0e": "i0e", "bessel_i1": "i1", "bessel_i1e": "i1e", "normal_cdf": "ndtr",
    "ndtri": "ndtri", "xlog1py": "xlog1py", "bessel_j0": "bessel_j0", "bessel_j1": "bessel_j1",
    "bessel_y0": "bessel_y0", "bessel_y1": "bessel_y1", "zeta": "zeta", "bessel_k0": "modified_bessel_k0",
    "bessel_k1": "modified_bessel_k1", "bessel_k0e": "scaled_modified_bessel_k0",
    "bessel_k1e": "scaled_modified_bessel_k1",
}  # fmt: skip

TWINS: dict[str, Twin] = {name: same(name) for name in SAME}
TWINS.update({name: special(theirs) for name, theirs in SPECIAL.items()})
TWINS.update({
    "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
    "greater_equal": torch.ge, "is_nan": torch.isnan, "is_inf": torch.isinf, "is_finite": torch.isfinite,
    "rint": torch.round, "floordiv": torch.floor_divide, "floormod": torch.remainder, "truncatemod": torch.fmod,
    "squared_difference": lambda x, y: (x - y) ** 2, "softsign": functional.softsign, "softplus": functional.softplus,
    "elu": functional.elu, "selu": functional.selu, "relu6": functional.relu6, "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"), "silu": functional.silu,
    "mish": functional.mish, "hard_sigmoid": functional.hardsigmoid, "hard_silu": functional.hardswish,
    "log_sigmoid": functional.logsigmoid, "truncatediv": lambda x, y: torch.trunc(x / y),
    "sigmoid_cross_entropy": lambda logits, labels: functional.binary_cross_entropy_with_logits(
        *torch.broadcast_tensors(logits, labels), reduction="none"
    ),
    "argmax": lambda x, axis: x.argmax(axis), "argmin": lambda x, axis: x.argmin(axis),
    "all": _over(torch.all), "any": _over(torch.any), "conj": torch.conj,
    "diag_part": lambda x, k: x.diagonal(k, -2, -1),
    "gather": _gathered,
    "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or, "bitwise_xor": torch.bitwise_xor,
    "invert": torch.bitwise_not,
    "leaky_relu": lambda x, alpha: functional.leaky_relu(x, negative_slope=alpha), "identity": torch.clone,
    "reshape": lambda x, shape: x.reshape(shape), "broadcast_to": lambda x, shape: x.broadcast_to(shape),
    "transpose": lambda x, perm: x.permute(list(perm)),
    "sum": _over(torch.sum), "mean": _over(torch.mean), "max": _over(torch.amax), "min": _over(torch.amin),
    "prod": _product, "logsumexp": _over(torch.logsumexp), "euclidean_norm": _norm,
    "cumsum": _running(torch.cumsum), "cumprod": _running(torch.cumprod),
    "cumulative_logsumexp": _running(torch.logcumsumexp),
    "softmax": lambda x, axis: torch.softmax(x, dim=axis), "standardize": _standard, "normalize": _standard,
    "log_softmax": lambda x, axis: torch.log_softmax(x, dim=axis),
    "concat": lambda *xs, axis: torch.cat(xs, axis), "stack": lambda *xs, axis: torch.stack(xs, axis),
    "where": torch.where, "take": lambda x, axis, index: x.select(axis, index),
    "slice_axis": lambda x, axis, start, stop: x.narrow(axis, start, stop - start),
    "clip": lambda x, low, high: torch.maximum(torch.minimum(x, high), low),
    "einsum": lambda *xs, inputs, output: torch.einsum(f"{','.join(inputs)}->{output}", *xs),
    "cross": lambda x, y: torch.linalg.cross(*torch.broadcast_tensors(x, y)),
    "solve": torch.linalg.solve, "cholesky": torch.linalg.cholesky, "expm": torch.linalg.matrix_exp,
    "det": torch.linalg.det, "inv": torch.linalg.inv,
    "qr": lambda x, full: tuple(torch.linalg.qr(x, mode="complete" if full else "reduced")),
    "slogdet": lambda x: tuple(torch.linalg.slogdet(x)),
    "eigh": lambda x: torch.linalg.eigh(x.tril() + x.tril(-1).mT)[0],
    "svd": lambda x, full: torch.linalg.svd(x, full_matrices=full)[1],
    "triangular_solve": lambda a, b, lower: torch.linalg.solve_triangular(a, b, upper=not lower),
    "depthwise": _depthwise, "band_part": _band, "pad": _padded, "angle": torch.angle, "real_part": torch.real,
    "left_shift": torch.bitwise_left_shift, "right_shift": torch.bitwise_right_shift,
    "eig": lambda x: torch.linalg.eig(x)[0],
    "segment_sum": _segments, "reverse": lambda x, axes: torch.flip(x, dims=axes),
    "repeat": lambda x, count, axis: x.repeat_interleave(count, axis),
    "roll": lambda x, shifts, axes: torch.roll(x, shifts, dims=axes), "tile": lambda x, multiples: x.repeat(multiples),
    "take_along": lambda x, at, axis: torch.take_along_dim(x, at.long(), axis),
    "gather_nd": lambda x, at: x[_columns(at)],
    "scatter_nd": lambda x, at, shape: torch.zeros(shape, dtype=x.dtype).index_put(_columns(at), x, accumulate=True),
    "tensor_scatter_nd_add": lambda x, y, at: x.index_put(_columns(at), y, accumulate=True),
    "tensor_scatter_nd_sub": lambda x, y, at: x.index_put(_columns(at), -y, accumulate=True),
    "tensor_scatter_nd_update": lambda x, y, at: x.index_put(_columns(at), y),
    "fft": _spectrum("fftn"), "ifft": _spectrum("ifftn"), "rfft": _spectrum("rfftn"), "irfft": _spectrum("irfftn"),
    "softmax_cross_entropy": lambda logits, labels: -(labels * torch.log_softmax(logits, -1)).sum(-1),
    "ctc_loss": lambda logits, labels, of_labels, of_logits, blank: torch.nn.functional.ctc_loss(
        torch.log_softmax(logits, -1), labels, of_logits.long(), of_labels, blank, "none"),
    "max_pool": lambda x, **p: _pooled(x, pool="max", **p),
    "average_pool": lambda x, **p: _pooled(x, pool="avg", count_include_pad=False, **p),
    "convolve": _convolved, "l2_loss": lambda x: (x * x).sum() / 2,
    "complex": torch.complex, "polygamma": _polygamma,
})  # fmt: skip

PART: dict[str, int] = {"eigh": 0, "eig": 0, "svd": 0}
"""Of several outputs the one that is compared: the signs of eigenvectors are anybody's."""
