"""Functions with one thing wrong with them, made at random: what `check_gradient` must tell apart.

Each maker takes a random generator and returns the function, its inputs and the verdict that it deserves.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_lab as lab

Patient = tuple[Callable[..., Any], tuple[Any, ...], str]
SMOOTH: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "square": (lambda x: x * x, lambda x: 2.0 * x),
    "cube": (lambda x: x * x * x, lambda x: 3.0 * x * x),
    "sin": (lab.sin, lab.cos),
    "exp": (lab.exp, lab.exp),
    "tanh": (lab.tanh, lambda x: 1.0 - lab.tanh(x) ** 2),
    "log": (lab.math.log, lambda x: 1.0 / x),
    "sqrt": (lab.sqrt, lambda x: 0.5 / lab.sqrt(x)),
    "softplus": (lab.nn.softplus, lab.sigmoid),
    "erf": (lab.math.erf, lambda x: 1.1283791670955126 * lab.exp(-x * x)),
    "reciprocal": (lambda x: 1.0 / x, lambda x: -1.0 / (x * x)),
}
"""Functions of one value with their derivatives, all smooth on [0.5, 2]."""
SPOILT: dict[str, Callable[[Any, Any], Any]] = {
    "factor 2": lambda d, x: 2.0 * d,
    "half": lambda d, x: 0.5 * d,
    "sign": lambda d, x: -d,
    "nearly": lambda d, x: 1.001 * d,
    "zero": lambda d, x: 0.0 * d,
    "plus 1": lambda d, x: d + 1.0,
    "plus a little": lambda d, x: d + 1e-3,
    "times x": lambda d, x: d * (x + 0.5),
    "square": lambda d, x: d * d + 0.5,
}


def custom(function: Callable[[Any], Any], derivative: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function with a rule of its own."""

    @lab.custom_gradient
    def planted(x: Any) -> Any:
        return function(x), lambda upstream: upstream * derivative(x)

    return planted


def pick(rng: np.random.Generator, table: Any) -> Any:
    """Return one of several things."""
    return table[int(rng.integers(len(table)))]


def shaped(rng: np.random.Generator) -> np.ndarray:
    """Return an input between 0.5 and 2, a number, a vector or a matrix."""
    return rng.uniform(0.5, 2.0, pick(rng, [(), (3,), (2, 3)]))


def right(rng: np.random.Generator) -> Patient:
    """Return a composition of smooth ops with right rules, of one input or two."""
    f, g = (SMOOTH[pick(rng, list(SMOOTH))][0] for _ in range(2))
    x = shaped(rng)
    if rng.random() < 0.5:
        return (lambda x: f(x) * g(x + 0.3)), (x,), "agrees"
    return (lambda x, y: [f(x) * y, g(y)]), (x, rng.uniform(0.5, 2.0)), "agrees"


def wrong_rule(rng: np.random.Generator) -> Patient:
    """Return a custom rule that is off, alone or inside a program, in all elements or in one."""
    function, derivative = SMOOTH[pick(rng, list(SMOOTH))]
    spoil, x = SPOILT[pick(rng, list(SPOILT))], shaped(rng)
    one = rng.random() < 0.3 and x.ndim
    mask = np.zeros(x.shape)
    mask[(0,) * x.ndim] = 1.0

    def spoilt(x: Any) -> Any:
        d = derivative(x)
        return d + mask * (spoil(d, x) - d) if one else spoil(d, x)

    planted = custom(function, spoilt)
    program = pick(rng, [planted, lambda x: planted(x) * 2.0 + lab.sin(x), lambda x: lab.reduce_sum(planted(x) * x)])
    # Some spoilt rules happen to be right here, or nearly: those are not patients.
    if np.min(np.abs(_numbers(lambda x: spoilt(x) - derivative(x), x)[(0,) * x.ndim])) < 3e-4:
        return wrong_rule(rng)
    return program, (x,), "wrong rule"


