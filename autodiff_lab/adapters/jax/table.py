"""The primitives of JAX: what each is like, how it is written, in which order its formula names its inputs."""

from __future__ import annotations

from autodiff_lab.adapters.ops import OpTable

SAME = """\
exp log sin cos tan tanh sinh cosh asin acos atan asinh acosh atanh sqrt rsqrt square abs sign floor ceil round erf erfc
expm1 log1p reshape transpose slice pad argmax argmin cumsum cumprod pow relu relu6 silu gelu softplus logsumexp atan2
sigmoid elu selu stack is_finite nextafter lgamma digamma stop_gradient leaky_relu softmax log_softmax sort"""
LIKE = {name: name for name in SAME.split()} | {
    "add": "add", "add_any": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative",
    "max": "maximum", "min": "minimum", "logistic": "sigmoid", "eq": "equal", "ne": "not_equal", "lt": "less",
    "le": "less_equal", "gt": "greater", "ge": "greater_equal", "select_n": "where", "dot_general": "matmul",
    "reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod", "copy": "identity",
    "broadcast_in_dim": "broadcast_to", "squeeze": "reshape", "expand_dims": "reshape", "concatenate": "concat",
    "convert_element_type": "cast", "gather": "gather", "dynamic_slice": "slice", "rev": "reverse", "clamp": "clip",
    "rem": "truncatemod", "and": "logical_and", "or": "logical_or", "not": "logical_not", "xor": "logical_xor",
    "erf_inv": "erfinv", "conv_general_dilated": "convolve", "cumlogsumexp": "cumulative_logsumexp",
    "reduce_or": "any", "reduce_and": "all", "swish": "silu", "real": "real_part", "imag": "imaginary_part",
    "integer_pow": "pow", "split": "slice",
}  # fmt: skip
"""Names of JAX by the op of autodiff_lab that behaves the same."""

ENTRIES: dict[str, tuple[str, str, tuple[str, ...], str, bool]] = {
    "integer_pow": ("^n", "{0}^n", ("n {0}^{{n - 1}}",), "raises {0} to a fixed power", True),
    "square": ("²", "{0}^2", ("2 {0}",), "squares {0}", True),
    "exp2": ("2^x", "2^{0}", (r"2^{0} \ln 2",), "raises 2 to {0}", True),
    "scan": ("scan", r"\operatorname{{scan}}({0})", (), "runs a loop", False),
    "while": ("while", r"\operatorname{{while}}({0})", (), "runs a loop", False),
    "sort": ("sort", r"\operatorname{{sort}}({0})", (r"\operatorname{{sort}}^{{-1}}",), "sorts {0}", False),
    "split": ("split", r"\operatorname{{split}}({0})", ("1",), "cuts {0} into parts", False),
    "convert_element_type": ("astype", r"\operatorname{{astype}}({0})", ("1",), "casts {0} to another dtype", False),
    "select_n": ("where", r"\operatorname{{where}}({0}, {1}, {2})", ("", "[{0}]", r"[\lnot {0}]"),
                 "takes {1} where {0} is true, {2} elsewhere", False),
    "jitted": ("jitted", "", (), "runs a function under jax.jit; its inside is not recorded", False),
}  # fmt: skip

CALLS = {
    "sub": ("subtract",), "mul": ("multiply",), "div": ("divide", "true_divide"), "neg": ("negative",),
    "max": ("maximum", "relu", "clip"), "min": ("minimum", "clip"), "select_n": ("where",), "pow": ("power",),
    "dot_general": ("dot", "matmul", "einsum", "tensordot", "vdot"), "reduce_sum": ("sum", "mean"),
    "reduce_max": ("max", "amax"), "reduce_min": ("min", "amin"), "reduce_prod": ("prod",), "logistic": ("sigmoid",),
    "concatenate": ("concatenate", "hstack", "vstack", "stack"), "convert_element_type": ("astype",),
    "integer_pow": ("power",), "clamp": ("clip",),
}  # fmt: skip

ORDER = {"select_n": (0, 2, 1), "clamp": (1, 0, 2)}
"""For each input of a formula its place among the primitive's: `select_n` takes first what is chosen by False."""
INLINE = {"jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_lin"}
"""Primitives that are gone into."""
JITTED = {"jit", "pjit"}
"""Those of them that are calls of functions under `jax.jit`."""
SHOWN = {
    "axes", "axis", "shape", "dimensions", "permutation", "dimension_numbers", "new_dtype", "y", "limit_indices",
    "start_indices", "padding_config", "window_strides", "padding",
}  # fmt: skip
"""Parameters that are worth reading."""

STEPS = {"floor", "ceil", "round", "sign", "stop_gradient"}
"""Primitives that pass no gradient, so that JAX gives zeros."""

TABLE = OpTable(LIKE, ENTRIES, CALLS)
