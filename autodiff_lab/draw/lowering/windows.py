"""Steps of convolutions and pooling, channels last: the elements of every window are laid out side by side."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import Any

import numpy as np

from autodiff_lab.draw.lowering.steps import Lower, Steps, Value
from autodiff_lab.draw.moves import Shape


class _Windows:
    """Where windows lie in an array of a shape: of the axes (examples, places, channels, elements of the window)."""

    def __init__(
        self, steps: Steps, shape: Shape, window: Any, strides: Any, padding: Any, dilations: Any = None
    ) -> None:
        self.steps, by = steps, dilations or [1] * len(window)
        wide = (shape[0], *(n + sum(ends) for n, ends in zip(shape[1:-1], padding, strict=True)), shape[-1])
        within = (slice(None), *(slice(low, low + n) for (low, _), n in zip(padding, shape[1:-1], strict=True)))
        self.kept = np.arange(math.prod(wide)).reshape(wide)[within]
        self.padded = np.full(wide, -1)
        self.padded[within] = np.arange(math.prod(shape)).reshape(shape)
        reach = [(k - 1) * step + 1 for k, step in zip(window, by, strict=True)]
        counts = [(n - k) // step + 1 for n, k, step in zip(wide[1:-1], reach, strides, strict=True)]
        own = [math.prod(wide[at + 1 :]) for at in range(len(wide))]
        lengths = [own[0], *(np.array(own[1:-1]) * strides).tolist(), 1, *(np.array(own[1:-1]) * by).tolist()]
        self.shape = (shape[0], *counts, shape[-1], *window)
        self.axes = range(-len(window), 0)
        self.places = [[0, *(number for pair in zip(self.shape, lengths, strict=True) for number in pair)]]

    def of(self, x: Value, value: float = 0.0) -> Value:
        """Return the elements of every window; `value` is the padding."""
        return self.steps.take([self.steps.pick(x, self.padded, value)], self.places, *self.shape)

    def there(self) -> Value:
        """Return 1 for the elements of the array, and 0 for padding."""
        return self.of(self.steps.of("one * one", shape=(self.padded.max() + 1,)))

    def back(self, parts: Value) -> Value:
        """Return the sum of what the windows say of each element."""
        params = {"places": [self.places], "onto": False}
        return self.steps.pick(self.steps.run("accumulate_parts", [parts], self.padded.shape, **params)[0], self.kept)

    def spread(self, g: Value) -> Value:
        """Give a number for each window the axes of its elements."""
        return self.steps.reshape(g, *g.shape, *(1 for _ in self.axes))

    def first(self, x: Value) -> Value:
        """Return 1 at the largest element of each window, the first of equals, and 0 elsewhere; nan is the largest."""
        steps, flat = self.steps, (*self.shape[: -len(self.axes)], math.prod(self.shape[-len(self.axes) :]))
        there = self.there()
        found = steps.of("choose({0}, {1}, -infinity)", there, self.of(x))
        hit = "choose((({0} == max({0})) | ({0} != {0})) & {1}, one, zero)"
        hits = steps.reshape(steps.of(hit, found, there, axes=self.axes), *flat)
        [best] = steps.run("argmax", [hits], (*flat[:-1], 1), axis=-1)
        return steps.reshape(steps.of("{2} & ({0} == {1})", best, steps.ramp(flat[-1]), hits), *self.shape)


def _convolutions(name: str, *, deep: bool) -> dict[str, Lower]:
    """A convolution and its gradients; in a deep one, each channel has filters of its own."""

    def terms(strides: Any) -> tuple[str, str, str]:
        places, window = ascii_lowercase[: len(strides)], ascii_lowercase[-len(strides) :]
        return f"N{places}C{window}", f"{window}CF", f"N{places}{'C' if deep else ''}F"

    def spread(steps: Steps, y: Value, channels: int) -> Value:
        return steps.reshape(y, *y.shape[:-1], channels, y.shape[-1] // channels) if deep else y

    def forward(steps: Steps, x: Value, w: Value, **how: Any) -> Value:
        parts, filters, result = terms(how["strides"])
        return steps.einsum(f"{parts},{filters}->{result}", _Windows(steps, x.shape, w.shape[:-2], **how).of(x), w)

    def to_input(steps: Steps, g: Value, w: Value, *, shape: Shape, **how: Any) -> Value:
        parts, filters, result = terms(how["strides"])
        products = steps.einsum(f"{result},{filters}->{parts}", spread(steps, g, shape[-1]), w)
        return _Windows(steps, shape, w.shape[:-2], **how).back(products)

    def to_filter(steps: Steps, x: Value, g: Value, **how: Any) -> Value:
        parts, filters, result = terms(how["strides"])
        given = spread(steps, g, x.shape[-1])
        return steps.einsum(f"{parts},{result}->{filters}", _Windows(steps, x.shape, **how).of(x), given)

    return {name: forward, f"{name}_input": to_input, f"{name}_filter": to_filter}


def _max_pool(steps: Steps, x: Value, **how: Any) -> Value:
    windows = _Windows(steps, x.shape, **how)
    return steps.of("max({0})", windows.of(x, -math.inf), axes=windows.axes)


def _max_pool_input(steps: Steps, g: Value, x: Value, **how: Any) -> Value:
    windows = _Windows(steps, x.shape, **how)
    return windows.back(steps.of("choose({0}, {1}, zero)", windows.first(x), windows.spread(g)))


def _max_pool_pick(steps: Steps, h: Value, x: Value, **how: Any) -> Value:
    windows = _Windows(steps, x.shape, **how)
    return steps.of("sum(choose({0}, {1}, zero))", windows.first(x), windows.of(h), axes=windows.axes)


def _average_pool(steps: Steps, x: Value, **how: Any) -> Value:
    windows = _Windows(steps, x.shape, **how)
    return steps.of("sum({0}) / sum({1})", windows.of(x), windows.there(), axes=windows.axes)


def _average_pool_input(steps: Steps, g: Value, *, shape: Shape, **how: Any) -> Value:
    windows = _Windows(steps, shape, **how)
    share = steps.of("choose({1}, {0} / sum({1}), zero)", windows.spread(g), windows.there(), axes=windows.axes)
    return windows.back(share)


OPS: dict[str, Lower] = {
    "max_pool": _max_pool, "max_pool_input": _max_pool_input, "max_pool_pick": _max_pool_pick,
    "average_pool": _average_pool, "average_pool_input": _average_pool_input,
    **_convolutions("convolve", deep=False), **_convolutions("depthwise", deep=True),
}  # fmt: skip
