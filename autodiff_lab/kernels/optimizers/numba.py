"""Steps of optimizers in one pass each; the references are in `kernels.optimizers.reference`.

Optimisations: every array is read and written once, without temporaries; long vectors are shared among threads.  A
decay of 0 is left out of the sum, as 0 times infinity is nan; the compiler makes a loop of each case.
"""
# pyright: reportIndexIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.kernels.base.loops import Loop, loop, override
from autodiff_lab.kernels.base.threads import spread

_WORTH_A_THREAD = 200_000
_TWO, _THREE, _FOUR, _FIVE = (", ".join(["{t}[::1]"] * (n + 1)) for n in (2, 3, 4, 5))  # arrays, and the settings


@loop(f"void({_TWO})", wraparound=False)
def _sgd(x: Any, gradient: Any, settings: Any) -> None:
    rate, decay = settings[0], settings[1]
    for i in range(x.size):
        x[i] -= rate * gradient[i] + (decay * x[i] if decay != 0 else decay)


@loop(f"void({_THREE})", wraparound=False)
def _momentum(x: Any, gradient: Any, settings: Any, velocity: Any) -> None:
    rate, decay, momentum = settings[0], settings[1], settings[2]
    for i in range(x.size):
        velocity[i] = momentum * velocity[i] - rate * gradient[i]
        x[i] += velocity[i] - (decay * x[i] if decay != 0 else decay)


@loop(f"void({_THREE})", wraparound=False)
def _nesterov(x: Any, gradient: Any, settings: Any, velocity: Any) -> None:
    rate, decay, momentum = settings[0], settings[1], settings[2]
    for i in range(x.size):
        along = rate * gradient[i]
        v = momentum * velocity[i] - along
        velocity[i] = v
        x[i] += momentum * v - along - (decay * x[i] if decay != 0 else decay)


@loop(f"void({_FOUR})", wraparound=False)
def _adam(x: Any, gradient: Any, settings: Any, mean: Any, square: Any) -> None:
    rate, decay, beta_1, rest_1 = settings[0], settings[1], settings[2], settings[3]
    beta_2, rest_2, epsilon = settings[4], settings[5], settings[6]
    for i in range(x.size):
        g = gradient[i]
        m = beta_1 * mean[i] + rest_1 * g
        v = beta_2 * square[i] + rest_2 * g * g
        mean[i], square[i] = m, v
        x[i] -= rate * m / (np.sqrt(v) + epsilon) + (decay * x[i] if decay != 0 else decay)


@loop(f"void({_FIVE})", wraparound=False)
def _amsgrad(x: Any, gradient: Any, settings: Any, mean: Any, square: Any, largest: Any) -> None:
    rate, decay, beta_1, rest_1 = settings[0], settings[1], settings[2], settings[3]
    beta_2, rest_2, epsilon = settings[4], settings[5], settings[6]
    for i in range(x.size):
        g = gradient[i]
        m = beta_1 * mean[i] + rest_1 * g
        v = beta_2 * square[i] + rest_2 * g * g
        most = largest[i]
        if not (v <= most or np.isnan(most)):  # as NumPy's maximum, which keeps nan
            most = v
        mean[i], square[i], largest[i] = m, v, most
        x[i] -= rate * m / (np.sqrt(most) + epsilon) + (decay * x[i] if decay != 0 else decay)


@loop(f"void({_FOUR})", wraparound=False)
def _rmsprop(x: Any, gradient: Any, settings: Any, square: Any, velocity: Any) -> None:
    rate, decay, rho, rest = settings[0], settings[1], settings[2], settings[3]
    momentum, epsilon = settings[4], settings[5]
    for i in range(x.size):
        g = gradient[i]
        q = rho * square[i] + rest * g * g
        v = momentum * velocity[i] + rate * g / np.sqrt(q + epsilon)
        square[i], velocity[i] = q, v
        x[i] -= v + (decay * x[i] if decay != 0 else decay)


@loop(f"void({_FIVE})", wraparound=False)
def _centered(x: Any, gradient: Any, settings: Any, square: Any, velocity: Any, mean: Any) -> None:
    rate, decay, rho, rest = settings[0], settings[1], settings[2], settings[3]
    momentum, epsilon = settings[4], settings[5]
    for i in range(x.size):
        g = gradient[i]
        q = rho * square[i] + rest * g * g
        a = rho * mean[i] + rest * g
        v = momentum * velocity[i] + rate * g / np.sqrt(q - a * a + epsilon)
        square[i], mean[i], velocity[i] = q, a, v
        x[i] -= v + (decay * x[i] if decay != 0 else decay)


