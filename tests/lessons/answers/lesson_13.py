"""Answers to lesson 13."""

from __future__ import annotations

SOLVED: dict[str, str] = {
    "example-gaps": """
def third_with_gaps(f, x):
    with lab.GradientTape() as outermost:
        outermost.watch(x)
        with lab.GradientTape() as outer:
            outer.watch(x)
            with lab.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            slope = inner.gradient(y, x)
        bend = outer.gradient(slope, x)
    return outermost.gradient(bend, x)
lessons.check_derivative(third_with_gaps, order=3)""",
    "example-blank": """
def mixed(f, x, y):
    with lab.GradientTape() as outer:
        outer.watch(y)
        with lab.GradientTape() as inner:
            inner.watch(x)
            value = f(x, y)
        slope = inner.gradient(value, x)
    return outer.gradient(slope, y)
lessons.check_mixed(mixed)""",
    "exercise-repair": "lessons.check_derivative(second_full, order=2)",
    "exercise-hessian": """
lessons.check_hessian(lambda x, y: [[2 - 400 * (y - x * x) + 800 * x * x, -400 * x], [-400 * x, 200]],
                      lambda x, y: (1 - x) ** 2 + 100 * (y - x * x) ** 2)""",
    "exercise-hvp": """
def product(f, x, v):
    with lab.GradientTape() as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
        along = lab.reduce_sum(slope * v)
    return outer.gradient(along, x)
lessons.check_hvp(product)""",
    "exercise-newton": """
def newton(f, x):
    slope = lab.gradient(f)(x)
    curvature = lab.hessian(f)(x)
    return x - lab.linalg.solve(curvature, slope[:, None])[:, 0]
lessons.check_newton(newton)""",
    "transfer-answer": """
lessons.check_derivative(lambda f, t: lab.gradient(lab.gradient(lab.gradient(f)))(t), order=3)""",
}

_SECOND = """
def second(f, x):
    with lab.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    return {}
lessons.check_derivative(second, order=2)"""
_OUTSIDE = """
def second(f, x):
    with lab.GradientTape() as inner:
        inner.watch(x)
        y = f(x)
    slope = inner.gradient(y, x)
    with lab.GradientTape() as outer:
        outer.watch(x)
    return outer.gradient(slope, x)
lessons.check_derivative(second, order=2)"""
_MIXED = """
def mixed(f, x, y):
    with lab.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with lab.GradientTape(persistent=True) as inner:
            inner.watch([x, y])
            value = f(x, y)
        slope = inner.gradient(value, x)
    return {}
lessons.check_mixed(mixed)"""
_VALLEY = """
lessons.check_hessian(lambda x, y: {}, lambda x, y: (1 - x) ** 2 + 100 * (y - x * x) ** 2)"""
_XX = "2 - 400 * (y - x * x) + 800 * x * x"
_PRODUCT = """
def product(f, x, v):
    with lab.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with lab.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
        along = lab.reduce_sum(slope * v)
    return {}
lessons.check_hvp(product)"""
_NEWTON = """
def newton(f, x):
    slope, curvature = lab.gradient(f)(x).numpy(), lab.hessian(f)(x).numpy()
    return {}
lessons.check_newton(newton)"""

