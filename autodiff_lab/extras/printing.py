"""Printing of tensors by value, without recording that the value was read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.extras import nesting

_builtin_print = print


def _shown(value: Any, summarize: int) -> str:
    if hasattr(value, "ragged_rank"):
        return value.shown(summarize)
    array = getattr(value, "_array", None)
    if array is None:
        return str(value)
    if array.ndim == 0 or array.dtype == object:
        return str(array)
    array = np.asarray(array)
    edge = array.size if summarize < 0 else summarize
    return np.array2string(array, threshold=2 * edge, edgeitems=max(1, edge), separator=" ")


def print(
    *inputs: object,
    output_stream: TextIO | str | None = None,
    summarize: int | None = None,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Print tensors, by value only, and other objects.

    Parameters
    ----------
    *inputs : Tensor or any value, or nested structures of them
        What to print.
    output_stream : file or str, optional
        Where to print: a file, or ``"file://"`` and a path to append to; by default standard output, which notebook
        cells show.
    summarize : int, optional
        The number of elements shown at each end of an axis, 3 by default; -1 shows all.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.print("x is", lab.constant([1.0, 2.0]))
    x is [1. 2.]
    """
    edge = 3 if summarize is None else int(summarize)
    words = [
        str(nesting.map_structure(lambda leaf: _Bare(_shown(leaf, edge)), item))
        if nesting.is_nested(item)
        else _shown(item, edge)
        for item in inputs
    ]
    if isinstance(output_stream, str):
        if not output_stream.startswith("file://"):
            raise InvalidArgumentError(
                f"print: output_stream must be a file, or 'file://' and a path, got {output_stream!r}. Try sys.stderr."
            )
        with Path(output_stream.removeprefix("file://")).open("a", encoding="utf-8") as file:
            _builtin_print(*words, sep=sep, end=end, file=file)
        return
    stream: TextIO = sys.stdout if output_stream is None else output_stream
    _builtin_print(*words, sep=sep, end=end, file=stream)


class _Bare(str):
    """Text that is shown in a list without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
