"""The functions of PyTorch: what each is like, how it is written, which write into their arguments.

`torch.add`, `Tensor.add`, ``aten::add`` and ``+`` are one op, ``add``.
"""

from __future__ import annotations

from autodiff_lab.adapters.ops import OpTable

SAME = """\
add multiply divide exp log sin cos tan tanh sinh cosh asin acos atan asinh acosh atanh sigmoid sqrt rsqrt square
reciprocal abs sign relu silu softplus elu selu mish erf erfc erfinv floor ceil round maximum minimum max min sum mean
prod logsumexp matmul einsum softmax log_softmax reshape stack where argmax argmin argsort cumsum cumprod roll pow
expm1 log1p less greater equal transpose digamma lgamma atan2 relu6 softsign logical_and logical_or logical_not gelu
leaky_relu subtract negative xlogy tile det inv cholesky"""
LIKE = {name: name for name in SAME.split()} | {
    "sub": "subtract", "mul": "multiply", "div": "divide", "true_divide": "divide", "truediv": "divide",
    "neg": "negative", "rsub": "subtract", "mm": "matmul", "bmm": "matmul", "mv": "matmul", "dot": "matmul",
    "absolute": "abs", "view": "reshape", "flatten": "reshape", "unsqueeze": "reshape", "squeeze": "reshape",
    "unflatten": "reshape", "view_as": "reshape", "reshape_as": "reshape", "ravel": "reshape",
    "_unsafe_view": "reshape",
    "t": "transpose", "T": "transpose", "mT": "transpose", "permute": "transpose", "swapaxes": "transpose",
    "movedim": "transpose", "cat": "concat", "concat": "concat", "hstack": "concat", "vstack": "concat",
    "detach": "stop_gradient", "data": "stop_gradient", "gt": "greater", "lt": "less", "ge": "greater_equal",
    "le": "less_equal", "eq": "equal", "ne": "not_equal", "expand": "broadcast_to", "broadcast_to": "broadcast_to",
    "expand_as": "broadcast_to", "getitem": "slice", "select": "slice", "narrow": "slice", "slice": "slice",
    "diagonal": "diag_part", "index_select": "gather", "index": "gather", "gather": "take_along",
    "take_along_dim": "take_along", "amax": "max", "amin": "min", "clone": "identity", "contiguous": "identity",
    "flip": "reverse", "floor_divide": "floordiv", "floordiv": "floordiv", "remainder": "floormod", "mod": "floormod",
    "fmod": "truncatemod", "isnan": "is_nan", "isinf": "is_inf", "isfinite": "is_finite", "logsigmoid": "log_sigmoid",
    "hardtanh": "hard_tanh", "hardsigmoid": "hard_sigmoid", "hardswish": "hard_silu", "_softmax": "softmax",
    "_log_softmax": "log_softmax", "sgn": "sign", "bitwise_and": "logical_and", "bitwise_or": "logical_or",
    "bitwise_not": "logical_not", "arctan": "atan", "clamp": "clip", "clip": "clip", "invert": "logical_not",
    "and": "logical_and", "or": "logical_or", "norm": "euclidean_norm", "repeat": "tile", "max_pool2d": "max_pool",
    "repeat_interleave": "repeat",
    "dropout": "multiply", "masked_fill": "where", "floor_": "floor", "round_": "round", "trunc": "truncatediv",
}  # fmt: skip
"""Names of PyTorch by the op of autodiff_lab that behaves the same."""

CASTS = {
    "to", "float", "double", "half", "bfloat16", "long", "int", "short", "bool", "type", "type_as", "_to_copy", "cpu",
    "cuda",
}  # fmt: skip
SWAPPED = {"rsub": "sub", "rdiv": "div", "rtruediv": "div", "rpow": "pow", "rmatmul": "matmul", "radd": "add",
           "rmul": "mul"}  # fmt: skip
"""Reflected operators: ``2 - x`` arrives as ``rsub(x, 2)``."""
IN_PLACE = {"iadd": "add_", "isub": "sub_", "imul": "mul_", "itruediv": "div_", "idiv": "div_"}
IN_PLACE_OPERATORS = {
    f"__i{name}__"
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "div",
        "pow",
        "and",
        "or",
        "xor",
        "mod",
        "floordiv",
        "lshift",
        "rshift",
    )
}
RENAMED = {"truediv": "div", "true_divide": "div", "multiply": "mul", "subtract": "sub", "negative": "neg",
           "divide": "div", "greater": "gt", "less": "lt"}  # fmt: skip

