"""Gradients that are too long, made shorter: what optimizers do for `clipnorm` and `global_clipnorm`, on arrays.

On a GPU no norm is read: gradients are multiplied by a factor that is 1 where nothing is to be done.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def shortened_each(gradients: list[Any], limit: float) -> list[Any]:
    """Arrays, each of a norm of `limit` at most.

    Examples
    --------
    >>> import numpy as np
    >>> shortened_each([np.array([3.0, 4.0])], 1.0)[0].round(6).tolist()
    [0.6, 0.8]
    """
    return [_shortened(g, limit, np.linalg.norm(g)) for g in gradients]


def shortened_together(gradients: list[Any], limit: float) -> list[Any]:
    """Arrays that together have a norm of `limit` at most.

    Examples
    --------
    >>> import numpy as np
    >>> [float(g) for g in shortened_together([np.float64(3.0), np.float64(4.0)], 2.5)]
    [1.5, 2.0]
    """
    parts = [np.sum(np.square(g)) for g in gradients]
    whole = np.sqrt(sum(float(p) if isinstance(p, np.generic) else p for p in parts))
    return [_shortened(g, limit, whole) for g in gradients]


def _shortened(g: Any, limit: float, norm: Any) -> Any:
    if isinstance(norm, (float, np.generic)):
        length = float(norm)
        return g * g.dtype.type(limit / length) if length > limit else g
    return g * np.minimum(limit / norm, 1).astype(g.dtype)
