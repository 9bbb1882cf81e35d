"""Numbers as people read them: four significant digits, and 0, nan and inf never confused.

Texts, pictures and pages all show numbers through these two functions, so that the same value looks the same
everywhere.  Nothing here rounds a value away: a tiny number keeps its exponent and never becomes "0".
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from autodiff_lab.recording.snapshot import Snapshot, summarise

SHOWN = 6
"""Elements up to which an array is shown element by element."""
_PLAIN_BELOW = 1e6
_PLAIN_FROM = 1e-4
_TEXT = 20


def short(value: Any, digits: int = 4, minus: str = "-") -> str:
    """Return one number in a few characters.

    Parameters
    ----------
    value : number, bool or str
        A Python or NumPy scalar, or an array of shape ().
    digits : int
        Significant digits of a float; digits before the point are never dropped below a million.
    minus : str
        The minus sign: a picture uses the typographic one.

    Examples
    --------
    >>> [short(x) for x in (3.0, 9.14112, 12345.6, 0.00012, 1e-7, -2.5e20, 0.0)]
    ['3', '9.141', '12346', '0.00012', '1e-7', '-2.5e20', '0']
    >>> [short(x) for x in (float("nan"), float("-inf"), True, 1234567)]
    ['nan', '-inf', 'True', '1234567']
    """
    value = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
    if isinstance(value, float):
        return _float(value, digits).replace("-", minus)
    if isinstance(value, complex):
        return _complex(value, digits, minus)
    return str(value).replace("-", minus) if isinstance(value, (bool, int)) else _quoted(value)


@lru_cache(4096)  # a page writes most numbers several times
def _float(value: float, digits: int) -> str:
    size = abs(value)
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    if not _PLAIN_FROM <= size < _PLAIN_BELOW:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{_trimmed(mantissa)}e{int(exponent)}"
    places = max(digits - 1 - math.floor(math.log10(size)), 0)
    return _trimmed(f"{value:.{places}f}")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _complex(value: complex, digits: int, minus: str) -> str:
    sign = minus if math.copysign(1.0, value.imag) < 0 and not math.isnan(value.imag) else "+"
    return f"{short(value.real, digits, minus)} {sign} {short(abs(value.imag), digits)}i"


def _quoted(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: _TEXT + 1])
    text = text if len(text) <= _TEXT else text[: _TEXT - 1] + "‥"
    return f'"{text}"'


def counted(count: int, word: str) -> str:
    """Return a number with its noun in the right form.

    Examples
    --------
    >>> counted(1, "op"), counted(2, "op"), counted(2, "pass")
    ('1 op', '2 ops', '2 passes')
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}{'es' if word.endswith('s') else 's'}"


def dimensions(shape: tuple[int, ...]) -> str:
    """Return the shape of an array as pictures write it.

    Examples
    --------
    >>> dimensions((64, 256)), dimensions(())
    ('[64×256]', '')
    """
    return f"[{'×'.join(map(str, shape))}]" if shape else ""


def brief(snapshot: Snapshot, digits: int = 4, minus: str = "-") -> str:
    """Return a value in one short line: a scalar, the elements of a small array, or the mean and shape of a large one.

    Parameters
    ----------
    snapshot : Snapshot
        Of any shape and dtype.
    digits, minus
        As for `short`.

    Examples
    --------
    >>> from autodiff_lab.recording.snapshot import NOT_SEEN, snapshot
    >>> brief(snapshot(np.float32(9.14112)))
    '9.141'
    >>> brief(snapshot(np.array([[1.0, -2.0], [0.5, np.nan]])), minus="−")
    '[[1, −2], [0.5, nan]]'
    >>> brief(snapshot(np.ones((64, 256))))
    'mean 1 [64×256]'
    >>> brief(NOT_SEEN)
    'unknown'
    """
    if snapshot.array is not None and snapshot.size <= SHOWN:
        return _elements(np.asarray(snapshot.array).reshape(snapshot.shape).tolist(), digits, minus)
    return f"{_large(snapshot, digits, minus)} {dimensions(snapshot.shape)}".strip()


def _elements(value: Any, digits: int, minus: str) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_elements(item, digits, minus) for item in value)}]"
    return short(value, digits, minus)


def _large(snapshot: Snapshot, digits: int, minus: str) -> str:
    summary = summarise(snapshot.array) if snapshot.summary is None else snapshot.summary
    if summary.mean is not None:
        shown = f"mean {short(summary.mean, digits, minus)}"
    elif summary.nan + summary.inf and summary.nan + summary.inf >= snapshot.size:
        shown = "nothing finite"
    elif not summary.first and snapshot.size:
        shown = "unknown"
    else:
        shown = f"{', '.join(short(x, digits, minus) for x in summary.first[:2])}, ⋯"
    counts = [f"{count} {word}" for count, word in ((summary.nan, "nan"), (summary.inf, "inf")) if count]
    return ", ".join([shown, *counts])
