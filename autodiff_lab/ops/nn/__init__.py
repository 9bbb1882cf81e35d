"""What neural networks are made of: activations, convolutions, pooling, normalisation, embeddings, losses."""

from autodiff_lab.ops.nn import (
    activations,
    any_convolution,
    convolution,
    cross_entropies,
    depthwise,
    embedding,
    isotonic,
    losses,
    normalization,
    pooling,
    rectifiers,
    sampled,
    shrinking,
    smooth_activations,
    spatial,
)

__all__ = [
    "activations", "any_convolution", "convolution", "cross_entropies", "depthwise", "embedding", "isotonic", "losses",
    "normalization", "pooling", "rectifiers", "sampled", "shrinking", "smooth_activations", "spatial",
]
