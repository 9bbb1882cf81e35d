"""Answers to lesson 9."""

from __future__ import annotations

_COLUMN = "lessons.check_sums(lambda g: {}, (3, 1), (3, 4))"
_SCALE = "lessons.check_scale(lambda g, s, M: {})"
_FIT = 'lessons.check("9.1", lambda g, shape: {})'
_RULE = 'lessons.check("9.2", lambda g, shape, axes, keepdims: {})'
_LOSS = 'lessons.check("9.3", lambda w, b, X, y: {})'
_PRICE = 'lessons.check("9.4", {})'
_LEAD = "g.sum(axis=tuple(range(g.ndim - len(shape))))"
_ONES = "tuple(axis for axis, n in enumerate(shape) if n == 1)"

SOLVED: dict[str, str] = {
    "example-gaps": """
def column_with_gaps(g):
    stretched = 1
    return g.sum(axis=stretched, keepdims=True)
lessons.check_sums(column_with_gaps, (3, 1), (3, 4))""",
    "example-blank": _SCALE.format("(g * M).sum()"),
    "exercise-unbroadcast": f"""
def unbroadcast(g, shape):
    return {_LEAD}.sum(axis={_ONES}, keepdims=True)
lessons.check("9.1", unbroadcast)""",
    "exercise-sum": """
def sum_rule(g, shape, axes, keepdims):
    if axes is not None and not keepdims:
        g = np.expand_dims(g, axes)
    return np.broadcast_to(g, shape)
lessons.check("9.2", sum_rule)""",
    "exercise-regression": """
def mended_loss(w, b, X, y):
    prediction = X @ w + b
    error = prediction - y[:, None]
    return lab.reduce_mean(error * error)
lessons.check("9.3", mended_loss)""",
    "transfer-answer": _PRICE.format('{"price": 16, "share": 0.25}'),
}

RIGHT: list[tuple[str, str]] = [
    ("example-gaps", _COLUMN.format("g.sum(axis=1)[:, None]")),
    ("example-gaps", _COLUMN.format("g @ np.ones((4, 1))")),
    ("example-gaps", _COLUMN.format("[[sum(row)] for row in g]")),
    ("example-blank", _SCALE.format("np.vdot(g, M)")),
    ("example-blank", _SCALE.format("sum((g * M).ravel())")),
    ("example-blank", _SCALE.format("lab.reduce_sum(lab.constant(g) * lab.constant(M))")),
    ("exercise-unbroadcast", """
def axis_by_axis(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, n in enumerate(shape):
        if n == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g
lessons.check("9.1", axis_by_axis)"""),
    ("exercise-unbroadcast", """
def in_one_sum(g, shape):
    front = (1,) * (g.ndim - len(shape)) + tuple(shape)
    return g.sum(axis=tuple(i for i, n in enumerate(front) if n == 1), keepdims=True).reshape(shape)
lessons.check("9.1", in_one_sum)"""),
    ("exercise-unbroadcast", """
def by_tape(g, shape):
    x = lab.Variable(np.zeros(shape))
    with lab.GradientTape() as tape:
        y = lab.broadcast_to(x, g.shape)
    return tape.gradient(y, x, output_gradients=lab.constant(g))
lessons.check("9.1", by_tape)"""),
    ("exercise-sum", """
def restored(g, shape, axes, keepdims):
    gone = range(4) if axes is None else [axis % 4 for axis in axes]
    return g.reshape([1 if axis in gone else n for axis, n in enumerate(shape)]) * np.ones(shape)
lessons.check("9.2", restored)"""),
    ("exercise-sum", """
def sorted_axes(g, shape, axes, keepdims):
    if not keepdims:
        for axis in sorted(a % len(shape) for a in (range(len(shape)) if axes is None else axes)):
            g = np.expand_dims(g, axis)
    return g + np.zeros(shape)
lessons.check("9.2", sorted_axes)"""),
    ("exercise-sum", """
def by_differences(g, shape, axes, keepdims):
    back = np.zeros(shape)
    for at in np.ndindex(*shape):
        one = np.zeros(shape)
        one[at] = 1
        back[at] = (one.sum(axis=axes, keepdims=keepdims) * g).sum()
    return back
lessons.check("9.2", by_differences)"""),
    ("exercise-regression", _LOSS.format("lab.reduce_mean((lab.reshape(X @ w + b, (-1,)) - y) ** 2.0)")),
    ("exercise-regression", _LOSS.format("lab.reduce_mean(lab.square(lab.squeeze(X @ w, 1) + b - y))")),
    ("exercise-regression", _LOSS.format("lab.reduce_mean((y[:, None] - X @ w - b) ** 2.0)")),
    ("exercise-regression", _LOSS.format("float((((X @ w + b).numpy()[:, 0] - y.numpy()) ** 2).mean())")),
    ("transfer-answer", _PRICE.format('{"price": 30 - 12 + 5 - 7, "share": 1 / 4}')),
    ("transfer-answer", _PRICE.format('{"share": "1/4" and 0.25, "price": lab.constant(16.0)}')),
    ("transfer-answer", _PRICE.format('dict(price=np.sum([30, -12, 5, -7]), share=np.float32(0.25))')),
]  # fmt: skip
"""Further right answers, in other words."""

