"""Building blocks of neural networks: ``lab.nn``."""

from typing import TYPE_CHECKING

from autodiff_lab.ops.array.selection import top_k
from autodiff_lab.ops.catalogue import late as _late
from autodiff_lab.ops.math.counting import in_top_k
from autodiff_lab.ops.math.elementary import softsign
from autodiff_lab.ops.math.statistics import l2_normalize, zero_fraction
from autodiff_lab.ops.math.trigonometric import tanh
from autodiff_lab.ops.nn.activations import log_softmax, relu, sigmoid, softmax, softplus
from autodiff_lab.ops.nn.convolution import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    conv_transpose,
    convolution,
)
from autodiff_lab.ops.nn.cross_entropies import (
    l2_loss,
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from autodiff_lab.ops.nn.depthwise import depthwise_conv2d, separable_conv2d
from autodiff_lab.ops.nn.embedding import embedding_lookup, embedding_lookup_sparse
from autodiff_lab.ops.nn.losses import (
    softmax_cross_entropy,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from autodiff_lab.ops.nn.normalization import (
    batch_normalization,
    local_response_normalization,
    lrn,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
)
from autodiff_lab.ops.nn.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_with_argmax,
    pool,
)
from autodiff_lab.ops.nn.rectifiers import (
    crelu,
    elu,
    hard_shrink,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    leaky_relu,
    relu6,
    selu,
    soft_shrink,
    sparse_plus,
    squareplus,
    tanh_shrink,
)
from autodiff_lab.ops.nn.smooth_activations import gelu, log_sigmoid, mish, silu, swish
from autodiff_lab.ops.nn.spatial import bias_add, depth_to_space, dropout, space_to_depth

if TYPE_CHECKING:
    from autodiff_lab.extras.families.ctc import ctc_loss
    from autodiff_lab.extras.families.isotonic import isotonic_regression
    from autodiff_lab.extras.families.sampled import nce_loss, sampled_softmax_loss

_EXTRAS = {
    "ctc_loss": "families.ctc",
    "isotonic_regression": "families.isotonic",
    "nce_loss": "families.sampled",
    "sampled_softmax_loss": "families.sampled",
}

__all__ = [
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_normalization",
    "bias_add",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "ctc_loss",
    "depth_to_space",
    "depthwise_conv2d",
    "dropout",
    "elu",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "gelu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "in_top_k",
    "isotonic_regression",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "local_response_normalization",
    "log_poisson_loss",
    "log_sigmoid",
    "log_softmax",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_with_argmax",
    "mish",
    "moments",
    "nce_loss",
    "normalize_moments",
    "pool",
    "relu",
    "relu6",
    "sampled_softmax_loss",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "soft_shrink",
    "softmax",
    "softmax_cross_entropy",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "softsign",
    "space_to_depth",
    "sparse_plus",
    "sparse_softmax_cross_entropy_with_logits",
    "squareplus",
    "sufficient_statistics",
    "swish",
    "tanh",
    "tanh_shrink",
    "top_k",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "zero_fraction",
]


__path__: list[str] = []  # no modules inside, but `imports` can answer for those of PyTorch

if not TYPE_CHECKING:  # a checker sees the names above, and reports others
    __getattr__ = _late(__name__, _EXTRAS)
