"""Convolutions over one to three axes: three bilinear ops that are each other's derivatives, and their functions."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert, convert_pair
from autodiff_lab.engine.shape import as_integers
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch, UnimplementedError
from autodiff_lab.kernels.base.choose import chosen
from autodiff_lab.kernels.convolution import reference as kernel
from autodiff_lab.ops.array.joining import concat, split
from autodiff_lab.ops.checks import dtypes_unequal
from autodiff_lab.ops.docs import doc

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, PaddingLike, ShapeLike, TensorLike

Sizes = tuple[int, ...]
Settled = tuple[Sizes, kernel.Padding, Sizes, bool]


def _settings(strides: Any, padding: Any, dilations: Any) -> dict[str, Any]:
    return {"strides": strides, "padding": padding, "dilations": dilations}


def _by_input(ops: Any, g: Any, out: Any, x: Any, w: Any, **how: Any) -> Any:
    return ops.convolve_input(g, w, shape=tuple(x.shape), **how)


def _by_filter(ops: Any, g: Any, out: Any, x: Any, w: Any, **how: Any) -> Any:
    return ops.convolve_filter(x, g, window=tuple(w.shape[:-2]), **how)


def _multiplications(x: Any, g: Any, window: Sizes, **how: Any) -> float:
    """Return about how many multiplications a filter's gradient takes; see `_products` for the other two ops."""
    return x.shape[-1] * g.size * math.prod(window)


def _products(x: Any, w: Any, shape: Sizes | None = None, **how: Any) -> float:
    """Return about how many multiplications a convolution takes, or its gradient with respect to the input."""
    return x.size * w.size // (w.shape[-2 if shape is None else -1] or 1)


convolve = general(
    "convolve", chosen("convolve", kernel.convolve, work=_products), _by_input, _by_filter,
    stacked=False, symbol="∗", latex=r"{0} \ast {1}",
    locals_latex=(r"\ast^T {1}", r"{0} \ast"), sentence="convolves {0} with the filter {1}", keeps="inputs",
    registered="Conv2D", doc="The kernel-level convolution; `lab.nn.conv2d` is a public function.")

convolve_input = general(
    "convolve_input", chosen("convolve_input", kernel.convolve_input, work=_products),
    lambda ops, g, out, u, w, shape, **how: ops.convolve(g, w, **how),
    lambda ops, g, out, u, w, shape, **how: ops.convolve_filter(g, u, window=tuple(w.shape[:-2]), **how),
    stacked=False, symbol="∗ᵀ", latex=r"{0} \ast^T {1}", locals_latex=(r"\ast {1}", r"\ast {0}"),
    sentence="spreads {0} by the filter {1}", keeps="inputs", registered="Conv2DBackpropInput",
    doc="Transposed convolution; the rule of `convolve` uses it, `lab.nn.conv2d_transpose` is its public function.")

convolve_filter = general(
    "convolve_filter",
    chosen("convolve_filter", kernel.convolve_filter, work=_multiplications),
    lambda ops, g, out, x, u, window, **how: ops.convolve_input(u, g, shape=tuple(x.shape), **how),
    lambda ops, g, out, x, u, window, **how: ops.convolve(x, g, **how),
    stacked=False, symbol="∗ᵂ", latex=r"{0} \ast_W {1}", locals_latex=(r"\ast^T", r"{0} \ast"),
    sentence="correlates {0} with {1} into a filter", keeps="inputs", registered="Conv2DBackpropFilter",
    doc="The gradient of a convolution with respect to its filter; the rule of `convolve` uses it.")


def sizes(value: Any, rank: int, name: str) -> Sizes:
    """Return one number for each spatial axis, from an int, `rank` ints, or TensorFlow's ``[1, h, w, 1]``."""
    given = as_integers(value, name)
    if len(given) == rank + 2 and given[0] == given[-1] == 1:
        given = given[1:-1]
    if len(given) == 1:
        given *= rank
    if len(given) != rank or min(given) < 1:
        raise InvalidArgumentError(f"{name} must be a positive integer, or one for each of the {rank} axes, got "
                                   f"{value!r}.")
    return given


