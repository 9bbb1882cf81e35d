"""Lowering: ops that a page computes as steps of simpler ones, such as a softmax or a convolution.

The script of a page knows elementwise expressions, reductions, moves, ``einsum`` and a few more.  An op that can be
said in these is not written by hand there: here stands what it does, for the shapes that were recorded.  The page runs
the steps in doubles and rounds the result once, see `widgets/running/lowered.js`.
"""

from __future__ import annotations

from typing import Any

from autodiff_lab.draw.lowering import arrays, formulas, recurrent, windows
from autodiff_lab.draw.lowering.steps import Steps
from autodiff_lab.draw.moves import Shape

LOWERED = arrays.OPS | formulas.OPS | recurrent.OPS | windows.OPS
"""By the name of an op, what writes its steps."""


def lowered(name: str, params: dict[str, Any], shapes: list[Shape]) -> dict[str, Any] | None:
    """Return the steps of an op, or None if it has none.

    Parameters
    ----------
    name : str
        Of the op.
    params : dict
        As a recording keeps them.
    shapes : list of tuple of int
        Of its inputs.

    Returns
    -------
    dict or None
        ``steps`` are rows ``[what, inputs, shapes, params]``: the name of a twin or a tree, the places of what it
        takes, the shapes of what it makes, and its parameters.  Inputs of the op come first, results of steps follow.
        ``made`` are the places of the results.

    Examples
    --------
    >>> lowered("l2_loss", {}, [(3,)])
    {'steps': [[['*', 0, 0], [0], [[3]], {}], ['sum', [1], [[1]], {'axes': [-1]}],
     [['/', 0, ['number', 2]], [2], [[1]], {}]], 'made': [3]}
    """
    lower = LOWERED.get(name)
    if lower is None:
        return None
    steps = Steps(shapes)
    try:
        made = lower(steps, *steps.inputs, **params)
    except Exception:  # noqa: BLE001 - of a file written by hand; the page then says that it cannot compute the op
        return None
    return steps.written(made if isinstance(made, list) else [made])
