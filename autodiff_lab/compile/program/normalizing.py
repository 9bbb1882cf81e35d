"""Forms of normalization: means, variances and normalized values of small arrays, in lines that loops can compute.

What centres and scales an array is written once and serves its moments, the normalized values and their gradients.
Results are those of the kernels' references.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.compile.program.program import Line, Value

if TYPE_CHECKING:
    from autodiff_lab.compile.program.forms import Writing

NORMALIZING = frozenset(
    {"batch_normalize", "moments", "standardize", "standardize_grad", "normalize", "normalize_grad"}
)
MOST = 32_768
"""Elements from which on the compiled kernels are faster: they read what lies in columns once for several passes."""
Axes = tuple[int, ...]


def fits_normalizing(line: Line, values: list[Value]) -> bool:
    """Return whether a form can write a line: not where cotangents are stacks, nor where it lacks an axis."""
    if line.op.name == "batch_normalize":
        return True
    x = values[line.op.name in ("standardize_grad", "normalize_grad")]
    return bool(line.params["axes"]) and values[0].shape == x.shape


def _over(to: Writing, line: Line, op: str, value: int, axes: Axes) -> int:
    """Write a reduction; axes that are not adjacent are taken run by run, the last ones first."""
    while axes:
        first = len(axes) - 1
        while first and axes[first - 1] == axes[first] - 1:
            first -= 1
        value, axes = to.over(line, op, value, axes[first:]), axes[:first]
    return value


def _away(to: Writing, line: Line, value: int, axes: Axes) -> tuple[int, int, int]:
    """Write the mean, the distances from it, and the mean of their squares."""
    key = ("moments", value, axes)
    if key not in to.grown:
        x = to.read(value, line)
        middle = _over(to, line, "mean", x, axes)
        away = to.each(line, "subtract", x, middle)
        to.grown[key] = middle, away, _over(to, line, "mean", to.each(line, "multiply", away, away), axes)
    return to.grown[key]


def _standard(to: Writing, line: Line, value: int) -> tuple[int, int]:
    """Write (x - mean) / √(variance + epsilon), and the reciprocal of the root."""
    axes, epsilon = line.params["axes"], line.params["epsilon"]
    key = ("standard", value, axes, epsilon)
    if key not in to.grown:
        _, away, variance = _away(to, line, value, axes)
        more = to.constant(to.values[value].dtype.type(epsilon))
        root = to.each(line, "rsqrt", to.each(line, "add", variance, more))
        to.grown[key] = to.each(line, "multiply", away, root), root, variance
    return to.grown[key][:2]


def moments(to: Writing, line: Line) -> None:
    """Write the mean and the variance; each is a copy of what others may use as well."""
    middle, _, variance = _away(to, line, line.ins[0], line.params["axes"])
    for out, made in zip(line.outs, (middle, variance), strict=True):
        if not to.is_used(out):
            continue
        if to.values[out].shape == to.values[made].shape:
            to.end(line._replace(outs=(out,)), "identity", made)
        else:
            to.end(line._replace(outs=(out,)), "reshape", made, shape=to.values[out].shape)


def batch_normalize(to: Writing, line: Line) -> None:
    """Write (x - mean) / √(variance + epsilon) · scale + offset."""
    x, mean, variance, scale, offset = line.ins
    more = to.constant(to.values[variance].dtype.type(line.params["epsilon"]))
    factor = to.each(line, "multiply", to.each(line, "rsqrt", to.each(line, "add", variance, more)), scale)
    moved = to.each(line, "multiply", to.each(line, "subtract", x, mean), factor)
    to.end(line, "add", moved, offset)


def standardize(to: Writing, line: Line) -> None:
    """Write (x - mean) / √(variance + epsilon)."""
    to.end(line, "identity", _standard(to, line, line.ins[0])[0])


def normalize(to: Writing, line: Line) -> None:
    """Write that times the scale, plus the offset."""
    x, scale, offset = line.ins
    to.end(line, "add", to.each(line, "multiply", _standard(to, line, x)[0], scale), offset)


def _turned(to: Writing, line: Line, g: int, x: int) -> None:
    """Write (g - mean of g - y · mean of g·y) / √(variance + epsilon)."""
    axes = line.params["axes"]
    y, root = _standard(to, line, x)
    along = to.each(line, "multiply", y, _over(to, line, "mean", to.each(line, "multiply", g, y), axes))
    rest = to.each(line, "subtract", to.each(line, "subtract", g, _over(to, line, "mean", g, axes)), along)
    to.end(line, "multiply", root, rest)


def standardize_grad(to: Writing, line: Line) -> None:
    """Write the gradient of `standardize`."""
    _turned(to, line, to.read(line.ins[0], line), line.ins[1])


def normalize_grad(to: Writing, line: Line) -> None:
    """Write the gradients of `normalize` for x, scale and offset, those that something uses."""
    g, x, scale = to.read(line.ins[0], line), *line.ins[1:]
    shape, of_scale = to.values[x].shape, to.values[scale].shape
    padded = (1,) * (len(shape) - len(of_scale)) + of_scale
    over = tuple(k - len(shape) for k, n in enumerate(padded) if n == 1)
    y, _ = _standard(to, line, x)
    if to.is_used(line.outs[0]):
        _turned(to, line._replace(outs=line.outs[:1]), to.each(line, "multiply", g, scale), x)
    for out, of_y in ((line.outs[1], True), (line.outs[2], False)):
        if to.is_used(out):
            one, summed = line._replace(outs=(out,)), to.each(line, "multiply", g, y) if of_y else g
            found = _over(to, one, "sum", summed, over)
            shape = to.values[out].shape
            if shape == to.values[found].shape:
                to.end(one, "identity", found)
            else:
                to.end(one, "reshape", found, shape=shape)