def paddings(padding: Any, spatial: Sizes, window: Sizes, strides: Sizes, dilations: Sizes) -> kernel.Padding:
    """Return the zeros before and after each spatial axis, from 'SAME', 'VALID', or pairs."""
    if isinstance(padding, str):
        if padding.upper() == "VALID":
            return ((0, 0),) * len(spatial)
        if padding.upper() == "SAME":
            return kernel.same_padding(spatial, window, strides, dilations)
        raise InvalidArgumentError(f"padding must be 'SAME', 'VALID' or pairs of integers, got {padding!r}.")
    try:
        pairs: kernel.Padding = tuple((int(low), int(high)) for low, high in padding)
    except (TypeError, ValueError):
        pairs = ()
    if len(pairs) == len(spatial) + 2 and (pairs[:1], pairs[-1:]) == (((0, 0),), ((0, 0),)):
        pairs = pairs[1:-1]
    if len(pairs) != len(spatial) or min(n for pair in pairs for n in pair) < 0:
        raise InvalidArgumentError("padding must be 'SAME', 'VALID' or a pair of non-negative integers for each of "
                                   f"the {len(spatial)} axes, got {padding!r}. Try {[(1, 1)] * len(spatial)}.")
    return pairs


def settled(spatial: Sizes, window: Sizes, strides: Any, padding: Any, dilations: Any) -> Settled:
    """Return strides, padding and dilations for each axis, and whether the window fits; cached for plain arguments."""
    if strides.__class__ is dilations.__class__ is int and padding.__class__ is str:
        return _remembered(spatial, window, strides, padding, dilations)
    return _settled(spatial, window, strides, padding, dilations)


def _settled(spatial: Sizes, window: Sizes, strides: Any, padding: Any, dilations: Any) -> Settled:
    rank = len(spatial)
    steps, holes = sizes(strides, rank, "strides"), sizes(dilations, rank, "dilations")
    around = paddings(padding, spatial, window, steps, holes)
    return steps, around, holes, kernel.fits(spatial, kernel.out_sizes(spatial, window, steps, around, holes))


_remembered = lru_cache(maxsize=1024)(_settled)


def too_large(name: str, window: Sizes, dilations: Sizes, spatial: Sizes) -> ShapeMismatch:
    """Build the error about a filter window that reaches over the edge of its input."""
    reach = tuple(d * (k - 1) + 1 for k, d in zip(window, dilations, strict=True))
    spread = "" if reach == window else f", which dilations {dilations} spread over {reach},"
    return ShapeMismatch(f"{name}: the filter window {window}{spread} is larger than the input {spatial}. "
                         "Try padding='SAME'.")


def layout(data_format: str | None) -> None:
    """Refuse what is not channels last."""
    if data_format is not None and not isinstance(data_format, str):
        raise InvalidArgumentError(f"data_format must be a string such as 'NHWC', got {data_format!r:.80}.")
    if data_format is not None and not (data_format.startswith("N") and data_format.endswith("C")):
        raise UnimplementedError(f"data_format {data_format!r}: only channels last is supported. Try lab.transpose.")


def convolved(name: str, rank: int, input: Any, filters: Any, strides: Any, padding: Any, dilations: Any) -> Tensor:
    """Convert, check and convolve over a number of axes."""
    x, w = convert_pair(convolve.op, input, filters)  # type: ignore[attr-defined]
    if x._held.dtype != w._held.dtype:
        raise dtypes_unequal(name, input=x, filters=w)
    if x._held.ndim != rank + 2 or w._held.ndim != rank + 2:
        raise ShapeMismatch(f"{name}: expected an input (n, *{rank} axes, c_in) and filters (*{rank} axes, c_in, "
                            f"c_out), got shapes {x._held.shape} and {w._held.shape}.")
    channels, taken, made = x._held.shape[-1], w._held.shape[-2], w._held.shape[-1]
    groups = channels // taken if taken else 0
    if groups > 1 and channels == groups * taken and made % groups == 0:
        pairs = zip(split(x, groups, axis=-1), split(w, groups, axis=-1), strict=True)
        return concat([convolved(name, rank, a, b, strides, padding, dilations) for a, b in pairs], axis=-1)
    if channels != taken:
        raise ShapeMismatch(f"{name}: the input has {x._held.shape[-1]} channels, but the filters take "
                            f"{w._held.shape[-2]}; got shapes {x._held.shape} and {w._held.shape}.")
    steps, around, holes, fits = settled(x._held.shape[1:-1], w._held.shape[:-2], strides, padding, dilations)
    if not fits:
        raise too_large(name, w._held.shape[:-2], holes, x._held.shape[1:-1])
    return convolve(x, w, **_settings(steps, around, holes))


