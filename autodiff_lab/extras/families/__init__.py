"""Families of ops that few programs use; each loads when one of its ops is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodiff_lab.extras.families import (
        cosines,
        ctc,
        frames,
        image,
        image_patches,
        image_quality,
        image_sizes,
        isotonic,
        sampled,
        signal,
        sparse,
        special,
        strings,
        windows,
    )

__all__ = ["signal", "image", "sparse", "strings", "special", "isotonic", "sampled", "ctc", "image_sizes",
           "image_patches", "image_quality", "windows", "frames", "cosines"]


def __getattr__(name: str) -> Any:
    """Load a family on first access."""
    from autodiff_lab.ops.catalogue import family

    return family(__name__, __all__, name)
