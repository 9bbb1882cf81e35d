"""autodiff_lab: automatic differentiation you can see.

Differentiate with `GradientTape`, see what it did with `record`, plot functions above their derivatives
with `explore`. `import autodiff_lab as lab` loads NumPy, the engine and what Python's operators need; every
other name loads its module on first use.
"""

# What is imported here is public, and `__all__` is worked out from it.
# ruff: noqa: F401, PLE0604
# pyright: reportUnusedImport=false, reportUnsupportedDunderAll=false
from autodiff_lab import errors, events, ops
from autodiff_lab.engine.backward import UnconnectedGradients
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
from autodiff_lab.engine.indexed_slices import IndexedSlices
from autodiff_lab.engine.op import registered_gradients
from autodiff_lab.engine.primitives import add
from autodiff_lab.engine.shape import TensorShape
from autodiff_lab.engine.sweep import Engine
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events.listener import name_scope
from autodiff_lab.imports import install as _answer_imports
from autodiff_lab.kernels.base.memory import keep_freed_memory as _keep_freed_memory
from autodiff_lab.shown import install as _install

_install(Tensor, Variable, GradientTape)
_answer_imports()
__version__ = "0.1.0"
newaxis = None
_EAGER = {name for name, value in globals().items() if name[0] != "_" and not isinstance(value, type(errors))}
# Where lazily loaded names live. A public name is written here or imported above, and nowhere else: from both,
# `make docs-renew` writes __init__.pyi for editors and type checkers.
_MODULES = frozenset({
    "activations", "autodiff", "bitwise", "callbacks", "config", "constraints", "data", "debugging", "image",
    "initializers", "keras", "layers", "linalg", "losses", "math", "metrics", "nest", "nn", "optimizers", "queue",
    "ragged", "random", "regularizers", "signal", "sparse", "strings", "style", "teaching",
    "testing", "train", "typing",
})
_HOMES = {
    "compile": "function",
    "engine.exchange": "from_dlpack",
    "exploring": (
        "costs explore explore_2d explore_steps local_jacobian plot_2d plot_derivative plot_steps watch_training"
    ),
    "exploring.stopping": "breakpoint_when",
    "kernels.base.choose": "use_kernels",
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
    "extras.assertions": "Assert",
    "extras.control_flow": "case cond switch_case while_loop",
    "ops.linalg.contraction": "einsum tensordot",
    "ops.linalg.diagonals": "tensor_diag tensor_diag_part",
    "ops.linalg.norms": "norm",
    "ops.linalg.decompositions": "eig eigvals",
    "ops.linalg.products": "matmul",
    "extras.mapping": "foldl foldr map_fn scan",
    "extras.vectorized": "vectorized_map",
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
    "extras.portable": (
        "control_dependencies executing_eagerly get_current_name_scope get_static_value group identity_n "
        "numpy_function py_function shape_n tuple"
    ),
    "explain.comparing": "compare",
    "extras.printing": "print",
    "extras.tensor_array": "TensorArray",
    "recording": "Recording load_recording record",
    "extras.ragged.tensor": "RaggedTensor",
    "extras.sparse.tensor": "SparseTensor",
    "extras.symbolic": "Graph placeholder",
    "extras.tensor_spec": "TensorSpec",
    "transforms.custom": "RegisterGradient custom_gradient grad_pass_through",
    "transforms.differentiable": "derivative differentiable differentiable_function",
    "transforms.forward": "jvp vjp",
    "transforms.functional": "gradient pullback value_with_gradient value_with_pullback without_derivative",
    "transforms.hessians": "hessian hvp",
    "transforms.recompute": "recompute_grad with_recomputation_in_pullbacks",
    "transforms.surgery": "with_derivative",
}
_LATE = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = [*_EAGER, *_LATE, *_MODULES]
__all__ += ["errors", "events", "load_ipython_extension", "ops", "space_to_batch_nd"]
__all__.sort()


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"autodiff_lab.{name}")
    if name in _LATE:
        return globals().setdefault(name, getattr(import_module(f"autodiff_lab.{_LATE[name]}"), name))
    if name == "space_to_batch_nd":
        return __getattr__("space_to_batch")
    if name.startswith("_"):
        raise AttributeError(f"module 'autodiff_lab' has no attribute {name!r}")
    raise import_module("autodiff_lab.absent").no_name(import_module("autodiff_lab"), name)


def __dir__() -> list[str]:
    return list(__all__)


_keep_freed_memory()


def load_ipython_extension(ipython: object) -> None:
    """Add the cell magic ``%%record``; called by ``%load_ext autodiff_lab``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from IPython.testing.globalipapp import get_ipython  # doctest: +SKIP
    """
    from autodiff_lab.magic import load_ipython_extension as load

    load(ipython)
