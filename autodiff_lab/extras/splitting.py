"""Splitting of strings: the number of parts varies from string to string, so the result is ragged."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.shape import as_integer
from autodiff_lab.engine.strings import STRING
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.extras.families.strings import text_tensor
from autodiff_lab.extras.ragged.partition import RowPartition
from autodiff_lab.extras.ragged.tensor import RaggedTensor

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


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


def split(
    input: TensorLike, sep: str | None = None, maxsplit: int = -1, name: str | None = None
) -> Tensor | RaggedTensor:
    """Split each string into words, or at a separator.

    Shapes: () -> (None), (*s) -> (*s, None).  Dtypes: string.  Derivative: none, gradients stop at strings.

    Raises
    ------
    DtypeMismatch
        If the input does not contain strings.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.strings.split(["to be or", "not"])
    <RaggedTensor [[b'to', b'be', b'or'], [b'not']]>
    >>> print(lab.strings.split("a,b", sep=","))
    Tensor([b'a' b'b'], shape=(2,), dtype=string)
    """
    if sep is not None and not isinstance(sep, str):
        raise InvalidArgumentError(f"strings.split: sep must be a string, got {sep!r:.80}.")
    between, most = sep.encode() if sep else None, as_integer(maxsplit, "strings.split: maxsplit")
    most = min(most, sys.maxsize)

    def words(text: bytes) -> list[bytes]:
        if between is not None or most < 0:
            return text.split(between, most)
        if most == 0:
            return [text]
        found = text.split(None, most)
        return [*found, b""] if len(found) == most else found

    return named(_apart(input, "split", words), name)


def bytes_split(input: TensorLike, name: str | None = None) -> Tensor | RaggedTensor:
    """Split each string into bytes, as strings of length 1.

    Shapes: () -> (None), (*s) -> (*s, None).  Dtypes: string.  Derivative: none, gradients stop at strings.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.strings.bytes_split(["ab", "c"])
    <RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    return named(_apart(input, "bytes_split", lambda text: [text[i : i + 1] for i in range(len(text))]), name)


def unicode_split(
    input: TensorLike,
    input_encoding: str = "UTF-8",
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Split each string into characters.

    Shapes: () -> (None), (*s) -> (*s, None).  Dtypes: string.  Derivative: none, gradients stop at strings.

    Parameters
    ----------
    input : string Tensor
        The strings.
    input_encoding : {"UTF-8", "UTF-16-BE", "UTF-32-BE"}
        The encoding of the input and of the result.
    errors : {"replace", "strict", "ignore"}
        How to handle bytes that are not characters.
    replacement_char : int
        The code point of the replacement character.

    Raises
    ------
    InvalidArgumentError
        If the encoding is unknown, or a string is not valid in it and errors='strict'.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> [part.decode() for part in lab.strings.unicode_split("hé", "UTF-8").numpy()]
    ['h', 'é']
    """
    names = isinstance(input_encoding, str) and isinstance(errors, str)  # an array answers `in` with an array
    encodings, ways = ("UTF-8", "UTF-16-BE", "UTF-32-BE"), ("replace", "strict", "ignore")
    if not names or input_encoding not in encodings or errors not in ways:
        raise InvalidArgumentError(
            "unicode_split: input_encoding must be 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE', and errors 'replace', 'strict' "
            f"or 'ignore', got {input_encoding!r} and {errors!r}."
        )
    replacement_char = as_integer(replacement_char, "unicode_split: replacement_char")
    if not 0 <= int(replacement_char) < 0x110000 or 0xD800 <= int(replacement_char) < 0xE000:
        raise InvalidArgumentError(f"unicode_split: replacement_char must be a code point, got {replacement_char}.")
    code = input_encoding.lower()
    put_in = chr(int(replacement_char))

    def characters(text: bytes) -> list[bytes]:
        try:
            found = _decoded(text, code, errors, put_in)
        except UnicodeDecodeError as error:
            raise InvalidArgumentError(
                f"unicode_split: {text!r} is not valid {input_encoding}: {error.reason}. Try errors='replace'."
            ) from None
        return [c.encode(code) for c in found]

    return named(_apart(input, "unicode_split", characters), name)


def _decoded(text: bytes, code: str, errors: str, put_in: str) -> str:
    """Decode text, replacing or ignoring invalid bytes or raising an error."""
    if errors != "replace":
        return text.decode(code, errors)
    made, rest = "", text
    while True:
        try:
            return made + rest.decode(code)
        except UnicodeDecodeError as error:
            made += rest[: error.start].decode(code) + put_in
            rest = rest[error.end :]
