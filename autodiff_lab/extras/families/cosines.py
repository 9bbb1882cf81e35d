"""Cosine transforms of signals, and the coefficients of speech that are made of them.

The transforms are composed of Fourier transforms of real signals (Makhoul, "A fast cosine transform in one and two
dimensions", 1980), so they take n log n steps and have derivatives of every order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.convert import alone, constant, convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.events.listener import tell_made
from autodiff_lab.extras.families.signal import fitted, irfft, rfft
from autodiff_lab.ops.array.gathering import laid_beside
from autodiff_lab.ops.array.joining import concat
from autodiff_lab.ops.checks import axis_from_end, floats, number_of
from autodiff_lab.ops.docs import document
from autodiff_lab.ops.math.complex_numbers import complex, real

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_MEL = 1127.0, 700.0
"""A pitch of f Hz is 1127 log(1 + f / 700) mel (the scale of the Hidden Markov Model Toolkit)."""


@lru_cache(64)
def _turns(kind: int, length: int, dtype: str) -> Any:
    """Return what the frequencies of a transform are multiplied by: they are turned by half a sample."""
    frequencies = np.arange(1, 2 * length, 2) / 2 if kind == 4 else np.arange(length)
    turned = 2 * np.exp((1j if kind == 3 else -1j) * np.pi * frequencies / (2 * length))
    return turned.astype(np.result_type(dtype, np.complex64))


@lru_cache(64)
def _norms(kind: int, length: int, dtype: str) -> Any:
    """Return the factors of each element that make a transform orthogonal, after it or, for the third kind, before."""
    norms = np.full(length, np.sqrt(0.5 / length) if kind != 3 else np.sqrt(0.5 * length))
    if kind != 4:
        norms[0] *= np.sqrt(0.5) if kind == 2 else np.sqrt(2)
    return norms.astype(dtype)


def _made(x: Tensor, factors: Any) -> Tensor:
    """Return factors where x lives, as a constant of a trace."""
    return tell_made(laid_beside(x, factors))


def _transformed(what: str, input: Any, kind: int, n: Any, axis: int, norm: Any) -> Tensor:
    x = alone(floats(input, what, allow_complex=False))
    dtype = x._held.dtype.name
    if dtype not in ("float32", "float64"):
        raise DtypeMismatch(f"{what}: expected float32 or float64, got {dtype}. Try lab.cast(x, lab.float32).")
    if norm not in (None, "ortho"):
        raise InvalidArgumentError(f"{what}: norm must be None or 'ortho', got {norm!r:.80}.")
    if axis_from_end(axis, x._held.ndim, what) != -1:
        raise InvalidArgumentError(f"{what}: axis must be the last one, got {axis}. Try lab.transpose.")
    if n is not None:
        x = fitted(x, -1, as_integer(n, f"{what}: n", 1))
    length = x._held.shape[-1]
    if not length:
        raise ShapeMismatch(f"{what}: the last axis must not be empty, got shape {x._held.shape}.")
    if kind == 1:
        if norm is not None or length < 2:
            raise InvalidArgumentError(f"{what}: a transform of type 1 takes two samples or more and no norm, got "
                                       f"{length} and norm={norm!r}.")
        return real(rfft(concat([x, x[..., -2:0:-1]], -1)))
    turns = _turns(kind, length, dtype)
    if kind == 3:
        turns = turns * (_norms(3, length, dtype) if norm else np.asarray(length, dtype))
        spectrum = complex(x * _made(x, turns.real.copy()), x * _made(x, turns.imag.copy()))
        return irfft(spectrum, [2 * length])[..., :length]
    spectrum = rfft(x, [4 * length])[..., 1:2 * length:2] if kind == 4 else rfft(x, [2 * length])[..., :length]
    found = real(spectrum * _made(x, turns))
    return found * _made(x, _norms(kind, length, dtype)) if norm else found


def _kind(type: Any, what: str) -> int:
    kind = as_integer(type, f"{what}: type")
    if kind not in _INVERSE:
        raise InvalidArgumentError(f"{what}: type must be 1, 2, 3 or 4, got {kind}.")
    return kind


def dct(input: TensorLike, type: int = 2, n: TensorLike | None = None, axis: int = -1, norm: str | None = None,
        name: str | None = None) -> Tensor:
    return named(_transformed("dct", input, _kind(type, "dct"), n, axis, norm), name)


def idct(input: TensorLike, type: int = 2, n: TensorLike | None = None, axis: int = -1, norm: str | None = None,
         name: str | None = None) -> Tensor:
    return named(_transformed("idct", input, _INVERSE[_kind(type, "idct")], n, axis, norm), name)


def linear_to_mel_weight_matrix(num_mel_bins: TensorLike = 20, num_spectrogram_bins: TensorLike = 129,
                                sample_rate: TensorLike = 8000, lower_edge_hertz: TensorLike = 125.0,
                                upper_edge_hertz: TensorLike = 3800.0, dtype: DTypeLike = "float32",
                                name: str | None = None) -> Tensor:
    what = "linear_to_mel_weight_matrix"
    bands = as_integer(num_mel_bins, f"{what}: num_mel_bins", 1)
    bins = as_integer(num_spectrogram_bins, f"{what}: num_spectrogram_bins", 2)
    rate, low, high = (number_of(value, f"{what}: {argument}") for value, argument in (
        (sample_rate, "sample_rate"), (lower_edge_hertz, "lower_edge_hertz"), (upper_edge_hertz, "upper_edge_hertz")))
    if not 0 <= low < high <= rate / 2:
        raise InvalidArgumentError(f"{what}: the edges must be 0 <= lower_edge_hertz < upper_edge_hertz <= "
                                   f"sample_rate / 2, got {low:g}, {high:g} and {rate / 2:g}.")
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise DtypeMismatch(f"{what}: dtype must be floating-point, got {wanted.name}.")

    def mel(hertz: Any) -> Any:
        return _MEL[0] * np.log1p(hertz / _MEL[1])

    pitches = mel(np.linspace(0.0, rate / 2, bins))[1:, None]  # bin 0, the mean, is in no band
    edges = np.linspace(mel(low), mel(high), bands + 2)
    rising = (pitches - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - pitches) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0.0, np.minimum(rising, falling))
    return named(constant(np.pad(weights, [(1, 0), (0, 0)]).astype(wanted.dtype)), name)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    x = convert(log_mel_spectrograms)
    found = _transformed("mfccs_from_log_mel_spectrograms", x, 2, None, -1, None)
    return named(found * (0.5 / x._held.shape[-1]) ** 0.5, name)


document((
    (dct, "Compute the discrete cosine transform of type 1, 2, 3 or 4 over the last axis; n truncates the signal or "
     "pads it with zeros, and `norm` 'ortho' makes the transform orthogonal.", "the transposed transform of g",
     ">>> print(lab.signal.dct([1.0, 1.0]).numpy().round(6))\n[4. 0.]"),
    (idct, "Compute the inverse of a discrete cosine transform of some type. Without a norm it is 2n times as large, "
     "for type 1 2(n - 1) times.", "the transposed transform of g",
     ">>> print(lab.signal.idct(lab.signal.dct([1.0, 2.0], norm='ortho'), norm='ortho').numpy().round(6))\n[1. 2.]"),
), "summary derivative example", shapes="input (*s, n) -> (*s, n)", dtypes="float32, float64",
    raises=("shape", "dtypes", "argument"))
document((
    (linear_to_mel_weight_matrix, "Make the matrix that turns spectra into bands of pitch, triangles of equal width in "
     "mel: (..., bins) times it is (..., bands).", "-> (num_spectrogram_bins, num_mel_bins)", "none: it is a constant",
     ">>> print(lab.signal.linear_to_mel_weight_matrix(2, 5, upper_edge_hertz=4000.0).numpy().round(2))\n"
     "[[0.   0.  ]\n [0.75 0.25]\n [0.   0.96]\n [0.   0.41]\n [0.   0.  ]]"),
), "summary shapes derivative example", raises=("argument", "dtypes"))
document((
    (mfccs_from_log_mel_spectrograms, "Compute mel-frequency cepstral coefficients: the cosine transform of the "
     "logarithms of bands of pitch, over √(2n). Speech recognition uses the first 13.",
     "log_mel_spectrograms (*s, n) -> (*s, n)", "the transposed transform of g, over √(2n)",
     ">>> print(lab.signal.mfccs_from_log_mel_spectrograms([1.0, 1.0]).numpy().round(6))\n[2. 0.]"),
), "summary shapes derivative example", dtypes="float32, float64", raises=("shape", "dtypes"))
