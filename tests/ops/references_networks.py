"""Reference implementations of the ops of neural networks, in NumPy and SciPy or two lines of Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special

from tests.ops.alignments import losses_and_occupancies, softmax_minus_occupancy
from tests.ops.resampling import resized, spread_back


def _silu(x: Any) -> Any:
    return x / (1 + np.exp(-x))


def _isotonic_blocks(x: Any) -> Any:
    """Number the runs of equal values in the rows that SciPy finds."""
    nearest = np.apply_along_axis(lambda row: scipy.optimize.isotonic_regression(row, increasing=False).x, -1, x)
    steps = np.diff(nearest, axis=-1, prepend=nearest[..., :1]) < -1e-9
    return np.cumsum(steps, -1)


def _block_mean(x: Any, blocks: Any) -> Any:
    same = blocks[..., :, None] == blocks[..., None, :]
    return (same / same.sum(-1, keepdims=True) @ x[..., None])[..., 0]


def _standard(x: Any, axes: Any, epsilon: float) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def _standardize_slope(g: Any, x: Any, axes: Any, epsilon: float) -> Any:
    """The transposed Jacobian times g: each element goes into the mean, the variance and its own distance."""
    away, n = x - x.mean(axes, keepdims=True), np.prod([x.shape[a] for a in axes])
    variance = x.var(axes, keepdims=True) + epsilon
    straight = (g - g.sum(axes, keepdims=True) / n) / np.sqrt(variance)
    return straight - away * (g * away).sum(axes, keepdims=True) / n / variance**1.5


def _steps(x: Any, state: Any, step: Callable[..., Any], masks: Any) -> Any:
    """Return what a step gives, its state first, for all steps; a masked one repeats the state before it."""
    found = []
    for t in range(x.shape[1]):
        made = step(x[:, t], *state)
        if masks:
            made = [*[np.where(masks[0][:, t, None], a, b) for a, b in zip(made, state, strict=False)],
                    *made[len(state):]]  # fmt: skip
        state = made[: len(state)]
        found.append(made)
    return tuple(np.stack(parts, 1) for parts in zip(*found, strict=True))


def _lstm(x: Any, h: Any, c: Any, w: Any, u: Any, b: Any, *masks: Any) -> Any:
    def step(x: Any, h: Any, c: Any) -> Any:
        i, f, g, o = np.split(x @ w + h @ u + b, 4, -1)
        i, f, g, o = scipy.special.expit(i), scipy.special.expit(f), np.tanh(g), scipy.special.expit(o)
        c = f * c + i * g
        return [o * np.tanh(c), c, np.concatenate([i, f, g, o], -1)]

    return _steps(x, [h, c], step, masks)


def _gru(x: Any, h: Any, w: Any, u: Any, b: Any, *masks: Any) -> Any:
    def step(x: Any, h: Any) -> Any:
        (xz, xr, xh), (hz, hr, hh) = np.split(x @ w + b[0], 3, -1), np.split(h @ u + b[1], 3, -1)
        z, r = scipy.special.expit(xz + hz), scipy.special.expit(xr + hr)
        y = np.tanh(xh + r * hh)
        return [z * h + (1 - z) * y, np.concatenate([y, z, r, hh], -1)]

    return _steps(x, [h], step, masks)


def _simple_rnn(x: Any, h: Any, w: Any, u: Any, b: Any, *masks: Any) -> Any:
    return _steps(x, [h], lambda x, h: [np.tanh(x @ w + h @ u + b)], masks)[0]


NETWORKS: dict[str, Callable[..., Any]] = {
    "resize": resized,
    "resize_input": spread_back,
    "lstm": _lstm,
    "gru": _gru,
    "simple_rnn": _simple_rnn,
    "ctc_loss": lambda *arrays, blank: losses_and_occupancies(*arrays, blank)[0],
    "softmax_minus_occupancy": softmax_minus_occupancy,
    "elu": lambda x: np.where(x > 0, x, np.exp(x) - 1),
    "gelu": lambda x: 0.5 * x * (1 + scipy.special.erf(x / np.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "hard_shrink": lambda x: x * (np.abs(x) > 0.5),
    "soft_shrink": lambda x: x - np.clip(x, -0.5, 0.5),
    "tanh_shrink": lambda x: x - np.tanh(x),
    "squareplus": lambda x: 0.5 * x + np.hypot(x / 2, 1),
    "sparse_plus": lambda x: np.maximum(x, np.clip(x + 1, 0, 2) ** 2 / 4),
    "hard_sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "hard_silu": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "log_sigmoid": lambda x: -np.log1p(np.exp(-x)),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "normal_cdf": scipy.special.ndtr,
    "relu6": lambda x: np.clip(x, 0, 6),
    "selu": lambda x: np.where(x > 0, 1.0507009873554805 * x, 1.7580993408473766 * (np.exp(x) - 1)),
    "silu": _silu,
    "leaky_relu": lambda x, alpha: np.maximum(x, alpha * x),
    "sigmoid_cross_entropy": lambda x, z: (
        -z * scipy.special.log_expit(x) - (1 - z) * scipy.special.log_expit(-x)
    ),
    "binary_cross_entropy": lambda p, z: -(z * np.log(p) + (1 - z) * np.log1p(-p)),
    "huber": lambda x, delta: np.where(np.abs(x) < delta, x * x / 2, delta * (np.abs(x) - delta / 2)),
    "l2_loss": lambda x: np.sum(x * x) / 2,
    "isotonic_blocks": _isotonic_blocks,
    "block_mean": _block_mean,
    "standardize": _standard,
    "standardize_grad": _standardize_slope,
    "normalize": lambda x, scale, offset, axes, epsilon: _standard(x, axes, epsilon) * scale + offset,
    "batch_normalize": lambda x, mean, variance, scale, offset, epsilon: (
        scale * (x - mean) / np.sqrt(variance + epsilon) + offset
    ),
}  # fmt: skip
