"""CudaKernels: every op that has a CUDA kernel, one method each.

A method is called like the reference of its name, with arrays of one GPU, and gives arrays of that GPU, or
NotImplemented for what it does not do (dtypes, axes, layouts): then the reference runs, its NumPy calls answered by
CuPy.  The report of ``python -m autodiff_lab.kernels.cuda`` holds each method to a compiled kernel and a test.
"""

from __future__ import annotations

from autodiff_lab.kernels.cuda import (
    convolution,
    gathering,
    pooling,
    products,
    reductions,
    reductions_extreme,
    running,
    scatter,
    segments,
    softmax_slopes,
)
from autodiff_lab.kernels.cuda import cross_entropy as entropies
from autodiff_lab.kernels.cuda import cross_entropy_shares as entropies_of_shares
from autodiff_lab.kernels.cuda import depthwise as by_channel
from autodiff_lab.kernels.cuda import softmax as softmaxes
from autodiff_lab.kernels.cuda import standardize as standardizing


class CudaKernels:
    """The CUDA overrides of `choose.CHOSEN`, by name."""

    matmul = staticmethod(products.matmul)

    softmax = staticmethod(softmaxes.softmax)
    softmax_slope = staticmethod(softmax_slopes.softmax_slope)
    log_softmax = staticmethod(softmaxes.log_softmax)
    log_softmax_slope = staticmethod(softmax_slopes.log_softmax_slope)
    softmax_cross_entropy = staticmethod(entropies_of_shares.softmax_cross_entropy)
    softmax_cross_entropy_slope = staticmethod(entropies_of_shares.softmax_cross_entropy_slope)
    sparse_softmax_cross_entropy = staticmethod(entropies.sparse_softmax_cross_entropy)
    sparse_softmax_cross_entropy_slope = staticmethod(entropies.sparse_softmax_cross_entropy_slope)
    sparse_softmax_cross_entropy_and_slope = staticmethod(entropies.sparse_softmax_cross_entropy_and_slope)

    cumsum = staticmethod(running.cumsum)
    cumprod = staticmethod(running.cumprod)
    cumulative_logsumexp = staticmethod(running.cumulative_logsumexp)
    recurrence = staticmethod(running.recurrence)

    max_pool = staticmethod(pooling.max_pool)
    max_pool_input = staticmethod(pooling.max_pool_input)
    max_pool_pick = staticmethod(pooling.max_pool_pick)
    average_pool = staticmethod(pooling.average_pool)
    average_pool_input = staticmethod(pooling.average_pool_input)

    sum = staticmethod(reductions.sum_over)
    mean = staticmethod(reductions.mean_over)
    max = staticmethod(reductions.max_over)
    min = staticmethod(reductions.min_over)
    logsumexp = staticmethod(reductions.logsumexp_over)
    extreme_slope = staticmethod(reductions_extreme.extreme_slope)

    gather = staticmethod(gathering.gather)
    gather_nd = staticmethod(gathering.gather_nd)
    scatter_axis = staticmethod(scatter.scatter_axis)
    scatter_nd = staticmethod(scatter.scatter_nd)
    segment_sum = staticmethod(segments.segment_sum)
    segment_max = staticmethod(segments.segment_max)
    segment_min = staticmethod(segments.segment_min)

    moments = staticmethod(standardizing.moments)
    standardize = staticmethod(standardizing.standardize)
    standardize_slope = staticmethod(standardizing.standardize_slope)
    normalize = staticmethod(standardizing.normalize)
    normalize_slope = staticmethod(standardizing.normalize_slope)

    convolve = staticmethod(convolution.convolve)
    convolve_input = staticmethod(convolution.convolve_input)
    convolve_filter = staticmethod(convolution.convolve_filter)
    depthwise = staticmethod(by_channel.depthwise)
    depthwise_input = staticmethod(by_channel.depthwise_input)
    depthwise_filter = staticmethod(by_channel.depthwise_filter)
