"""The table of statements: how to call the public functions that TensorFlow and this package share.

A maker takes a `Pool` and returns a `Call`; it is in the table once for each name, and more often if there is more to
try.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.peers.programs.draw import Pool
from tests.peers.programs.values import Call, Dtype, Ref, kind_of

Maker = Callable[[Pool], Call]
TABLE: list[Maker] = []


def add(maker: Callable[[Pool, str], Call], *names: str, times: int = 1) -> None:
    """Put a maker into the table, once for each name."""
    for name in names:
        TABLE.extend([lambda pool, name=name: maker(pool, name)] * times)


def unary(kinds: str, manner: str = "any") -> Callable[[Pool, str], Call]:
    """Return a maker of calls of one value."""
    return lambda pool, name: Call(name, (pool.take(kinds, manner=manner),), {})


def binary(kinds: str, manner: str = "any") -> Callable[[Pool, str], Call]:
    """Return a maker of calls of two values that broadcast."""

    def make(pool: Pool, name: str) -> Call:
        x = pool.take(kinds, manner=manner)
        return Call(name, (x, pool.beside(x, manner)), {})

    return make


def with_scalar(pool: Pool, name: str) -> Call:
    """An operator between a value and a Python number."""
    x = pool.take("fic")
    number = pool.choice.choice([2, 3, -1, 0, 1] if kind_of(pool[x].dtype) == "i" else [2, 0.5, -1.5, 1, 0])
    if pool[x].dtype.kind == "u":
        number = abs(number)
    return Call(name, (x, number) if pool.chance(0.5) else (number, x), {})


add(unary("fc"), "sin", "cos", "tan", "exp", "sinh", "cosh", "tanh", "sqrt", "math.log", "math.log1p", "math.expm1",
    "asin", "acos", "atan", "math.asinh", "math.atanh", "math.acosh", "sigmoid", "math.rsqrt",
    "math.reciprocal")  # fmt: skip
add(unary("f"), "math.erf", "math.erfc", "math.lgamma", "math.digamma", "math.softplus", "floor", "math.ceil", "round",
    "math.rint", "nn.relu", "nn.relu6", "nn.elu", "nn.selu", "nn.softsign", "nn.gelu", "nn.leaky_relu", "math.is_nan",
    "math.is_inf", "math.is_finite", "math.log_sigmoid", "nn.l2_loss", "math.erfinv", "math.ndtri")  # fmt: skip
add(unary("fc"), "nn.silu", "nn.swish")
add(unary("fci"), "abs", "negative", "square", "sign", "zeros_like", "ones_like", "identity", "op:neg", "op:abs",
    "math.conj", "math.real", "math.imag", "stop_gradient", "size", "rank", "shape")  # fmt: skip
add(unary("c"), "math.angle", "math.real", "math.imag", "math.conj")
add(unary("b"), "math.logical_not", "op:~")
add(unary("i"), "bitwise.invert", "op:~")
add(unary("F"), "math.bessel_i0", "math.bessel_i1", "math.bessel_i0e", "math.bessel_i1e", "math.special.dawsn",
    "math.special.expint", "math.special.spence", "math.special.fresnel_cos", "math.special.fresnel_sin")  # fmt: skip
add(binary("fci"), "add", "subtract", "multiply", "op:+", "op:-", "op:*", "math.squared_difference", "op:==", "op:!=",
    "equal", "not_equal", times=2)  # fmt: skip
add(binary("fc"), "divide", "op:/", "math.divide_no_nan", "math.multiply_no_nan", "math.xlogy", "math.xdivy", times=2)
add(binary("i"), "divide", "op:/", "math.truediv")
add(binary("fi"), "maximum", "minimum", "op:<", "op:<=", "op:>", "op:>=", "less", "greater", "math.floormod",
    "math.floordiv", "op:%", "op://")  # fmt: skip
add(binary("f"), "atan2", "math.xlog1py", "math.nextafter")
add(binary("F", "positive"), "math.igamma", "math.igammac", "math.polygamma", "math.zeta")
add(binary("f"), "pow", "op:**", times=2)
add(binary("f", "positive"), "pow", "op:**", "math.floormod")
add(binary("c", "tame"), "pow", "op:**")
add(binary("i", "tame"), "pow", "op:**")
add(binary("b"), "math.logical_and", "math.logical_or", "math.logical_xor", "op:&", "op:|", "op:^", "equal")
add(binary("i"), "bitwise.bitwise_and", "bitwise.bitwise_or", "bitwise.bitwise_xor", "math.truediv")
add(with_scalar, "op:+", "op:-", "op:*", "op:/", "op:**", "op:<", "op:>=", "op:==", "op:%", "op://", "maximum",
    "minimum")  # fmt: skip


def axes_of(pool: Pool, x: Ref) -> Any:
    """Return an axis argument: None, a number, or a list of some."""
    rank = pool[x].ndim
    way = pool.choice.random()
    if way < 0.3 or not rank:
        return None
    if way < 0.75:
        return pool.axis(x)
    return pool.choice.sample(range(rank), pool.choice.randrange(rank + 1))


def reduction(kinds: str) -> Callable[[Pool, str], Call]:
    """Return a maker of reductions over some axes."""

    def make(pool: Pool, name: str) -> Call:
        x = pool.take(kinds)
        kwargs: dict[str, Any] = {"axis": axes_of(pool, x)}
        if pool.chance(0.4):
            kwargs["keepdims"] = pool.chance(0.7)
        return Call(name, (x,), kwargs)

    return make


add(reduction("fci"), "reduce_sum", "reduce_mean", "reduce_prod", times=4)
add(reduction("fi"), "reduce_max", "reduce_min", "math.count_nonzero", times=2)
add(reduction("f"), "reduce_logsumexp", "math.reduce_variance", "math.reduce_std", "math.reduce_euclidean_norm",
    times=2)  # fmt: skip
add(reduction("c"), "math.reduce_variance", "math.reduce_std", "math.reduce_euclidean_norm")
add(reduction("b"), "reduce_any", "reduce_all")


def extreme(pool: Pool, name: str) -> Call:
    """The place of an extreme along an axis."""
    x = pool.take("fi", 1)
    return Call(name, (x,), {"axis": pool.axis(x), **({"output_type": Dtype("int32")} if pool.chance(0.3) else {})})


def scan(pool: Pool, name: str) -> Call:
    """A cumulative op."""
    x = pool.take("f" if "log" in name else "fci", 1)
    flags = {key: True for key in ("exclusive", "reverse") if pool.chance(0.35)}
    return Call(name, (x,), {"axis": pool.axis(x), **flags})


def along(kinds: str) -> Callable[[Pool, str], Call]:
    """Return a maker of calls along one axis."""

    def make(pool: Pool, name: str) -> Call:
        x = pool.take(kinds, 1)
        return Call(name, (x,), {"axis": pool.axis(x)} if pool.chance(0.6) else {})

    return make


def norm(pool: Pool, name: str) -> Call:
    """A norm of vectors or of matrices."""
    x = pool.take("fc", 1)
    rank = pool[x].ndim
    if rank >= 2 and pool.chance(0.5):
        return Call(name, (x,), {"ord": pool.choice.choice(["euclidean", "fro", 1, float("inf"), 2]), "axis": [-2, -1],
                                 "keepdims": pool.chance(0.3)})  # fmt: skip
    return Call(name, (x,), {"ord": pool.choice.choice(["euclidean", 1, 2, 3, float("inf")]), "axis": pool.axis(x)})


def clipped(pool: Pool, name: str) -> Call:
    """Values kept within bounds."""
    x = pool.take("f")
    if name == "clip_by_value":
        return Call(name, (x, pool.choice.choice([-1.0, 0.0]), pool.choice.choice([0.5, 2.0])), {})
    return Call(name, (x, 1.5), {})


add(extreme, "argmax", "argmin", times=2)
add(scan, "cumsum", "math.cumprod", "math.cumulative_logsumexp", times=3)
add(along("f"), "nn.softmax", "nn.log_softmax", times=2)
add(along("fc"), "math.l2_normalize")
add(along("fi"), "sort", "argsort")
add(norm, "norm", "linalg.norm", times=2)
add(clipped, "clip_by_value", "clip_by_norm")
