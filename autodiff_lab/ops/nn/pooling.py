"""Pooling: the largest element or the mean of each window, channels last."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.kernels.reference import pooling as kernel
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.nn.convolution import paddings, sizes


def _max_rule(ops: Any, g: Any, out: Any, x: Any, **how: Any) -> Any:
    """Each share goes to its window's largest element; the positions are whole numbers and carry no gradient."""
    size = int(np.prod(x.shape))
    at = ops.max_positions(x, **how)
    total = ops.scatter_nd(ops.reshape(g, shape=(int(np.prod(g.shape)),)), at, shape=(size,))
    return ops.reshape(total, shape=tuple(x.shape))


max_pool_windows = general(
    "max_pool", kernel.max_pool, _max_rule, stacked=False, symbol="max pool",
    latex=r"\operatorname{{maxpool}}({0})", locals_latex=(r"[{0} = \max]",),
    sentence="keeps the largest element of each window of {0}", keeps="inputs", registered="MaxPool",
    doc="The kernel-level max pooling; `lab.nn.max_pool` is the public function.")
max_positions = general(
    "max_positions", kernel.max_positions, None, symbol="argmax", latex=r"\operatorname{{argmax}}({0})",
    sentence="finds the largest element of each window of {0}",
    doc="Positions of the largest elements of windows; the rule of `max_pool` uses it.")
average_pool_windows = general(
    "average_pool", kernel.average_pool,
    lambda ops, g, out, x, **how: ops.average_pool_input(g, shape=tuple(x.shape), **how), stacked=False,
    symbol="mean pool", latex=r"\operatorname{{meanpool}}({0})", locals_latex=(r"\frac{{1}}{{n}}",),
    sentence="averages each window of {0}", keeps="nothing", registered="AvgPool",
    doc="The kernel-level average pooling; `lab.nn.avg_pool` is the public function.")
average_pool_input = general(
    "average_pool_input", kernel.average_pool_input,
    lambda ops, g, out, u, shape, **how: ops.average_pool(g, **how), stacked=False,
    symbol="mean poolᵀ", latex=r"\operatorname{{meanpool}}^T({0})", locals_latex=(r"\frac{{1}}{{n}}",),
    sentence="spreads {0} over its windows", keeps="nothing", registered="AvgPoolGrad",
    doc="The gradient of average pooling; the rule of `average_pool` uses it.")


def _pool(op: Any, name: str, rank: int | None, value: Any, ksize: Any, strides: Any, padding: Any) -> Tensor:
    x = convert(value)
    spatial = x._array.ndim - 2
    if spatial < 1 or (rank is not None and spatial != rank):
        raise ShapeMismatch(f"{name}: an input (n, *{rank or 'spatial'} axes, c) is needed, got {x._array.shape}.")
    window = sizes(ksize, spatial, "ksize")
    steps = sizes(ksize if strides is None else strides, spatial, "strides")
    around = paddings(padding, x._array.shape[1:-1], window, steps, (1,) * spatial)
    if any(k > n + low + high for k, n, (low, high) in zip(window, x._array.shape[1:-1], around, strict=True)):
        raise ShapeMismatch(f"{name}: the window {window} is larger than the input {x._array.shape[1:-1]}. "
                            "Try padding='SAME'.")
    return op(x, window=window, strides=steps, padding=around)


def max_pool(input: Any, ksize: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
             name: str | None = None) -> Tensor:
    return _pool(max_pool_windows, "max_pool", None, input, ksize, strides, padding)


def max_pool1d(input: Any, ksize: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
               name: str | None = None) -> Tensor:
    return _pool(max_pool_windows, "max_pool1d", 1, input, ksize, strides, padding)


def max_pool2d(input: Any, ksize: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
               name: str | None = None) -> Tensor:
    return _pool(max_pool_windows, "max_pool2d", 2, input, ksize, strides, padding)


def max_pool3d(input: Any, ksize: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
               name: str | None = None) -> Tensor:
    return _pool(max_pool_windows, "max_pool3d", 3, input, ksize, strides, padding)


def avg_pool(input: Any, ksize: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
             name: str | None = None) -> Tensor:
    return _pool(average_pool_windows, "avg_pool", None, input, ksize, strides, padding)


def avg_pool1d(input: Any, ksize: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
               name: str | None = None) -> Tensor:
    return _pool(average_pool_windows, "avg_pool1d", 1, input, ksize, strides, padding)


def avg_pool2d(input: Any, ksize: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
               name: str | None = None) -> Tensor:
    return _pool(average_pool_windows, "avg_pool2d", 2, input, ksize, strides, padding)


def avg_pool3d(input: Any, ksize: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
               name: str | None = None) -> Tensor:
    return _pool(average_pool_windows, "avg_pool3d", 3, input, ksize, strides, padding)


for _function in (max_pool, max_pool1d, max_pool2d, max_pool3d, avg_pool, avg_pool1d, avg_pool2d, avg_pool3d):
    _name = _function.__name__
    _axes = int(_name[-2]) if _name[-1] == "d" else 2
    _largest = _name.startswith("max")
    _function.__doc__ = doc(
        "The largest element of each window." if _largest else "The mean of each window; padding does not count.",
        shapes="input (n, *s, c) -> (n, *t, c)", raises=("shape", "argument", "convert"),
        derivative="1 for each window's largest element, the first of equals" if _largest else "1/n for each element",
        example=f">>> lab.nn.{_name}(lab.ones((1, {'4, ' * _axes}1)), 2).shape\nTensorShape([1, {'2, ' * _axes}1])")
