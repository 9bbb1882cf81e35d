"""Strings taken apart: each string has its own number of parts, so the result is ragged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_lab.engine.strings import STRING
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.ops.strings import text_tensor
from autodiff_lab.structures.partition import RowPartition
from autodiff_lab.structures.ragged import RaggedTensor


def _apart(input: Any, what: str, parts: Callable[[bytes], list[bytes]]) -> Tensor | RaggedTensor:
    array = np.asarray(text_tensor(input, what)._array)
    found = [parts(text) for text in array.ravel().tolist()]
    flat = np.empty(sum(map(len, found)), STRING)
    flat[:] = [part for row in found for part in row]
    if array.ndim == 0:
        return wrap(flat)
    made = RaggedTensor(wrap(flat), RowPartition.from_lengths(np.array([len(row) for row in found], np.int64)))
    for length in array.shape[:0:-1]:
        made = RaggedTensor.from_uniform_row_length(made, length)
    return made


def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Tensor | RaggedTensor:
    """The words of each string, or what stands between a separator.

    Shapes: () -> (None), (*s) -> (*s, None).  Dtypes: string.  Derivative: none, gradients stop at strings.

    Raises
    ------
    DtypeMismatch
        If the input is no string.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.strings.split(["to be or", "not"])
    <RaggedTensor [[b'to', b'be', b'or'], [b'not']]>
    >>> print(lab.strings.split("a,b", sep=","))
    Tensor([b'a' b'b'], shape=(2,), dtype=string)
    """
    between = sep.encode() if sep else None
    return _apart(input, "split", lambda text: text.split(between, int(maxsplit)))


def bytes_split(input: Any, name: str | None = None) -> Tensor | RaggedTensor:
    """The bytes of each string, as strings of length 1.

    Shapes: () -> (None), (*s) -> (*s, None).  Dtypes: string.  Derivative: none, gradients stop at strings.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.strings.bytes_split(["ab", "c"])
    <RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    return _apart(input, "bytes_split", lambda text: [text[i : i + 1] for i in range(len(text))])


def unicode_split(
    input: Any, input_encoding: str = "UTF-8", errors: str = "replace", name: str | None = None
) -> Tensor | RaggedTensor:
    """The characters of each string.

    Shapes: () -> (None), (*s) -> (*s, None).  Dtypes: string.  Derivative: none, gradients stop at strings.

    Raises
    ------
    InvalidArgumentError
        If the encoding is not UTF-8, or, with errors='strict', a string is not UTF-8.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [part.decode() for part in lab.strings.unicode_split("hé", "UTF-8").numpy()]
    ['h', 'é']
    """
    if input_encoding.upper() not in ("UTF-8", "UTF8") or errors not in ("replace", "strict", "ignore"):
        raise InvalidArgumentError(
            f"unicode_split: strings are UTF-8 here and errors is 'replace', 'strict' or "
            f"'ignore'; got {input_encoding!r} and {errors!r}"
        )

    def characters(text: bytes) -> list[bytes]:
        try:
            return [c.encode() for c in text.decode("utf-8", errors)]
        except UnicodeDecodeError as error:
            raise InvalidArgumentError(f"unicode_split: {text!r} is not UTF-8: {error.reason}") from None

    return _apart(input, "unicode_split", characters)
