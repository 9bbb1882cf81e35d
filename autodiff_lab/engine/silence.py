"""Values follow IEEE 754 silently, whatever the user asked NumPy to do: `numpy.errstate` at a tenth of its cost.

NumPy keeps what it does about overflow and its kin in a context variable.  Setting that to the value it has inside of
`numpy.errstate` is all that entering one comes to.  Where the variable is not found `numpy.errstate` is used.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any

import numpy as np


def _found() -> tuple[ContextVar[Any], Any] | None:
    """NumPy's context variable, and its value for saying nothing."""
    with np.errstate(all="ignore"):
        return next(((v, value) for v, value in copy_context().items() if v.name == "numpy.ufunc.extobj"), None)


_SILENCE = _found()
HOW_NUMPY_WARNS: ContextVar[Any] | None = None if _SILENCE is None else _SILENCE[0]
"""The variable that `numpy.errstate`, and so much of `numpy.linalg`, sets and sets back."""


def how_numpy_warns() -> Any:
    """Return the object that says what NumPy does about overflow and its kin in this context; None if it is unset."""
    return None if HOW_NUMPY_WARNS is None else HOW_NUMPY_WARNS.get(None)


def quietly(function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """Call a function, and let NumPy say nothing about overflow, division by 0 and invalid values meanwhile.

    Examples
    --------
    >>> import numpy as np
    >>> with np.errstate(all="raise"):
    ...     quietly(np.divide, 1.0, 0.0)
    np.float64(inf)
    """
    if _SILENCE is None:
        with np.errstate(all="ignore"):
            return function(*arguments, **more)
    variable, nothing = _SILENCE
    token = variable.set(nothing)
    try:
        return function(*arguments, **more)
    finally:
        variable.reset(token)
