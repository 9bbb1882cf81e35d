"""The formulas on cards: the inputs are in the right places, and local derivatives have the value of the rule."""

import re
from string import Formatter
from typing import Any

import numpy as np
import pytest
from scipy import special

import autodiff_lab as lab
from autodiff_lab.draw.formula import FIRST_MARK, fill, plain, template
from autodiff_lab.engine.op import REGISTRY
from tests.ops.samples import elementwise, ops_of_the_catalogue

DESCRIBED = [name for name in ops_of_the_catalogue() if REGISTRY[name].locals_latex]
LETTERS = ["a", "b", "c", "d"]
# Formulas with words for what the op's result, parameters or neighbours are.
IN_WORDS = {
    "angle", "bessel_iv", "bessel_ive", "bessel_jv", "conj", "complex", "gamma_quantile", "gelu_tanh", "igamma",
    "igamma_grad", "igammac", "imaginary_part", "leaky_relu", "mish", "polygamma", "power_grad", "real_part", "selu",
    "widen", "zeta", "where", "select", "select_not", "betainc", "nextafter",
}  # fmt: skip


def marks(text: str) -> list[int]:
    return [ord(c) - FIRST_MARK for c in text if FIRST_MARK <= ord(c) < FIRST_MARK + 32]


@pytest.mark.parametrize("name", DESCRIBED)
def test_the_inputs_stand_where_the_op_says(name: str) -> None:
    """A 1 in braces is a 1: a quotient's card says 1/b and not b/b."""
    op = REGISTRY[name]
    count = op.arity or 2
    for latex in (op.latex, *op.locals_latex):
        fields = [int(field) for _, field, _, _ in Formatter().parse(latex) if field is not None]
        shown = [field for field in fields if field < count]
        for form in (template, plain):
            assert sorted(marks(form(latex, count))) == sorted(shown), (latex, form(latex, count))


FUNCTIONS: dict[str, Any] = {
    "cos": np.cos, "sin": np.sin, "tan": np.tan, "cosh": np.cosh, "sinh": np.sinh, "tanh": np.tanh, "ln": np.log,
    "sigma": special.expit, "sign": np.sign, "psi": special.digamma, "psi'": lambda x: special.polygamma(1, x),
    "psi''": lambda x: special.polygamma(2, x),
    "Phi": special.ndtr, "Phi'": lambda x: np.exp(-x * x / 2) / np.sqrt(2 * np.pi), "Gamma": special.gamma,
    "I_0": special.i0, "I_1": special.i1, "I_2": lambda x: special.iv(2, x), "J_0": special.j0, "J_1": special.j1,
    "J_2": lambda x: special.jv(2, x), "K_0": special.k0, "K_1": special.k1, "Y_0": special.y0, "Y_1": special.y1,
    "D": special.dawsn, "erf^{-1}": special.erfinv, "erfc^{-1}": special.erfcinv, "Phi^{-1}": special.ndtri,
    "floor": np.floor, "trunc": np.trunc, "abs": np.abs, "sqrt": np.sqrt, "min": min, "frac": lambda a, b: a / b,
    "pi": np.pi, "e": np.e, "and_": lambda *x: float(all(x)),
}  # fmt: skip
REWRITES: tuple[tuple[str, str], ...] = (
    (r"\\operatorname\{(\w+)\}", r"\\\1"), (r"\\[,;]", " "), (r"\\tfrac12", r"\\frac{1}{2}"), (r"\\tfrac", r"\\frac"),
    (r"\\left\\lfloor(.*?)\\right\\rfloor", r"\\floor(\1)"), (r"\\left\|(.*?)\\right\|", r"\\abs(\1)"),
    (r"\|([^|]*)\|", r"\\abs(\1)"), (r"\\left|\\right", ""), (r"\\le\b", "<="), (r"\\ge\b", ">="), (r"\\ne\b", "!="),
    (r"\[([^\]]*)\]", r"\\cond(\1)"),
)  # fmt: skip


