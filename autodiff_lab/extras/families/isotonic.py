"""Isotonic regression: the nearest sequence that never increases (or never decreases).

The nearest sequence is constant on blocks, and equals the mean on each block.  So it takes two ops: one finds the
blocks, where gradients stop, and one takes the means over blocks, a linear map that is its own VJP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.shape import as_integer, flag
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import ShapeMismatch
from autodiff_lab.kernels.arrays import arange, on_gpu
from autodiff_lab.ops.array.gathering import scatter_axis
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.nn.normalization import floats

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

add_up: Any = scatter_axis.op.kernel  # type: ignore[attr-defined]


def _blocks_of_row(row: Any) -> list[int]:
    """Return the block number of each element, by pooling adjacent violators (Ayer et al. 1955)."""
    means: list[float] = []
    sizes: list[int] = []
    for value in row:
        means.append(float(value))
        sizes.append(1)
        while len(means) > 1 and means[-2] < means[-1]:  # block means must not increase
            size = sizes[-2] + sizes[-1]
            means[-2:] = [(means[-2] * sizes[-2] + means[-1] * sizes[-1]) / size]
            sizes[-2:] = [size]
    return [number for number, size in enumerate(sizes) for _ in range(size)]


def _blocks(x: Any) -> Any:
    """Return the blocks of each row along the last axis, numbered from 0, int32."""
    rows = np.asarray(x).reshape(-1, x.shape[-1])
    found = [_blocks_of_row(row) for row in rows.tolist()]
    return np.array(found, np.int32).reshape(x.shape)


def _block_mean(x: Any, blocks: Any) -> Any:
    """Return the means over blocks; x may have more leading axes than the blocks."""
    if not x.size:
        return x.copy()
    length = blocks.shape[-1]
    rows = arange(blocks.size // length, blocks)[:, None] * length
    flat = (blocks.reshape(-1, length) + rows).reshape(-1)
    if on_gpu(x):
        layers = x.reshape(-1, blocks.size)
        sums = add_up(layers, flat, axis=-1, length=blocks.size)
        return np.take(sums / np.maximum(add_up(layers[:1] * 0 + 1, flat, axis=-1, length=blocks.size), 1), flat,
                       axis=-1).reshape(x.shape)
    counts = np.bincount(flat, minlength=blocks.size)
    layers = np.asarray(x).reshape(-1, blocks.size)
    result = np.empty_like(layers)
    for i, layer in enumerate(layers):
        sums = np.bincount(flat, layer.astype(np.float64), blocks.size)
        result[i] = (sums / np.maximum(counts, 1))[flat].astype(layers.dtype)
    return result.reshape(np.shape(x))


isotonic_blocks = general(
    "isotonic_blocks", _blocks, None, symbol="blocks", latex=r"\operatorname{{blocks}}({0})",
    sentence="finds the blocks over which {0} must be averaged so that it never increases",
    doc="The blocks of the isotonic regression of each row; `lab.nn.isotonic_regression` uses it.")
block_mean = general(
    "block_mean", _block_mean, lambda ops, g, out, x, blocks: ops.block_mean(g, blocks), None,
    symbol="mean by block", latex=r"\operatorname{{mean}}_{{{1}}}({0})", locals_latex=(r"\frac{{1}}{{n}}", ""),
    sentence="averages {0} over the blocks {1}", keeps="inputs",
    doc="The means over blocks; `lab.nn.isotonic_regression` uses it.")


def isotonic_regression(inputs: TensorLike, decreasing: bool = True, axis: int = -1) -> tuple[Tensor, Tensor]:
    x = floats(inputs, "isotonic_regression")
    axis = as_integer(axis, "isotonic_regression: axis")
    if x._held.ndim == 0 or axis not in (-1, x._held.ndim - 1):
        raise ShapeMismatch(f"isotonic_regression: expected the last axis, got axis {axis} of shape "
                            f"{x._held.shape}. Try lab.transpose.")
    if not flag(decreasing, "isotonic_regression: decreasing"):
        rising, blocks = isotonic_regression(-x)
        return -rising, blocks
    blocks = isotonic_blocks(x)
    return block_mean(x, blocks), blocks


isotonic_regression.__doc__ = doc(
    "Find the nearest sequence to each row that never increases (or never decreases), and each element's block number.",
    shapes="inputs (*b, n) -> twice (*b, n)", derivative="the mean of g over each block; none for the block numbers",
    raises=("shape", "floating", "convert"),
    example=">>> print(lab.nn.isotonic_regression([3.0, 1.0, 2.0])[0])\n"
            "Tensor([3.  1.5 1.5], shape=(3,), dtype=float32)")