def conv1d(input: TensorLike, filters: TensorLike, stride: IntsLike = 1, padding: PaddingLike = "VALID",
           data_format: str | None = "NWC",
           dilations: IntsLike = 1, name: str | None = None) -> Tensor:
    layout(data_format)
    return named(convolved("conv1d", 1, input, filters, stride, padding, dilations), name)


def conv2d(input: TensorLike, filters: TensorLike, strides: IntsLike = 1, padding: PaddingLike = "VALID",
           data_format: str | None = "NHWC",
           dilations: IntsLike = 1, name: str | None = None) -> Tensor:
    layout(data_format)
    return named(convolved("conv2d", 2, input, filters, strides, padding, dilations), name)


def conv3d(input: TensorLike, filters: TensorLike, strides: IntsLike = 1, padding: PaddingLike = "VALID",
           data_format: str | None = "NDHWC",
           dilations: IntsLike = 1, name: str | None = None) -> Tensor:
    layout(data_format)
    return named(convolved("conv3d", 3, input, filters, strides, padding, dilations), name)


def transposed(name: str, rank: int, input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any,
                dilations: Any) -> Tensor:
    """Convert, check and convolve transposed; filters are (*window, c_out, c_in), as of the convolution it reverses."""
    from autodiff_lab.ops.array.creation import as_shape
    g, w = convert_pair(convolve_input.op, input, filters)  # type: ignore[attr-defined]
    if g._held.dtype != w._held.dtype:
        raise dtypes_unequal(name, input=g, filters=w)
    shape = as_shape(output_shape)
    if not g._held.ndim == w._held.ndim == len(shape) == rank + 2:
        raise ShapeMismatch(f"{name}: expected an input (n, *{rank} axes, c_in), filters (*{rank} axes, c_out, c_in) "
                            f"and an output_shape of {rank + 2} integers, got {g._held.shape}, {w._held.shape} and "
                            f"{shape}.")
    steps, holes = sizes(strides, rank, "strides"), sizes(dilations, rank, "dilations")
    window = w._held.shape[:-2]
    around = paddings(padding, shape[1:-1], window, steps, holes)
    expected = (shape[0], *kernel.out_sizes(shape[1:-1], window, steps, around, holes), w._held.shape[-1])
    if shape[-1] != w._held.shape[-2]:
        raise ShapeMismatch(f"{name}: filters of shape {w._held.shape} give {w._held.shape[-2]} channels, but "
                            f"output_shape {shape} has {shape[-1]}.")
    if g._held.shape != expected:
        raise ShapeMismatch(f"{name}: output_shape {shape} requires an input of shape {expected}, got {g._held.shape}.")
    return convolve_input(g, w, shape=shape, **_settings(steps, around, holes))


def conv1d_transpose(input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: IntsLike,
                     padding: PaddingLike = "SAME",
                     data_format: str | None = "NWC", dilations: IntsLike = 1, name: str | None = None) -> Tensor:
    layout(data_format)
    return named(transposed("conv1d_transpose", 1, input, filters, output_shape, strides, padding, dilations), name)


def conv2d_transpose(input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: IntsLike,
                     padding: PaddingLike = "SAME",
                     data_format: str | None = "NHWC", dilations: IntsLike = 1, name: str | None = None) -> Tensor:
    layout(data_format)
    return named(transposed("conv2d_transpose", 2, input, filters, output_shape, strides, padding, dilations), name)


def conv3d_transpose(input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: IntsLike,
                     padding: PaddingLike = "SAME",
                     data_format: str | None = "NDHWC", dilations: IntsLike = 1, name: str | None = None) -> Tensor:
    layout(data_format)
    return named(transposed("conv3d_transpose", 3, input, filters, output_shape, strides, padding, dilations), name)


for _rank, _function, _back in ((1, conv1d, conv1d_transpose), (2, conv2d, conv2d_transpose),
                                (3, conv3d, conv3d_transpose)):
    _ones = "(1, " + "4, " * _rank + "1)"
    _filter = "(" + "3, " * _rank + "1, 1)"
    _function.__doc__ = doc(
        f"{_rank}-dimensional convolution (cross-correlation: the filter is not flipped), channels last.",
        shapes="input (n, *s, c_in), filters (*k, c_in, c_out) -> (n, *t, c_out)", dtypes="floating, both the same",
        derivative="a transposed convolution for the input, a correlation for the filters",
        example=f">>> lab.nn.conv{_rank}d(lab.ones({_ones}), lab.ones({_filter})).shape\n"
                f"TensorShape([1, {'2, ' * _rank}1])", raises=("shape", "dtypes", "argument", "convert"))
    _back.__doc__ = doc(
        f"{_rank}-dimensional transposed convolution: the gradient of a convolution with respect to its input.",
        shapes="input (n, *t, c_in), filters (*k, c_out, c_in) -> output_shape", dtypes="floating, both the same",
        derivative="a convolution for the input, a correlation for the filters",
        example=f">>> lab.nn.conv{_rank}d_transpose(lab.ones((1, {'2, ' * _rank}1)), lab.ones({_filter}), {_ones}, 1, "
                f"padding='VALID').shape\nTensorShape([1, {'4, ' * _rank}1])",
        raises=("shape", "dtypes", "argument", "convert"))


