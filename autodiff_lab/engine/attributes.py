"""Messages for attributes that tensors do not have: where to find the same thing here.

Habits of NumPy and of other frameworks are listed; tensors have no methods such as ``mean`` on purpose, see `tensor`.
Each is a descriptor that raises AttributeError, so that `hasattr` is False; a ``__getattr__`` would make every
attribute of every tensor slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TAPE = "with lab.GradientTape() as tape: ..., then tape.gradient(y, x)"
_GRAPH = "lab.record, whose recording shows every op"
_CHANGES = "v.assign, v.assign_add or v.assign_sub of a lab.Variable, as a tensor never changes"
_HABITS = {
    **dict.fromkeys(("add_", "clamp_", "copy_", "div_", "fill_", "mul_", "sub_", "zero_"), _CHANGES),
    "assign": "a lab.Variable, as a tensor never changes", "assign_add": "a lab.Variable",
    "assign_sub": "a lab.Variable",
    "T": "lab.transpose(x)", "at": "lab.tensor_scatter_nd_update, lab.tensor_scatter_nd_add and their kin",
    "mT": "lab.linalg.matrix_transpose(x)", "abs": "lab.abs(x)", "all": "lab.reduce_all(x)", "any": "lab.reduce_any(x)",
    "argmax": "lab.argmax(x, axis)", "argmin": "lab.argmin(x, axis)", "astype": "lab.cast(x, dtype)",
    "backward": _TAPE, "bool": "lab.cast(x, lab.bool)", "clamp": "lab.clip_by_value(x, low, high)",
    "clip": "lab.clip_by_value(x, low, high)", "clone": "lab.identity(x)",
    "contiguous": "nothing: every tensor is", "cos": "lab.cos(x)", "cumsum": "lab.cumsum(x, axis)",
    "data": "x.numpy() to read, and v.assign(value) of a variable",
    "dim": "x.ndim", "expand": "lab.broadcast_to(x, shape)", "fill": "lab.fill(shape, value)",
    "grad_fn": _GRAPH, "half": "lab.cast(x, lab.float16)", "int": "lab.cast(x, lab.int32)", "is_leaf": _GRAPH,
    "masked_fill": "lab.where(mask, value, x)", "norm": "lab.norm(x)", "numel": "lab.size(x)",
    "register_hook": "lab.with_derivative(x, function), which is given the adjoint",
    "repeat": "lab.tile(x, multiples)", "requires_grad_": "tape.watch(x), or a lab.Variable",
    "retain_grad": "x in the sources of tape.gradient(y, [x, ...])", "round": "lab.round(x)", "sin": "lab.sin(x)",
    "softmax": "lab.nn.softmax(x, axis)", "split": "lab.split(x, parts, axis)",
    "copy": "lab.identity(x)", "cuda": "x.gpu(), or v.move_to('/GPU:0') of a variable",
    "detach": "lab.stop_gradient(x)", "dot": "lab.matmul(x, y), or x @ y",
    "double": "lab.cast(x, lab.float64)", "eval": "x.numpy()", "exp": "lab.exp(x)",
    "flatten": "lab.reshape(x, (-1,))", "float": "lab.cast(x, lab.float32)", "grad": _TAPE, "item": "float(x)",
    "log": "lab.math.log(x)", "long": "lab.cast(x, lab.int64)", "matmul": "lab.matmul(x, y), or x @ y",
    "max": "lab.reduce_max(x)", "mean": "lab.reduce_mean(x)", "min": "lab.reduce_min(x)",
    "permute": "lab.transpose(x, perm)", "pow": "x ** y", "prod": "lab.reduce_prod(x)",
    "ravel": "lab.reshape(x, (-1,))", "relu": "lab.nn.relu(x)", "requires_grad": "tape.watch(x), or a lab.Variable",
    "reshape": "lab.reshape(x, shape)", "sigmoid": "lab.sigmoid(x)", "size": "lab.size(x)", "sqrt": "lab.sqrt(x)",
    "squeeze": "lab.squeeze(x)", "std": "lab.math.reduce_std(x)", "sum": "lab.reduce_sum(x)", "t": "lab.transpose(x)",
    "tanh": "lab.tanh(x)", "to": "x.gpu(), x.cpu(), or v.move_to('/GPU:0') of a variable",
    "tolist": "x.numpy().tolist()", "transpose": "lab.transpose(x, perm)",
    "unsqueeze": "lab.expand_dims(x, axis)", "var": "lab.math.reduce_variance(x)", "view": "lab.reshape(x, shape)",
    "zero_grad": "nothing: gradients are returned and never stored",
    **dict.fromkeys(("apply_", "clip_", "exp_", "normal_", "put", "put_", "relu_", "scatter_", "sigmoid_", "tanh_",
                     "uniform_"), _CHANGES),
    **{name: f"lab.{name}(x)" for name in
       ("acos", "acosh", "argsort", "asin", "asinh", "atan", "atanh", "cosh", "floor", "sign", "sinh", "sort", "square",
        "tan", "unique")},
    **{name: f"lab.math.{name}(x)" for name in
       ("angle", "ceil", "conj", "count_nonzero", "digamma", "erf", "erfc", "erfinv", "expm1", "imag", "lgamma",
        "log1p", "log_softmax", "real", "reciprocal", "rsqrt")},
    **{name: f"lab.linalg.{name}(x)" for name in
       ("adjoint", "cholesky", "det", "diag", "eig", "logdet", "qr", "slogdet", "svd", "trace")},
    **{name: f"x {sign} y" for name, sign in
       {"add": "+", "sub": "-", "subtract": "-", "mul": "*", "multiply": "*", "div": "/", "divide": "/",
        "true_divide": "/", "floor_divide": "//", "remainder": "%", "mm": "@", "bmm": "@", "mv": "@", "eq": "==",
        "ge": ">=", "gt": ">", "le": "<=", "lt": "<", "ne": "!="}.items()},
    "allclose": "lab.debugging.assert_near(x, y)", "amax": "lab.reduce_max(x, axis)", "amin": "lab.reduce_min(x, axis)",
    "argwhere": "lab.where(x)", "broadcast_to": "lab.broadcast_to(x, shape)", "chunk": "lab.split(x, parts, axis)",
    "conjugate": "lab.math.conj(x)", "cumprod": "lab.math.cumprod(x, axis)", "diagonal": "lab.linalg.diag_part(x)",
    "diff": "x[1:] - x[:-1]", "equal": "lab.reduce_all(x == y)", "expand_as": "lab.broadcast_to(x, y.shape)",
    "flat": "lab.reshape(x, (-1,))", "flip": "lab.reverse(x, axis)", "gather": "lab.gather(x, indices, axis)",
    "index_add": "lab.tensor_scatter_nd_add", "index_select": "lab.gather(x, indices, axis)",
    "inner": "lab.linalg.tensordot(x, y)", "inverse": "lab.linalg.inv(x)", "isfinite": "lab.math.is_finite(x)",
    "isinf": "lab.math.is_inf(x)", "isnan": "lab.math.is_nan(x)", "log10": "lab.math.log(x) / lab.math.log(10.0)",
    "log2": "lab.math.log(x) / lab.math.log(2.0)", "logsumexp": "lab.reduce_logsumexp(x, axis)",
    "masked_select": "lab.boolean_mask(x, mask)", "matrix_exp": "lab.linalg.expm(x)", "maximum": "lab.maximum(x, y)",
    "median": "lab.sort(x), and the element in the middle", "minimum": "lab.minimum(x, y)",
    "moveaxis": "lab.transpose(x, perm)", "movedim": "lab.transpose(x, perm)", "narrow": "a slice, x[:, start:stop]",
    "nbytes": "x.numpy().nbytes", "ndimension": "x.ndim", "neg": "-x", "nelement": "lab.size(x)",
    "nonzero": "lab.where(x)", "outer": "x[:, None] * y", "quantile": "lab.sort(x), and an element of the result",
    "repeat_interleave": "lab.repeat(x, repeats, axis)", "reshape_as": "lab.reshape(x, y.shape)",
    "retains_grad": _GRAPH, "roll": "lab.roll(x, shift, axis)", "scatter": "lab.tensor_scatter_nd_update",
    "scatter_add": "lab.tensor_scatter_nd_add", "searchsorted": "lab.searchsorted(x, values)",
    "solve": "lab.linalg.solve(x, y)", "swapaxes": "lab.transpose(x, perm)", "take": "lab.gather(x, indices, axis)",
    "tile": "lab.tile(x, multiples)", "tobytes": "x.numpy().tobytes()", "topk": "lab.math.top_k(x, k)",
    "tril": "lab.linalg.band_part(x, -1, 0)", "triu": "lab.linalg.band_part(x, 0, -1)", "type": "x.dtype",
    "type_as": "lab.cast(x, y.dtype)", "unbind": "lab.unstack(x, axis=axis)", "unfold": "lab.image.extract_patches",
    "values": "x.numpy()", "where": "lab.where(condition, x, y)",
}  # fmt: skip


class Elsewhere:
    """An attribute that does not exist; its error says where to find the same thing.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> hasattr(lab.constant(1.0), "mean")
    False
    """

    __slots__ = ("name", "place")

    def __init__(self, name: str, place: str) -> None:
        self.name, self.place = name, place

    def __get__(self, owner: Any, kind: type) -> Any:
        text = f"{kind.__name__!r} object has no attribute {self.name!r}. Try {self.place}."
        raise AttributeError(text, name=self.name, obj=kind if owner is None else owner)

    @staticmethod
    def install(kind: type, habits: Mapping[str, str] = _HABITS) -> None:
        """Install all of them in a class, and hide them from completion."""
        kind_of = Elsewhere if kind.__dictoffset__ else _Unsettable  # a module may have its own `train`
        for name, place in habits.items():
            if not hasattr(kind, name):
                setattr(kind, name, kind_of(name, place))

        def offered(self: object) -> list[str]:
            return [name for name in object.__dir__(self) if not isinstance(vars(kind).get(name), Elsewhere)]

        setattr(kind, "__dir__", offered)  # noqa: B010


class _Unsettable(Elsewhere):
    """One of a class whose objects take no new attributes: ``x.requires_grad = True`` has the same error."""

    __slots__ = ()

    def __set__(self, owner: Any, value: object) -> None:
        self.__get__(owner, type(owner))


def users_names(value: Any) -> list[str]:
    """Return what completion offers of an object: all but the names in ``_hidden``, which the package itself uses.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [name for name in dir(lab.GradientTape()) if name.startswith("r")]
    ['reset']
    """
    return sorted(name for name in object.__dir__(value) if name not in value._hidden)
