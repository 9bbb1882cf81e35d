"""Fourier transforms over the last axes.

A discrete Fourier transform is a symmetric matrix, so in a sweep, where adjoints are not conjugated, its rule is the
transform itself.  The transforms of real signals keep half of the spectrum; their rules restore the other half.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.shape import as_integers
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.ops.array.joining import pad_axis, slice_axis
from autodiff_lab.ops.array.repeating import roll
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.math.complex_numbers import is_complex
from autodiff_lab.ops.structured import called

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import IntsLike, TensorLike


def _axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _wide(x: Any) -> Any:
    """Convert half floats to float32, because NumPy does not transform them."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _transformed(function: str, x: Any, rank: int, **how: Any) -> Any:
    """Transform the last axes by SciPy, which takes several rows at a time; arrays of a GPU are transformed there.

    A matrix of 32 rows of 1,024 numbers takes 46 µs instead of 78, one of 128 rows of 8,192 1.9 ms instead of 6.9.
    """
    if x.__class__ is not np.ndarray:
        return getattr(np.fft, function)(_wide(x), axes=_axes(rank), **how)
    quick = (_QUICK or _load()).get(function)
    length = how["s"][-1] if how else 0
    fits = not how or (x.dtype.kind == "c" and x.shape[-1] == length // 2 + 1)
    if quick is not None and fits and x.dtype.char in _SUITABLE:
        return quick(x, _axes(rank), length)
    return getattr(import_module("scipy.fft"), function)(_wide(x), axes=_axes(rank), **how)


_SUITABLE = "fdFD"
_QUICK: dict[str, Any] = {}
"""By the name of a transform, the compiled function that SciPy calls after its checks, once it is needed."""


def _load() -> dict[str, Any]:
    """Find the functions below `scipy.fft`, whose checks take four times as long as a transform of 8 × 8 numbers.

    They are not public: where they are missing or give something else, the public ones are used.
    """
    found = _below_scipy()
    _QUICK.clear()
    _QUICK.update(found)
    return _QUICK


def _below_scipy() -> dict[str, Any]:
    fft = import_module("scipy.fft")
    try:
        inside = import_module("scipy.fft._pocketfft.pypocketfft")
        complex_to_complex, real_to_complex, complex_to_real = inside.c2c, inside.r2c, inside.c2r
    except (ImportError, AttributeError):
        return {"": None}
    found = {  # 0 and 2: as it is, and over the number of samples
        "fftn": lambda x, axes, length: complex_to_complex(x, axes, True, 0, None, 1),
        "ifftn": lambda x, axes, length: complex_to_complex(x, axes, False, 2, None, 1),
        "rfftn": lambda x, axes, length: real_to_complex(x, axes, True, 0, None, 1),
        "irfftn": lambda x, axes, length: complex_to_real(x, axes, length, False, 2, None, 1),
    }
    x = np.arange(18.0).reshape(3, 6)
    try:
        same = all(np.array_equal(quick(x, (-2, -1), 6), getattr(fft, name)(x, axes=(-2, -1)))
                   for name, quick in found.items() if name != "irfftn")
        half = fft.rfftn(x)
        same = same and np.array_equal(found["irfftn"](half, (-2, -1), 6), fft.irfftn(half, (3, 6)))
    except (TypeError, ValueError, RuntimeError):
        same = False
    return found if same else {"": None}


def _real_as(ops: Any, g: Any, x: Any) -> Any:
    """Return the contribution to an input, in its dtype, which may be real."""
    if is_complex(x):
        return g
    part = ops.real_part(g)
    return part if part.dtype == x.dtype else ops.cast(part, dtype=x.dtype.name)


@lru_cache(maxsize=256)
def _weights(frequencies: int, length: int, count: int, dtype: np.dtype[Any]) -> np.ndarray:
    """Return 1, or 2 where the mirror image was left out, over the number of samples."""
    weights = np.full(frequencies, 2.0)
    weights[0] = 1
    if length % 2 == 0:
        weights[length // 2] = 1
    found = (weights / count).astype(dtype)
    found.flags.writeable = False
    return found


def _weighted(x: Any, length: int, count: int) -> Any:
    """Weight each frequency of a half spectrum."""
    weights = _weights(x.shape[-1], length, count, x.real.dtype)
    return x * (weights if x.__class__ is np.ndarray else x.memory.upload(weights))


def _half_rule(ops: Any, g: Any, out: Any, x: Any, rank: int) -> Any:
    whole = ops.pad_axis(g, axis=-1, before=0, after=x.shape[-1] - g.shape[-1])
    return _real_as(ops, ops.fft(whole, rank=rank), x)


def _from_half_rule(ops: Any, g: Any, out: Any, x: Any, rank: int, length: int) -> Any:
    count = length * int(np.prod(tuple(x.shape)[-rank:-1]))
    spectrum = ops.conj(ops.rfft(g, rank=rank))
    return _real_as(ops, ops.mirror_weights(spectrum, length=length, count=count), x)


transform = general(
    "fft", lambda x, rank: _transformed("fftn", x, rank),
    lambda ops, g, out, x, rank: _real_as(ops, ops.fft(g, rank=rank), x), symbol="F", latex=r"\mathcal{{F}}\,{0}",
    locals_latex=(r"\mathcal{{F}}",), sentence="takes the Fourier transform of {0}", keeps="inputs",
    registered="FFT", doc="The kernel-level transform over the last axes; `lab.signal.fft` is the public function.")
inverse_transform = general(
    "ifft", lambda x, rank: _transformed("ifftn", x, rank),
    lambda ops, g, out, x, rank: _real_as(ops, ops.ifft(g, rank=rank), x), symbol="F⁻¹",
    latex=r"\mathcal{{F}}^{{-1}} {0}", locals_latex=(r"\mathcal{{F}}^{{-1}}",),
    sentence="takes the inverse Fourier transform of {0}", keeps="inputs", registered="IFFT",
    doc="The kernel-level inverse transform; `lab.signal.ifft` is the public function.")
half_transform = general(
    "rfft", lambda x, rank: _transformed("rfftn", x, rank), _half_rule, symbol="F½",
    latex=r"\mathcal{{F}}_{{\ge 0}}\, {0}", locals_latex=(r"\Re\,\mathcal{{F}}",),
    sentence="takes the Fourier transform of the real signal {0}", keeps="inputs", registered="RFFT",
    doc="The kernel-level transform of real signals; `lab.signal.rfft` is the public function.")
from_half = general(
    "irfft",
    lambda x, rank, length: _transformed("irfftn", x, rank, s=(*x.shape[x.ndim - rank:-1], length)),
    _from_half_rule, symbol="F½⁻¹", latex=r"\mathcal{{F}}_{{\ge 0}}^{{-1}} {0}",
    locals_latex=(r"\tfrac{{c}}{{n}}\, \overline{{\mathcal{{F}}}}",),
    sentence="takes the real signal of the spectrum {0}", keeps="inputs", registered="IRFFT",
    doc="The kernel-level inverse to a real signal; `lab.signal.irfft` is the public function.")
mirror_weights = general(
    "mirror_weights", _weighted,
    lambda ops, g, out, x, length, count: ops.mirror_weights(g, length=length, count=count),
    symbol="c/n", latex=r"\tfrac{{c}}{{n}} {0}", locals_latex=(r"\tfrac{{c}}{{n}}",),
    sentence="weights the frequencies of {0}", keeps="nothing",
    doc="A half spectrum times 1 or 2 over the number of samples; the rule of `irfft` uses it.")


def _spectrum(value: Any, rank: int, what: str) -> Tensor:
    x = convert(value)
    if not x.dtype.is_complex:
        raise DtypeMismatch(f"{what}: expected a complex tensor, got {x.dtype.name}. Try lab.cast(x, lab.complex64), "
                            "or lab.signal.rfft for a real signal.")
    return _with_rank(x, rank, what)


def _with_rank(x: Tensor, rank: int, what: str) -> Tensor:
    shape = x._held.shape
    if len(shape) < rank or 0 in shape[len(shape) - rank:]:
        raise ShapeMismatch(f"{what}: expected at least {rank} axes, the last {rank} not empty, got shape {shape}.")
    return x


def fitted(x: Tensor, axis: int, length: int) -> Tensor:
    """Truncate an axis to a length, or pad it with zeros."""
    have = x._held.shape[axis]
    if have > length:
        return slice_axis(x, axis=axis, start=0, stop=length)
    return pad_axis(x, axis=axis, before=0, after=length - have) if have < length else x


def _lengths(fft_length: Any, rank: int, what: str) -> tuple[int, ...]:
    lengths = as_integers(fft_length, f"{what}: fft_length")
    if len(lengths) != rank or min(lengths) < 1:
        wanted = "a positive integer" if rank == 1 else f"{rank} positive integers"
        raise InvalidArgumentError(f"{what}: fft_length must be {wanted}, got {lengths}.")
    return lengths


class _OfComplex(Protocol):
    def __call__(self, input: TensorLike, name: str | None = None) -> Tensor: ...


class _OfReal(Protocol):
    def __call__(self, input_tensor: TensorLike, fft_length: IntsLike | None = None,
                 name: str | None = None) -> Tensor: ...


def _complex_pair(rank: int, suffix: str) -> tuple[_OfComplex, _OfComplex]:
    def forward(input: TensorLike, name: str | None = None) -> Tensor:
        return transform(_spectrum(input, rank, f"fft{suffix}"), rank=rank, name=name)

    def backward(input: TensorLike, name: str | None = None) -> Tensor:
        return inverse_transform(_spectrum(input, rank, f"ifft{suffix}"), rank=rank, name=name)

    return forward, backward


def _real_pair(rank: int, suffix: str) -> tuple[_OfReal, _OfReal]:
    def forward(input_tensor: TensorLike, fft_length: IntsLike | None = None, name: str | None = None) -> Tensor:
        x = convert(input_tensor)
        if x.dtype.name not in ("float32", "float64"):
            raise DtypeMismatch(f"rfft{suffix}: expected float32 or float64, got {x.dtype.name}. Try lab.cast, or "
                                f"lab.signal.fft{suffix} for complex signals.")
        x = _with_rank(x, rank, f"rfft{suffix}")
        if fft_length is not None:
            for axis, length in zip(_axes(rank), _lengths(fft_length, rank, f"rfft{suffix}"), strict=True):
                x = fitted(x, axis, length)
        return half_transform(x, rank=rank, name=name)

    def backward(input_tensor: TensorLike, fft_length: IntsLike | None = None, name: str | None = None) -> Tensor:
        x = _spectrum(input_tensor, rank, f"irfft{suffix}")
        shape = x._held.shape[x._held.ndim - rank:]
        natural = (*shape[:-1], max(2 * (shape[-1] - 1), 1))
        lengths = natural if fft_length is None else _lengths(fft_length, rank, f"irfft{suffix}")
        for axis, length in zip(_axes(rank), (*lengths[:-1], lengths[-1] // 2 + 1), strict=True):
            x = fitted(x, axis, length)
        return from_half(x, rank=rank, length=lengths[-1], name=name)

    return forward, backward


fft, ifft = _complex_pair(1, "")
fft2d, ifft2d = _complex_pair(2, "2d")
fft3d, ifft3d = _complex_pair(3, "3d")
rfft, irfft = _real_pair(1, "")
rfft2d, irfft2d = _real_pair(2, "2d")
rfft3d, irfft3d = _real_pair(3, "3d")


def _shifted(x: Any, axes: Any, back: bool, what: str) -> Tensor:
    x = convert(x)
    numbers = tuple(range(x._held.ndim)) if axes is None else as_integers(axes, f"{what}: axes")
    if any(not -x._held.ndim <= a < x._held.ndim for a in numbers):
        raise InvalidArgumentError(f"{what}: axes {numbers} are out of bounds for shape {x._held.shape}.")
    halves = [x._held.shape[a] // 2 for a in numbers]
    return roll(x, [-h for h in halves] if back else halves, numbers)


def fftshift(x: TensorLike, axes: IntsLike | None = None, name: str | None = None) -> Tensor:
    return named(_shifted(x, axes, back=False, what="fftshift"), name)


def ifftshift(x: TensorLike, axes: IntsLike | None = None, name: str | None = None) -> Tensor:
    return named(_shifted(x, axes, back=True, what="ifftshift"), name)


for _rank, _suffix, _functions in ((1, "", (fft, ifft, rfft, irfft)), (2, "2d", (fft2d, ifft2d, rfft2d, irfft2d)),
                                   (3, "3d", (fft3d, ifft3d, rfft3d, irfft3d))):
    _over = "the last axis" if _rank == 1 else f"the last {_rank} axes"
    _open, _close = "[" * (_rank - 1), "]" * (_rank - 1)
    for _function, _kind, _words, _shapes, _dtypes, _derivative, _call, _result in (
        (_functions[0], "fft", f"Compute the discrete Fourier transform over {_over}.", "input (*s) -> (*s)",
         "complex64, complex128", "n times the inverse transform of g",
         f"lab.cast({_open}[1.0, 0.0]{_close}, lab.complex64)", "[1.+0.j 1.+0.j]"),
        (_functions[1], "ifft", f"Compute the inverse discrete Fourier transform over {_over}.", "input (*s) -> (*s)",
         "complex64, complex128", "the transform of g, over n",
         f"lab.cast({_open}[2.0, 0.0]{_close}, lab.complex64)", "[1.+0.j 1.+0.j]"),
        (_functions[2], "rfft", f"Compute the Fourier transform of a real signal over {_over}; only non-negative "
         "frequencies, as the others mirror them. `fft_length` truncates the signal or pads it with zeros.",
         "input_tensor (*s, n) -> (*s, n // 2 + 1)", "float32 to complex64, float64 to complex128",
         "the real part of the transform of g, padded with zeros", f"{_open}[1.0, 0.0]{_close}", "[1.+0.j 1.+0.j]"),
        (_functions[3], "irfft", f"Compute the real signal of a half spectrum over {_over}; `fft_length` is its "
         "length, even by default.", "input_tensor (*s, m) -> (*s, 2(m - 1))",
         "complex64 to float32, complex128 to float64",
         "the half transform of g over n, doubled where a mirror image was left out",
         f"lab.cast({_open}[2.0, 0.0]{_close}, lab.complex64)", "[1. 1.]"),
    ):
        called(f"{_kind}{_suffix}", _function)
        _function.__doc__ = doc(
            _words, shapes=_shapes, dtypes=_dtypes, derivative=_derivative, raises=("shape", "dtypes", "argument"),
            domain="all numbers", example=f">>> print(lab.signal.{_kind}{_suffix}({_call}).numpy().ravel())\n{_result}")
for _function, _words, _result in (
    (fftshift, "Move frequency 0 to the middle of each axis.", "[2 3 0 1]"),
    (ifftshift, "Move frequency 0 from the middle of each axis back to its start.", "[2 3 0 1]"),
):
    _function.__doc__ = doc(
        _words, shapes="x (*s) -> (*s)", dtypes="any", derivative="1, shifted back", raises=("argument", "convert"),
        example=f">>> print(lab.signal.{_function.__name__}([0, 1, 2, 3]).numpy())\n{_result}")