_THIRD = """
def third_with_gaps(f, x):
    with lab.GradientTape(persistent=True) as outermost:
        outermost.watch(x)
        with lab.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with lab.GradientTape(persistent=True) as inner:
                inner.watch(x)
                y = f(x)
            slope = inner.gradient(y, x)
        bend = outer.gradient(slope, x)
    return {}
lessons.check_derivative(third_with_gaps, order=3)"""
_NTH = 'lessons.check("13.1", lambda f, x: {})'
_JERK = 'lessons.check("13.5", lambda height, t: {})'

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _THIRD.format("outermost.gradient(bend, x)")),
    ("example-gaps", _THIRD.format("float(outermost.gradient(bend, x))")),
    ("example-gaps", "lessons.check_derivative(lambda f, x: lab.gradient(lab.gradient(lab.gradient(f)))(x), order=3)"),
    ("example-gaps", "lessons.check_derivative(lambda f, x: f.derivative(3)(float(x)), order=3)"),
    ("example-blank", _MIXED.format("outer.gradient(slope, y)")),
    ("example-blank", "lessons.check_mixed(lambda f, x, y: lab.hessian(lambda p: f(p[0], p[1]))(lab.stack([x, y]))[0, 1])"),
    ("example-blank", "lessons.check_mixed(lambda f, x, y: lab.gradient(lambda b: lab.gradient(lambda a: f(a, b))(x))(y))"),
    ("example-blank", """
def mixed(f, x, y):
    h, x, y = 1e-4, float(x), float(y)
    return (f(x + h, y + h) - f(x + h, y - h) - f(x - h, y + h) + f(x - h, y - h)) / (4 * h * h)
lessons.check_mixed(mixed)"""),
    ("exercise-repair", _SECOND.format("outer.gradient(slope, x)")),
    ("exercise-repair", _NTH.format("lab.gradient(lab.gradient(f))(x)")),
    ("exercise-repair", _NTH.format("[lab.hessian(f)(x).numpy()]")),
    ("exercise-repair", _NTH.format("lab.hvp(f, x, lab.constant(1.0, dtype=lab.float64))")),
    ("exercise-hessian", _VALLEY.format(f"np.array([[{_XX}, -400 * x], [-400 * x, 200]])")),
    ("exercise-hessian", _VALLEY.format("((2 - 400 * y + 1200 * x ** 2, -400 * x), (-400 * x, 200.0))")),
    ("exercise-hessian", _VALLEY.format("[[lab.constant(2 - 400 * y + 1200 * x * x), -400 * x], [-2 * 200 * x, 2 * 100]]")),
    ("exercise-hvp", _PRODUCT.format("outer.gradient(along, x)")),
    ("exercise-hvp", _PRODUCT.format("outer.gradient(slope, x, output_gradients=v)")),
    ("exercise-hvp", 'lessons.check("13.3", lambda f, x, v: lab.gradient(lambda p: lab.reduce_sum(lab.gradient(f)(p) * v))(x))'),
    ("exercise-hvp", 'lessons.check("13.3", lambda f, x, v: lab.jvp(lab.gradient(f), [x], [v])[1])'),
    ("exercise-newton", _NEWTON.format("x.numpy() - np.linalg.inv(curvature) @ slope")),
    ("exercise-newton", _NEWTON.format("list(x.numpy() + np.linalg.solve(curvature, -slope))")),
    ("exercise-newton", _NEWTON.format("x - lab.constant(np.linalg.lstsq(curvature, slope, rcond=None)[0])")),
    ("transfer-answer", _JERK.format("lab.gradient(lab.gradient(lab.gradient(height)))(t)")),
    ("transfer-answer", _JERK.format("lab.hessian(lab.gradient(height))(t)")),
    ("transfer-answer", _JERK.format("6 * np.polyfit(s := np.linspace(-1, 1, 6), [float(height(float(t) + u)) for u in s], 5)[2]")),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("exercise-repair", _OUTSIDE, "FIRST_OUTSIDE"),
    ("exercise-repair", _SECOND.format("None"), "BLANK"),
    ("exercise-repair", _SECOND.format("outer.gradient(y, x)"), "SAME_TARGET"),
    ("exercise-repair", _SECOND.format("slope * slope"), "SQUARED"),
    ("exercise-repair", _SECOND.format("y"), "VALUE"),
    ("exercise-repair", _SECOND.format("0.5"), "OTHER"),
    ("exercise-repair", _SECOND.format("1 / 0"), "RAISES"),
    ("transfer-answer", "lessons.check_derivative(second_full, order=3)", "SAME_TARGET"),
    ("transfer-answer", "lessons.check_derivative(lambda f, t: lab.gradient(f)(t) ** 3, order=3)", "SQUARED"),
    ("example-blank", _MIXED.format("0.0"), "MIXED_ZERO"),
    ("example-blank", _MIXED.format("slope * inner.gradient(value, y)"), "SQUARED"),
    ("example-blank", _MIXED.format("slope"), "SAME_TARGET"),
    ("example-blank", _MIXED.format("outer.gradient(slope, x)"), "SAME_VARIABLE"),
    ("example-blank", _MIXED.format("inner.gradient(slope, y)"), "FIRST_OUTSIDE"),
    ("exercise-hessian", _VALLEY.format(f"[[{_XX}, 0], [0, 200]]"), "MIXED_ZERO"),
    ("exercise-hessian", _VALLEY.format(f"[[{_XX}, 400 * x], [400 * x, 200]]"), "FLIPPED_MIXED"),
    ("exercise-hessian", _VALLEY.format(f"[[{_XX}, -400 * x], [-200 * x, 200]]"), "NOT_SYMMETRIC"),
    ("exercise-hessian", _VALLEY.format("[[802, -400 * x], [-400 * x, 200]]"), "OTHER"),
    ("exercise-hessian", _VALLEY.format(f"[[{_XX}, -400 * x], [..., 200]]"), "BLANK"),
    ("exercise-hessian", _VALLEY.format("[802, -400, -400, 200]"), "RAISES"),
    ("exercise-hvp", _PRODUCT.format("lab.linalg.matvec(outer.jacobian(slope, x), v)"), "HESSIAN_BUILT"),
    ("exercise-hvp", _PRODUCT.format("outer.jacobian(slope, x)"), "HESSIAN_BUILT"),
    ("exercise-hvp", _PRODUCT.format(
        "lab.stack([lab.reduce_sum(outer.gradient(slope, x, output_gradients=row) * v) for row in np.eye(len(x))])"),
     "HESSIAN_BUILT"),
    ("exercise-hvp", _PRODUCT.format("outer.gradient(slope, x)"), "SUMMED"),
    ("exercise-hvp", _PRODUCT.format("along"), "DIRECTION_ONLY"),
    ("exercise-hvp", _PRODUCT.format("slope * v"), "DIRECTION_ONLY"),
    ("exercise-hvp", _PRODUCT.format("lab.linalg.diag_part(outer.jacobian(slope, x)) * v"), "MIXED_ZERO"),
    ("exercise-hvp", _PRODUCT.format("v"), "OTHER"),
    ("exercise-newton", _NEWTON.format("x - slope"), "PLAIN_STEP"),
    ("exercise-newton", _NEWTON.format("x + np.linalg.solve(curvature, slope)"), "UPHILL"),
    ("exercise-newton", _NEWTON.format("x - curvature @ slope"), "MULTIPLIED"),
    ("exercise-newton", _NEWTON.format("x - slope / np.diag(curvature)"), "MIXED_ZERO"),
    ("exercise-newton", _NEWTON.format("np.linalg.solve(curvature, slope)"), "NO_STEP"),
    ("exercise-newton", _NEWTON.format("x"), "NO_STEP"),
    ("exercise-newton", _NEWTON.format("x * 2"), "OTHER"),
    ("exercise-newton", _NEWTON.format("slope[0]"), "RAISES"),
    ("example-gaps", _THIRD.format("outermost.gradient(slope, x)"), "SAME_TARGET"),
    ("example-gaps", _THIRD.format("outermost.gradient(y, x)"), "SAME_TARGET"),
    ("example-gaps", _THIRD.format("bend"), "SAME_TARGET"),
    ("example-gaps", _THIRD.format("slope ** 3"), "SQUARED"),
    ("example-gaps", _THIRD.format("slope * bend"), "OTHER"),
    ("example-gaps", _THIRD.format("-outermost.gradient(bend, x)"), "OTHER"),
    ("example-gaps", _THIRD.format("outermost.gradient(bend, x) + 1.0"), "OTHER"),
    ("example-gaps", _THIRD.format("outermost.gradient(..., x)"), "BLANK"),
    ("example-gaps", _THIRD.format("outermost.gradient(bend, f)"), "RAISES"),
    ("example-gaps", _THIRD.format("inner.gradient(bend, x)"), "FIRST_OUTSIDE"),
    ("example-gaps", _THIRD.format("print(outermost.gradient(bend, x))"), "BLANK"),
    ("example-blank", _MIXED.format("-outer.gradient(slope, y)"), "OTHER"),
    ("example-blank", _MIXED.format("2.0 * outer.gradient(slope, y)"), "OTHER"),
    ("example-blank", _MIXED.format("outer.gradient(slope, [x, y])"), "RAISES"),
    ("example-blank", _MIXED.format("print(outer.gradient(slope, y))"), "BLANK"),
    ("exercise-repair", _SECOND.format("-outer.gradient(slope, x)"), "OTHER"),
    ("exercise-repair", _SECOND.format("outer.gradient(slope, x) / 2.0"), "OTHER"),
    ("exercise-repair", _NTH.format("12.0"), "OTHER"),
    ("exercise-hessian", _VALLEY.format(f"[[{_XX}, -400 * x], [-400 * x, 100]]"), "OTHER"),
    ("exercise-hessian", _VALLEY.format("[[2 - 400 * y, -400 * x], [-400 * x, 200]]"), "OTHER"),
    ("exercise-hessian", _VALLEY.format("[[2 + 800 * x * x, -400 * x], [-400 * x, 200]]"), "OTHER"),
    ("exercise-hessian", _VALLEY.format("[['xx', 'xy'], ['yx', 'yy']]"), "RAISES"),
    ("exercise-newton", _NEWTON.format("(x - np.linalg.solve(curvature, slope)) * 1.0001"), "OTHER"),
    ("exercise-newton", _NEWTON.format("x - 0.5 * np.linalg.solve(curvature, slope)"), "OTHER"),
    ("exercise-newton", _NEWTON.format("x - np.linalg.solve(curvature, slope)[:, None]"), "RAISES"),
    ("exercise-newton", _NEWTON.format("print(x)"), "BLANK"),
    ("transfer-answer", _JERK.format("lab.gradient(height)(t)"), "SAME_TARGET"),
    ("transfer-answer", _JERK.format("height(t)"), "VALUE"),
    ("transfer-answer", _JERK.format("lab.gradient(lab.gradient(height))(t) * lab.gradient(height)(t)"), "OTHER"),
    ("transfer-answer", _JERK.format("-lab.gradient(lab.gradient(lab.gradient(height)))(t)"), "OTHER"),
    ("transfer-answer", _JERK.format("lab.gradient(lab.gradient(lab.gradient(lab.gradient(height))))(t)"), "OTHER"),
    ("transfer-answer", _JERK.format("0.0"), "OTHER"),
    ("transfer-answer", _JERK.format("lab.gradient(lab.gradient(lab.gradient(height)))"), "RAISES"),
    ("transfer-answer", _JERK.format("str(lab.gradient(lab.gradient(lab.gradient(height)))(t))"), "RAISES"),
    ("transfer-answer", _JERK.format("print(t)"), "BLANK"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
