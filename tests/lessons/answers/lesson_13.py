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
]  # fmt: skip
"""Cell, what is typed, and the code."""
