"""String values: bytes in arrays of objects, and the scalar that such an array gives up.

NumPy's own string dtypes differ by length, so strings of two lengths would be two dtypes; an array of objects has one
dtype whatever it holds.  What such an array lacks is a scalar with a shape and a dtype: `StringScalar` is that one.
`wrap` puts it around the bytes that a kernel gives, so that ops on numbers and on strings share their call paths.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.errors import ConversionError

STRING = np.dtype(object)
"""The NumPy dtype under ``lab.string``."""


class StringScalar(np.ndarray):
    """An array of rank 0 that holds one bytes value and stays an array in NumPy's operators.

    Examples
    --------
    >>> string_scalar(b"ab") + string_scalar(b"c")
    StringScalar(b'abc', dtype=object)
    """

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        if plain.ndim or plain.dtype != STRING:
            return plain[()] if return_scalar else plain
        return plain.view(StringScalar)

    def copy(self, order: Any = "C") -> Any:
        """Return the value itself, which is immutable."""
        return self.item()


def string_scalar(value: bytes) -> StringScalar:
    """Return a scalar of one string."""
    made = np.empty((), STRING)
    made[()] = value
    return made.view(StringScalar)


def as_bytes(value: Any) -> bytes:
    r"""Return one string as bytes: text is encoded as UTF-8.

    Raises
    ------
    ConversionError
        If it is not a string, or holds a lone surrogate.

    Examples
    --------
    >>> as_bytes("é")
    b'\xc3\xa9'
    """
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise ConversionError(
                f"Cannot convert {value!r} to Tensor of dtype string: it contains a lone surrogate, which "
                'UTF-8 cannot encode. Try value.encode("utf-8", "replace").'
            ) from None
    if isinstance(value, bytes):
        return bytes(value)
    raise ConversionError(
        f"Cannot convert {value!r} to Tensor of dtype string: it has type {type(value).__name__}. A tensor holds "
        "numbers or strings, not both; try lab.strings.as_string(numbers)."
    )


def string_array(value: Any, dtype: np.dtype[Any] | None = None) -> Any:
    """Return a string, a rectangular nested list or an array of strings as the array of a string tensor.

    Raises
    ------
    ConversionError
        If something in it is not a string, or if `dtype` is not that of strings.
    """
    array = np.array(value, STRING)
    encoded = np.empty(array.shape, STRING)
    encoded.ravel()[:] = [as_bytes(item) for item in array.ravel()]
    if dtype is not None and dtype != STRING:
        raise ConversionError(
            f"Cannot convert {value!r} to Tensor of dtype {dtype.name}: it contains strings. "
            "Try lab.strings.to_number(text)."
        )
    return encoded.view(StringScalar) if encoded.ndim == 0 else encoded