@loop(f"void({_THREE})", wraparound=False)
def _adagrad(x: Any, gradient: Any, settings: Any, total: Any) -> None:
    rate, decay, epsilon = settings[0], settings[1], settings[2]
    for i in range(x.size):
        g = gradient[i]
        q = total[i] + g * g
        total[i] = q
        x[i] -= rate * g / np.sqrt(q + epsilon) + (decay * x[i] if decay != 0 else decay)


@loop(f"void({_FOUR})", wraparound=False)
def _nadam(x: Any, gradient: Any, settings: Any, mean: Any, square: Any) -> None:
    of_mean, decay, of_gradient = settings[0], settings[1], settings[2]
    beta_1, rest_1, beta_2, rest_2 = settings[3], settings[4], settings[5], settings[6]
    of_root, epsilon = settings[7], settings[8]
    for i in range(x.size):
        g = gradient[i]
        m = beta_1 * mean[i] + rest_1 * g
        v = beta_2 * square[i] + rest_2 * g * g
        mean[i], square[i] = m, v
        along = (of_mean * m + of_gradient * g) / (of_root * np.sqrt(v) + epsilon)
        x[i] -= along + (decay * x[i] if decay != 0 else decay)


@loop(f"void({_FOUR})", wraparound=False)
def _adamax(x: Any, gradient: Any, settings: Any, mean: Any, largest: Any) -> None:
    rate, decay, beta_1, rest_1 = settings[0], settings[1], settings[2], settings[3]
    beta_2, epsilon = settings[4], settings[5]
    for i in range(x.size):
        g = gradient[i]
        m = beta_1 * mean[i] + rest_1 * g
        most, size = beta_2 * largest[i], abs(g)
        if not (size <= most or np.isnan(most)):  # as NumPy's maximum, which keeps nan
            most = size
        mean[i], largest[i] = m, most
        x[i] -= rate * m / (most + epsilon) + (decay * x[i] if decay != 0 else decay)


@loop(f"void({_FOUR})", wraparound=False)
def _adadelta(x: Any, gradient: Any, settings: Any, square: Any, change: Any) -> None:
    rate, decay, rho, rest, epsilon = settings[0], settings[1], settings[2], settings[3], settings[4]
    for i in range(x.size):
        g = gradient[i]
        q = rho * square[i] + rest * g * g
        along = np.sqrt((change[i] + epsilon) / (q + epsilon)) * g
        square[i] = q
        change[i] = rho * change[i] + rest * along * along
        x[i] -= rate * along + (decay * x[i] if decay != 0 else decay)


def _run(found: Loop, *arrays: Any) -> None:
    run, size = found[arrays[0].dtype], arrays[0].size
    if size < 2 * _WORTH_A_THREAD:
        run(*arrays)
        return
    settings = arrays[2]

    def part(low: int, high: int) -> None:
        run(*[a if a is settings else a[low:high] for a in arrays])

    spread(part, size, _WORTH_A_THREAD)


def _steps_of(made: Loop) -> Callable[..., None]:
    """Return the step of an optimizer that has one loop."""

    @override(made)
    def step(value: Any, gradient: Any, settings: Any, *kept: Any) -> None:
        _run(made, value, gradient, settings, *kept)

    return step


sgd_step, adagrad_step, nadam_step, adamax_step, adadelta_step = map(
    _steps_of, (_sgd, _adagrad, _nadam, _adamax, _adadelta)
)


@override(_momentum, _nesterov)
def momentum_step(value: Any, gradient: Any, settings: Any, velocity: Any) -> None:
    """Gradient descent with momentum."""
    _run(_nesterov if settings[3] else _momentum, value, gradient, settings, velocity)


@override(_adam, _amsgrad)
def adam_step(value: Any, gradient: Any, settings: Any, *kept: Any) -> None:
    """Adam and AMSGrad."""
    _run(_adam if len(kept) == 2 else _amsgrad, value, gradient, settings, *kept)


@override(_rmsprop, _centered)
def rmsprop_step(value: Any, gradient: Any, settings: Any, *kept: Any) -> None:
    """RMSprop, plain and centered."""
    _run(_rmsprop if len(kept) == 2 else _centered, value, gradient, settings, *kept)
