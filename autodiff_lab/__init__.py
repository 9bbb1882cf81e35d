"""autodiff_lab: a tape that shows itself.

Differentiate with `GradientTape`, see what it did with `record`, plot functions beside their derivatives with
`explore`.  `import autodiff_lab as lab` loads NumPy, the engine and what Python's operators need; every other name
loads its module when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autodiff_lab import errors, events, ops
from autodiff_lab.engine.convert import constant, convert_to_tensor, is_tensor
from autodiff_lab.engine.devices import device
from autodiff_lab.engine.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from autodiff_lab.engine.dtypes import bool_ as bool
from autodiff_lab.engine.dtypes import float16 as half
from autodiff_lab.engine.dtypes import float64 as double
from autodiff_lab.engine.op import registered_gradients
from autodiff_lab.engine.primitives import add
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.sweep import Engine
from autodiff_lab.engine.tape import GradientTape, UnconnectedGradients
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events import name_scope
from autodiff_lab.kernels.memory import keep_freed_memory as _keep_freed_memory

if TYPE_CHECKING:
    from autodiff_lab import (
        activations,
        autodiff,
        bitwise,
        config,
        data,
        debugging,
        image,
        initializers,
        keras,
        layers,
        linalg,
        losses,
        math,
        metrics,
        nest,
        nn,
        optimizers,
        queue,
        ragged,
        random,
        signal,
        sparse,
        strings,
        style,
        testing,
    )
    from autodiff_lab.compile import function
    from autodiff_lab.engine.exchange import from_dlpack
    from autodiff_lab.exploring import explore, plot_derivative
    from autodiff_lab.kernels.choose import use_kernels
    from autodiff_lab.layers.initializers import (
        constant_initializer,
        ones_initializer,
        random_normal_initializer,
        random_uniform_initializer,
        zeros_initializer,
    )
    from autodiff_lab.layers.module import Module
    from autodiff_lab.layers.sequential import Sequential, sequenced
    from autodiff_lab.ops.array.casting import cast, identity, stop_gradient
    from autodiff_lab.ops.array.creation import (
        eye,
        fill,
        one_hot,
        ones,
        ones_like,
        rank,
        shape,
        size,
        zeros,
        zeros_like,
    )
    from autodiff_lab.ops.array.gathering import (
        argmax,
        argmin,
        gather,
        gather_nd,
        scatter_nd,
        tensor_scatter_nd_update,
        where,
    )
    from autodiff_lab.ops.array.grids import (
        batch_to_space,
        broadcast_dynamic_shape,
        broadcast_static_shape,
        ensure_shape,
        meshgrid,
        sequence_mask,
        space_to_batch,
    )
    from autodiff_lab.ops.array.grids import space_to_batch as space_to_batch_nd
    from autodiff_lab.ops.array.joining import concat, split, stack, unstack
    from autodiff_lab.ops.array.repeating import pad, repeat, reverse, reverse_sequence, roll, tile
    from autodiff_lab.ops.array.scattering import (
        tensor_scatter_nd_add,
        tensor_scatter_nd_max,
        tensor_scatter_nd_min,
        tensor_scatter_nd_sub,
    )
    from autodiff_lab.ops.array.selection import (
        argsort,
        boolean_mask,
        searchsorted,
        sort,
        unique,
        unique_with_counts,
        unravel_index,
    )
    from autodiff_lab.ops.array.sequences import linspace, range
    from autodiff_lab.ops.array.shaping import broadcast_to, expand_dims, reshape, squeeze, transpose
    from autodiff_lab.ops.array.slicing import dynamic_partition, dynamic_stitch, slice, strided_slice
    from autodiff_lab.ops.assertions import Assert
    from autodiff_lab.ops.control_flow import case, cond, switch_case, while_loop
    from autodiff_lab.ops.linalg.contraction import einsum, tensordot
    from autodiff_lab.ops.linalg.diagonals import tensor_diag, tensor_diag_part
    from autodiff_lab.ops.linalg.eigen import eig, eigvals
    from autodiff_lab.ops.linalg.norms import norm
    from autodiff_lab.ops.linalg.products import matmul
    from autodiff_lab.ops.mapping import foldl, foldr, map_fn, scan, vectorized_map
    from autodiff_lab.ops.math.arithmetic import (
        abs,
        add_n,
        divide,
        maximum,
        minimum,
        multiply,
        negative,
        pow,
        sign,
        sqrt,
        square,
        subtract,
    )
    from autodiff_lab.ops.math.bits import bitcast
    from autodiff_lab.ops.math.clipping import clip_by_average_norm, clip_by_global_norm, clip_by_norm
    from autodiff_lab.ops.math.comparison import (
        equal,
        floor,
        greater,
        greater_equal,
        less,
        less_equal,
        logical_and,
        logical_not,
        logical_or,
        not_equal,
        round,
    )
    from autodiff_lab.ops.math.complex_numbers import complex
    from autodiff_lab.ops.math.counting import histogram_fixed_width, histogram_fixed_width_bins
    from autodiff_lab.ops.math.cumulative import cumsum
    from autodiff_lab.ops.math.elementary import (
        atan2,
        clip_by_value,
        realdiv,
        saturate_cast,
        scalar_mul,
        truediv,
        truncatediv,
        truncatemod,
    )
    from autodiff_lab.ops.math.exponential import exp
    from autodiff_lab.ops.math.reductions import (
        reduce_all,
        reduce_any,
        reduce_max,
        reduce_mean,
        reduce_min,
        reduce_prod,
        reduce_sum,
    )
    from autodiff_lab.ops.math.statistics import reduce_logsumexp
    from autodiff_lab.ops.math.trigonometric import (
        acos,
        acosh,
        asin,
        asinh,
        atan,
        atanh,
        cos,
        cosh,
        sin,
        sinh,
        tan,
        tanh,
    )
    from autodiff_lab.ops.nn.activations import sigmoid
    from autodiff_lab.ops.portable import (
        control_dependencies,
        executing_eagerly,
        get_current_name_scope,
        get_static_value,
        group,
        identity_n,
        numpy_function,
        py_function,
        shape_n,
        tuple,
    )
    from autodiff_lab.ops.printing import print
    from autodiff_lab.ops.tensor_array import TensorArray
    from autodiff_lab.recording import Recording, load_recording, record
    from autodiff_lab.structures.indexed_slices import IndexedSlices
    from autodiff_lab.structures.ragged import RaggedTensor
    from autodiff_lab.structures.sparse import SparseTensor
    from autodiff_lab.structures.symbolic import Graph, placeholder
    from autodiff_lab.structures.tensor_spec import TensorSpec
    from autodiff_lab.transforms.custom import RegisterGradient, custom_gradient, grad_pass_through
    from autodiff_lab.transforms.differentiable import derivative, differentiable, differentiable_function
    from autodiff_lab.transforms.forward import jvp, vjp
    from autodiff_lab.transforms.functional import (
        gradient,
        pullback,
        value_with_gradient,
        value_with_pullback,
        without_derivative,
    )
    from autodiff_lab.transforms.hessians import hessian, hvp
    from autodiff_lab.transforms.recompute import recompute_grad, with_recomputation_in_pullbacks
    from autodiff_lab.transforms.surgery import with_derivative

__version__ = "0.1.0"
newaxis = None
# Where names live that load late; the imports above say the same to editors and type checkers.
_MODULES = frozenset({
    "activations", "autodiff", "bitwise", "config", "data", "debugging", "image", "initializers", "keras", "layers",
    "linalg", "losses", "math", "metrics", "nest", "nn", "optimizers", "queue", "ragged", "random", "signal", "sparse",
    "strings", "style", "testing",
})
_HOMES = {
    "compile": "function",
    "engine.exchange": "from_dlpack",
    "exploring": "explore plot_derivative",
    "kernels.choose": "use_kernels",
    "layers.initializers": (
        "constant_initializer ones_initializer random_normal_initializer random_uniform_initializer "
        "zeros_initializer"
    ),
    "layers.module": "Module",
    "layers.sequential": "Sequential sequenced",
    "ops.array.casting": "cast identity stop_gradient",
    "ops.array.creation": "eye fill one_hot ones ones_like rank shape size zeros zeros_like",
    "ops.array.gathering": "argmax argmin gather gather_nd scatter_nd tensor_scatter_nd_update where",
    "ops.array.grids": (
        "batch_to_space broadcast_dynamic_shape broadcast_static_shape ensure_shape meshgrid sequence_mask "
        "space_to_batch"
    ),
    "ops.array.joining": "concat split stack unstack",
    "ops.array.repeating": "pad repeat reverse reverse_sequence roll tile",
    "ops.array.scattering": "tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub",
    "ops.array.selection": "argsort boolean_mask searchsorted sort unique unique_with_counts unravel_index",
    "ops.array.sequences": "linspace range",
    "ops.array.shaping": "broadcast_to expand_dims reshape squeeze transpose",
    "ops.array.slicing": "dynamic_partition dynamic_stitch slice strided_slice",
    "ops.assertions": "Assert",
    "ops.control_flow": "case cond switch_case while_loop",
    "ops.linalg.contraction": "einsum tensordot",
    "ops.linalg.diagonals": "tensor_diag tensor_diag_part",
    "ops.linalg.norms": "norm",
    "ops.linalg.eigen": "eig eigvals",
    "ops.linalg.products": "matmul",
    "ops.mapping": "foldl foldr map_fn scan vectorized_map",
    "ops.math.arithmetic": "abs add_n divide maximum minimum multiply negative pow sign sqrt square subtract",
    "ops.math.bits": "bitcast",
    "ops.math.clipping": "clip_by_average_norm clip_by_global_norm clip_by_norm",
    "ops.math.comparison": (
        "equal floor greater greater_equal less less_equal logical_and logical_not logical_or not_equal round"
    ),
    "ops.math.complex_numbers": "complex",
    "ops.math.counting": "histogram_fixed_width histogram_fixed_width_bins",
    "ops.math.cumulative": "cumsum",
    "ops.math.elementary": "atan2 clip_by_value realdiv saturate_cast scalar_mul truediv truncatediv truncatemod",
    "ops.math.exponential": "exp",
    "ops.math.reductions": "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum",
    "ops.math.statistics": "reduce_logsumexp",
    "ops.math.trigonometric": "acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh",
    "ops.nn.activations": "sigmoid",
    "ops.portable": (
        "control_dependencies executing_eagerly get_current_name_scope get_static_value group identity_n "
        "numpy_function py_function shape_n tuple"
    ),
    "ops.printing": "print",
    "ops.tensor_array": "TensorArray",
    "recording": "Recording load_recording record",
    "structures.indexed_slices": "IndexedSlices",
    "structures.ragged": "RaggedTensor",
    "structures.sparse": "SparseTensor",
    "structures.symbolic": "Graph placeholder",
    "structures.tensor_spec": "TensorSpec",
    "transforms.custom": "RegisterGradient custom_gradient grad_pass_through",
    "transforms.differentiable": "derivative differentiable differentiable_function",
    "transforms.forward": "jvp vjp",
    "transforms.functional": "gradient pullback value_with_gradient value_with_pullback without_derivative",
    "transforms.hessians": "hessian hvp",
    "transforms.recompute": "recompute_grad with_recomputation_in_pullbacks",
    "transforms.surgery": "with_derivative",
}
_LATE = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load what is asked for by its name."""
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"autodiff_lab.{name}")
    if name in _LATE:
        found = globals()[name] = getattr(import_module(f"autodiff_lab.{_LATE[name]}"), name)
        return found
    if name == "space_to_batch_nd":
        return __getattr__("space_to_batch")
    if name.startswith("_"):
        raise AttributeError(f"module 'autodiff_lab' has no attribute {name!r}")
    for module in _MODULES:
        import_module(f"autodiff_lab.{module}")  # a name that is not here may stand in one of them
    raise import_module("autodiff_lab.engine.attributes").no_name(import_module("autodiff_lab"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


_keep_freed_memory()


def load_ipython_extension(ipython: Any) -> None:
    """Add the cell magic ``%%record``; called by ``%load_ext autodiff_lab``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from IPython.testing.globalipapp import get_ipython  # doctest: +SKIP
    """
    from autodiff_lab.magic import load_ipython_extension as load

    load(ipython)


__all__ = [
    "Assert", "DType", "Engine", "GradientTape", "Graph", "IndexedSlices", "Module", "RaggedTensor", "Recording",
    "RegisterGradient", "Sequential", "SparseTensor", "Tensor", "TensorArray", "TensorShape", "TensorSpec",
    "UnconnectedGradients", "Variable", "abs", "acos", "acosh", "activations", "add", "add_n", "argmax", "argmin",
    "argsort", "as_dtype", "asin", "asinh", "atan", "atan2", "atanh", "autodiff", "batch_to_space", "bfloat16",
    "bitcast", "bitwise", "bool", "boolean_mask", "broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to",
    "case", "cast", "clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "complex",
    "complex128", "complex64", "concat", "cond", "config", "constant", "constant_initializer", "control_dependencies",
    "convert_to_tensor", "cos", "cosh", "cumsum", "custom_gradient", "data", "debugging", "derivative", "device",
    "differentiable", "differentiable_function", "divide", "double", "dynamic_partition", "dynamic_stitch", "eig",
    "eigvals", "einsum", "ensure_shape", "equal", "errors", "events", "executing_eagerly", "exp", "expand_dims",
    "explore", "eye", "fill", "float16", "float32", "float64", "floor", "foldl", "foldr", "from_dlpack", "function",
    "gather", "gather_nd", "get_current_name_scope", "get_static_value", "grad_pass_through", "gradient", "greater",
    "greater_equal", "group", "half", "hessian", "histogram_fixed_width", "histogram_fixed_width_bins", "hvp",
    "identity", "identity_n", "image", "initializers", "int16", "int32", "int64", "int8", "is_tensor", "jvp", "keras",
    "layers", "less", "less_equal", "linalg", "linspace", "load_ipython_extension", "load_recording", "logical_and",
    "logical_not", "logical_or", "losses", "map_fn", "math", "matmul", "maximum", "meshgrid", "metrics", "minimum",
    "multiply", "name_scope", "negative", "nest", "newaxis", "nn", "norm", "not_equal", "numpy_function",
    "one_hot", "ones", "ones_initializer", "ones_like", "ops", "optimizers", "pad", "placeholder", "plot_derivative",
    "pow", "print", "pullback", "py_function", "queue", "ragged", "random", "random_normal_initializer",
    "random_uniform_initializer", "range", "rank", "realdiv", "recompute_grad", "record", "reduce_all", "reduce_any",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "registered_gradients",
    "repeat", "reshape", "reverse", "reverse_sequence", "roll", "round", "saturate_cast", "scalar_mul", "scan",
    "scatter_nd", "searchsorted", "sequence_mask", "sequenced", "shape", "shape_n", "sigmoid", "sign", "signal", "sin",
    "sinh", "size", "slice", "sort", "space_to_batch", "space_to_batch_nd", "sparse", "split", "sqrt", "square",
    "squeeze", "stack", "stop_gradient", "strided_slice", "string", "strings", "style", "subtract", "switch_case",
    "tan", "tanh", "tensor_diag", "tensor_diag_part", "tensor_scatter_nd_add", "tensor_scatter_nd_max",
    "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tensor_scatter_nd_update", "tensordot", "testing", "tile",
    "transpose", "truediv", "truncatediv", "truncatemod", "tuple", "uint16", "uint32", "uint64", "uint8", "unique",
    "unique_with_counts", "unravel_index", "unstack", "use_kernels", "value_with_gradient", "value_with_pullback",
    "vectorized_map", "vjp", "where", "while_loop", "with_derivative", "with_recomputation_in_pullbacks",
    "without_derivative", "zeros", "zeros_initializer", "zeros_like",
]
