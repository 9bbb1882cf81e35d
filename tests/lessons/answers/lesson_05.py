"""Answers to lesson 5."""

from __future__ import annotations

_INIT = """
def lifted(u):
    return u if isinstance(u, Dual) else Dual(u, 0.0)
class Dual:
    def __init__(self, value, tangent):
        self.value, self.tangent = value, tangent
"""


def dual(
    add: str = "Dual(u.value + v.value, u.tangent + v.tangent)",
    mul: str = "Dual(u.value * v.value, u.tangent * v.value + u.value * v.tangent)",
    sin: str = "Dual(math.sin(u.value), math.cos(u.value) * u.tangent)",
    exp: str = "Dual(math.exp(u.value), math.exp(u.value) * u.tangent)",
    lift: str = "lifted",
) -> str:
    """Return what a learner types into exercise 1, with some of it replaced."""
    return f"""{_INIT}
    def __add__(u, v):
        v = {lift}(v)
        return {add}
    def __mul__(u, v):
        v = {lift}(v)
        return {mul}
    __radd__, __rmul__ = __add__, __mul__
def sin(u):
    return {sin}
def exp(u):
    return {exp}
lessons.check("5.1", Dual, sin, exp)"""


_SUM = """
class Sum:
    def __init__(self, value, tangent):
        self.value, self.tangent = value, tangent
    def __add__(u, v):
        v = v if isinstance(v, Sum) else Sum(v, 0.0)
        return Sum(u.value + v.value, {})
    __radd__ = __add__
lessons.check_dual(Sum, ops="+")"""
_PRODUCT = """
class Product:
    def __init__(self, value, tangent):
        self.value, self.tangent = value, tangent
    def __mul__(u, v):
        v = v if isinstance(v, Product) else Product(v, 0.0)
        return Product(u.value * v.value, {})
    __rmul__ = __mul__
lessons.check_dual(Product, ops="*")"""
_FUNCTIONS = """
def sine(u):
    return Product(math.sin(u.value), {})
def exponential(u):
    return Product(math.exp(u.value), {})
lessons.check_dual(Product, sine, exponential, ops="sin exp")"""
_COS, _EXP = "math.cos(u.value) * u.tangent", "math.exp(u.value) * u.tangent"


def loops(
    tangent: str = "(u.tangent * v.value - u.value * v.tangent) / v.value**2", gt: str = "self.value > other",
    value: str = "u.value / v.value",
) -> str:  # fmt: skip
    """Return what a learner types into exercise 2, with some of it replaced."""
    return f"""
def divide(u, v):
    u, v = (w if isinstance(w, Dual) else Dual(w, 0.0) for w in (u, v))
    return Dual({value}, {tangent})
Dual.__truediv__ = divide
Dual.__rtruediv__ = lambda self, other: divide(other, self)
Dual.__gt__ = lambda self, other: {gt}
lessons.check("5.2", Dual)"""


_SWEEPS = 'lessons.check("5.3", lambda inputs, outputs: dict(forward={}, backward={}))'
_ON = "payment(loan, yearly + 0.01, months)"
_GRADIENT = """
def gradient(f, xs):
    {}
lessons.check("5.4", gradient)"""
_EACH = "return [f(*[Dual(x, float(i == k)) for i, x in enumerate(xs)]).tangent for k in range(len(xs))]"
_POINT = """
def payment(loan, yearly, months):
    growth, rate = 1.0, yearly * (1 / 12)
    for _ in range(months):
        growth = growth * (1 + rate)
    return loan * rate * growth / (growth + -1)
lessons.check("5.5", lambda loan, yearly, months: {})"""

SOLVED: dict[str, str] = {
    "example-gaps": _PRODUCT.format("u.tangent * v.value + u.value * v.tangent"),
    "example-blank": _FUNCTIONS.format(_COS, _EXP),
    "exercise-dual": dual(),
    "exercise-loops": loops(),
    "exercise-sweeps": _SWEEPS.format("inputs", "outputs"),
    "exercise-gradient": _GRADIENT.format(_EACH),
    "transfer-answer": _POINT.format("payment(loan, Dual(yearly, 0.01), months).tangent"),
}

