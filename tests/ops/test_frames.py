"""Frames, short-time and cosine transforms: against loops, SciPy and each other, with derivatives, and compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import autodiff_lab as lab
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.testing import check_gradient

RNG = np.random.default_rng(5)
SIGNAL = RNG.normal(size=(2, 23))
WAYS = [(8, 4), (10, 3), (7, 7), (5, 9), (6, 4), (23, 2), (24, 5), (1, 1)]
"""Lengths and steps: that share a divisor or none, that overlap, touch or leave gaps, and longer than the signal."""


def cut(x: np.ndarray, length: int, step: int, pad_end: bool) -> np.ndarray:
    """Give the frames of the last axis one by one."""
    starts = range(0, x.shape[-1], step) if pad_end else range(0, x.shape[-1] - length + 1, step)
    whole = np.concatenate([x, np.full((*x.shape[:-1], length), 2.5)], -1)
    return (
        np.stack([whole[..., i : i + length] for i in starts], -2) if starts else np.zeros((*x.shape[:-1], 0, length))
    )


@pytest.mark.parametrize("pad_end", [False, True])
@pytest.mark.parametrize(("length", "step"), WAYS)
def test_frames_are_those_that_a_loop_cuts(length: int, step: int, pad_end: bool) -> None:
    wanted = cut(SIGNAL, length, step, pad_end)
    assert np.array_equal(lab.signal.frame(SIGNAL, length, step, pad_end, 2.5).numpy(), wanted)
    moved = lab.signal.frame(SIGNAL.T.copy(), length, step, pad_end, 2.5, axis=0)
    assert np.array_equal(moved.numpy(), np.moveaxis(wanted, 0, -1))
    compiled = lab.function(lambda x: lab.signal.frame(x, length, step, pad_end, 2.5))
    assert np.array_equal(compiled(SIGNAL).numpy(), wanted)


@pytest.mark.parametrize(("length", "step"), WAYS)
def test_adding_up_is_the_adjoint_of_cutting(length: int, step: int) -> None:
    frames = RNG.normal(size=(2, 6, length))
    wanted = np.zeros((2, 5 * step + length))
    for i in range(6):
        wanted[:, i * step : i * step + length] += frames[:, i]
    found = lab.signal.overlap_and_add(frames, step)
    assert np.allclose(found.numpy(), wanted)
    assert np.allclose(lab.function(lambda x: lab.signal.overlap_and_add(x, step))(frames).numpy(), wanted)
    _, (adjoint,) = lab.vjp(lambda x: lab.signal.frame(x, length, step), [wanted], frames)
    assert np.allclose(adjoint.numpy(), wanted)
    _, (adjoint,) = lab.vjp(lambda x: lab.signal.overlap_and_add(x, step), [frames], wanted)
    assert np.allclose(adjoint.numpy(), lab.signal.frame(wanted, length, step).numpy())


@pytest.mark.parametrize("shape", [(0, 9), (2, 0), (0,), (2, 3)])
def test_empty_and_short_signals_have_no_frames(shape: tuple[int, ...]) -> None:
    x = lab.Variable(np.ones(shape))
    with lab.GradientTape() as tape:
        frames = lab.signal.frame(x, 4, 2)
        back = lab.signal.overlap_and_add(frames, 2)
    assert frames.shape == (*shape[:-1], 3 if shape[-1] == 9 else 0, 4)
    assert back.shape == (*shape[:-1], 8 if shape[-1] == 9 else 0)
    assert np.array_equal(tape.gradient(back, x).numpy(), np.zeros(shape))


def test_integers_are_cut_and_added_up() -> None:
    assert lab.signal.frame(np.arange(6), 4, 2).numpy().tolist() == [[0, 1, 2, 3], [2, 3, 4, 5]]
    assert lab.signal.overlap_and_add([[1, 2], [3, 4]], 1).numpy().tolist() == [1, 5, 4]


@pytest.mark.parametrize("length", [12, 16])
def test_an_inverse_transform_gives_the_signal_back(length: int) -> None:
    signal = RNG.normal(size=(3, 96))
    spectra = lab.signal.stft(signal, length, 4)
    assert spectra.shape == (3, 1 + (96 - length) // 4, 9)
    window = lab.signal.inverse_stft_window_fn(4)
    back = lab.signal.inverse_stft(spectra, length, 4, window_fn=window)
    inner = slice(length, -length)
    assert np.allclose(back.numpy()[:, inner], signal[:, inner])


def test_spectra_are_those_of_scipy() -> None:
    window = scipy.signal.get_window("hann", 16)
    _, _, wanted = scipy.signal.stft(SIGNAL, window=window, nperseg=16, noverlap=12, boundary=None, padded=False)
    found = lab.signal.stft(SIGNAL, 16, 4).numpy()
    assert np.allclose(np.swapaxes(found, -1, -2) / window.sum(), wanted)


@pytest.mark.parametrize("length", [1, 2, 8, 9])
def test_windows_are_those_of_scipy(length: int) -> None:
    for name, kind in (("hann", "hann"), ("hamming", "hamming")):
        make = getattr(lab.signal, f"{name}_window")
        symmetric = scipy.signal.get_window(kind, length, fftbins=False)
        assert np.allclose(make(length, periodic=False, dtype="float64").numpy(), symmetric)
        periodic = scipy.signal.get_window(kind, length, fftbins=length % 2 == 0)
        assert np.allclose(make(length, dtype="float64").numpy(), periodic)
    kaiser = scipy.signal.get_window(("kaiser", 5.0), length, fftbins=False)
    assert np.allclose(lab.signal.kaiser_window(length, beta=5.0, dtype="float64").numpy(), kaiser)
    vorbis = lab.signal.vorbis_window(2 * length, dtype="float64").numpy()
    assert np.allclose(vorbis[:length] ** 2 + vorbis[length:] ** 2, 1)
    assert lab.signal.hann_window(length).dtype == lab.float32


@pytest.mark.parametrize("n", [None, 5, 12])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosine_transforms_are_those_of_scipy(kind: int, n: int | None) -> None:
    x, inverse = SIGNAL[:, :9], {1: 1, 2: 3, 3: 2, 4: 4}[kind]
    for norm in (None, "ortho") if kind > 1 else (None,):
        wanted = scipy.fft.dct(x, kind, n=n, norm=norm)
        found = lab.signal.dct(x, kind, n=n, norm=norm)
        assert np.allclose(found.numpy(), wanted)
        assert np.allclose(lab.signal.idct(x, kind, n=n, norm=norm).numpy(), scipy.fft.dct(x, inverse, n=n, norm=norm))
        if norm:
            assert np.allclose(
                lab.signal.idct(found, kind, norm=norm).numpy(),
                np.resize(x, wanted.shape) if n is None else scipy.fft.idct(wanted, kind, norm=norm),
            )


def test_bands_of_pitch_add_up_between_the_centres_of_the_outer_ones() -> None:
    weights = lab.signal.linear_to_mel_weight_matrix(10, 257, 16_000.0, 80.0, 7_600.0, dtype="float64").numpy()
    assert weights.shape == (257, 10)
    assert np.all(weights >= 0)
    assert np.array_equal(np.sort(weights.argmax(axis=0)), weights.argmax(axis=0))
    low, high = weights[:, 0].argmax(), weights[:, -1].argmax()
    assert np.allclose(weights[low + 1 : high].sum(axis=1), 1)
    assert not weights[0].any()


def test_cepstral_coefficients_are_a_scaled_cosine_transform() -> None:
    x = SIGNAL[:, :20]
    found = lab.signal.mfccs_from_log_mel_spectrograms(x).numpy()
    assert np.allclose(found, scipy.fft.dct(x) / np.sqrt(40))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "frame": lambda x: lab.sin(lab.signal.frame(x, 6, 4)),
    "frame, padded": lambda x: lab.exp(lab.signal.frame(x, 5, 3, pad_end=True, pad_value=0.5)),
    "overlap_and_add": lambda x: lab.sin(lab.signal.overlap_and_add(lab.reshape(x, (3, 4)), 2)),
    "stft": lambda x: lab.square(lab.abs(lab.signal.stft(x, 6, 3))),
    "inverse_stft": lambda x: lab.sin(lab.signal.inverse_stft(lab.signal.stft(x, 8, 2) * (1 + 2j), 8, 2)),
    **{f"dct {k}": lambda x, k=k: lab.sin(lab.signal.dct(x, k)) for k in (1, 2, 3, 4)},
    "idct, ortho": lambda x: lab.sin(lab.signal.idct(x, norm="ortho")),
    "mfccs": lambda x: lab.exp(0.1 * lab.signal.mfccs_from_log_mel_spectrograms(x)),
}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_finite_differences(name: str, order: int) -> None:
    check = check_gradient(FUNCTIONS[name], SIGNAL[0, :12], order=order)
    assert check, check


def test_a_window_may_be_learned() -> None:
    w = lab.Variable(np.hanning(8))
    with lab.GradientTape() as tape:
        loss = lab.reduce_sum(lab.square(lab.abs(lab.signal.stft(SIGNAL, 8, 4, window_fn=lambda _, dtype: w))))
    assert np.abs(tape.gradient(loss, w).numpy()).max() > 1
    check = check_gradient(
        lambda v: lab.square(lab.abs(lab.signal.stft(SIGNAL, 8, 4, window_fn=lambda _, dtype: v))), np.hanning(8)
    )
    assert check, check


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_functions_give_the_same(name: str) -> None:
    @lab.function
    def step(x: Any) -> Any:
        with lab.GradientTape() as tape:
            tape.watch(x)
            loss = lab.reduce_sum(FUNCTIONS[name](x))
        return loss, tape.gradient(loss, x)

    x = lab.constant(SIGNAL[0, :12])
    step(x)
    assert "is compiled" in str(step.why())
    for found, wanted in zip(step(x), step.python_function(x), strict=True):
        assert np.allclose(found.numpy(), wanted.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: lab.signal.frame(1.0, 2, 1), InvalidArgumentError, "axis -1 is out of bounds"),
        (lambda: lab.signal.frame([1.0], 0, 1), InvalidArgumentError, "frame_length must be at least 1"),
        (lambda: lab.signal.frame([1.0], 1, 0.5), InvalidArgumentError, "frame_step must be an integer"),
        (lambda: lab.signal.overlap_and_add([1.0], 1), ShapeMismatch, "at least two axes"),
        (lambda: lab.signal.stft([1, 2], 2, 1), DtypeMismatch, "expected float32 or float64"),
        (lambda: lab.signal.stft([1.0, 2.0], 2, 1, window_fn="hann"), InvalidArgumentError, "window_fn must be"),
        (lambda: lab.signal.stft([1.0], 1, 1, window_fn=lambda n, dtype: [1.0, 2.0]), ShapeMismatch, r"shape \(1,\)"),
        (lambda: lab.signal.inverse_stft([[1.0]], 2, 1), DtypeMismatch, "expected a complex tensor"),
        (lambda: lab.signal.hann_window(0), InvalidArgumentError, "at least 1"),
        (lambda: lab.signal.hann_window(4, dtype="int32"), DtypeMismatch, "dtype must be floating-point"),
        (lambda: lab.signal.dct([1.0], 5), InvalidArgumentError, "type must be 1, 2, 3 or 4"),
        (lambda: lab.signal.dct([1.0], 1), InvalidArgumentError, "two samples or more"),
        (lambda: lab.signal.dct([[1.0]], axis=0), InvalidArgumentError, "the last one"),
        (lambda: lab.signal.dct([1.0], norm="forward"), InvalidArgumentError, "None or 'ortho'"),
        (lambda: lab.signal.dct([1]), DtypeMismatch, "Try lab.cast"),
        (lambda: lab.signal.dct(np.zeros((2, 0))), ShapeMismatch, "must not be empty"),
        (lambda: lab.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5_000.0), InvalidArgumentError, "the edges"),
    ],
)
def test_what_does_not_fit_is_refused(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
