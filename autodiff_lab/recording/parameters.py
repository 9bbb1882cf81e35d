"""The parameters of ops as a recording keeps them: plain data, or the text of what is not."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.recording.schema import DEEPEST, clean
from autodiff_lab.recording.snapshot import numbers_of


def plain(value: Any, depth: int = DEEPEST - 2) -> Any:
    """Return parameters as JSON can hold them, sequences as tuples; anything else becomes text.

    Examples
    --------
    >>> plain({"axis": [0, np.int64(1)], "rate": float("inf"), "to": np.dtype("int8")})
    {'axis': (0, 1), 'rate': inf, 'to': 'int8'}
    """
    if value is None or value.__class__ in (bool, float):
        return value
    if value.__class__ is str:
        return clean(value)
    if value.__class__ is int:
        return value if value.bit_length() <= 512 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, np.ndarray):
        value = numbers_of(value)
        return plain(value.tolist(), depth) if value.size <= 1000 else f"array {list(value.shape)}"
    if isinstance(value, np.generic):
        item = numbers_of(value).item()
        return _in_words(item) if isinstance(item, np.generic) else plain(item)
    if isinstance(value, (dict, list, tuple)):
        if depth == 0:
            return "\N{HORIZONTAL ELLIPSIS}"
        if isinstance(value, dict):
            return {clean(str(key)): plain(item, depth - 1) for key, item in value.items()}
        return tuple([plain(item, depth - 1) for item in value])
    return _in_words(value)


def _in_words(value: Any) -> str:
    """Return the name or text of an object; only its type where the text holds an address."""
    try:
        words = str(getattr(value, "name", None) or getattr(value, "__name__", None) or value)
    except Exception:  # noqa: BLE001 - whatever a user's object raises, the recording goes on
        words = " at 0x"
    return clean(f"<{type(value).__name__}>" if " at 0x" in words else words)
