"""Pictures of lesson 9: a sum of two shapes to step through, the losses of two training runs, and a drill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw.plots import Axis, Label, Plot, line, svg
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons.broadcasting import shape_of
from autodiff_lab.lessons.pictures import Picture

if TYPE_CHECKING:
    from autodiff_lab.widgets.explorer import Explorer
    from autodiff_lab.widgets.shape_drill import ShapeDrill

LARGEST = 256
"""Elements of the result of a lens: so many cells can be looked at."""


def shape_lens(shape_a: Sequence[int], shape_b: Sequence[int]) -> Explorer:
    """Open the sum of two arrays in the explorer, at the op that fits their shapes.

    Forward, an axis that is stretched is hatched; backward, the same axis is summed.

    Parameters
    ----------
    shape_a, shape_b : sequence of int
        Two shapes that fit each other, like (3, 1) and (1, 4); () is a single number.

    Returns
    -------
    Explorer
        Of a + b and its backward pass, in which every element of the sum gets 1.

    Raises
    ------
    InvalidArgumentError
        If one is not a shape, or the result has more than 256 elements.
    ShapeMismatch
        If the shapes do not fit.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lens = lessons.shape_lens((3, 1), (1, 4))
    >>> [tensor.snapshot.shape for tensor in lens.recording.tensors.values()][:3]
    [(3, 1), (1, 4), (3, 4)]
    """
    shapes = shape_of(shape_a, "shape_a"), shape_of(shape_b, "shape_b")
    numbers = [
        step * np.arange(1.0, np.prod(shape) + 1).reshape(shape) for shape, step in zip(shapes, (1, 10), strict=True)
    ]
    a, b = (lab.Variable(values, name=name) for values, name in zip(numbers, "ab", strict=True))
    with lab.record(f"{shapes[0]} + {shapes[1]}") as recording:
        with lab.GradientTape() as tape:
            total = a + b
        tape.gradient(total, [a, b])
    if total.numpy().size > LARGEST:
        raise InvalidArgumentError(f"The sum has the shape {tuple(total.shape)}; use at most {LARGEST} elements.")
    from autodiff_lab.widgets.explorer import Explorer

    return Explorer(recording, step=1)


def loss_curves(**losses: Sequence[float]) -> Picture:
    """Draw the losses of one or two training runs, step by step.

    Parameters
    ----------
    **losses : sequence of float
        The losses, by name; underscores become spaces.

    Raises
    ------
    InvalidArgumentError
        If there are no losses or more than two, or one of them has fewer than two numbers or one that is not finite.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> lessons.loss_curves(first=[9.0, 4.0, 1.0])
    first: the loss goes from 9 to 1 in 3 steps
    """
    if not 1 <= len(losses) <= 2:
        raise InvalidArgumentError("Give the losses of one or two runs by name: loss_curves(first=[9.0, 4.0]).")
    found = {name.replace("_", " "): _losses(name, values) for name, values in losses.items()}
    told = "\n".join(f"{name}: the loss goes from {y[0]:.4g} to {y[-1]:.4g} in {len(y)} steps"
                     for name, y in found.items())  # fmt: skip
    top, last = max(y.max() for y in found.values()), max(len(y) for y in found.values())
    low = min(0.0, *(y.min() for y in found.values()))
    roles = ("forward", "backward")
    plot = Plot(
        Axis(0.0, float(last), "step"),
        Axis(float(low), float(low + 1.05 * max(top - low, 1e-9)), "loss"),
        tuple(line(np.arange(len(y)), y, role, dashed=role == "backward")
              for role, y in zip(roles, found.values(), strict=False)),
        tuple(Label(name, 0.6 * len(y), float(y[int(0.6 * len(y))]), role)
              for role, (name, y) in zip(roles, found.items(), strict=False)),
        "Loss, step by step", told,
    )  # fmt: skip
    return Picture(told, svg(plot, height=300))


def _losses(name: str, values: Any) -> np.ndarray:
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.ndim != 1 or len(found) < 2 or not np.isfinite(found).all():
        raise InvalidArgumentError(f"{name} should be a list of two or more finite losses.")
    return found


ROUNDS = 6
"""How many times ten pairs a drill holds: a page without a kernel can deal no others."""


def shape_drill(seed: int | None = None) -> ShapeDrill:
    """Deal ten pairs of shapes, and ask for the shape of each sum and for the axes that are summed on the way back.

    A miss is explained.  Some pairs do not fit.

    Parameters
    ----------
    seed : int, optional
        Deals the same pairs again.

    Returns
    -------
    ShapeDrill
        A widget, played by keys alone; ``.to_html(path)`` writes it as a page that needs no kernel.

    Raises
    ------
    InvalidArgumentError
        If the seed is not an integer of 0 or more.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.shape_drill(seed=9).account().splitlines()[0])
    What is the shape of each sum, and which of its axes are summed on the way back?
    """
    from autodiff_lab.widgets.shape_drill import ShapeDrill

    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise InvalidArgumentError(f"seed should be a whole number, 0 or more, but is {seed!r}.")
    rng = np.random.default_rng(seed)
    return ShapeDrill(*(_dealt(rng) for _ in range(ROUNDS)))


def _dealt(rng: np.random.Generator) -> list[tuple[tuple[int, ...], tuple[int, ...], str]]:
    """Return ten pairs, one of each kind, in any order."""
    pairs = []
    for kind in rng.permutation(10):
        k, m, n = (int(length) for length in rng.permutation([2, 3, 4, 5])[:3])
        one, other = (
            ((m, n), (n,)), ((m, n), (m, 1)), ((m, 1), (1, n)), ((m, 1), (n,)), ((), (m, n)),
            ((m, n), (m,)), ((k, m, n), (m, 1)), ((k, 1, n), (m, 1)), ((m, n), (m, n)), ((m, n), (k, n)),
        )[int(kind)]  # fmt: skip
        stretched = "b" if len(one) > len(other) or 1 in other else "a"
        if rng.random() < 0.5:
            one, other, stretched = other, one, "ab"["ba".index(stretched)]
        pairs.append((one, other, stretched))
    return pairs
