"""Numbers that checks deal: of both signs, so that no answer passes which is right for positive numbers alone."""

from __future__ import annotations

from typing import Any

import numpy as np


def signed(rng: np.random.Generator, low: float, high: float, shape: Any = None) -> Any:
    """Return numbers whose sizes lie between two positive bounds; of several, at least one has each sign.

    Examples
    --------
    >>> found = signed(np.random.default_rng(0), 1.0, 2.0, 5)
    >>> bool((abs(found) >= 1.0).all()), bool(found.min() < 0.0 < found.max())
    (True, True)
    """
    sizes = rng.uniform(low, high, shape)
    signs = rng.choice([-1.0, 1.0], shape)
    if np.size(signs) > 1:
        signs.flat[:2] = rng.permutation([-1.0, 1.0])
    return sizes * signs