def _rank_of(name: str, filters: Any) -> int:
    rank = convert(filters)._held.ndim - 2
    if rank not in (1, 2, 3):
        raise ShapeMismatch(f"{name}: expected filters (*window, c_in, c_out) with 1 to 3 window axes, got shape "
                            f"{convert(filters)._held.shape}.")
    return rank


def convolution(input: TensorLike, filters: TensorLike, strides: IntsLike | None = None,
                padding: PaddingLike = "VALID", data_format: str | None = None,
                dilations: IntsLike | None = None, name: str | None = None) -> Tensor:
    layout(data_format)
    strides, dilations = 1 if strides is None else strides, 1 if dilations is None else dilations
    rank = _rank_of("convolution", filters)
    return named(convolved("convolution", rank, input, filters, strides, padding, dilations), name)


def conv_transpose(input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: IntsLike,
                   padding: PaddingLike = "SAME",
                   data_format: str | None = None, dilations: IntsLike | None = None,
                   name: str | None = None) -> Tensor:
    layout(data_format)
    rank, dilations = _rank_of("conv_transpose", filters), 1 if dilations is None else dilations
    made = transposed("conv_transpose", rank, input, filters, output_shape, strides, padding, dilations)
    return named(made, name)


def atrous_conv2d(value: TensorLike, filters: TensorLike, rate: int, padding: PaddingLike,
                  name: str | None = None) -> Tensor:
    return named(convolved("atrous_conv2d", 2, value, filters, 1, padding, rate), name)


def atrous_conv2d_transpose(value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int,
                            padding: PaddingLike,
                            name: str | None = None) -> Tensor:
    return named(transposed("atrous_conv2d_transpose", 2, value, filters, output_shape, 1, padding, rate), name)


_BACK = "a convolution for the input, a correlation for the filters"
for _function, _words, _shapes, _derivative, _call, _out in (
    (convolution, "Convolution over as many axes as the filters' window has, channels last.",
     "input (n, *s, c_in), filters (*k, c_in, c_out) -> (n, *t, c_out)",
     "a transposed convolution for the input, a correlation for the filters",
     "convolution(lab.ones((1, 4, 1)), lab.ones((3, 1, 1)))", "1, 2, 1"),
    (conv_transpose, "Transposed convolution over as many axes as the filters' window has.",
     "input (n, *t, c_in), filters (*k, c_out, c_in) -> output_shape", _BACK,
     "conv_transpose(lab.ones((1, 2, 1)), lab.ones((3, 1, 1)), (1, 4, 1), 1, padding='VALID')", "1, 4, 1"),
    (atrous_conv2d, "Two-dimensional convolution whose window has `rate - 1` gaps between its points.",
     "value (n, h, w, c_in), filters (kh, kw, c_in, c_out) -> (n, h', w', c_out)",
     "a transposed convolution for the input, a correlation for the filters",
     "atrous_conv2d(lab.ones((1, 5, 5, 1)), lab.ones((2, 2, 1, 1)), 2, 'VALID')", "1, 3, 3, 1"),
    (atrous_conv2d_transpose, "Transposed two-dimensional convolution whose window has gaps between its points.",
     "value (n, h, w, c_in), filters (kh, kw, c_out, c_in) -> output_shape", _BACK,
     "atrous_conv2d_transpose(lab.ones((1, 3, 3, 1)), lab.ones((2, 2, 1, 1)), (1, 5, 5, 1), 2, 'VALID')",
     "1, 5, 5, 1"),
):
    _function.__doc__ = doc(_words, shapes=_shapes, derivative=_derivative, dtypes="floating, both the same",
                            example=f">>> lab.nn.{_call}.shape\nTensorShape([{_out}])",
                            raises=("shape", "dtypes", "argument", "convert"))