def _numbers(function: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    return np.asarray(function(lab.constant(x)).numpy())


def wrong_at_a_kink(rng: np.random.Generator) -> Patient:
    """Return a function with a kink at the point whose rule is wrong everywhere."""
    factor = float(pick(rng, [0.3, 2.0, -1.0, 5.0]))
    at = float(rng.normal())

    @lab.custom_gradient
    def planted(x: Any) -> Any:
        return lab.nn.relu(x - at), lambda upstream: upstream * factor

    return planted, (at,), "wrong rule"


def kink(rng: np.random.Generator) -> Patient:
    """Return a program with a kink at the point, of one op or of several that meet or cancel."""
    at, scale = float(np.round(rng.normal(), 2)), float(rng.uniform(0.5, 3.0))
    shapes: list[Callable[[Any], Any]] = [
        lab.nn.relu,
        lambda t: lab.maximum(t, 0.0),
        lambda t: lab.minimum(2.0 * t, 5.0 * t),
        lab.nn.leaky_relu,
        lambda t: lab.maximum(t, 0.0) + lab.minimum(t, 0.0),
        lambda t: lab.nn.relu(t) - lab.nn.relu(-t),
        lambda t: lab.where(t > 0.0, 3.0 * t, t),
    ]
    shape = pick(rng, shapes)
    program = pick(rng, [lambda x: scale * shape(x - at), lambda x: shape(x - at) + lab.sin(x)])
    if rng.random() < 0.3:
        return program, (np.array([at + 1.0, at, at - 2.0]),), "kink"
    return program, (at,), "kink"


def kink_near(rng: np.random.Generator) -> Patient:
    """Return a program with a kink so near that the step of the differences reaches it."""
    distance = float(10 ** rng.uniform(-9, -6.4)) * float(pick(rng, [1.0, -1.0]))
    shape = pick(rng, [lab.nn.relu, lab.abs, lambda t: lab.maximum(t, 3.0 * t)])
    return (lambda x: shape(x - distance)), (0.0,), "precision"


def cancellation(rng: np.random.Generator) -> Patient:
    """Return a program in which float64 loses the digits that differences need."""
    large, x = float(10 ** rng.uniform(6.5, 9)), float(rng.uniform(0.5, 2.0))
    programs: list[Callable[[Any], Any]] = [
        lambda x: (x + large) ** 2 - large**2,
        lambda x: lab.sin(x) + large**1.4 - large**1.4,
        lambda x: (lab.exp(x) + large**1.4) * 1.0,
        lambda x: lab.cast(lab.cast(lab.sin(x), "float32"), "float64"),
        lambda x: lab.cast(lab.exp(lab.cast(x, "float32")), "float64"),
        lambda x: lab.sin(1e6 * x),
    ]
    return pick(rng, programs), (x,), "precision"


def random(rng: np.random.Generator) -> Patient:
    """Return a program that draws numbers while it runs."""
    drawn = np.random.default_rng(int(rng.integers(1 << 30)))

    def masked(x: Any) -> Any:
        return lab.nn.dropout(x * lab.ones([20], "float64"), 0.5)

    @lab.custom_gradient
    def random_rule(x: Any) -> Any:
        return x * x, lambda upstream: upstream * float(drawn.normal())

    programs = [
        lambda x: x * float(drawn.random()),
        lambda x: lab.sin(x) + 0.1 * float(drawn.normal()),
        lambda x: x * lab.random.normal([], dtype="float64"),
        masked,
        random_rule,
    ]
    return pick(rng, programs), (float(rng.uniform(0.5, 2.0)),), "not deterministic"


def jump(rng: np.random.Generator) -> Patient:
    """Return a program whose value jumps at the point."""
    at = float(pick(rng, [-3, -2, -1, 1, 2, 3]))
    high = float(rng.uniform(0.5, 5.0))
    programs = [
        lambda x: lab.floor(x) * high + x,
        lambda x: lab.where(x < at, x, x + high),
        lambda x: lab.sin(x) + lab.where(x > at, high * x, 0.0 * x),
        lambda x: lab.sign(x - at) + 2.0 * x,
    ]
    return pick(rng, programs), (at,), "jump"


def not_finite(rng: np.random.Generator) -> Patient:
    """Return a program whose gradient, or value, is not finite at the point."""
    v = float(rng.uniform(0.5, 2.0))
    vector = np.array([1.0, 0.0, v])
    programs: list[tuple[Callable[[Any], Any], Any]] = [
        (lambda x: lab.where(x < 1.0, x, lab.sqrt(x)), 0.0),
        (lambda x: lab.sqrt(x) * v, 0.0),
        (lambda x: lab.where(x > 0.0, lab.math.log(x), 0.0), vector),
        (lab.norm, np.zeros(3)),
        (lambda x: lab.norm(x) ** 2, np.zeros(2)),
        (lambda x: lab.math.log(x - v), v),
        (lambda x: lab.math.log(x - v - 1.0), v),
        (lambda x: lab.math.pow(lab.abs(x), 1 / 3), 0.0),
        (custom(lambda x: x * x, lambda x: x / (x - x)), v),
    ]
    program, at = pick(rng, programs)
    return program, (at,), "not finite"


def nan_near(rng: np.random.Generator) -> Patient:
    """Return a program that is not finite so near that a difference steps out of its domain."""
    distance = float(10 ** rng.uniform(-9, -6.1))
    program = pick(rng, [lab.math.log, lambda x: lab.sqrt(x) * 1e-3, lambda x: lab.math.log(x) * x])
    return program, (distance,), "precision"


def wrong_shape(rng: np.random.Generator) -> Patient:
    """Return a rule whose gradient does not have the shape of its input, or that returns too many."""
    n = int(rng.integers(2, 5))
    rules = [
        lambda u: u * np.ones(n + 1),
        lambda u: u * np.ones((n, 1)),
        lambda u: u * np.ones((1, n)),
        lambda u: (u, u),
    ]
    rule = pick(rng, rules)
    function = lab.custom_gradient(lambda x: (lab.reduce_sum(x * x), rule))
    return function, (rng.uniform(0.5, 2.0, n),), "wrong shape"


def complex_input(rng: np.random.Generator) -> Patient:
    """Return a function of a complex input, with its own rule or with one that is wrong in one part."""
    z = complex(rng.normal(), rng.normal()) + 2.0
    if rng.random() < 0.5:
        program = pick(rng, [lambda z: z * z, lambda z: lab.math.real(z * lab.math.conj(z)), lambda z: 1.0 / z])
        return program, (np.array([z, z * 1j]),), "agrees"
    wrong = lab.custom_gradient(lambda z: (z * z, lambda u: u * lab.math.conj(z)))
    return wrong, (np.array(z),), "wrong rule"


def structures(rng: np.random.Generator) -> Patient:
    """Return a function of a dict and an integer, right or with one wrong rule inside."""
    spoilt = rng.random() < 0.5
    double = custom(lambda x: x * x, lambda x: x if spoilt else 2.0 * x)

    def program(params: Any, n: Any) -> Any:
        return {"y": params["a"] * lab.cast(n, "float64"), "z": (double(params["b"]["c"]), params["a"])}

    inputs = ({"a": rng.uniform(0.5, 2.0, 2), "b": {"c": float(rng.uniform(0.5, 2.0))}}, 3)
    return program, inputs, "wrong rule" if spoilt else "agrees"


MAKERS = {
    maker.__name__: maker
    for maker in (
        right, wrong_rule, wrong_at_a_kink, kink, kink_near, cancellation, random, jump, not_finite, nan_near,
        wrong_shape, complex_input, structures,
    )
}  # fmt: skip
