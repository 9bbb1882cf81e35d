"""The gamma function and its relatives: logarithm, derivatives, incomplete integrals, beta function, Hurwitz zeta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general, unary
from autodiff_lab.engine.convert import convert, convert_pair
from autodiff_lab.engine.op import REGISTRY, Domain
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError
from autodiff_lab.kernels.arrays import ranked
from autodiff_lab.ops.docs import doc, of_one, of_two
from autodiff_lab.ops.math.reductions import reduce_sum
from autodiff_lab.ops.math.scipy_kernels import looped, special
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

lgamma = unary(
    "lgamma", special("gammaln"), lambda ops, g, out, x: g * ops.digamma(x),
    symbol="ln Γ", latex=r"\ln |\Gamma({0})|", locals_latex=(r"\psi({0})",),
    sentence="takes the logarithm of the gamma function of {0}", domain=(Domain(low=0.0),), keeps="inputs",
    registered="Lgamma", expression="lgamma({0})",
    doc=of_one("Logarithm of the absolute value of the gamma function.", "digamma(x)", """
>>> print(lab.math.lgamma(1.0))
Tensor(0.0, shape=(), dtype=float32)""", domain="all numbers but 0, -1, -2, ..., where it is inf"))
digamma = unary(
    "digamma", special("digamma"), lambda ops, g, out, x: g * ops.trigamma(x),
    symbol="ψ", latex=r"\psi({0})", locals_latex=(r"\psi'({0})",), sentence="takes the digamma function of {0}",
    domain=(Domain(low=0.0),), keeps="inputs", registered="Digamma", expression="digamma({0})",
    doc=of_one("The derivative of lgamma.", "polygamma(1, x)", """
>>> print(f"{lab.math.digamma(1.0):.4f}")
-0.5772""", domain="all numbers but 0, -1, -2, ..."))


trigamma = unary(
    "trigamma", lambda x: special("zeta")(x.dtype.type(2), x), lambda ops, g, out, x: g * ops.polygamma(2, x),
    symbol="ψ′", latex=r"\psi'({0})", locals_latex=(r"\psi''({0})",), sentence="takes the trigamma function of {0}",
    domain=(Domain(low=0.0),), keeps="inputs", expression="trigamma({0})",
    doc=of_one("The derivative of digamma, inf at 0, -1, -2, ...; the rule of digamma uses it.", "polygamma(2, x)", """
