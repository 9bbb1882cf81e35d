"""What lowered ops are written with: values known by their shapes, and steps that make one from others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.draw.expressions import tree
from autodiff_lab.draw.moves import Shape, ranges

Lower = Callable[..., Any]
"""What writes the steps of an op; it takes the steps so far, the inputs and the parameters, and returns the results."""


class Value(NamedTuple):
    """An input of an op or the result of a step: its place among these, and its shape."""

    at: int
    shape: Shape


Values = list[Value]


class Steps:
    """The steps of one op, in the order in which they run.

    Parameters
    ----------
    shapes : sequence of tuple of int
        Of the inputs of the op.

    Examples
    --------
    >>> steps = Steps([(2, 3)])
    >>> steps.of("exp({0}) / sum(exp({0}))", *steps.inputs, axes=[-1])
    Value(at=3, shape=(2, 3))
    """

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.inputs = [Value(at, tuple(shape)) for at, shape in enumerate(shapes)]
        self.rows: list[list[Any]] = []
        self.count = len(self.inputs)

    def run(self, what: Any, inputs: Values, /, *shapes: Shape, **params: Any) -> Values:
        """Add a step: the name of a twin or a tree, what it takes, and the shapes of what it makes; return that."""
        self.rows.append([what, [x.at for x in inputs], [list(shape) for shape in shapes], params])
        self.count += len(shapes)
        return [Value(self.count - len(shapes) + k, tuple(shape)) for k, shape in enumerate(shapes)]

    def of(self, text: str, *inputs: Value, axes: Sequence[int] = (), shape: Shape = (), **numbers: float) -> Value:
        """Compute an expression such as ``"exp({0}) / sum(exp({0}))"``.

        Parameters
        ----------
        text : str
            In the language of the expressions of ops, with `max`, `sum` and `mean` along `axes`.
        inputs : Value
            They broadcast.
        axes : sequence of int, optional
            Counted from the end; they stay with length 1.
        shape : tuple of int, optional
            Of the result, if it is larger than what the inputs broadcast to.
        numbers : float
            For names in the text.
        """
        known: dict[str, Value] = {}

        def hoisted(node: Any) -> Any:
            """Make reductions steps of their own, of which each is computed once."""
            if isinstance(node, int):
                return inputs[node]
            if isinstance(node, str) or node[0] == "number":
                return ["number", numbers[node]] if isinstance(node, str) and node in numbers else node
            made = [node[0], *map(hoisted, node[1:])]
            if node[0] not in ("max", "sum", "mean"):
                return made
            if repr(made) not in known:
                x = made[1] if isinstance(made[1], Value) else self._each(made[1])
                known[repr(made)] = self.reduce(node[0], x, axes)
            return known[repr(made)]

        found = hoisted(tree(text))
        return found if isinstance(found, Value) else self._each(found, shape)

    def _each(self, node: list[Any], shape: Shape = ()) -> Value:
        """Compute a tree whose leaves are values, for each element."""
        used: Values = []

        def numbered(part: Any) -> Any:
            if isinstance(part, Value):
                used.extend([] if part in used else [part])
                return used.index(part)
            nested = isinstance(part, list) and part[0] != "number"
            return [part[0], *map(numbered, part[1:])] if nested else part

        what = numbered(node)
        [made] = self.run(what, used, np.broadcast_shapes(shape, *(x.shape for x in used)))
        return made

    def reduce(self, name: str, x: Value, axes: Sequence[int]) -> Value:
        """Reduce along axes, counted from the end, which stay with length 1."""
        kept = (1 if at - len(x.shape) in axes else length for at, length in enumerate(x.shape))
        return self.run(name, [x], tuple(kept), axes=list(axes))[0]

    def reshape(self, x: Value, *shape: int) -> Value:
        """Give a value another shape."""
        return self.run("reshape", [x], shape)[0]

    def grown(self, x: Value, axis: int) -> Value:
        """Give a value one more axis, counted from the end of the result."""
        at = len(x.shape) + 1 + axis
        return self.reshape(x, *x.shape[:at], 1, *x.shape[at:])

    def take(self, inputs: Values, places: list[list[int]], *shape: int, value: float = 0.0) -> Value:
        """Take elements at places, see `draw.moves`, which count on from input to input; `value` is the padding."""
        return self.run("take", inputs, shape, places=places, value=value)[0]

    def pick(self, x: Value, places: Any, value: float = 0.0) -> Value:
        """Take elements at an array of places."""
        return self.take([x], ranges(places.ravel().tolist()), *places.shape, value=value)

    def einsum(self, text: str, *inputs: Value) -> Value:
        """Add up products, as `einsum` does."""
        left, output = text.split("->")
        terms = left.split(",")
        axes = [axis for term, x in zip(terms, inputs, strict=True) for axis in zip(term, x.shape, strict=True)]
        lengths = dict(sorted(axes, key=lambda axis: axis[1] != 1))  # a length other than 1 wins
        return self.run("einsum", [*inputs], tuple(map(lengths.__getitem__, output)), inputs=terms, output=output)[0]

    def ramp(self, count: int) -> Value:
        """0, 1, 2, ..."""
        ones = self.of("one * one", shape=(count,))
        return self.run("cumsum", [ones], (count,), axis=-1, exclusive=True, reverse=False)[0]

    def walk(self, step: Any, states: Values, along: Values, whole: Values, **how: Any) -> tuple[Values, Values]:
        """Run a step for each place on axis 1 of some values, from states that it hands on.

        Parameters
        ----------
        step : callable
            Takes steps of its own, the states, what stands at the place in each value of `along`, and `whole`; returns
            the new states, and a list of what else it made.
        states, along, whole : sequence of Value
        how : bool
            ``reverse=True`` begins at the last place.

        Returns
        -------
        tuple
            The last states; and all states and what else was made, put together along axis 1.
        """
        held, ends = len(states), len(states) + len(along)
        shapes = [x.shape for x in states], [(x.shape[0], *x.shape[2:]) for x in along], [x.shape for x in whole]
        inner = Steps([shape for group in shapes for shape in group])
        new, more = step(inner, inner.inputs[:held], inner.inputs[held:ends], inner.inputs[ends:])
        stacked = [(x.shape[0], along[0].shape[1], *x.shape[1:]) for x in (*new, *more)]
        how |= inner.written([*new, *more]) | {"held": held, "parts": len(along)}
        made = self.run("walk", [*states, *along, *whole], *shapes[0], *stacked, **how)
        return made[:held], made[held:]

    def split(self, x: Value, count: int) -> Values:
        """Cut the last axis into equal parts."""
        *lead, wide = x.shape
        size, n = math.prod(lead), wide // count
        return [self.take([x], [[k * n, size, wide, n, 1]], *lead, n) for k in range(count)]

    def join(self, parts: Values) -> Value:
        """Put parts of the same shape together along the last axis."""
        *lead, n = parts[0].shape
        size = math.prod(lead)
        return self.take(parts, [[0, size, n, len(parts), size * n, n, 1]], *lead, len(parts) * n)

    def written(self, made: Values) -> dict[str, Any]:
        """Return the steps as the page takes them; `made` are the results of the op."""
        return {"steps": self.rows, "made": [x.at for x in made]}
