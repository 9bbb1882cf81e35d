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

_SCALE = 'lessons.check_vjp(lambda s, x, g: {{"s": {}, "x": {}}}, lambda s, x: s * x, lambda n: {{"s": (), "x": (n,)}})'

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _SCALE.format("np.dot(g, x)", "s * g")),
    ("example-gaps", _SCALE.format("[sum(a * b for a, b in zip(g, x))]", "[s * a for a in g]")),
    ("example-gaps", _SCALE.format("lab.reduce_sum(lab.constant(g * x))", "lab.constant(g * s)")),
    ("example-blank", _VECTORS.format("{'u': np.diag(v) @ g, 'v': np.diag(u) @ g}")),
    ("example-blank", _VECTORS.format("{'v': [a * b for a, b in zip(g, u)], 'u': lab.constant(g * v)}")),
    ("example-blank", _VECTORS.format("dict(zip('uv', np.stack([v, u]) * g))")),
    ("exercise-matmul", _MATMUL.format("np.einsum('ik,jk->ij', G, B)", "np.einsum('ij,ik->jk', A, G)")),
    ("exercise-matmul", _MATMUL.format("(B @ G.T).T", "(G.T @ A).T")),
    ("exercise-matmul", _MATMUL.format("[[sum(G[i] * B[j]) for j in range(len(B))] for i in range(len(A))]", "np.dot(A.T, G)")),
    ("exercise-matmul", _MATMUL.format("lab.matmul(lab.constant(G), lab.constant(B), transpose_b=True)", "lab.matmul(lab.constant(A.T), lab.constant(G))")),
    ("exercise-matmul", """
def back_matmul(A, B, G):
    a, b = lab.constant(A), lab.constant(B)
    with lab.GradientTape() as tape:
        tape.watch([a, b])
        C = a @ b
    return tape.gradient(C, {"A": a, "B": b}, output_gradients=lab.constant(G))
lessons.check("10.1", back_matmul)"""),
    ("exercise-sizes", _SIZES.format("(p * q) * (p * r)", "q * p")),
    ("exercise-sizes", _SIZES.format("float(p ** 2 * q * r)", "lab.constant(p * q)")),
    ("exercise-sizes", _SIZES.format("np.zeros((p, r, p, q)).size", "np.zeros((p, q)).size")),
    ("exercise-modes", _MODES.format("'forward' if outputs > inputs else 'reverse'")),
    ("exercise-modes", _MODES.format("['Backward', 'Forward'][inputs < outputs]")),
    ("exercise-modes", _MODES.format("'forward mode' if min(inputs, outputs) == inputs else 'reverse mode'")),
    ("transfer-answer", _OWN.replace("y = takings(prices)\n", "y = lab.gather(takings(prices), k)\n").format("tape.gradient(y, prices)")),
    ("transfer-answer", _OWN.format("tape.jacobian(y, prices)[k]")),
    ("transfer-answer", _OWN.format("tape.gradient(y, prices, output_gradients=lab.one_hot(k, 4, dtype=lab.float64))")),
    ("transfer-answer", 'lessons.check("10.4", lambda f, p, k: [(f(p + h)[k] - f(p - h)[k]).numpy() / 2e-4 for h in 1e-4 * np.eye(4)])'),
]  # fmt: skip
"""Further right answers, in other words."""

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
    ("example-gaps", _SCALE.format("g * x", "g * s"), "OUTPUT_SHAPE"),
    ("example-gaps", _SCALE.format("np.sum(g * x)", "g * x"), "OTHER"),
    ("example-gaps", _SCALE.format("np.sum(g * x)", "g"), "OTHER"),
    ("example-gaps", _SCALE.format("np.sum(x)", "s * np.ones_like(g)"), "SUMMED"),
    ("example-gaps", _SCALE.format("np.mean(g * x)", "g * s"), "OTHER"),
    ("example-gaps", _SCALE.format("np.sum(g)", "g * s"), "OTHER"),
    ("example-gaps", _SCALE.format("np.sum(g * x)", "np.sum(g * s)"), "OTHER"),
    ("example-gaps", _SCALE.format("-np.sum(g * x)", "g * s"), "OTHER"),
    ("example-gaps", _SCALE.format("np.sum(...)", "g * s"), "BLANK"),
    ("example-blank", _VECTORS.format("{'u': g * v, 'v': g * v}"), "OTHER"),
    ("example-blank", _VECTORS.format("{'u': g * v, 'v': -g * u}"), "OTHER"),
    ("example-blank", _VECTORS.format("{'u': np.sum(g * v), 'v': np.sum(g * u)}"), "OTHER"),
    ("example-blank", _VECTORS.format("{'u': np.outer(g, v), 'v': np.outer(g, u)}"), "OTHER"),
    ("example-blank", _VECTORS.format("{'u': g * v + u, 'v': g * u + v}"), "OTHER"),
    ("example-blank", _VECTORS.format("(g * v, g * u)"), "RAISES"),
    ("example-blank", _VECTORS.format("{'u': (g * v)[:, None], 'v': (g * u)[:, None]}"), "OTHER"),
    ("example-blank", _VECTORS.format("{'u': g * v, 'v': None}"), "BLANK"),
    ("exercise-sizes", _SIZES.format("p * r * p * q", "q * r"), "OTHER"),
    ("exercise-sizes", _SIZES.format("p * r * p * q", "1"), "OTHER"),
    ("exercise-sizes", _SIZES.format("p * q * q * r", "p * q"), "OTHER"),
    ("exercise-sizes", _SIZES.format("p * r * p * q + 1", "p * q"), "OTHER"),
    ("exercise-sizes", _SIZES.format("(p, r, p, q)", "(p, q)"), "RAISES"),
    ("exercise-sizes", _SIZES.format("'p r p q'", "p * q"), "RAISES"),
    ("exercise-modes", _MODES.format("'forward' if inputs < 500 else 'backward'"), "OTHER"),
    ("exercise-modes", _MODES.format("'forward' if inputs < 2 * outputs else 'backward'"), "OTHER"),
    ("exercise-modes", _MODES.format("inputs < outputs"), "RAISES"),
    ("exercise-modes", _MODES.format("print('forward')"), "BLANK"),
    ("exercise-modes", _MODES.format("'forward or backward'"), "RAISES"),
    ("exercise-modes", _MODES.format("['forward'] if inputs < outputs else ['backward']"), "RAISES"),
    ("transfer-answer", _OWN.format("tape.gradient(y[k], prices)"), "BLANK"),
    ("transfer-answer", _OWN.format("-tape.jacobian(y, prices)[k]"), "SIGN"),
    ("transfer-answer", _OWN.format("tape.jacobian(y, prices)[0]"), "OTHER"),
    ("transfer-answer", _OWN.format("tape.jacobian(y, prices)[k][k]"), "OTHER"),
    ("transfer-answer", _OWN.format("tape.gradient(y, prices)[k]"), "OTHER"),
    ("transfer-answer", _OWN.format("tape.gradient(y, prices) / 4.0"), "OTHER"),
    ("transfer-answer", _OWN.format("print(tape.jacobian(y, prices)[k])"), "BLANK"),
    ("transfer-answer", _OWN.format("str(tape.jacobian(y, prices)[k])"), "RAISES"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