>>> print(f"{lab.ops.math.gamma.trigamma(1.0):.4f}")
1.6449"""))


_POLYGAMMA = {0: "digamma({1})", 1: "trigamma({1})", 2: "tetragamma({1})"}
_KERNELS = {
    0: REGISTRY["digamma"].kernel, 1: REGISTRY["trigamma"].kernel,
    2: looped("tetragamma", lambda x: -2 * special("zeta")(x.dtype.type(3), x)),
}
"""What loops have functions for, by order."""


def _polygamma(a: Any, x: Any) -> Any:
    if x.__class__ is np.ndarray and not np.ndim(a) and float(a) in _KERNELS:
        return _KERNELS[int(a)](x)
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    order, x_wide = ranked(a).astype(wide)[()], x.astype(wide)
    psi, zeta, ln_gamma = special("digamma"), special("zeta"), special("gammaln")
    sign = 1 - 2 * ((order + 1) % 2)
    value = np.where(order == 0, psi(x_wide), sign * np.exp(ln_gamma(order + 1)) * zeta(order + 1, x_wide))
    return np.where((order >= 0) & (order == np.floor(order)), value, np.nan).astype(x.dtype)[()]


def _fixed(ops: Any, order: Any, x: Any) -> Any:
    """Return an argument without a derivative in the dtype of the one that has it."""
    return ops.stop_gradient(ops.cast(order, dtype=x.dtype.name))


polygamma_of = general(
    "polygamma", _polygamma, None, lambda ops, g, out, a, x: g * ops.polygamma(a + 1, x),
    symbol="ψ⁽ⁿ⁾", latex=r"\psi^{{({0})}}({1})", locals_latex=("", r"\psi^{{({0} + 1)}}({1})"),
    sentence="takes the derivative number {0} of the digamma function of {1}", keeps="inputs",
    registered="Polygamma", expression=lambda constants: _POLYGAMMA.get(constants[0]),
    doc="The kernel-level polygamma; `lab.math.polygamma` is the public function.")
zeta_of = general(
    "zeta", special("zeta"), None,
    lambda ops, g, out, x, q: -(g * (_fixed(ops, x, q) * ops.zeta(_fixed(ops, x, q) + 1, q))),
    symbol="ζ", latex=r"\zeta({0}, {1})", locals_latex=("", r"-{0} \zeta({0} + 1, {1})"),
    sentence="takes the Hurwitz zeta function of {0} and {1}", keeps="inputs", registered="Zeta",
    doc="The kernel-level zeta; `lab.math.zeta` is the public function.")

_TERMS = 12
"""Half-width of the window of terms, in standard deviations of the Poisson distribution that they follow."""


def _factor(lean: Any, psi_1: Any, psi_2: Any, order: int) -> Any:
    """Return what differentiating a term with respect to a multiplies it by: the n-th derivative over the term."""
    if order == 1:
        return lean
    return lean * lean - psi_1 if order == 2 else lean * (lean * lean - 3 * psi_1) - psi_2


_LARGEST = 1e8
"""Larger x are taken as this one: the window would not fit into memory, and P is 1 there unless a is as large."""
_BLOCK = 2**15
"""Terms that are worked out at once, in pairs."""


def _igamma_grad(a: Any, x: Any, order: int) -> Any:
    """Differentiate P(a, x) with respect to a, term by term: P is the sum over k of x^(a+k) e^-x / Γ(a+k+1).

    The terms peak where a + k is near x and are negligible some deviations away, so a window around there is enough.
    """
    shape = np.broadcast_shapes(a.shape, x.shape)
    a_wide, x_wide = (np.broadcast_to(ranked(v).astype(np.float64), shape).ravel() for v in (a, x))
    inside = np.minimum(x_wide, _LARGEST)
    half = _TERMS * np.sqrt(np.maximum(np.nan_to_num(inside), 0)) + 40
    found = np.empty(half.shape)
    smallest, start = np.argsort(half), 0
    while start < half.size:  # elements with about as many terms, few enough for a cache
        block = smallest[start : start + max(1, int(_BLOCK / half[smallest[start]]))]
        block = block[: max(1, int(_BLOCK / half[block[-1]]))]
        found[block] = _terms_by_a(a_wide[block], inside[block], half[block], order)
        start += block.size
    found = np.where(x_wide > 0, found, np.where(x_wide == 0, 0.0, np.nan))
    return found.reshape(shape).astype(x.dtype)[()]


def _terms_by_a(a: Any, x: Any, half: Any, order: int) -> Any:
    """Add up the terms of some elements, each term and its polygamma functions by recurrence from the one before."""
    z = a + np.floor(np.maximum(x - a - half, 0)) + 1
    ln_x = np.log(np.where(x > 0, x, 1))
    steps = 1 / (z + np.arange(int(2 * half.max()))[:, None])
    first = np.exp((z - 1) * ln_x - x - special("gammaln")(z))
    term = _from_first(first, np.cumprod(steps * x, axis=0) * first)
    by_first, psi = ln_x - special("digamma")(z), (_polygamma(1, z), _polygamma(2, z)) if order > 1 else (0.0, 0.0)
    lean = _from_first(by_first, by_first - np.cumsum(steps, axis=0))
    psi_1 = _from_first(psi[0], psi[0] - np.cumsum(steps**2, axis=0)) if order > 1 else 0.0
    psi_2 = _from_first(psi[1], psi[1] + np.cumsum(2 * steps**3, axis=0)) if order > 2 else 0.0
    return np.einsum("ij,ij->j", term, _factor(lean, psi_1, psi_2, order))


def _from_first(first: Any, rest: Any) -> Any:
    return np.concatenate([first[None], rest])


def _density(ops: Any, a: Any, x: Any) -> Any:
    """Return the derivative of P(a, x) with respect to x: x^(a-1) e^-x / Γ(a)."""
    return ops.exp(ops.xlogy(a - 1, x) - x - ops.lgamma(a))


def _igamma_grad_rule_a(ops: Any, g: Any, out: Any, a: Any, x: Any, order: int) -> Any:
    if order == 3:
        raise LookupError("igamma: derivatives with respect to a stop at the third order. Try finite differences of "
                          "those.")
    return g * ops.igamma_grad(a, x, order=order + 1)


def _igamma_grad_rule_x(ops: Any, g: Any, out: Any, a: Any, x: Any, order: int) -> Any:
    """Differentiate the density with respect to a instead: the order of differentiation does not matter."""
    lean = ops.log(x) - ops.digamma(a)
    return g * (_density(ops, a, x) * _factor(lean, ops.polygamma(1, a), ops.polygamma(2, a), order))


igamma_grad = general(
    "igamma_grad", _igamma_grad, _igamma_grad_rule_a, _igamma_grad_rule_x,
    symbol="∂P/∂a", latex=r"\frac{{\partial}}{{\partial {0}}} P({0}, {1})",
    locals_latex=(r"\frac{{\partial^2}}{{\partial {0}^2}} P({0}, {1})",
                  r"\frac{{\partial}}{{\partial {0}}} \frac{{{1}^{{{0} - 1}} e^{{-{1}}}}}{{\Gamma({0})}}"),
    sentence="differentiates the incomplete gamma function with respect to {0}", keeps="inputs",
    doc="The derivative of `igamma` with respect to a, up to three times; the rule of `igamma` uses it.")
_DENSITY = r"\frac{{{1}^{{{0} - 1}} e^{{-{1}}}}}{{\Gamma({0})}}"
igamma_of = general(
    "igamma", special("gammainc"),
    lambda ops, g, out, a, x: g * ops.igamma_grad(a, x, order=1),
    lambda ops, g, out, a, x: g * _density(ops, a, x),
    symbol="P", latex="P({0}, {1})", locals_latex=(r"\frac{{\partial}}{{\partial {0}}} P({0}, {1})", _DENSITY),
    sentence="takes the lower incomplete gamma function of {0} and {1}", keeps="inputs", registered="Igamma",
    doc="The kernel-level igamma; `lab.math.igamma` is the public function.")
igammac_of = general(
    "igammac", special("gammaincc"),
    lambda ops, g, out, a, x: -(g * ops.igamma_grad(a, x, order=1)),
    lambda ops, g, out, a, x: -(g * _density(ops, a, x)),
    symbol="Q", latex="Q({0}, {1})", locals_latex=(r"-\frac{{\partial}}{{\partial {0}}} P({0}, {1})", "-" + _DENSITY),
    sentence="takes the upper incomplete gamma function of {0} and {1}", keeps="inputs", registered="Igammac",
    doc="The kernel-level igammac; `lab.math.igammac` is the public function.")


def _gamma_quantile(a: Any, u: Any) -> Any:
    below = special("gammaincinv")(a, np.where(u >= 0, u, 0).astype(u.dtype))
    return np.where(u >= 0, below, special("gammainccinv")(a, np.where(u < 0, -u, 1).astype(u.dtype)))[()]


gamma_quantile = general(
    "gamma_quantile", _gamma_quantile,
    lambda ops, g, out, a, u: -(g * ops.igamma_grad(a, out, order=1) / _density(ops, a, out)),
    lambda ops, g, out, a, u: g / _density(ops, a, out),
    symbol="P⁻¹", latex="P^{{-1}}({0}, {1})",
    locals_latex=(r"-\frac{{\partial P({0}, y)}}{{\partial {0}}} \Big/ \frac{{\partial P({0}, y)}}{{\partial y}}",
                  r"1 \Big/ \frac{{\partial P({0}, y)}}{{\partial y}}"),
    sentence="takes the number below which gamma numbers of shape {0} fall with probability {1}",
    doc="The number with probability u below it, for negative u with -u above it, so that both tails are precise; "
        "`lab.random.gamma` applies it where alpha is a tensor.")


def _betainc_rule(ops: Any, g: Any, out: Any, a: Any, b: Any, x: Any) -> Any:
    a, b = _fixed(ops, a, x), _fixed(ops, b, x)
    ln_beta = ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)
    return g * ops.exp(ops.xlogy(a - 1, x) + ops.xlog1py(b - 1, -x) - ln_beta)


betainc_of = general(
    "betainc", special("betainc"), None, None, _betainc_rule,
    symbol="I", latex="I_{{{2}}}({0}, {1})",
    locals_latex=("", "", r"\frac{{{2}^{{{0} - 1}} (1 - {2})^{{{1} - 1}}}}{{B({0}, {1})}}"),
    sentence="takes the incomplete beta function of {0} and {1} at {2}", keeps="inputs", registered="Betainc",
    doc="The kernel-level betainc; `lab.math.betainc` is the public function.")


def _pair(op: Any, a: Any, x: Any) -> tuple[Tensor, Tensor]:
    a, x = convert_pair(op.op, a, x)
    _check(op.__name__, a, x)
    return a, x


def _check(name: str, *tensors: Tensor) -> None:
    kinds = [t.dtype.name for t in tensors]
    if len(set(kinds)) > 1 or not tensors[0].dtype.is_floating:
        raise DtypeMismatch(f"{name}: expected floating-point tensors of one dtype, got {', '.join(kinds)}. Try "
                            "lab.cast.")


@structured(2, by_element=True)
def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    return polygamma_of(*_pair(polygamma_of, a, x), name=name)


@structured(2, by_element=True)
def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    return zeta_of(*_pair(zeta_of, x, q), name=name)


@structured(2, by_element=True)
def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    return igamma_of(*_pair(igamma_of, a, x), name=name)


@structured(2, by_element=True)
def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    return igammac_of(*_pair(igammac_of, a, x), name=name)


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    first, second = convert_pair(betainc_of.op, a, b)  # type: ignore[attr-defined]
    at = convert(x, first)
    _check("betainc", first, second, at)
    return betainc_of(first, second, at, name=name)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    x = convert(x)
    if not x._held.ndim:
        raise InvalidArgumentError("lbeta: expected a tensor of rank 1 or more, got a scalar. Try [a, b].")
    return named(reduce_sum(lgamma(x), -1) - lgamma(reduce_sum(x, -1)), name)


for _function, _words, _derivative, _domain, _example in (
    (polygamma, "Derivative number a of the digamma function; nan where a is not a non-negative integer.",
     "none for a; polygamma(a + 1, x) for x", "x not 0, -1, -2, ...",
     ">>> print(f\"{lab.math.polygamma(1.0, 1.0):.4f}\")\n1.6449"),
    (zeta, "Hurwitz zeta function, the sum of (q + k)^-x over k from 0.", "none for x; -x·zeta(x + 1, q) for q",
     "x > 1, q > 0", ">>> print(f\"{lab.math.zeta(2.0, 1.0):.4f}\")\n1.6449"),
    (igamma, "Lower regularised incomplete gamma function P(a, x).",
     "that of its series for a, three times at most; x^(a-1)·e^-x/Γ(a) for x", "a > 0, x ≥ 0",
     ">>> print(lab.math.igamma(1.0, 0.0))\nTensor(0.0, shape=(), dtype=float32)"),
    (igammac, "Upper regularised incomplete gamma function Q(a, x) = 1 - P(a, x).",
     "minus those of igamma", "a > 0, x ≥ 0",
     ">>> print(lab.math.igammac(1.0, 0.0))\nTensor(1.0, shape=(), dtype=float32)"),
):
    _function.__doc__ = of_two(_words, _derivative, _example, _domain, dtypes="floating, both the same")
betainc.__doc__ = doc(
    "Regularised incomplete beta function.", shapes="a, b, x broadcast", dtypes="floating, all the same",
    domain="a > 0, b > 0, 0 ≤ x ≤ 1",
    derivative="none for a and b, as in TensorFlow; x^(a-1)·(1-x)^(b-1)/B(a, b) for x",
    raises=("broadcast", "dtypes"),
    example=">>> print(lab.math.betainc(1.0, 1.0, 0.25))\nTensor(0.25, shape=(), dtype=float32)")
lbeta.__doc__ = doc(
    "Logarithm of the absolute value of the beta function of the numbers along the last axis.",
    shapes="x (*s, n) -> (*s)", domain="x > 0", derivative="digamma(x) - digamma(Σ x)",
    raises=("argument", "dtypes", "convert"),
    example=">>> print(lab.math.lbeta([1.0, 1.0]))\nTensor(0.0, shape=(), dtype=float32)")
