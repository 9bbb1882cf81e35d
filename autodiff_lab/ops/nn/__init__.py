"""What neural networks are made of: activations, convolutions, pooling, normalization, embeddings, losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_lab.ops.nn import (
        activations,
        convolution,
        cross_entropies,
        depthwise,
        embedding,
        losses,
        normalization,
        pooling,
        rectifiers,
        recurrent,
        resizing,
        smooth_activations,
        spatial,
    )

__all__ = [
    "activations", "convolution", "cross_entropies", "depthwise", "embedding", "losses",
    "normalization", "pooling", "rectifiers", "recurrent", "resizing", "smooth_activations", "spatial",
]


def __getattr__(name: str) -> Any:
    """Load a family at its first use."""
    from autodiff_lab.ops.catalogue import family

    return family(__name__, __all__, name)
