"""How to call each op: inputs inside its domain, and parameters.

Elementwise ops are sampled from their `Domain`; every other op needs a `sampler`, or the tests fail and say so.
Inputs are NumPy arrays, float64 where a gradient may pass; the tests cast them as they need.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.engine.namespace import RECORDING
from autodiff_lab.engine.op import REGISTRY, UNREGISTERED, Domain, Op

MARGIN = 0.15
"""Samples keep this distance from the ends of a domain and from kinks."""

BOOLEAN = {"logical_and", "logical_or", "logical_xor", "logical_not"}
# LAPACK knows neither float16 nor bfloat16; the public functions of these refuse both.
REFUSES_HALVES = {
    "cholesky", "cholesky_grad", "cholesky_solve", "det", "eig", "eigh", "expm", "expm_frechet", "inv", "lu",
    "lu_factors", "pinv", "qr", "slogdet", "solve", "svd", "triangular_solve",
}  # fmt: skip

# Pairs of shapes that broadcast, up to rank 4, with axes of length 1 and 0.
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), ()),
    ((3,), ()),
    ((), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((1,), (4,)),
    ((2, 3, 2), (3, 1)),
    ((2, 1, 2, 1), (3, 1, 2)),
    ((0, 3), (3,)),
    ((2, 0), (1, 1)),
]
# With one input there is nothing to broadcast.
ALONE: list[tuple[tuple[int, ...], ...]] = [((),), ((5,),), ((2, 3, 2),), ((0, 3),)]


@dataclass(frozen=True)
class Sample:
    """One call of an op."""

    op: Op
    inputs: tuple[Any, ...]
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def differentiable(self) -> list[int]:
        """Positions of the inputs that a rule leads to."""
        rules = self.op.rules
        if rules is None or rules == UNREGISTERED:
            return []
        return [
            k
            for k, x in enumerate(self.inputs)
            if np.asarray(x).dtype.kind == "f" and (not isinstance(rules, tuple) or rules[k] is not None)
        ]

    def __call__(self, *tensors: Any) -> Any:
        """Apply the op, as rules apply it, to tensors in place of the sampled inputs."""
        return getattr(RECORDING, self.op.name)(*tensors, **self.params)

    def tensors(self, dtype: Any = None) -> list[lab.Tensor]:
        """Return the inputs as tensors, floating ones in `dtype`."""
        arrays = [np.asarray(x) for x in self.inputs]
        return [lab.cast(lab.constant(a), dtype) if dtype and a.dtype.kind == "f" else lab.constant(a) for a in arrays]


def draw(domain: Domain, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw numbers inside a domain, away from its ends and kinks."""
    low = domain.low + MARGIN if domain.low is not None else min(-2.0, (domain.high or 0.0) - 4.0)
    high = domain.high - MARGIN if domain.high is not None else max(2.0, low + 3.0)
    x = rng.uniform(low, high, shape)
    for point in domain.away_from:
        x = np.where(np.abs(x - point) < MARGIN, x + 2 * MARGIN, x)
    return np.asarray(x)


def elementwise(op: Op, shapes: tuple[tuple[int, ...], ...], rng: np.random.Generator) -> Sample:
    """Sample an elementwise op at inputs of these shapes."""
    if op.name in BOOLEAN:
        return Sample(op, tuple(rng.random(s) < 0.5 for s in shapes))
    domains = [op.domain[min(k, len(op.domain) - 1)] for k in range(len(shapes))]
    return Sample(op, tuple(draw(d, s, rng) for d, s in zip(domains, shapes, strict=True)))


Call = tuple[tuple[Any, ...], dict[str, Any]]
GENERAL: dict[str, Callable[[np.random.Generator], list[Call]]] = {}


def sampler(*names: str) -> Callable[[Callable[[np.random.Generator], list[Call]]], Any]:
    """Register a function that gives calls, ``(inputs, params)`` each, of the ops of these names."""

    def keep(function: Callable[[np.random.Generator], list[Call]]) -> Any:
        for name in names:
            GENERAL[name] = function
        return function

    return keep


def samples(name: str, seed: int = 0) -> Iterator[Sample]:
    """Yield every sample of an op."""
    op, rng = REGISTRY[name], np.random.default_rng(seed)
    if op.elementwise:
        for shapes in ALONE if op.arity == 1 else SHAPES:
            yield elementwise(op, shapes, rng)
    else:
        assert name in GENERAL, f"{name} has no sampler: add one to tests/ops/samples"
        for inputs, params in GENERAL[name](rng):
            yield Sample(op, inputs, params)


def ops_of_the_catalogue() -> list[str]:
    """Names of the ops that the package declares; tests may have registered more."""
    return sorted(REGISTRY)


def normal(rng: np.random.Generator, *shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Draw normally distributed arrays of these shapes."""
    return tuple(np.asarray(rng.normal(size=s)) for s in shapes)