WRONG: list[tuple[str, str, str]] = [
    ("example-gaps", _COLUMN.format("g.sum(axis=1)"), "KEEPDIMS_LOST"),
    ("example-gaps", _COLUMN.format("g"), "BROADCAST_KEPT"),
    ("example-gaps", _COLUMN.format("g.mean(axis=1, keepdims=True)"), "MEAN_FOR_SUM"),
    ("example-gaps", _COLUMN.format("g[:, :1]"), "FIRST_TAKEN"),
    ("example-gaps", _COLUMN.format("g.sum(axis=0, keepdims=True)"), "OTHER"),
    ("example-gaps", _COLUMN.format("np.full((3, 1), g.sum())"), "RESHAPED"),
    ("example-gaps", _COLUMN.format("g.sum(axis=1, keepdims=True) * np.ones((3, 4))"), "OUTPUT_SHAPE"),
    ("example-gaps", _COLUMN.format("g.sum(axis=..., keepdims=...)"), "BLANK"),
    ("example-gaps", _COLUMN.format("g.sum(axis=2)"), "RAISES"),
    ("example-blank", _SCALE.format("g * M"), "BROADCAST_KEPT"),
    ("example-blank", _SCALE.format("(g * M).mean()"), "MEAN_FOR_SUM"),
    ("example-blank", _SCALE.format("(g * M)[0, 0]"), "FIRST_TAKEN"),
    ("example-blank", _SCALE.format("M.sum()"), "LOCAL_ONLY"),
    ("example-blank", _SCALE.format("(g * s).sum()"), "OWN_VALUE"),
    ("example-blank", _SCALE.format("g * s"), "OWN_VALUE"),
    ("example-blank", _SCALE.format("(g * M).sum(axis=0)"), "ONE_AXIS"),
    ("example-blank", _SCALE.format("g.sum()"), "OTHER"),
    ("example-blank", _SCALE.format("(g @ M).sum()"), "RAISES"),
    ("exercise-unbroadcast", _FIT.format("g"), "BROADCAST_KEPT"),
    ("exercise-unbroadcast", _FIT.format(f"{_LEAD}.sum(axis={_ONES})"), "KEEPDIMS_LOST"),
    ("exercise-unbroadcast", _FIT.format(f"{_LEAD.replace('sum', 'mean')}.mean(axis={_ONES}, keepdims=True)"),
     "MEAN_FOR_SUM"),
    ("exercise-unbroadcast", _FIT.format("g[(0,) * (g.ndim - len(shape))][tuple(slice(n) for n in shape)]"),
     "FIRST_TAKEN"),
    ("exercise-unbroadcast", _FIT.format("g.sum(axis=tuple(range(len(shape), g.ndim))).reshape(shape)"),
     "LEFT_ALIGNED"),
    ("exercise-unbroadcast", _FIT.format("g.reshape(shape) if g.size == np.prod(shape) else np.full(shape, g.sum())"),
     "RESHAPED"),
    ("exercise-unbroadcast", _FIT.format("g.reshape(shape)"), "RESHAPED"),
    ("exercise-unbroadcast", _FIT.format("np.resize(g, shape)"), "RESHAPED"),
    ("exercise-unbroadcast", _FIT.format(_LEAD), "LEADING_ONLY"),
    ("exercise-unbroadcast", """
def one_axis(g, shape):
    if g.ndim > len(shape):
        return g.sum(axis=0)
    for axis, n in enumerate(shape):
        if n != g.shape[axis]:
            return g.sum(axis=axis, keepdims=True)
    return g
lessons.check("9.1", one_axis)""", "ONE_AXIS"),
    ("exercise-unbroadcast", _FIT.format(f"g.sum(axis={_ONES}, keepdims=True)"), "ONES_ONLY"),
    ("exercise-unbroadcast", _FIT.format(f"np.broadcast_to({_LEAD}.sum(axis={_ONES}, keepdims=True), g.shape)"),
     "OUTPUT_SHAPE"),
    ("exercise-unbroadcast", _FIT.format("np.ones(shape)"), "SUMMED"),
    ("exercise-unbroadcast", _FIT.format("g * 0"), "OTHER"),
    ("exercise-unbroadcast", _FIT.format("g.sum(axis=0)"), "OTHER"),
    ("exercise-unbroadcast", _FIT.format("g.sum(axis=9)"), "RAISES"),
    ("exercise-unbroadcast", _FIT.format("shape + g.shape + ('?',)"), "RAISES"),
    ("exercise-unbroadcast", _FIT.format("None"), "BLANK"),
    ("exercise-sum", _RULE.format("g"), "OUTPUT_SHAPE"),
    ("exercise-sum", _RULE.format("np.broadcast_to(g, shape)"), "KEEPDIMS_LOST"),
    ("exercise-sum", _RULE.format("g + np.zeros(shape)"), "KEEPDIMS_LOST"),
    ("exercise-sum", _RULE.format("np.ones(shape)"), "SUMMED"),
    ("exercise-sum", _RULE.format("np.resize(g, shape)"), "RESHAPED"),
    ("exercise-sum", _RULE.format("np.full(shape, g.sum())"), "RESHAPED"),
    ("exercise-sum", _RULE.format("np.broadcast_to(g.reshape(g.shape + (1,) * (4 - g.ndim)), shape)"), "LEFT_ALIGNED"),
    ("exercise-sum", """
def in_turn(g, shape, axes, keepdims):
    if axes is not None and not keepdims:
        for axis in axes:
            g = np.expand_dims(g, axis)
    return np.broadcast_to(g, shape)
lessons.check("9.2", in_turn)""", "NEGATIVE_AXES"),
    ("exercise-sum", """
def from_the_front(g, shape, axes, keepdims):
    gone = range(4) if axes is None else axes
    return np.broadcast_to(g.reshape([1 if i in gone else n for i, n in enumerate(shape)]), shape)
lessons.check("9.2", from_the_front)""", "NEGATIVE_AXES"),
    ("exercise-sum", """
def shared(g, shape, axes, keepdims):
    if axes is not None and not keepdims:
        g = np.expand_dims(g, axes)
    return np.broadcast_to(g, shape) * g.size / np.prod(shape)
lessons.check("9.2", shared)""", "MEAN_FOR_SUM"),
    ("exercise-sum", _RULE.format("np.zeros(shape)"), "OTHER"),
    ("exercise-sum", _RULE.format("np.expand_dims(g, axes)"), "RAISES"),
    ("exercise-regression", _LOSS.format("lab.reduce_mean((X @ w + b - y) ** 2.0)"), "ALL_PAIRS"),
    ("exercise-regression", _LOSS.format("lab.reduce_mean((X @ w + b - y[:, None]) ** 2.0) + 1.0"), "OTHER"),
    ("exercise-regression", _LOSS.format("lab.reduce_mean((X @ w + b - y[None, :]) ** 2.0)"), "ALL_PAIRS"),
    ("exercise-regression", _LOSS.format("lab.reduce_sum((X @ w + b - y) ** 2.0)"), "ALL_PAIRS"),
    ("exercise-regression", _LOSS.format("lab.reduce_mean((X @ w + b - lab.reduce_mean(y)) ** 2.0)"), "ALL_PAIRS"),
    ("exercise-regression", _LOSS.format("lab.reduce_sum((X @ w + b - y[:, None]) ** 2.0)"), "SUM_FOR_MEAN"),
    ("exercise-regression", _LOSS.format("lab.reduce_mean(((X @ w + b)[0] - y) ** 2.0)"), "FIRST_TAKEN"),
    ("exercise-regression", _LOSS.format("lab.reduce_mean(X @ w + b - y[:, None])"), "OTHER"),
    ("exercise-regression", _LOSS.format("lab.reduce_mean(lab.abs(X @ w + b - y[:, None]))"), "OTHER"),
    ("exercise-regression", _LOSS.format("(X @ w + b - y[:, None]) ** 2.0"), "RAISES"),
    ("exercise-regression", _LOSS.format("lab.reduce_mean(... - y)"), "BLANK"),
    ("exercise-regression", _LOSS.format("lab.reduce_mean(X @ y)"), "RAISES"),
    ("exercise-regression", 'lessons.check("9.3", ...)', "BLANK"),
    ("transfer-answer", _PRICE.format('{"price": 4, "share": 0.25}'), "MEAN_FOR_SUM"),
    ("transfer-answer", _PRICE.format('{"price": 30, "share": 0.25}'), "FIRST_TAKEN"),
    ("transfer-answer", _PRICE.format('{"price": -7, "share": 1}'), "FIRST_TAKEN"),
    ("transfer-answer", _PRICE.format('{"price": 16, "share": 1}'), "SUM_FOR_MEAN"),
    ("transfer-answer", _PRICE.format('{"price": 16, "share": 4}'), "SUM_FOR_MEAN"),
    ("transfer-answer", _PRICE.format('{"price": 54, "share": 0.25}'), "OTHER"),
    ("transfer-answer", _PRICE.format('{"price": 16, "share": 0}'), "OTHER"),
    ("transfer-answer", _PRICE.format('{"price": "16 euros", "share": 0.25}'), "RAISES"),
    ("transfer-answer", _PRICE.format('{"price": [30, -12, 5, -7], "share": 0.25}'), "RAISES"),
    ("transfer-answer", _PRICE.format('{"price": 16}'), "BLANK"),
]  # fmt: skip
"""Cell, what is typed, and the code."""
