"""Random programs for the detective: small integers or decimals, values used several times, maxima, constants."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.recording import Recording

WHOLE = ("add", "subtract", "multiply", "maximum", "minimum", "scale", "shift", "square", "relu", "negative")
ALL = (*WHOLE, "divide", "exp", "log", "sin", "cos", "tanh", "sqrt", "power", "sigmoid")
OPS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y, k: x + y,
    "subtract": lambda x, y, k: x - y,
    "multiply": lambda x, y, k: x * y,
    "divide": lambda x, y, k: x / y,
    "maximum": lambda x, y, k: lab.maximum(x, y),
    "minimum": lambda x, y, k: lab.minimum(x, y),
    "scale": lambda x, y, k: k * x,
    "shift": lambda x, y, k: x + k,
    "square": lambda x, y, k: lab.square(x),
    "relu": lambda x, y, k: lab.nn.relu(x),
    "negative": lambda x, y, k: -x,
    "exp": lambda x, y, k: lab.exp(x),
    "log": lambda x, y, k: lab.math.log(x),
    "sin": lambda x, y, k: lab.sin(x),
    "cos": lambda x, y, k: lab.cos(x),
    "tanh": lambda x, y, k: lab.tanh(x),
    "sqrt": lambda x, y, k: lab.sqrt(x),
    "power": lambda x, y, k: x**3.0,
    "sigmoid": lambda x, y, k: lab.sigmoid(x),
}
TWO = ("add", "subtract", "multiply", "divide", "maximum", "minimum")


def deal(rng: random.Random, whole: bool, inputs: int = 3, gates: int = 5) -> Recording:
    """Return the recording of a random program of scalars with its gradient; every input reaches the result."""
    while True:
        found = _try(rng, whole, inputs, gates)
        if found is not None:
            return found


def _try(rng: random.Random, whole: bool, inputs: int, gates: int) -> Recording | None:
    names = "xyzuvw"[:inputs]
    places = rng.sample([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0], inputs)
    if not whole:
        places = [round(rng.uniform(0.3, 2.5), 2) for _ in names]
    values: dict[str, Any] = {n: lab.Variable(v, name=n, dtype=lab.float64) for n, v in zip(names, places, strict=True)}
    sources = list(values.values())
    with lab.record(namespace=values) as recording, lab.GradientTape() as tape:
        for at in range(gates):
            known = [n for n in values if len(n) == 1]
            op = rng.choice(WHOLE if whole else ALL)
            one = known[-1] if at and rng.random() < 0.75 else rng.choice(known)
            two = rng.choice(known)
            if op in ("maximum", "minimum", "divide", "subtract") and one == two:
                return None
            pair = [one, two] if rng.random() < 0.5 else [two, one]
            k = float(rng.choice([2, 3, 5])) if whole else round(rng.uniform(1.2, 3.0), 2)
            first = values[pair[0]] if op in TWO else values[one]
            values["abcdefgh"[at]] = OPS[op](first, values[pair[1]], k)
        target = values["abcdefgh"[gates - 1]]
        found = tape.gradient(target, sources)
    if any(g is None for g in found):
        return None
    sizes = [abs(float(g)) for g in found]
    held = [float(np.asarray(v)) for v in values.values()]
    if not all(np.isfinite([*held, *sizes])) or min(sizes) < 1e-9 or max(sizes) > 200 or max(map(abs, held)) > 60:
        return None
    return recording
