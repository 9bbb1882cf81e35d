"""Biases, dropout, and pixels moved into channels and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.devices import following, placed
from autodiff_lab.engine.primitives import add
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.kernels.arrays import ranked
from autodiff_lab.ops.array.gathering import where
from autodiff_lab.ops.array.shaping import reshape, transpose
from autodiff_lab.ops.checks import broadcasts, dtypes_unequal, floats, number_of
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.nn.convolution import layout
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    x = convert(value)
    b = convert(bias, x)
    if data_format is not None and not (isinstance(data_format, str) and data_format.startswith("N")):
        raise InvalidArgumentError(f"bias_add: data_format must be 'NHWC' or 'NCHW' or the like, got {data_format!r}.")
    first = data_format is not None and data_format.startswith("NC")
    if x._held.ndim < 2 or b._held.shape != (x._held.shape[1 if first else -1],):
        raise ShapeMismatch(f"bias_add: expected a value of rank 2 or more and a bias for each of its channels, "
                            f"got shapes {x._held.shape} and {b._held.shape}.")
    if b._held.dtype != x._held.dtype:
        raise dtypes_unequal("bias_add", value=x, bias=b)
    return add(x, reshape(b, (-1,) + (1,) * (x._held.ndim - 2)) if first else b, name=name)


@structured()
def dropout(x: TensorLike, rate: float, noise_shape: Sequence[SupportsIndex | None] | None = None,
            seed: int | None = None, name: str | None = None) -> Tensor:
    from autodiff_lab.ops.random_drawing import uniform_noise  # random numbers live beside their ops
    from autodiff_lab.ops.random_state import drawn
    x = floats(x, "dropout")
    dropped = number_of(rate, "dropout: rate")
    if not 0 <= dropped < 1:
        raise InvalidArgumentError(f"dropout: rate must be in [0, 1), got {rate}.")
    if not dropped:
        return x
    wanted = have = x._held.shape
    if noise_shape is not None:
        lengths = list(noise_shape)
        wanted = tuple(n if m is None else as_integer(m, "dropout: noise_shape")
                       for n, m in zip((*have, *(0,) * len(lengths)), lengths, strict=False))
    if wanted is not have and (len(wanted) != len(have) or not broadcasts(wanted, have)):
        raise ShapeMismatch(f"dropout: noise_shape {noise_shape} does not broadcast to the shape of the input, {have}.")
    place, dtype = following(x), x.dtype

    def draw(source: Any) -> Tensor:
        with place:
            return wrap(placed(ranked(uniform_noise(source, wanted, dtype) >= dropped)[()]))

    kept = drawn(draw, seed)
    return named(where(kept, x * (1 / (1 - dropped)), 0.0), name)


def _image(value: Any, block_size: Any, data_format: str | None, name: str) -> tuple[Tensor, int]:
    layout(data_format)
    x = convert(value)
    block = as_integer(block_size, f"{name}: block_size")
    if x._held.ndim != 4:
        raise ShapeMismatch(f"{name}: expected an input (n, h, w, c), got shape {x._held.shape}.")
    if block < 2:
        raise InvalidArgumentError(f"{name}: block_size must be at least 2, got {block}.")
    return x, block


def space_to_depth(input: TensorLike, block_size: int, data_format: str | None = "NHWC",
                   name: str | None = None) -> Tensor:
    x, block = _image(input, block_size, data_format, "space_to_depth")
    n, h, w, c = x._held.shape
    if h % block or w % block:
        raise ShapeMismatch(f"space_to_depth: height {h} and width {w} must be multiples of block_size {block}.")
    parts = reshape(x, (n, h // block, block, w // block, block, c))
    return named(reshape(transpose(parts, (0, 1, 3, 2, 4, 5)), (n, h // block, w // block, block * block * c)), name)


def depth_to_space(input: TensorLike, block_size: int, data_format: str | None = "NHWC",
                   name: str | None = None) -> Tensor:
    x, block = _image(input, block_size, data_format, "depth_to_space")
    n, h, w, c = x._held.shape
    if c % (block * block):
        raise ShapeMismatch(f"depth_to_space: the number of channels {c} must be a multiple of block_size², "
                            f"{block * block}.")
    left = c // (block * block)
    parts = reshape(x, (n, h, w, block, block, left))
    return named(reshape(transpose(parts, (0, 1, 3, 2, 4, 5)), (n, h * block, w * block, left)), name)


document((
    (bias_add, "One number added to each channel, the last axis (or the second, for 'NC...').",
     "value (n, *s, c), bias (c) -> (n, *s, c)", "1 for the value; summed over all other axes for the bias",
     ">>> print(lab.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]))\nTensor([[11. 22.]], shape=(1, 2), dtype=float32)"),
    (dropout, "Each element 0 with probability `rate`, else scaled up by 1/(1 - rate); with `noise_shape`, axes of "
     "length 1 share their fate.", "x (*s) -> (*s)", "1/(1 - rate) where the element was kept, else 0",
     ">>> print(lab.nn.dropout([1.0, 2.0], rate=0.0))\nTensor([1. 2.], shape=(2,), dtype=float32)"),
    (space_to_depth, "Blocks of pixels moved into channels.", "input (n, h, w, c) -> (n, h/b, w/b, b²·c)",
     "1 for every element, moved back",
     ">>> lab.nn.space_to_depth(lab.zeros((1, 4, 4, 2)), 2).shape\nTensorShape([1, 2, 2, 8])"),
    (depth_to_space, "Channels moved into blocks of pixels.", "input (n, h, w, b²·c) -> (n, h·b, w·b, c)",
     "1 for every element, moved back",
     ">>> lab.nn.depth_to_space(lab.zeros((1, 2, 2, 8)), 2).shape\nTensorShape([1, 4, 4, 2])"),
), raises=("shape", "argument", "convert"))
