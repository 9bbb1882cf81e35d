"""Convolutions whose rank the input decides, and those with gaps in their window."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.nn.convolution import convolved, layout, transposed


def _rank(name: str, filters: Any) -> int:
    rank = convert(filters)._held.ndim - 2
    if rank not in (1, 2, 3):
        raise ShapeMismatch(f"{name}: expected filters (*window, c_in, c_out) with 1 to 3 window axes, got shape "
                            f"{convert(filters)._held.shape}.")
    return rank


def convolution(input: Any, filters: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
                dilations: Any = None, name: str | None = None) -> Tensor:
    layout(data_format)
    strides, dilations = 1 if strides is None else strides, 1 if dilations is None else dilations
    rank = _rank("convolution", filters)
    return named(convolved("convolution", rank, input, filters, strides, padding, dilations), name)


def conv_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
                   data_format: str | None = None, dilations: Any = None, name: str | None = None) -> Tensor:
    layout(data_format)
    return named(transposed("conv_transpose", _rank("conv_transpose", filters), input, filters, output_shape, strides,
                      padding, 1 if dilations is None else dilations), name)


def atrous_conv2d(value: Any, filters: Any, rate: int, padding: Any, name: str | None = None) -> Tensor:
    return named(convolved("atrous_conv2d", 2, value, filters, 1, padding, rate), name)


def atrous_conv2d_transpose(value: Any, filters: Any, output_shape: Any, rate: int, padding: Any,
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
