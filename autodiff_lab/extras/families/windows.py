"""Windows of frames: weights that fall off towards both ends, so that a frame has no sharp edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import constant
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import as_integer, flag
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch
from autodiff_lab.ops.checks import number_of, room
from autodiff_lab.ops.docs import document

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike


def _made(window: Any, dtype: Any, what: str, name: str | None) -> Tensor:
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise DtypeMismatch(f"{what}: dtype must be floating-point, got {wanted.name}.")
    return named(constant(window.astype(wanted.dtype)), name)


def _length(window_length: Any, what: str) -> int:
    return room(as_integer(window_length, f"{what}: window_length", 1), f"{what}: window_length")


def _cosine(what: str, window_length: Any, periodic: Any, mean: float) -> Any:
    """Return a raised cosine; a periodic one is the first part of one that is longer by a sample, if that is odd."""
    length = _length(window_length, what)
    turn = length - 1 + (flag(periodic, f"{what}: periodic") and length % 2 == 0)
    return mean - (1 - mean) * np.cos(2 * np.pi * np.arange(length) / turn) if turn else np.ones(1)


def hann_window(window_length: TensorLike, periodic: bool = True, dtype: DTypeLike = "float32",
                name: str | None = None) -> Tensor:
    return _made(_cosine("hann_window", window_length, periodic, 0.5), dtype, "hann_window", name)


def hamming_window(window_length: TensorLike, periodic: bool = True, dtype: DTypeLike = "float32",
                   name: str | None = None) -> Tensor:
    return _made(_cosine("hamming_window", window_length, periodic, 0.54), dtype, "hamming_window", name)


def kaiser_window(window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = "float32",
                  name: str | None = None) -> Tensor:
    length = _length(window_length, "kaiser_window")
    return _made(np.kaiser(length, number_of(beta, "kaiser_window: beta")), dtype, "kaiser_window", name)


def vorbis_window(window_length: TensorLike, dtype: DTypeLike = "float32", name: str | None = None) -> Tensor:
    length = _length(window_length, "vorbis_window")
    inner = np.sin(np.pi / length * (np.arange(length) + 0.5))
    return _made(np.sin(np.pi / 2 * inner**2), dtype, "vorbis_window", name)


document((
    (hann_window, "Make a Hann window: 0.5 - 0.5 cos(2πk / n). With `periodic`, n is the length if that is even, which "
     "suits frames that overlap; else it is one less, and the window is symmetric.",
     ">>> print(lab.signal.hann_window(4).numpy())\n[0.  0.5 1.  0.5]"),
    (hamming_window, "Make a Hamming window: 0.54 - 0.46 cos(2πk / n). With `periodic`, n is the length if that is "
     "even, else one less.", ">>> print(lab.signal.hamming_window(4).numpy())\n[0.08 0.54 1.   0.54]"),
    (kaiser_window, "Make a Kaiser window: a Bessel function of √(1 - t²) times `beta`, with t from -1 to 1. The "
     "larger `beta`, the narrower it is.", ">>> print(lab.signal.kaiser_window(3, beta=0.0).numpy())\n[1. 1. 1.]"),
    (vorbis_window, "Make the window of the Vorbis format: sin(π/2 · sin²(π (k + 1/2) / n)). The squares of two halves "
     "that overlap add up to 1.", ">>> print(lab.signal.vorbis_window(2).numpy())\n[0.70710677 0.70710677]"),
), "summary example", shapes="window_length -> (window_length,)", derivative="none: it is a constant",
    raises=("argument", "dtypes"), domain="lengths from 1")