class Reader:
    """Evaluates LaTeX with numbers for its inputs: sums of products, written side by side."""

    def __init__(self, latex: str, values: list[float]) -> None:
        for pattern, by in REWRITES:
            latex = re.sub(pattern, by, latex)
        self.values = values
        self.tokens = re.findall(r"\\[a-zA-Z]+(?:'+|\^\{-1\})?|[A-Z]_\d|\d+(?:\.\d+)?|[<>!]=|[A-Za-z]|\S", latex)

    def next(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, token: str = "") -> str:
        found = self.tokens.pop(0)
        assert not token or found == token, (found, token)
        return found

    def total(self) -> float:
        value = 0.0
        sign = 1.0
        while True:
            while self.next() in ("+", "-"):
                sign = -sign if self.take() == "-" else sign
            value += sign * self.product()
            sign = 1.0
            if self.next() not in ("+", "-"):
                return value

    def product(self) -> float:
        value = self.power()
        while self.next() and self.next() not in ("+", "-", ")", "}", "<", ">", "=", "<=", ">=", "!=", ","):
            value = value / (self.take() and self.power()) if self.next() == "/" else value * self.power()
        return value

    def power(self) -> float:
        value = self.atom()
        if self.next() == "^":
            self.take()
            value = value ** self.group()
        return value

    def group(self) -> float:
        return self.inside("{", "}") if self.next() == "{" else self.atom()

    def inside(self, opening: str, closing: str) -> float:
        self.take(opening)
        value = self.total()
        self.take(closing)
        return value

    def atom(self) -> float:
        token = self.take()
        if token[0].isdigit():
            return float(token)
        if token in "({":
            self.tokens.insert(0, token)
            return self.inside(token, ")" if token == "(" else "}")
        if FIRST_MARK <= ord(token[0]) < FIRST_MARK + 32:
            return self.values[ord(token[0]) - FIRST_MARK]
        name = token.removeprefix("\\")
        if name == "cond":
            return self.condition()
        if name in ("pi", "e"):
            return FUNCTIONS[name]
        function = FUNCTIONS[name]
        if name == "frac":
            return self.group() / self.group()
        if name == "min":
            self.take("(")
            first = self.total()
            self.take(",")
            second = self.total()
            self.take(")")
            return min(first, second)
        exponent = 1.0
        if self.next() == "^":
            self.take()
            exponent = self.group()
        return float(function(self.power() if self.next() != "{" else self.group())) ** exponent

    def condition(self) -> float:
        self.take("(")
        left, true = self.total(), True
        while self.next() != ")":
            sign, right = self.take(), self.total()
            true &= {
                "<": left < right,
                ">": left > right,
                "<=": left <= right,
                ">=": left >= right,
                "=": left == right,
            }[sign]
            left = right
        self.take(")")
        return float(true)


NUMBERED = [name for name in DESCRIBED if REGISTRY[name].elementwise and name not in IN_WORDS]


@pytest.mark.parametrize("name", NUMBERED)
def test_a_local_derivative_has_the_value_of_the_rule(name: str) -> None:
    """Each formula, worked out, is the number that the card shows beside it."""
    op = REGISTRY[name]
    sample = elementwise(op, ((),) * (op.arity or 1), np.random.default_rng(5))
    tensors = [lab.constant(np.float64(x)) for x in sample.inputs]
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            tape.watch(tensors)
            y = sample(*tensors)
        tape.gradient(y, tensors)
    numbers = [float(x) for x in sample.inputs]
    seen = 0
    for flow in recording.sweeps[0].steps[0].flows if recording.sweeps[0].steps else ():
        latex = op.locals_latex[flow.position]
        if not latex or flow.local is None:
            continue
        marked = fill_marks(latex)
        worked_out = Reader(marked, numbers).total()
        np.testing.assert_allclose(
            worked_out, float(np.asarray(flow.local.array)), rtol=1e-9, atol=1e-12, err_msg=latex
        )
        seen += 1
    assert seen or name == "sign" or not sample.differentiable or all(x == "0" for x in op.locals_latex)


def fill_marks(latex: str) -> str:
    """LaTeX with marks for its inputs."""
    return latex.format(*(chr(FIRST_MARK + n) for n in range(4)))


def test_plain_text_reads_as_the_formula() -> None:
    """Where there is no MathML: fractions and roots keep their parts."""
    assert fill(plain(REGISTRY["divide"].locals_latex[0], 2), LETTERS) == "(1)/(b)"
    assert fill(plain(REGISTRY["acosh"].locals_latex[0], 1), LETTERS) == "(1)/(√(a^2 - 1))"