_NAMED = """
import collections
class Dual(collections.namedtuple("Dual", "value tangent")):
    def __add__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.tangent)
        return Dual(self.value + other.value, self.tangent + other.tangent)
    def __mul__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.value * other, self.tangent * other)
        return Dual(self.value * other.value, self.tangent * other.value + self.value * other.tangent)
    def __radd__(self, other):
        return self + other
    def __rmul__(self, other):
        return self * other
def sin(u):
    return Dual(math.sin(u.value), u.tangent * math.cos(u.value))
def exp(u):
    e = math.exp(u.value)
    return Dual(e, u.tangent * e)
lessons.check("5.1", Dual, sin, exp)"""
_BY_TENSORS = dual(
    sin="Dual(lab.sin(lab.constant(u.value, dtype=lab.float64)), float(np.cos(u.value)) * u.tangent)",
).replace("\ndef lifted", "\nimport numpy as np\ndef lifted", 1).replace(
    "self.value, self.tangent = value", "self.value, self.tangent = float(value)"
)  # fmt: skip
_MUTATES = _INIT + """
    def __add__(self, other):
        other = lifted(other)
        self.value, self.tangent = self.value + other.value, self.tangent + other.tangent
        return self
    __radd__ = __add__
""" + dual().split("__add__(u, v):")[1].split("\n    def __mul__")[1].join(["    def __mul__", ""]).replace(
    "__radd__, __rmul__ = __add__, __mul__", "__rmul__ = __mul__"
)  # fmt: skip

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _PRODUCT.format("v.tangent * u.value + v.value * u.tangent")),
    ("example-gaps", _PRODUCT.format("sum(w.tangent * o.value for w, o in ((u, v), (v, u)))")),
    ("example-gaps", _PRODUCT.format("lab.constant(u.tangent * v.value + u.value * v.tangent, dtype=lab.float64)")),
    ("example-blank", _FUNCTIONS.format("math.sin(u.value + math.pi / 2) * u.tangent", _EXP)),
    ("example-blank", _FUNCTIONS.format(_COS, "math.e ** u.value * u.tangent")),
    ("example-blank", _FUNCTIONS.format("u.tangent * math.cos(u.value)", "u.tangent * math.exp(u.value)")),
    ("exercise-dual", _NAMED),
    ("exercise-dual", dual(mul="Dual(u.value * v.value, u.value * v.tangent + v.value * u.tangent)")),
    ("exercise-dual", _BY_TENSORS),
    ("exercise-loops", loops("u.tangent / v.value - u.value * v.tangent / v.value**2")),
    ("exercise-loops", loops("(u.tangent - u.value / v.value * v.tangent) / v.value")),
    ("exercise-loops", loops(gt="bool(lab.constant(self.value) > other)")),
    ("exercise-sweeps", _SWEEPS.format("inputs * 1.0", "outputs")),
    ("exercise-sweeps", _SWEEPS.format("lab.constant(inputs)", "lab.constant(outputs)")),
    ("exercise-sweeps", _SWEEPS.format("inputs, extra=0", "outputs")),
    ("exercise-gradient", _GRADIENT.format(_EACH.replace("[f(", "(f(", 1)[:-1] + ")")),
    ("exercise-gradient", _GRADIENT.format("""n = len(xs)
    slopes = []
    for k in range(n):
        pairs = [Dual(x, 0.0) for x in xs]
        pairs[k].tangent = 1.0
        slopes.append(f(*pairs).tangent)
    return slopes""")),
    ("exercise-gradient", _GRADIENT.format(
        "return [f(*xs[:k], Dual(x, 1.0), *xs[k + 1:]).tangent for k, x in enumerate(xs)]")),
    ("transfer-answer", _POINT.format("payment(loan, Dual(yearly, 1.0), months).tangent / 100")),
    ("transfer-answer", _POINT.format("payment(Dual(loan, 0.0), Dual(yearly, 1 / 100), months).tangent")),
    ("transfer-answer", _POINT.format(
        "(payment(loan, yearly + 1e-6, months) - payment(loan, yearly - 1e-6, months)) / 2e-4")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("example-full", _SUM.format("u.value + v.value"), "VALUE"),
    ("example-full", _SUM.format("u.tangent * v.tangent"), "OTHER"),
    ("example-full", _SUM.format("u.tangent + 2 * v.tangent"), "OTHER"),
    ("example-full", _SUM.format("...") , "BLANK"),
    ("example-gaps", _PRODUCT.format("u.tangent * v.tangent"), "PRODUCT_OF_SLOPES"),
    ("example-gaps", _PRODUCT.format("u.tangent * v.value"), "HALF_PRODUCT"),
    ("example-gaps", _PRODUCT.format("u.value * v.tangent"), "HALF_PRODUCT"),
    ("example-gaps", _PRODUCT.format("u.value * u.tangent + v.value * v.tangent"), "OWN_VALUE"),
    ("example-gaps", _PRODUCT.format("u.value * v.value"), "VALUE"),
    ("example-gaps", _PRODUCT.format("u.tangent + v.tangent"), "OTHER"),
    ("example-gaps", _PRODUCT.format("u.tangent * v.value + ..."), "BLANK"),
    ("example-gaps", _PRODUCT.format("u.slope * v.value"), "RAISES"),
    ("example-gaps", _PRODUCT.format("u.tangent * v.value - u.value * v.tangent"), "OTHER"),
    ("example-blank", _FUNCTIONS.format("math.cos(u.value)", _EXP), "NO_CHAIN"),
    ("example-blank", _FUNCTIONS.format("math.cos(u.tangent)", _EXP), "NO_CHAIN"),
    ("example-blank", _FUNCTIONS.format("-" + _COS, _EXP), "SIGN"),
    ("example-blank", _FUNCTIONS.format("math.sin(u.value)", _EXP), "VALUE"),
    ("example-blank", _FUNCTIONS.format(_COS, "math.exp(u.value)"), "NO_CHAIN"),
    ("example-blank", _FUNCTIONS.format(_COS, "u.value * u.tangent"), "EXP_INPUT"),
    ("example-blank", _FUNCTIONS.format(_COS, "u.value * math.exp(u.value - 1) * u.tangent"), "EXP_AS_POWER"),
    ("example-blank", _FUNCTIONS.format(_COS, "math.log(u.value - 9)"), "RAISES"),
    ("example-blank", _FUNCTIONS.format("math.sin(u.value) * u.tangent", _EXP), "OTHER"),
    ("exercise-dual", dual(mul="Dual(u.value * v.value, u.tangent * v.tangent)"), "PRODUCT_OF_SLOPES"),
    ("exercise-dual", dual(mul="Dual(u.value * v.value, u.tangent * v.value)"), "HALF_PRODUCT"),
    ("exercise-dual", dual(mul="Dual(u.value * v.value, u.value * u.tangent + v.value * v.tangent)"), "OWN_VALUE"),
    ("exercise-dual", dual(sin="Dual(math.sin(u.value), math.cos(u.value))"), "NO_CHAIN"),
    ("exercise-dual", dual(exp="Dual(math.exp(u.value), u.value * u.tangent)"), "EXP_INPUT"),
    ("exercise-dual", dual(exp="Dual(math.exp(u.value), u.value * math.exp(u.value - 1))"), "EXP_AS_POWER"),
    ("exercise-dual", dual(lift="(lambda w: w if isinstance(w, Dual) else Dual(w, 1.0))"), "CONSTANT_MOVES"),
    ("exercise-dual", dual(mul="Dual(u.value, u.tangent * v.value + u.value * v.tangent)"), "VALUE_LOST"),
    ("exercise-dual", dual(sin="Dual(u.value, math.cos(u.value) * u.tangent)"), "VALUE_LOST"),
    ("exercise-dual", dual(lift=""), "RAISES"),
    ("exercise-dual", dual().replace("__radd__, __rmul__", "other_add, other_mul"), "RAISES"),
    ("exercise-dual", dual(add="u.value + v.value"), "RAISES"),
    ("exercise-dual", dual(add="Dual(u.tangent + v.tangent, u.value + v.value)"), "OTHER"),
    ("exercise-dual", dual().replace("self.value, self.tangent = value, tangent", "self.value = value"), "RAISES"),
    ("exercise-dual", dual().replace("= value, tangent", "= tangent, value"), "OTHER"),
    ("exercise-dual", dual(exp="..."), "BLANK"),
    ("exercise-dual", dual().replace("Dual, sin, exp)", "Dual)"), "BLANK"),
    ("exercise-dual", dual().replace("Dual, sin, exp)", "Dual, 3.0, exp)"), "RAISES"),
    ("exercise-dual", dual().replace("Dual, sin, exp)", "Dual(1.0, 1.0), sin, exp)"), "RAISES"),
    ("exercise-dual", dual(sin="Dual(math.sin(u.value), '1')"), "RAISES"),
    ("exercise-dual", _MUTATES, "OTHER"),
    ("exercise-loops", loops("(u.value * v.tangent - u.tangent * v.value) / v.value**2"), "QUOTIENT_FLIPPED"),
    ("exercise-loops", loops("(u.tangent * v.value - u.value * v.tangent) / v.value"), "QUOTIENT_NO_SQUARE"),
    ("exercise-loops", loops("u.tangent * v.value - u.value * v.tangent"), "QUOTIENT_NO_SQUARE"),
    ("exercise-loops", loops("(u.tangent * v.value + u.value * v.tangent) / v.value**2"), "MINUS_LOST"),
    ("exercise-loops", loops("u.tangent / v.value"), "HALF_PRODUCT"),
    ("exercise-loops", loops(value="u.value"), "VALUE_LOST"),
    ("exercise-loops", loops(gt="self.tangent > other"), "IF_BY_TANGENT"),
    ("exercise-loops", loops(gt="True"), "OTHER"),
    ("exercise-loops", loops(gt="self"), "RAISES"),
    ("exercise-loops", loops(gt="..."), "BLANK"),
    ("exercise-loops", dual() + '\nlessons.check("5.2", Dual)', "RAISES"),
    ("exercise-sweeps", _SWEEPS.format("outputs", "inputs"), "MODES_SWAPPED"),
    ("exercise-sweeps", _SWEEPS.format("inputs * outputs", "inputs * outputs"), "ONE_ENTRY"),
    ("exercise-sweeps", _SWEEPS.format("1", "1"), "ALL_SEEDED"),
    ("exercise-sweeps", _SWEEPS.format("1", "outputs"), "ALL_SEEDED"),
    ("exercise-sweeps", _SWEEPS.format("inputs", "1"), "OTHER"),
    ("exercise-sweeps", _SWEEPS.format("inputs + outputs", "1"), "OTHER"),
    ("exercise-sweeps", _SWEEPS.replace("dict(forward={}, backward={})", "inputs"), "RAISES"),
    ("exercise-sweeps", _SWEEPS.format("inputs", "..."), "BLANK"),
    ("exercise-gradient", _GRADIENT.format("return f(*[Dual(x, 1.0) for x in xs]).tangent"), "ALL_SEEDED"),
    ("exercise-gradient", _GRADIENT.format(_EACH.replace("i == k", "True")), "ALL_SEEDED"),
    ("exercise-gradient", _GRADIENT.format(_EACH.replace("i == k", "i <= k")), "SEEDS_KEPT"),
    ("exercise-gradient", _GRADIENT.format(_EACH.replace("i == k", "0")), "NO_SEED"),
    ("exercise-gradient", _GRADIENT.format(_EACH.replace("tangent", "value")), "VALUE"),
    ("exercise-gradient", _GRADIENT.format(
        "return [(f(*xs[:k], x + 1e-5, *xs[k + 1:]) - f(*xs[:k], x - 1e-5, *xs[k + 1:])) / 2e-5"
        " for k, x in enumerate(xs)]"), "OTHER"),
    ("exercise-gradient", _GRADIENT.format(_EACH + "[:1]"), "RAISES"),
    ("exercise-gradient", _GRADIENT.format(_EACH.replace("float(i == k)", "...")), "BLANK"),
    ("exercise-gradient", _GRADIENT.format("return [f(Dual(x, 1.0)) for x in xs]"), "RAISES"),
    ("transfer-answer", _POINT.format("payment(loan, Dual(yearly, 1.0), months).tangent"), "WRONG_UNIT"),
    ("transfer-answer", _POINT.format("payment(loan, Dual(yearly, yearly), months).tangent"), "WRONG_UNIT"),
    ("transfer-answer", _POINT.format(_ON + " - payment(loan, yearly, months)"), "CHANGE"),
    ("transfer-answer", _POINT.format("payment(loan, yearly, months)"), "VALUE"),
    ("transfer-answer", _POINT.format("payment(Dual(loan, 0.01), yearly, months).tangent"), "OTHER_INPUT"),
    ("transfer-answer", _POINT.format("payment(Dual(loan, 1.0), Dual(yearly, 1.0), months).tangent"), "ALL_SEEDED"),
    ("transfer-answer", _POINT.format("payment(loan, Dual(yearly, 0.0), months).tangent"), "NO_SEED"),
    ("transfer-answer", _POINT.format("payment(loan, Dual(yearly, 0.01), months)"), "RAISES"),
    ("transfer-answer", _POINT.format("115.3"), "OTHER"),
    ("transfer-answer", _POINT.format("float('nan')"), "RAISES"),
]  # fmt: skip