_NTH = r"\tfrac{{1}}{{n}}"
ENTRIES: dict[str, tuple[str, str, tuple[str, ...], str, bool]] = {
    "linear": ("linear", "{0} {1}^T + {2}", ("{1}", r"(\cdot)^T {0}", r"\sum"),
               "multiplies {0} by the transpose of {1} and adds {2}", False),
    "linear without bias": ("linear", "{0} {1}^T", ("{1}", r"(\cdot)^T {0}"), "multiplies {0} by the transpose of {1}",
                            False),
    "addmm": ("addmm", "{0} + {1} {2}", (r"\sum", "{2}^T", "{1}^T"), "adds {0} to the product of {1} and {2}",
              False),
    "cross_entropy": ("cross_entropy", rf"-{_NTH} \sum \ln \operatorname{{{{softmax}}}}({{0}})_{{{{{{1}}}}}}",
                      (rf"{_NTH} \left(\operatorname{{{{softmax}}}}({{0}}) - [{{1}}]\right)", ""),
                      "takes the mean of minus the log probability that {0} gives to the classes {1}", False),
    "nll_loss": ("nll_loss", rf"-{_NTH} \sum {{0}}_{{{{{{1}}}}}}", (rf"-{_NTH} [{{1}}]", ""),
                 "takes the mean of minus the elements of {0} at the classes {1}", False),
    "mse_loss": ("mse_loss", r"\overline{{({0} - {1})^2}}",
                 (r"\tfrac{{2}}{{n}} ({0} - {1})", r"-\tfrac{{2}}{{n}} ({0} - {1})"),
                 "takes the mean of the squared differences of {0} and {1}", False),
    "layer_norm": ("layer_norm", r"\frac{{{0} - \overline{{{0}}}}}{{\sigma}} {1} + {2}", (),
                   "shifts and scales each row of {0} to mean 0 and variance 1", False),
    "scaled_dot_product_attention": (
        "attention", r"\operatorname{{softmax}}\left({0} {1}^T / \sqrt{{d}}\right) {2}", (),
        "mixes the rows of {2} by how well {0} and {1} agree", False),
    "embedding": ("embedding", "{1}_{{{0}}}", ("", "[{0}]"), "takes rows of {1}", False),
    "dropout": ("dropout", r"{0} \odot m / (1 - p)", (r"m / (1 - p)",), "drops elements of {0} at random", False),
    "add_": ("+=", "{0} + {1}", ("1", "1"), "adds {1} to {0} in place", False),
    "sub_": ("−=", "{0} - {1}", ("1", "-1"), "subtracts {1} from {0} in place", False),
    "mul_": ("×=", r"{0} \cdot {1}", ("{1}", "{0}"), "multiplies {0} by {1} in place", False),
    "setitem": ("[ ] =", r"\operatorname{{set}}({0})", (r"[\ne i]", "[i]"), "writes into a part of {0}", False),
    "split": ("split", r"\operatorname{{split}}({0})", ("1",), "cuts {0} into parts", False),
    "chunk": ("split", r"\operatorname{{split}}({0})", ("1",), "cuts {0} into parts", False),
    "unbind": ("split", r"\operatorname{{split}}({0})", ("1",), "cuts {0} into parts", False),
    "compiled": ("compiled", "", (), "runs code that torch.compile made; its inside is not recorded", False),
    "scripted": ("scripted", "", (), "runs code of TorchScript; its inside is not recorded", False),
}  # fmt: skip
"""Symbol, formula, local derivatives, sentence, elementwise."""

NODES = {"ToCopy": "to", "T": "t", "CompiledFunction": "compiled", "DifferentiableGraph": "scripted"}
"""What autograd's nodes are called as ops, where that is not their own name."""

CALLS = {
    "sub": ("subtract",), "mul": ("multiply",), "div": ("divide", "true_divide"), "neg": ("negative",),
    "clip": ("clamp",), "getitem": (), "linear": ("Linear",), "maximum": ("clamp", "clamp_min", "relu"),
    "minimum": ("clamp", "clamp_max"), "softmax": ("Softmax",), "to": ("float", "double", "half", "long", "int"),
    "max": ("amax",), "min": ("amin",), "norm": ("vector_norm",),
}  # fmt: skip
TAKES_NUMBERS = {
    "add", "sub", "mul", "div", "pow", "maximum", "minimum", "where", "clip", "floordiv", "floor_divide", "remainder",
    "mod", "gt", "lt", "ge", "le", "eq", "ne",
}  # fmt: skip
"""Ops whose plain numbers are drawn as inputs, because their formulas name them."""

WRITES = {"batch_norm": (1, 2), "instance_norm": (1, 2), "__setitem__": (0,)}
"""Functions that write into an argument and have no ``_`` at the end of their name, with the arguments' positions."""

EXITS = {
    "numpy": "numpy", "__array__": "__array__", "tolist": "tolist", "item": "item", "__float__": "float",
    "__int__": "int", "__bool__": "bool", "__index__": "index", "__dlpack__": "__dlpack__", "__complex__": "complex",
}  # fmt: skip
ATTRIBUTES = {"T", "mT", "H", "mH", "real", "imag", "data"}
"""Properties that make a tensor of another; all others are looked at and not recorded."""
LOOKS = {
    "__repr__", "__format__", "__len__", "__str__", "size", "dim", "is_complex", "numel",
    "is_floating_point", "stride", "is_contiguous", "data_ptr", "untyped_storage", "element_size", "get_device",
    "storage_offset", "is_nonzero", "__hash__", "is_inference", "set_grad_enabled", "is_storage", "ndimension",
    "__deepcopy__", "__reduce_ex__", "is_tensor", "_is_view", "is_pinned", "__contains__", "is_set_to", "nelement",
    "is_same_size", "result_type", "__dir__", "has_names", "is_signed", "is_neg", "is_conj", "allclose", "equal",
    "finfo", "iinfo", "can_cast", "promote_types", "share_memory_", "register_post_accumulate_grad_hook",
}  # fmt: skip

TABLE = OpTable(LIKE | dict.fromkeys(CASTS, "cast"), ENTRIES, CALLS)
