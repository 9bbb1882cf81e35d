"""Points at the edge of a domain, where frameworks make different choices: kinks, ties, poles, zeros.

An edge has a name, the two functions, the arguments, and which of them are differentiated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import autodiff_lab as lab
from tests.peers.counterparts import functional, torch

NAN, INF = float("nan"), float("inf")


@dataclass(frozen=True)
class Edge:
    """A function of ours and of torch's at arguments where frameworks must choose."""

    name: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    at: tuple[Any, ...]

    @property
    def label(self) -> str:
        """The edge in words, as docs/differences.md writes it."""
        places = ", ".join(str(x) for x in self.at)
        return f"{self.name} at {places}"


def one(name: str, ours: Callable[..., Any], theirs: Callable[..., Any], *points: float) -> list[Edge]:
    """Return edges of a function of one number."""
    return [Edge(name, ours, theirs, (point,)) for point in points]


def two(name: str, ours: Callable[..., Any], theirs: Callable[..., Any], *points: tuple[float, float]) -> list[Edge]:
    """Return edges of a function of two numbers."""
    return [Edge(name, ours, theirs, point) for point in points]


def guarded(where: Any, sqrt: Any) -> Callable[[Any], Any]:
    """Return the root behind a guard that does not guard its gradient."""
    return lambda x: where(x > 0, sqrt(x), x * 0)


EDGES: list[Edge] = [
    *one("sqrt", lab.sqrt, torch.sqrt, 0.0, -1.0, INF),
    *one("rsqrt", lab.math.rsqrt, torch.rsqrt, 0.0),
    *one("log", lab.math.log, torch.log, 0.0, -1.0),
    *one("log1p", lab.math.log1p, torch.log1p, -1.0),
    *one("reciprocal", lab.math.reciprocal, torch.reciprocal, 0.0),
    *one("abs", lab.abs, torch.abs, 0.0, NAN),
    *one("sign", lab.sign, torch.sign, 0.0),
    *one("floor", lab.floor, torch.floor, 0.0, 0.5),
    *one("round", lab.round, torch.round, 0.5, 1.5),
    *one("relu", lab.nn.relu, torch.relu, 0.0, NAN, -0.0),
    *one("relu6", lab.nn.relu6, functional.relu6, 0.0, 6.0),
    *one("leaky_relu", lambda x: lab.nn.leaky_relu(x, 0.1), lambda x: functional.leaky_relu(x, 0.1), 0.0),
    *one("elu", lab.nn.elu, functional.elu, 0.0),
    *one("selu", lab.nn.selu, functional.selu, 0.0),
    *one("softsign", lab.math.softsign, functional.softsign, 0.0),
    *one("softplus", lab.nn.softplus, functional.softplus, 1000.0, -1000.0, INF),
    *one("sigmoid", lab.sigmoid, torch.sigmoid, 1000.0, -1000.0),
    *one("tanh", lab.tanh, torch.tanh, 1000.0, INF),
    *one("asin", lab.asin, torch.asin, 1.0, 1.5),
    *one("acos", lab.acos, torch.acos, -1.0),
    *one("acosh", lab.acosh, torch.acosh, 1.0, 0.5),
    *one("atanh", lab.atanh, torch.atanh, 1.0),
    *one("erfinv", lab.math.erfinv, torch.erfinv, 1.0),
    *one("lgamma", lab.math.lgamma, torch.lgamma, 0.0, -1.0),
    *one("digamma", lab.math.digamma, torch.digamma, 0.0, -1.0),
    *one("where(x > 0, sqrt(x), 0)", guarded(lab.where, lab.sqrt), guarded(torch.where, torch.sqrt), 0.0),
    *one("clip to [0, 1]", lambda x: lab.clip_by_value(x, 0.0, 1.0), lambda x: torch.clamp(x, 0, 1), 0.0, 1.0, NAN),
    *two("maximum", lab.maximum, torch.maximum, (1.0, 1.0), (NAN, 1.0)),
    *two("minimum", lab.minimum, torch.minimum, (1.0, 1.0), (NAN, 1.0)),
    *two("pow", lab.pow, torch.pow, (0.0, 0.0), (0.0, 2.0), (0.0, 1.0), (0.0, 0.5), (0.0, -1.0), (-1.0, 2.0)),
    *two("pow", lab.pow, torch.pow, (-1.0, 0.5), (1.0, INF)),
    *two("divide", lab.divide, torch.div, (1.0, 0.0), (0.0, 0.0)),
    *two("atan2", lab.atan2, torch.atan2, (0.0, 0.0), (0.0, -1.0)),
    *two("floormod", lab.math.floormod, torch.remainder, (4.0, 2.0), (1.0, 0.0), (-1.0, 3.0)),
    *two("xlogy", lab.math.xlogy, torch.xlogy, (0.0, 0.0), (0.0, 1.0), (1.0, 0.0)),
    *two("squared_difference", lab.math.squared_difference, lambda x, y: (x - y) ** 2, (1.0, 1.0)),
    *one("reduce_max", lab.reduce_max, torch.amax, [1.0, 1.0], [NAN, 1.0], [INF, INF]),  # type: ignore[list-item]
    *one("reduce_min", lab.reduce_min, torch.amin, [1.0, 1.0, 2.0]),  # type: ignore[list-item]
    *one("reduce_prod", lab.reduce_prod, torch.prod, [0.0, 2.0], [0.0, 0.0]),  # type: ignore[list-item]
    *one("cumprod", lab.math.cumprod, lambda x: torch.cumprod(x, 0), [2.0, 0.0, 3.0]),  # type: ignore[list-item]
    *one("norm", lab.norm, torch.linalg.norm, [0.0, 0.0], [INF, 1.0]),  # type: ignore[list-item]
    *one("reduce_euclidean_norm", lab.math.reduce_euclidean_norm, torch.linalg.norm, [0.0, 0.0]),  # type: ignore[list-item]
    *one("reduce_std", lab.math.reduce_std, lambda x: x.std(correction=0), [1.0, 1.0]),  # type: ignore[list-item]
    *one(
        "reduce_logsumexp", lab.reduce_logsumexp, lambda x: torch.logsumexp(x, 0),
        [-INF, -INF], [INF, 0.0], [1000.0, 1000.0],  # type: ignore[list-item]
    ),
    *one("softmax", lab.nn.softmax, lambda x: torch.softmax(x, 0), [1000.0, 0.0], [INF, 0.0]),  # type: ignore[list-item]
    *one("log_softmax", lab.nn.log_softmax, lambda x: torch.log_softmax(x, 0), [-INF, 0.0]),  # type: ignore[list-item]
    *one("det", lab.linalg.det, torch.linalg.det, [[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]),  # type: ignore[list-item]
    *one(
        "eigh, eigenvalues", lambda x: lab.linalg.eigh(x)[0], lambda x: torch.linalg.eigh(x)[0],
        [[2.0, 0.0], [0.0, 2.0]],  # type: ignore[list-item]
    ),
    *one("sort", lab.sort, lambda x: torch.sort(x, stable=True)[0], [2.0, 1.0, 1.0]),  # type: ignore[list-item]
]  # fmt: skip
