"""Frames of signals, and transforms of them: short-time Fourier transforms and their inverses.

All are composed of ops that have rules.  Frames are copied in blocks of samples, not sample by sample: the length of a
block divides both the length of the frames and the step between them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import alone, convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made
from autodiff_lab.extras.families.signal import fitted, irfft, rfft
from autodiff_lab.extras.families.windows import hann_window
from autodiff_lab.ops.array.gathering import gather, laid_beside
from autodiff_lab.ops.array.joining import slice_axis
from autodiff_lab.ops.array.repeating import pad
from autodiff_lab.ops.array.shaping import reshape, transpose
from autodiff_lab.ops.checks import axis_from_end
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.reductions import reduce_sum

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike

Window = Callable[..., Any]
"""What makes a window of a length and a `dtype`."""


@lru_cache(64)
def _blocks(frames: int, length: int, step: int) -> Any:
    """Return the blocks of each frame, (frames, length), where frames begin `step` blocks apart."""
    return (np.arange(frames)[:, None] * step + np.arange(length)).astype(np.int32)


def frame(signal: TensorLike, frame_length: TensorLike, frame_step: TensorLike, pad_end: bool = False,
          pad_value: TensorLike = 0, axis: int = -1, name: str | None = None) -> Tensor:
    x = alone(convert(signal))
    length = as_integer(frame_length, "frame: frame_length", 1)
    step = as_integer(frame_step, "frame: frame_step", 1)
    at = axis_from_end(axis, x._held.ndim, "frame") + x._held.ndim
    before, count, after = x._held.shape[:at], x._held.shape[at], x._held.shape[at + 1:]
    frames = -(-count // step) if pad_end else max(0, 1 + (count - length) // step)
    if not frames:
        return named(reshape(slice_axis(x, axis=at - x._held.ndim, start=0, stop=0), (*before, 0, length, *after)),
                     name)
    used = (frames - 1) * step + length
    if used > count:
        x = pad(x, [(0, 0)] * len(before) + [(0, used - count)] + [(0, 0)] * len(after), constant_values=pad_value)
    elif used < count:
        x = slice_axis(x, axis=at - x._held.ndim, start=0, stop=used)
    block = gcd(length, step)
    blocks = reshape(x, (*before, used // block, block, *after))
    places = tell_made(laid_beside(x, _blocks(frames, length // block, step // block)))
    return named(reshape(gather(blocks, places, axis=at), (*before, frames, length, *after)), name)


def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    x = convert(signal)
    step = as_integer(frame_step, "overlap_and_add: frame_step", 1)
    if x._held.ndim < 2:
        raise ShapeMismatch("overlap_and_add: expected at least two axes, frames and their samples, got shape "
                            f"{x._held.shape}.")
    *lead, frames, length = x._held.shape
    if not frames or not length:
        return named(reshape(x, (*lead, 0)), name)
    parts = -(-length // step)  # of a frame, each as long as a step
    rank = x._held.ndim
    if parts * step > length:
        x = pad(x, [(0, 0)] * (rank - 1) + [(0, parts * step - length)])
    rows = transpose(reshape(x, (*lead, frames, parts, step)), (*range(rank - 2), rank - 1, rank - 2, rank))
    rows = pad(rows, [(0, 0)] * (rank - 1) + [(0, parts), (0, 0)])  # each part now begins a row later than one before
    flat = reshape(rows, (*lead, parts * (frames + parts), step))
    flat = slice_axis(flat, axis=-2, start=0, stop=parts * (frames + parts - 1))
    total = reduce_sum(reshape(flat, (*lead, parts, frames + parts - 1, step)), axis=-3)
    total = reshape(total, (*lead, (frames + parts - 1) * step))
    return named(slice_axis(total, axis=-1, start=0, stop=(frames - 1) * step + length), name)


def _window(window_fn: Window | None, length: int, x: Tensor, what: str) -> Any:
    """Return the window of a length, in the dtype of real samples and where x lives; None for none."""
    if window_fn is None:
        return None
    if not callable(window_fn):
        raise InvalidArgumentError(f"{what}: window_fn must be a function of a length and dtype=, or None, got "
                                   f"{window_fn!r:.80}. Try lab.signal.hann_window.")
    window = convert(window_fn(length, dtype=x.dtype))
    if window._held.shape != (length,):
        raise ShapeMismatch(f"{what}: window_fn must return a window of shape ({length},), got one of shape "
                            f"{window._held.shape}.")
    return window if window.device == x.device else RECORDING.copy_to_device(window, device=x.device)


def _transform_length(fft_length: Any, frame_length: int, what: str) -> int:
    """Return the given length of transforms, by default the smallest power of two that holds a frame."""
    if fft_length is not None:
        return as_integer(fft_length, f"{what}: fft_length", 1)
    return 1 << (frame_length - 1).bit_length()


def stft(signals: TensorLike, frame_length: TensorLike, frame_step: TensorLike, fft_length: TensorLike | None = None,
         window_fn: Window | None = hann_window, pad_end: bool = False, name: str | None = None) -> Tensor:
    x = alone(convert(signals))
    length = as_integer(frame_length, "stft: frame_length", 1)
    frames = frame(x, length, frame_step, pad_end)
    window = _window(window_fn, length, x, "stft")
    if window is not None:
        frames = frames * window
    return rfft(frames, [_transform_length(fft_length, length, "stft")], name)


def inverse_stft(stfts: TensorLike, frame_length: TensorLike, frame_step: TensorLike,
                 fft_length: TensorLike | None = None, window_fn: Window | None = hann_window,
                 name: str | None = None) -> Tensor:
    x = alone(convert(stfts))
    length = as_integer(frame_length, "inverse_stft: frame_length", 1)
    frames = fitted(irfft(x, [_transform_length(fft_length, length, "inverse_stft")]), -1, length)
    window = _window(window_fn, length, frames, "inverse_stft")
    if window is not None:
        frames = frames * window
    return overlap_and_add(frames, frame_step, name)


def inverse_stft_window_fn(frame_step: TensorLike, forward_window_fn: Window = hann_window,
                           name: str | None = None) -> Window:
    step = as_integer(frame_step, "inverse_stft_window_fn: frame_step", 1)

    def window_fn(frame_length: TensorLike, dtype: DTypeLike = "float32") -> Tensor:
        length = as_integer(frame_length, "window_fn: frame_length", 1)
        window = convert(forward_window_fn(length, dtype=as_dtype(dtype)))
        squares = np.zeros(-(-length // step) * step)
        squares[:length] = np.square(window.numpy(), dtype=np.float64)
        shared = np.tile(squares.reshape(-1, step).sum(axis=0), len(squares) // step)[:length]
        return named(window / convert(shared.astype(window._held.dtype)), name)

    return window_fn


document((
    (frame, "Cut a signal into frames that may overlap; `pad_end` fills the frames that go beyond its end with "
     "`pad_value` instead of leaving them out.",
     "signal (*s, n, *t) -> (*s, frames, frame_length, *t), with 1 + (n - frame_length) // frame_step frames, or "
     "⌈n / frame_step⌉ if `pad_end`", "g of each frame, added up where frames overlap", "any",
     ">>> print(lab.signal.frame([1, 2, 3, 4, 5], 3, 2).numpy())\n[[1 2 3]\n [3 4 5]]"),
    (overlap_and_add, "Add up frames that begin `frame_step` samples apart: the adjoint of `frame`.",
     "signal (*s, frames, m) -> (*s, (frames - 1) · frame_step + m)", "the frames of g", "any number",
     ">>> print(lab.signal.overlap_and_add([[1, 1, 1], [2, 2, 2]], 2).numpy())\n[1 1 3 2 2]"),
    (stft, "Compute the short-time Fourier transform: the spectrum of each frame times a window. `fft_length` is by "
     "default the smallest power of two that holds a frame.",
     "signals (*s, n) -> (*s, frames, fft_length // 2 + 1)",
     "the real part of the transform of g times the window, added up where frames overlap",
     "float32 to complex64, float64 to complex128",
     ">>> spectra = lab.signal.stft([1.0, 1.0, 1.0, 1.0], 2, 1, window_fn=None)\n"
     ">>> print(spectra.numpy().real)\n[[2. 0.]\n [2. 0.]\n [2. 0.]]"),
    (inverse_stft, "Compute the signal of a short-time Fourier transform. With the window of "
     "`inverse_stft_window_fn` it is the one that was transformed, but for the samples at both ends that fewer frames "
     "hold.", "stfts (*s, frames, fft_length // 2 + 1) -> (*s, (frames - 1) · frame_step + frame_length)",
     "the short-time transform of g, over n", "complex64 to float32, complex128 to float64",
     ">>> spectra = lab.signal.stft([1.0, 2.0, 3.0, 4.0], 2, 2, window_fn=None)\n"
     ">>> print(lab.signal.inverse_stft(spectra, 2, 2, window_fn=None).numpy())\n[1. 2. 3. 4.]"),
), "summary shapes derivative dtypes example", raises=("shape", "dtypes", "argument"), domain="all numbers")
document((
    (inverse_stft_window_fn, "Return the function that makes the window with which `inverse_stft` inverts `stft`: the "
     "window of the frames over the sum of the squares that overlap (Griffin and Lim, 1984).",
     "frame_step, forward_window_fn -> a function of a length and a dtype", "none",
     ">>> make_window = lab.signal.inverse_stft_window_fn(2)\n"
     ">>> print(make_window(4).numpy())\n[0. 1. 1. 1.]"),
), "summary shapes derivative example", raises=("argument",))
