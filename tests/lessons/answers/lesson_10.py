"""Answers to lesson 10."""

from __future__ import annotations

SOLVED: dict[str, str] = {
    "example-gaps": """
lessons.check_vjp(lambda s, x, g: {"s": np.sum(g * x), "x": g * s}, lambda s, x: s * x, lambda n: {"s": (), "x": (n,)})
""",
    "example-blank": """
lessons.check_vjp(lambda u, v, g: {"u": g * v, "v": u * g}, lambda u, v: u * v, lambda n: {"u": (n,), "v": (n,)})""",
    "exercise-matmul": "lessons.check_matmul_vjp(lambda A, B, G: {'A': G @ B.T, 'B': A.T @ G})",
    "exercise-sizes": "lessons.check_sizes(lambda p, q, r: {'jacobian': p * r * p * q, 'gradient': p * q})",
    "exercise-modes": "lessons.check_modes(lambda inputs, outputs: 'forward' if inputs < outputs else 'backward')",
    "transfer-answer": """
def own_slope(takings, prices, k):
    with lab.GradientTape() as tape:
        tape.watch(prices)
        y = takings(prices)[k]
    return tape.gradient(y, prices)
lessons.check_own_slope(own_slope)""",
}

_MATMUL = "lessons.check_matmul_vjp(lambda A, B, G: {{'A': {}, 'B': {}}})"
_VECTORS = "lessons.check_vjp(lambda u, v, g: {}, lambda u, v: u * v, lambda n: {{'u': (n,), 'v': (n,)}})"
_SIZES = "lessons.check_sizes(lambda p, q, r: {{'jacobian': {}, 'gradient': {}}})"
_MODES = "lessons.check_modes(lambda inputs, outputs: {})"
_BIG = "np.einsum('ij,ijkl->kl', G, np.einsum('ik,lj->ijkl', np.eye(len(A)), B))"
_OWN = """
def own_slope(takings, prices, k):
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(prices)
        y = takings(prices)
    return {}
lessons.check_own_slope(own_slope)"""

WRONG: list[tuple[str, str, str]] = [
    ("exercise-matmul", _MATMUL.format("G @ B", "A.T @ G"), "TRANSPOSE_LOST"),
    ("exercise-matmul", _MATMUL.format("(G @ B.T).T", "A.T @ G"), "TRANSPOSE_LOST"),
    ("exercise-matmul", _MATMUL.format("G @ B.T", "A @ G"), "TRANSPOSE_LOST"),
    ("exercise-matmul", _MATMUL.format("G @ B.T", "G @ A"), "TRANSPOSE_LOST"),
    ("exercise-matmul", _MATMUL.format("B.T @ G", "A.T @ G"), "FACTORS_SWAPPED"),
    ("exercise-matmul", _MATMUL.format("G @ B.T", "G @ A.T"), "FACTORS_SWAPPED"),
    ("exercise-matmul", _MATMUL.format("np.ones_like(G) @ B.T", "A.T @ np.ones_like(G)"), "SUMMED"),
    ("exercise-matmul", _MATMUL.format(
        "np.einsum('ik,lj->ijkl', np.eye(len(A)), B)", "A.T @ G"), "WHOLE_JACOBIAN"),
    ("exercise-matmul", _MATMUL.format(_BIG, "A.T @ G"), "WHOLE_JACOBIAN"),
    ("exercise-matmul", _MATMUL.format("A", "B"), "OTHER"),
    ("exercise-matmul", _MATMUL.format("G @ B.T", "..."), "BLANK"),
    ("exercise-matmul", "lessons.check_matmul_vjp(lambda A, B, G: (G @ B.T, A.T @ G))", "RAISES"),
    ("example-blank", _VECTORS.format("{'u': v, 'v': u}"), "SUMMED"),
    ("example-blank", _VECTORS.format("{'u': np.diag(v), 'v': np.diag(u)}"), "WHOLE_JACOBIAN"),
    ("example-blank", _VECTORS.format("{'u': g * u, 'v': g * v}"), "OTHER"),
    ("example-gaps", """
lessons.check_vjp(lambda s, x, g: {"s": g * x, "x": g * s}, lambda s, x: s * x, lambda n: {"s": (), "x": (n,)})""",
     "OUTPUT_SHAPE"),
    ("exercise-sizes", _SIZES.format("p * q", "p * q"), "JACOBIAN_SIZE"),
    ("exercise-sizes", _SIZES.format("p * r + p * q", "p * q"), "JACOBIAN_SIZE"),
    ("exercise-sizes", _SIZES.format("p * r * p * q", "p * r"), "OUTPUT_SHAPE"),
    ("exercise-sizes", _SIZES.format("p * r * p * q", "p * r * p * q"), "WHOLE_JACOBIAN"),
    ("exercise-sizes", _SIZES.format("7", "p * q"), "OTHER"),
    ("exercise-modes", _MODES.format("'backward'"), "ALWAYS_BACKWARD"),
    ("exercise-modes", _MODES.format("'forward'"), "ALWAYS_FORWARD"),
    ("exercise-modes", _MODES.format("'forward' if inputs > outputs else 'backward'"), "MODES_SWAPPED"),
    ("exercise-modes", _MODES.format("'sideways'"), "RAISES"),
    ("transfer-answer", _OWN.format("tape.gradient(y, prices)"), "SUMMED"),
    ("transfer-answer", _OWN.format("tape.jacobian(y, prices)[:, k]"), "COLUMN"),
    ("transfer-answer", _OWN.format("tape.jacobian(y, prices)"), "WHOLE_JACOBIAN"),
    ("transfer-answer", _OWN.format("prices"), "OTHER"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
