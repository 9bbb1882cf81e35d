"""Dropout: noise in training, the identity otherwise."""

from __future__ import annotations

from typing import Any

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers.layer import Layer
from autodiff_lab.ops.nn.spatial import dropout


class Dropout(Layer):
    """Zero each element with probability `rate` in training and scale up the others: Srivastava et al. 2014.

    Raises
    ------
    InvalidArgumentError
        If the rate is not in [0, 1).

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.layers.Dropout(0.5)([1.0, 2.0]))
    Tensor([1. 2.], shape=(2,), dtype=float32)
    """

    several = False

    def __init__(self, rate: float, noise_shape: Any = None, seed: int | None = None,
                 name: str | None = None, **more: Any) -> None:  # fmt: skip
        super().__init__(name, **more)
        if not 0 <= rate < 1:
            raise InvalidArgumentError(f"Dropout: the rate must be in [0, 1), got {rate}")
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, x: Any, training: bool = False) -> Any:
        if not training or not self.rate:
            return x
        return dropout(x, self.rate, self.noise_shape, self.seed)
