"""String ops: conversion from and to numbers, joining, lengths, substrings, patterns.  None has a gradient.

A string is bytes (see `engine.strings`) and atomic: ops work on whole strings, element by element.  Functions that
split a string into a varying number of parts return a ragged tensor and are in `extras.splitting`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.convert import convert
from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.shape import as_integer, as_integers, flag
from autodiff_lab.engine.strings import STRING
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.errors import DtypeMismatch, InvalidArgumentError, ShapeMismatch
from autodiff_lab.extras import patterns
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.structured import structured

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike

_NONE = "none: gradients stop at strings"


def _each(function: Callable[..., Any], *arrays: Any, dtype: Any = STRING) -> Any:
    """Apply a Python function to every element, with broadcasting."""
    spread = np.broadcast_arrays(*[np.asarray(array) for array in arrays])
    made = np.empty(spread[0].shape, dtype)
    made.reshape(-1)[:] = [function(*items) for items in zip(*(a.ravel().tolist() for a in spread), strict=True)]
    return made[()]


def text_tensor(value: Any, what: str) -> Tensor:
    """Return a string tensor, or raise an error that names the op."""
    tensor = convert(value)
    if tensor._held.dtype != STRING:
        raise DtypeMismatch(f"{what}: expected strings, got {tensor.dtype.name}. Try lab.strings.as_string(x).")
    return tensor


# --- conversion ------------------------------------------------------------------------------------------------------

def _as_string(x: Any, pattern: str) -> Any:
    blanks = pattern.replace("%0", "%")  # nan and inf are not padded with zeros

    def written(value: Any) -> str:
        return (pattern if math.isfinite(value) else blanks) % value

    def text(value: Any) -> bytes:
        if isinstance(value, bool):
            return str(value).lower().encode()
        if isinstance(value, complex):
            return f"({written(value.real)},{written(value.imag)})".encode()
        return written(value).encode()
    if x.dtype.kind == "V":  # bfloat16, whose scalars Python does not format
        x = np.asarray(x).astype(np.float32)
    return _each(text, x)


write = general(
    "as_string", _as_string, None, symbol="text", latex=r"\operatorname{{text}}({0})",
    sentence="writes {0} as text",
    registered="AsString", doc="The kernel-level writing of numbers; `lab.strings.as_string` is the public function.")


@structured(by_element=True)
def as_string(input: TensorLike, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1,
              fill: str = "", name: str | None = None) -> Tensor:
    x = convert(input)
    kind = x._held.dtype.kind
    if kind == "O":
        return x
    scientific, shortest = flag(scientific, "as_string: scientific"), flag(shortest, "as_string: shortest")
    if scientific and shortest:
        raise InvalidArgumentError("as_string: scientific and shortest cannot be combined. Try one of them.")
    precision, width = as_integer(precision, "as_string: precision"), as_integer(width, "as_string: width")
    if not isinstance(fill, str) or len(fill) > 1 or fill not in " +-0#":
        raise InvalidArgumentError(f"as_string: fill must be ' ', '+', '-', '0' or '#', got {fill!r}.")
    if kind in "iub":
        if precision >= 0 or scientific or shortest:
            raise InvalidArgumentError(
                f"as_string: precision, scientific and shortest need a floating dtype, got {x.dtype.name}."
            )
        letter = "d"
    else:
        letter = "e" if scientific else "g" if shortest else "f"
    size = (str(width) if width >= 0 else "") + (f".{precision}" if precision >= 0 else "")
    return write(x, pattern=f"%{fill}{size}{letter}", name=name)


def _to_number(x: Any, dtype: str) -> Any:
    wanted = as_dtype(dtype).dtype

    def number(text: bytes) -> Any:
        try:
            if b"_" in text or not text.isascii():
                raise ValueError
            if wanted.kind in "iu":
                return int(text)
            return float.fromhex(text.decode()) if b"x" in text.lower() else float(text)
        except ValueError:
            raise InvalidArgumentError(
                f"to_number: cannot read {patterns.decoded(text)!r} as {as_dtype(dtype).name}.") from None
    try:
        return _each(number, x, dtype=wanted)
    except OverflowError:
        raise InvalidArgumentError(
            f"to_number: a number is out of range for {dtype}. Try out_type=lab.int64."
        ) from None


read = general(
    "to_number", _to_number, None, symbol="number", latex=r"\operatorname{{number}}({0})",
    sentence="reads a number from {0}", registered="StringToNumber",
    doc="The kernel-level reading of numbers; `lab.strings.to_number` is the public function.")


@structured(by_element=True)
def to_number(input: TensorLike, out_type: DTypeLike = "float32", name: str | None = None) -> Tensor:
    wanted = as_dtype(out_type)
    if not (wanted.is_floating or wanted.is_integer):
        raise DtypeMismatch(f"to_number: out_type must be a float or integer dtype, got {wanted.name}.")
    return read(text_tensor(input, "to_number"), dtype=wanted.name, name=name)


# --- joining ---------------------------------------------------------------------------------------------------------

def _join(*xs: Any, separator: str) -> Any:
    between = separator.encode()
    return _each(lambda *parts: between.join(parts), *xs)


join_elements = general(
    "string_join", _join, None, shared=True, symbol="join", latex=r"{0} \frown {1}", sentence="joins strings",
    registered="StringJoin", doc="The kernel-level join; `lab.strings.join` is the public function.")


@structured()
def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise InvalidArgumentError(
            "join: expected a list of string tensors. Try lab.strings.reduce_join for one tensor."
        )
    texts = [text_tensor(x, "join") for x in inputs]
    if len({t._held.shape for t in texts if t._held.ndim}) > 1:
        shapes = ", ".join(str(t._held.shape) for t in texts)
        raise ShapeMismatch(f"join: expected scalars or tensors of equal shape, got shapes {shapes}.")
    return join_elements(*texts, separator=separator, name=name)


def _reduce_join(x: Any, axes: tuple[int, ...], keepdims: bool, separator: str) -> Any:
    between, rank = separator.encode(), np.ndim(x)
    x = np.asarray(x)
    for axis in axes:
        rows = np.moveaxis(x, axis, -1)
        joined = np.empty(rows.shape[:-1], STRING)
        flat = rows.reshape(joined.size, rows.shape[-1]).tolist()
        joined.reshape(-1)[:] = [between.join(row) for row in flat]
        x = np.expand_dims(joined, axis)
    return x[()] if keepdims else np.squeeze(x, tuple(a % rank for a in axes))[()] if axes else x[()]


join_over = general(
    "reduce_join", _reduce_join, None, symbol="join", latex=r"\operatorname{{join}} {0}",
    sentence="joins the elements of {0}", registered="ReduceJoin",
    doc="The kernel-level join over negative axes; `lab.strings.reduce_join` is the public function.")


@structured()
def reduce_join(inputs: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False,
                separator: str = "",
                name: str | None = None) -> Tensor:
    x = text_tensor(inputs, "reduce_join")
    rank = x._held.ndim
    axes = range(rank - 1, -1, -1) if axis is None else as_integers(axis, "reduce_join: axis")
    if any(not -rank <= a < rank for a in axes):
        raise InvalidArgumentError(f"reduce_join: axis {axis} is out of bounds for a tensor of rank {rank}.")
    axes = tuple(int(a) % rank - rank for a in axes)
    return join_over(x, axes=axes, keepdims=keepdims, separator=separator, name=name)


# --- one string at a time --------------------------------------------------------------------------------------------

def _unit(unit: str, what: str) -> bool:
    if not isinstance(unit, str) or unit not in ("BYTE", "UTF8_CHAR"):
        raise InvalidArgumentError(f"{what}: unit must be 'BYTE' or 'UTF8_CHAR', got {unit!r}.")
    return unit == "UTF8_CHAR"


def _starts(text: bytes) -> list[int]:
    """Return where characters start: at the bytes that do not continue one, whether or not the text is UTF-8."""
    return [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80]


measure = general(
    "string_length", lambda x, characters: _each(
        (lambda v: len(_starts(v))) if characters else len, x, dtype=np.int32), None,
    symbol="length", latex=r"\left| {0} \right|", sentence="counts the characters of {0}", registered="StringLength",
    doc="The kernel-level length; `lab.strings.length` is the public function.")


@structured(by_element=True)
def length(input: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    return measure(text_tensor(input, "length"), characters=_unit(unit, "length"), name=name)


def _case(which: str) -> Callable[..., Any]:
    def kernel(x: Any, characters: bool) -> Any:
        if characters:
            return _each(lambda v: getattr(v.decode("utf-8", "replace"), which)().encode(), x)
        return _each(lambda v: getattr(v, which)(), x)
    return kernel


lower_case = general(
    "string_lower", _case("lower"), None, symbol="lower", latex=r"\operatorname{{lower}}({0})",
    sentence="converts {0} to lower case", registered="StringLower",
    doc="The kernel-level change of case; `lab.strings.lower` is the public function.")
upper_case = general(
    "string_upper", _case("upper"), None, symbol="upper", latex=r"\operatorname{{upper}}({0})",
    sentence="converts {0} to upper case", registered="StringUpper",
    doc="The kernel-level change of case; `lab.strings.upper` is the public function.")


def _encoding(encoding: str, what: str) -> bool:
    if str(encoding).lower() not in ("", "utf-8"):
        raise InvalidArgumentError(f"{what}: encoding must be '' (for ASCII) or 'utf-8', got {encoding!r}.")
    return bool(encoding)


@structured(by_element=True)
def lower(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    return lower_case(text_tensor(input, "lower"), characters=_encoding(encoding, "lower"), name=name)


@structured(by_element=True)
def upper(input: TensorLike, encoding: str = "", name: str | None = None) -> Tensor:
    return upper_case(text_tensor(input, "upper"), characters=_encoding(encoding, "upper"), name=name)


strip_ends = general(
    "string_strip", lambda x: _each(bytes.strip, x), None, symbol="strip", latex=r"\operatorname{{strip}}({0})",
    sentence="removes whitespace from both ends of {0}", registered="StringStrip",
    doc="The kernel-level strip; `lab.strings.strip` is the public function.")


@structured(by_element=True)
def strip(input: TensorLike, name: str | None = None) -> Tensor:
    return strip_ends(text_tensor(input, "strip"), name=name)


def _substr(x: Any, start: Any, size: Any, characters: bool) -> Any:
    def part(value: bytes, first: int, count: int) -> bytes:
        edges = [*_starts(value), len(value)] if characters else None
        length = len(value) if edges is None else len(edges) - 1
        if not -length <= first <= length:
            raise InvalidArgumentError(f"substr: position {first} is out of range for {patterns.decoded(value)!r}.")
        begin = first + length if first < 0 else first
        end = length if count < 0 and edges is None else min(begin + max(count, 0), length)  # as TensorFlow does
        return value[begin:end] if edges is None else value[edges[begin]:edges[end]]
    return _each(part, x, start, size)


part_of = general(
    "substr", _substr, None, shared=True, symbol="part", latex=r"{0}[{1}]", sentence="takes part of the text {0}",
    registered="Substr", doc="The kernel-level substring; `lab.strings.substr` is the public function.")


@structured(3)
def substr(input: TensorLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None) -> Tensor:
    return part_of(text_tensor(input, "substr"), convert(pos), convert(len),
                   characters=_unit(unit, "substr"), name=name)


replace_pattern = general(
    "regex_replace", lambda x, pattern, rewrite, everywhere: _each(
        lambda v: patterns.replaced(v, pattern, rewrite, everywhere), x), None,
    symbol="replace", latex=r"\operatorname{{replace}}({0})", sentence="replaces parts of the text {0}",
    registered="RegexReplace", doc="The kernel-level replacement; `lab.strings.regex_replace` is the public function.")
match_pattern = general(
    "regex_full_match", lambda x, pattern: _each(lambda v: patterns.matches(v, pattern), x, dtype=np.bool_), None,
    symbol="match", latex=r"\operatorname{{match}}({0})", sentence="tests whether the text {0} matches a pattern",
    registered="RegexFullMatch", doc="The kernel-level match; `lab.strings.regex_full_match` is the public function.")


def _one_text(value: Any, what: str) -> str:
    """Return a pattern or a rewrite: text, bytes or a string tensor of one element."""
    if isinstance(value, str):
        return value
    array = np.asarray(text_tensor(value, what)._array)
    if array.ndim:
        raise InvalidArgumentError(f"{what}: expected a single string, got shape {array.shape}.")
    return patterns.decoded(array.item())


@structured(by_element=True)
def regex_replace(input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True,
                  name: str | None = None) -> Tensor:
    found, new = _one_text(pattern, "regex_replace"), _one_text(rewrite, "regex_replace")
    patterns.rewrite_parts(new, patterns.compiled(found, "regex_replace").groups, "regex_replace")
    return replace_pattern(text_tensor(input, "regex_replace"), pattern=found, rewrite=new,
                           everywhere=flag(replace_global, "regex_replace: replace_global"), name=name)


@structured(by_element=True)
def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    found = _one_text(pattern, "regex_full_match")
    patterns.compiled(found, "regex_full_match")
    return match_pattern(text_tensor(input, "regex_full_match"), pattern=found, name=name)


_SAME = "input (*s) -> (*s)"
for _function, _words, _shapes, _dtypes, _example in (
    (as_string, "Convert numbers to text: six digits after the point, or as `precision`, `scientific`, `shortest` say.",
     _SAME, "any to string", '>>> print(lab.strings.as_string([3.14159, 2.0], precision=2))\n'
     "Tensor([b'3.14' b'2.00'], shape=(2,), dtype=string)"),
    (to_number, "Convert text to numbers.", _SAME, "string to a float or integer dtype",
     '>>> print(lab.strings.to_number(["1.5", "2e3"]))\nTensor([1.5e+00 2.0e+03], shape=(2,), dtype=float32)'),
    (join, "Join strings element by element, with a separator between them.", "inputs, a list of (*s) or () -> (*s)",
     "string", '>>> print(lab.strings.join([["a", "b"], "c"], separator="-"))\n'
     "Tensor([b'a-c' b'b-c'], shape=(2,), dtype=string)"),
    (reduce_join, "Join the strings of a tensor along axes, one after another in the order given.",
     "inputs (*s), axis of s -> s without the axes", "string",
     '>>> print(lab.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1))\n'
     "Tensor([b'ab' b'cd'], shape=(2,), dtype=string)"),
    (length, "Count the bytes of each string, or the characters with unit='UTF8_CHAR'; int32.", _SAME,
     "string to int32", '>>> print(lab.strings.length(["a", "été"]), lab.strings.length("été", unit="UTF8_CHAR"))\n'
     "Tensor([1 5], shape=(2,), dtype=int32) Tensor(3, shape=(), dtype=int32)"),
    (lower, "Convert strings to lower case: ASCII only, or all scripts with encoding='utf-8'.", _SAME, "string",
     ">>> print(lab.strings.lower(\"ABC\"))\nTensor(b'abc', shape=(), dtype=string)"),
    (upper, "Convert strings to upper case: ASCII only, or all scripts with encoding='utf-8'.", _SAME, "string",
     ">>> print(lab.strings.upper(\"abc\"))\nTensor(b'ABC', shape=(), dtype=string)"),
    (strip, "Remove whitespace from both ends of strings.", _SAME, "string",
     ">>> print(lab.strings.strip(\"  abc \"))\nTensor(b'abc', shape=(), dtype=string)"),
    (substr, "Return substrings: `len` bytes or characters from `pos`, which counts from the end if negative.",
     "input, pos, len broadcast", "string; integers for pos and len",
     ">>> print(lab.strings.substr([\"hello\", \"world\"], 1, 3))\n"
     "Tensor([b'ell' b'orl'], shape=(2,), dtype=string)"),
    (regex_replace, "Replace the parts of strings that match a regular expression.", _SAME, "string",
     ">>> print(lab.strings.regex_replace(\"a1b22\", \"[0-9]+\", \"#\"))\nTensor(b'a#b#', shape=(), dtype=string)"),
    (regex_full_match, "Test whether entire strings match a regular expression.", _SAME, "string to bool",
     ">>> print(lab.strings.regex_full_match([\"ab\", \"a1\"], \"[a-z]+\"))\n"
     "Tensor([ True False], shape=(2,), dtype=bool)"),
):
    _function.__doc__ = doc(_words, shapes=_shapes, dtypes=_dtypes, derivative=_NONE, domain="all strings",
                            example=_example, raises=("argument", "convert"))
