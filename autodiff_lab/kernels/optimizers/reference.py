"""Steps of optimizers, in place: the arrays of a variable and of what is kept for it change, the gradient does not.

All arrays are vectors of one dtype.  `settings` is a vector as well; each function says what it holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def sgd_step(value: Any, gradient: Any, settings: Any) -> None:
    """Gradient descent; settings: rate, decay."""
    rate, decay = settings
    value -= rate * gradient + decay * value if decay else rate * gradient


def momentum_step(value: Any, gradient: Any, settings: Any, velocity: Any) -> None:
    """Gradient descent with momentum; settings: rate, decay, momentum, 1 for Nesterov's and 0 for the plain one."""
    rate, decay, momentum, nesterov = settings
    along = rate * gradient
    velocity *= momentum
    velocity -= along
    moved = momentum * velocity - along if nesterov else velocity
    value += moved - decay * value if decay else moved


def adam_step(value: Any, gradient: Any, settings: Any, mean: Any, square: Any, largest: Any = None) -> None:
    """Adam; settings: rate with its corrections, decay, beta_1, 1 - beta_1, beta_2, 1 - beta_2, epsilon.

    With `largest`, AMSGrad, which keeps the largest moment there.
    """
    rate, decay, beta_1, rest_1, beta_2, rest_2, epsilon = settings
    mean *= beta_1
    mean += rest_1 * gradient
    square *= beta_2
    square += rest_2 * gradient * gradient
    if largest is not None:
        np.maximum(largest, square, out=largest)
    moved = rate * mean / (np.sqrt(square if largest is None else largest) + epsilon)
    value -= moved + decay * value if decay else moved


def rmsprop_step(value: Any, gradient: Any, settings: Any, square: Any, velocity: Any, mean: Any = None) -> None:
    """RMSprop; settings: rate, decay, rho, 1 - rho, momentum, epsilon.  With `mean`, the centered one."""
    rate, decay, rho, rest, momentum, epsilon = settings
    square *= rho
    square += rest * gradient * gradient
    size = square
    if mean is not None:
        mean *= rho
        mean += rest * gradient
        size = square - mean * mean
    velocity *= momentum
    velocity += rate * gradient / np.sqrt(size + epsilon)
    value -= velocity + decay * value if decay else velocity


def adagrad_step(value: Any, gradient: Any, settings: Any, total: Any) -> None:
    """Adagrad; settings: rate, decay, epsilon."""
    rate, decay, epsilon = settings
    total += gradient * gradient
    moved = rate * gradient / np.sqrt(total + epsilon)
    value -= moved + decay * value if decay else moved


def nadam_step(value: Any, gradient: Any, settings: Any, mean: Any, square: Any) -> None:
    """Nadam; settings: factor of the mean, decay, factor of the gradient, those of Adam's moments, factor of the root.

    The last one is epsilon; the factors hold the rate and the corrections.
    """
    of_mean, decay, of_gradient, beta_1, rest_1, beta_2, rest_2, of_root, epsilon = settings
    mean *= beta_1
    mean += rest_1 * gradient
    square *= beta_2
    square += rest_2 * gradient * gradient
    moved = (of_mean * mean + of_gradient * gradient) / (of_root * np.sqrt(square) + epsilon)
    value -= moved + decay * value if decay else moved


def adamax_step(value: Any, gradient: Any, settings: Any, mean: Any, largest: Any) -> None:
    """Adamax; settings: rate with its correction, decay, beta_1, 1 - beta_1, beta_2, epsilon."""
    rate, decay, beta_1, rest_1, beta_2, epsilon = settings
    mean *= beta_1
    mean += rest_1 * gradient
    largest *= beta_2
    np.maximum(largest, np.abs(gradient), out=largest)
    moved = rate * mean / (largest + epsilon)
    value -= moved + decay * value if decay else moved


def adadelta_step(value: Any, gradient: Any, settings: Any, square: Any, change: Any) -> None:
    """Adadelta; settings: rate, decay, rho, 1 - rho, epsilon.  `change` is the mean square of the changes."""
    rate, decay, rho, rest, epsilon = settings
    square *= rho
    square += rest * gradient * gradient
    along = np.sqrt((change + epsilon) / (square + epsilon)) * gradient
    change *= rho
    change += rest * along * along
    value -= rate * along + decay * value if decay else rate * along
