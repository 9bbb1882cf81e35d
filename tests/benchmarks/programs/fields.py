"""Fields and signals: diffusion, waves, filters of frequencies, diffraction, a neural differential equation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.benchmarks.cases.case import Data, normal
from tests.benchmarks.programs.program import Program
from tests.benchmarks.programs.training import dense


class Heat(Program):
    """An inverse problem: heat spreads on a periodic grid, and what it conducts by is to be found."""

    program, about = "heat", "{side} × {side} grid, {steps} steps"
    sizes = {
        "test": {"side": 3, "steps": 3},
        "small": {"side": 8, "steps": 20},
        "middle": {"side": 64, "steps": 50},
        "large": {"side": 256, "steps": 100},
    }
    leaves = ("start", "conductivity")

    def arrays(self, draw: np.random.Generator, *, side: int, steps: int) -> Data:
        return {
            "start": normal(draw, side, side),
            "conductivity": draw.uniform(0.05, 0.2, (side, side)).astype(np.float32),
            "end": normal(draw, side, side, scale=0.3),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(start: Any, conductivity: Any, end: Any) -> Any:
            u = start
            for _ in range(self.at["steps"]):
                around = tf.roll(u, 1, 0) + tf.roll(u, -1, 0) + tf.roll(u, 1, 1) + tf.roll(u, -1, 1)
                u = u + conductivity * (around - 4.0 * u)
            return tf.reduce_mean(tf.square(u - end))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(start: Any, conductivity: Any, end: Any) -> Any:
            u = start
            for _ in range(self.at["steps"]):
                around = u.roll(1, 0) + u.roll(-1, 0) + u.roll(1, 1) + u.roll(-1, 1)
                u = u + conductivity * (around - 4.0 * u)
            return ((u - end) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(start: Any, conductivity: Any, end: Any) -> Any:
            def step(u: Any, _: Any) -> Any:
                around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
                return u + conductivity * (around - 4.0 * u), None

            u, _ = jax.lax.scan(step, start, None, length=self.at["steps"])
            return ((u - end) ** 2).mean()

        return loss


class SpectralFilter(Program):
    """Signals through a filter that is a factor for each frequency: Fourier transforms there and back."""

    program, about = "spectral_filter", "{rows} signals of {length}"
    sizes = {
        "test": {"rows": 2, "length": 6},
        "small": {"rows": 4, "length": 64},
        "middle": {"rows": 32, "length": 1_024},
        "large": {"rows": 128, "length": 8_192},
    }
    leaves = ("real", "imaginary")

    def arrays(self, draw: np.random.Generator, *, rows: int, length: int) -> Data:
        middle = length // 2 + 1
        return {
            "real": normal(draw, middle),
            "imaginary": normal(draw, middle),
            "x": normal(draw, rows, length),
            "y": normal(draw, rows, length),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(real: Any, imaginary: Any, x: Any, y: Any) -> Any:
            filtered = tf.signal.irfft(tf.signal.rfft(x) * tf.complex(real, imaginary))
            return tf.reduce_mean(tf.square(filtered - y))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(real: Any, imaginary: Any, x: Any, y: Any) -> Any:
            filtered = torch.fft.irfft(torch.fft.rfft(x) * torch.complex(real, imaginary))
            return ((filtered - y) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(real: Any, imaginary: Any, x: Any, y: Any) -> Any:
            return ((np.fft.irfft(np.fft.rfft(x) * (real + 1j * imaginary)) - y) ** 2).mean()

        return loss


class SpectralLoss(Program):
    """An equalizer that makes signals sound like others: their spectra over time at two resolutions."""

    program, about = "spectral_loss", "{rows} signals of {length}, frames of {short} and {long}"
    sizes = {
        "test": {"rows": 2, "length": 12, "short": 4, "long": 8},
        "small": {"rows": 1, "length": 256, "short": 32, "long": 128},
        "middle": {"rows": 4, "length": 4_096, "short": 128, "long": 512},
        "large": {"rows": 16, "length": 16_384, "short": 256, "long": 2_048},
    }
    leaves = ("gains", "loudness")

    def arrays(self, draw: np.random.Generator, *, rows: int, length: int, short: int, long: int) -> Data:
        return {
            "gains": normal(draw, length // 2 + 1, scale=0.3),
            "loudness": normal(draw, rows, 1, scale=0.3),
            "x": normal(draw, rows, length),
            "y": normal(draw, rows, length),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        lengths = self.at["short"], self.at["long"]

        def loss(gains: Any, loudness: Any, x: Any, y: Any) -> Any:
            spectrum = tf.signal.rfft(x) * tf.complex(tf.exp(gains), tf.zeros_like(gains))
            made, total = tf.exp(loudness) * tf.signal.irfft(spectrum), 0.0
            for length in lengths:
                a, b = (tf.abs(tf.signal.stft(signal, length, length // 4)) + 0.01 for signal in (made, y))
                total += tf.reduce_mean(tf.square(a - b)) + tf.reduce_mean(tf.square(tf.math.log(a) - tf.math.log(b)))
            return total

        return loss

    def as_torch(self, torch: Any) -> Any:
        windows = [torch.hann_window(self.at["short"]), torch.hann_window(self.at["long"])]

        def spectra(signal: Any, window: Any) -> Any:
            n = len(window)
            return torch.stft(signal, n, n // 4, window=window, center=False, return_complex=True).abs() + 0.01

        def loss(gains: Any, loudness: Any, x: Any, y: Any) -> Any:
            made, total = loudness.exp() * torch.fft.irfft(torch.fft.rfft(x) * gains.exp()), 0.0
            for window in windows:
                a, b = spectra(made, window), spectra(y, window)
                total = total + ((a - b) ** 2).mean() + ((a.log() - b.log()) ** 2).mean()
            return total

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def spectra(signal: Any, length: int) -> Any:
            starts = np.arange(0, signal.shape[-1] - length + 1, length // 4)
            window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)
            frames = signal[:, starts[:, None] + np.arange(length)]
            return np.abs(np.fft.rfft(frames * window.astype(signal.dtype))) + 0.01

        def loss(gains: Any, loudness: Any, x: Any, y: Any) -> Any:
            made, total = np.exp(loudness) * np.fft.irfft(np.fft.rfft(x) * np.exp(gains)), 0.0
            for length in (self.at["short"], self.at["long"]):
                a, b = spectra(made, length), spectra(y, length)
                total += ((a - b) ** 2).mean() + ((np.log(a) - np.log(b)) ** 2).mean()
            return total

        return loss


class NeuralOde(Program):
    """States that follow a network's slope: Runge-Kutta steps of fourth order, and where the states end."""

    program, about = "neural_ode", "{steps} Runge-Kutta steps, batch {batch}, {width} states, {hidden} hidden"
    sizes = {
        "test": {"steps": 2, "batch": 2, "width": 2, "hidden": 2},
        "small": {"steps": 5, "batch": 8, "width": 2, "hidden": 16},
        "middle": {"steps": 20, "batch": 64, "width": 8, "hidden": 64},
        "large": {"steps": 40, "batch": 256, "width": 32, "hidden": 128},
    }
    leaves = ("W1", "b1", "W2", "b2")

    def arrays(self, draw: np.random.Generator, *, steps: int, batch: int, width: int, hidden: int) -> Data:
        weights = dict(zip(self.leaves, dense(draw, width, hidden, width), strict=True))
        return weights | {"start": normal(draw, batch, width), "end": normal(draw, batch, width)}

    def _end(self, tanh: Any, weights: Any, state: Any) -> Any:
        """The steps in a loop, whose operators are those of any library."""
        for _ in range(self.at["steps"]):
            state = self._step(tanh, weights, state)
        return state

    def _step(self, tanh: Any, weights: Any, state: Any) -> Any:
        W1, b1, W2, b2 = weights

        def slope(state: Any) -> Any:
            return tanh(state @ W1 + b1) @ W2 + b2

        k1 = slope(state)
        k2 = slope(state + 0.025 * k1)
        k3 = slope(state + 0.025 * k2)
        k4 = slope(state + 0.05 * k3)
        return state + 0.05 / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(*given: Any) -> Any:
            *weights, start, end = given
            return tf.reduce_mean(tf.square(self._end(tf.tanh, weights, start) - end))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(*given: Any) -> Any:
            *weights, start, end = given
            return ((self._end(torch.tanh, weights, start) - end) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(*given: Any) -> Any:
            *weights, start, end = given
            state, _ = jax.lax.scan(lambda state, _: (self._step(np.tanh, weights, state), None), start, None,
                                    length=self.at["steps"])  # fmt: skip
            return ((state - end) ** 2).mean()

        return loss


class Wave(Program):
    """The wave equation on a clamped membrane: recover the initial state and the wave speed from sensor readings."""

    program, about = "wave", "{side} × {side}, {steps} steps"
    sizes = {
        "test": {"side": 4, "steps": 3},
        "small": {"side": 16, "steps": 50},
        "middle": {"side": 64, "steps": 50},
        "large": {"side": 200, "steps": 50},
    }
    leaves = ("begin", "speed")

    def arrays(self, draw: np.random.Generator, *, side: int, steps: int) -> Data:
        begin = normal(draw, side, side)
        begin[[0, -1]] = begin[:, [0, -1]] = 0
        return {
            "begin": begin,
            "speed": draw.uniform(0.3, 0.6, (side - 2, side - 2)).astype(np.float32),
            "heard": normal(draw, steps, side),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        def loss(begin: Any, speed: Any, heard: Any) -> Any:
            before = u = begin
            square, found = tf.square(speed), []
            for _ in range(self.at["steps"]):
                curve = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
                inside = 2.0 * u[1:-1, 1:-1] - before[1:-1, 1:-1] + square * curve
                before, u = u, tf.pad(inside, [[1, 1], [1, 1]])
                found.append(u[u.shape[0] // 2])
            return tf.reduce_mean(tf.square(tf.stack(found) - heard))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(begin: Any, speed: Any, heard: Any) -> Any:
            before = u = begin
            square, found = speed**2, []
            for _ in range(self.at["steps"]):
                curve = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
                inside = 2.0 * u[1:-1, 1:-1] - before[1:-1, 1:-1] + square * curve
                before, u = u, torch.nn.functional.pad(inside, (1, 1, 1, 1))
                found.append(u[u.shape[0] // 2])
            return ((torch.stack(found) - heard) ** 2).mean()

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(begin: Any, speed: Any, heard: Any) -> Any:
            square = speed**2

            def step(state: Any, _: Any) -> Any:
                before, u = state
                curve = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
                inside = 2.0 * u[1:-1, 1:-1] - before[1:-1, 1:-1] + square * curve
                after = np.pad(inside, 1)
                return (u, after), after[len(after) // 2]

            _, found = jax.lax.scan(step, (begin, begin), None, length=self.at["steps"])
            return ((found - heard) ** 2).mean()

        return loss


class Ptychography(Program):
    """Phase retrieval by ptychography: overlapping patches through a probe, and the sizes of their transforms."""

    program, about = "ptychography", "object {side} × {side}, {views} × {views} views of {window} × {window}"
    sizes = {
        "test": {"side": 4, "views": 2, "window": 3},
        "small": {"side": 16, "views": 2, "window": 8},
        "middle": {"side": 64, "views": 6, "window": 16},
        "large": {"side": 256, "views": 10, "window": 64},
    }
    leaves = ("real", "imaginary", "probe_real", "probe_imaginary")

    def arrays(self, draw: np.random.Generator, *, side: int, views: int, window: int) -> Data:
        begins = np.linspace(0, side - window, views).round().astype(int)
        lines = begins[:, None] + np.arange(window)
        places = lines[:, None, :, None] * side + lines[None, :, None, :]
        far = (np.arange(window) - (window - 1) / 2) / window
        round_probe = np.exp(-8 * np.add.outer(far**2, far**2)).astype(np.float32)
        return {
            "real": 1 + normal(draw, side, side, scale=0.2),
            "imaginary": normal(draw, side, side, scale=0.2),
            "probe_real": round_probe + normal(draw, window, window, scale=0.05),
            "probe_imaginary": normal(draw, window, window, scale=0.05),
            "places": places.reshape(-1, window, window),
            "seen": np.abs(normal(draw, views * views, window, window)),
        }

    def as_tensorflow(self, tf: Any) -> Any:
        window = self.at["window"]

        def loss(real: Any, imaginary: Any, probe_real: Any, probe_imaginary: Any, places: Any, seen: Any) -> Any:
            patches = tf.gather(tf.reshape(tf.complex(real, imaginary), [-1]), places)
            waves = tf.signal.fft2d(tf.complex(probe_real, probe_imaginary) * patches)
            return tf.reduce_mean(tf.square(tf.abs(waves) / window - seen))

        return loss

    def as_torch(self, torch: Any) -> Any:
        def loss(real: Any, imaginary: Any, probe_real: Any, probe_imaginary: Any, places: Any, seen: Any) -> Any:
            patches = torch.complex(real, imaginary).flatten()[places]
            waves = torch.fft.fft2(torch.complex(probe_real, probe_imaginary) * patches, norm="ortho")
            return torch.nn.functional.mse_loss(waves.abs(), seen)

        return loss

    def as_jax(self, jax: Any, np: Any) -> Any:
        def loss(real: Any, imaginary: Any, probe_real: Any, probe_imaginary: Any, places: Any, seen: Any) -> Any:
            patches = (real + 1j * imaginary).ravel()[places]
            waves = np.fft.fft2((probe_real + 1j * probe_imaginary) * patches, norm="ortho")
            return ((np.abs(waves) - seen) ** 2).mean()

        return loss
