"""Every op as an attribute: where pickles find ops, whichever family they are in and whether or not it is loaded."""

from __future__ import annotations

from typing import Any

from autodiff_lab.engine.namespace import RECORDING


def __getattr__(name: str) -> Any:
    """Return the public function of an op.

    Examples
    --------
    >>> import pickle
    >>> import autodiff_lab as lab
    >>> pickle.loads(pickle.dumps(lab.sin)) is lab.sin
    True
    """
    op = getattr(RECORDING, name)
    return getattr(op, "public", op)
