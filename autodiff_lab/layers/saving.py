"""Variables to and from ``.npz`` files: plain arrays, no pickle, all or nothing.

A file is checked before it is trusted: the header of each array is compared with its variable, so that what
a damaged header claims is never allocated.
"""

from __future__ import annotations

import io
import math
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ConversionError, ShapeMismatch

_LONGEST_HEADER = 4096
"""Bytes; the header of an array with 64 axes has fewer than 1000."""


HDF5 = (".h5", ".hdf5")
"""Suffixes of a format that is not written here."""


def warn_of_hdf5(method: str, path: Path, format: str, suffix: str) -> None:
    """Warn that a file whose name says HDF5 is written in another format."""
    if path.suffix in HDF5:
        warnings.warn(
            f"{method}: {path.name} is {format}, not HDF5: this package reads it, h5py does not. Try "
            f"{path.name.partition('.')[0] + suffix!r}.",
            stacklevel=4,
        )


class Damaged(Exception):
    """A fault of a file, before its path is known."""


def save_variables(variables: Sequence[Variable], path: str | Path) -> None:
    """Write variables by position and name; the file is written completely or not at all."""
    target = Path(path)
    warn_of_hdf5("save_weights", target, "a NumPy .npz file", ".npz")
    temporary = target.with_name(target.name + ".part")
    arrays = _arrays(variables)
    with temporary.open("wb") as file:
        np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]
    temporary.replace(target)


def packed(variables: Sequence[Variable]) -> bytes:
    """Return the content of the file that `save_variables` writes."""
    memory = io.BytesIO()
    np.savez(memory, **_arrays(variables))  # pyright: ignore[reportArgumentType]
    return memory.getvalue()


def _arrays(variables: Sequence[Variable]) -> dict[str, Any]:
    for v in variables:
        if v._held.dtype.kind == "O":
            raise ConversionError(f"save_weights: {v.name} holds strings, and only numbers can be written.")
    return {f"{i:04d} {v.name}": np.asarray(v._array) for i, v in enumerate(variables)}


def load_variables(variables: Sequence[Variable], path: str | Path) -> None:
    """Read variables by position; shapes and dtypes are checked before the first is changed."""
    with Path(path).open("rb") as stream:
        unpack(variables, stream, path)


def unpack(variables: Sequence[Variable], stream: Any, path: str | Path) -> None:
    """Read variables from the content of a file that `save_variables` wrote; `path` is for messages."""
    try:
        arrays = _read(stream, variables, path)
    except (Damaged, ValueError, EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, ShapeMismatch):
            raise
        if is_hdf5(stream):
            raise of_hdf5("load_weights", path) from None
        raise ConversionError(
            f"load_weights: {path} is damaged, or is not a file that save_weights wrote ({error}). Nothing was changed."
        ) from None
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def of_hdf5(method: str, path: str | Path) -> ConversionError:
    """Return the error for a file of Keras."""
    return ConversionError(
        f"{method}: {path} is an HDF5 file, as Keras writes them, which this package does not read. Try h5py to read "
        "its arrays, and model.set_weights(arrays). Nothing was changed."
    )


def is_hdf5(stream: Any) -> bool:
    """Return whether a file begins as HDF5 does."""
    stream.seek(0)
    return stream.read(4) == b"\x89HDF"


def _read(stream: Any, variables: Sequence[Variable], path: str | Path) -> list[Any]:
    """Return the arrays for the variables, in their order."""
    with zipfile.ZipFile(stream) as file:
        members = sorted(file.infolist(), key=lambda member: member.filename)
        if len(members) != len(variables):
            raise ShapeMismatch(
                f"load_weights: the file {path} has {len(members)} variables, the module {len(variables)}."
            )
        return [_array(file, member, v) for member, v in zip(members, variables, strict=True)]


def _array(file: zipfile.ZipFile, member: zipfile.ZipInfo, variable: Variable) -> Any:
    """Return one array, which must fit its variable."""
    name = member.filename.removesuffix(".npy")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Damaged(f"{name!r} is compressed by method {member.compress_type}")
    own = variable._array
    with file.open(member) as stream:
        shape, by_columns, dtype = header(stream, name)
        if own.dtype.kind == "V" and dtype == np.dtype((np.void, own.dtype.itemsize)):
            dtype = own.dtype  # bfloat16, which NumPy's format does not know
        if shape != own.shape or dtype != own.dtype:
            raise ShapeMismatch(
                f"load_weights: {name.partition(' ')[2] or name} is {dtype}{list(shape)} in the file, but "
                f"{variable.name} is {own.dtype}{list(own.shape)}. Nothing was changed."
            )
        size = math.prod(shape) * dtype.itemsize
        data = stream.read(size)
        if len(data) != size or stream.read(1):  # reading to the end verifies the checksum
            raise Damaged(f"{name!r} does not have the {size} bytes that its shape requires")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if by_columns else "C").copy(order="C")


def header(stream: Any, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and dtype of an array in NumPy's format."""
    start = stream.read(8)
    version = tuple(start[6:8])
    if start[:6] != b"\x93NUMPY" or version not in ((1, 0), (2, 0), (3, 0)):
        raise Damaged(f"{name!r} is not an array")
    width = 2 if version == (1, 0) else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > _LONGEST_HEADER:
        raise Damaged(f"the header of {name!r} claims {length} bytes")
    text = stream.read(length)
    try:
        told = np.lib.format.read_array_header_1_0(io.BytesIO(len(text).to_bytes(2, "little") + text))
    except Exception as error:  # noqa: BLE001 - the text is read by Python's own parser, which may raise anything
        raise Damaged(f"the header of {name!r} cannot be read: {type(error).__name__}") from None
    shape, by_columns, dtype = told
    if any(n < 0 for n in shape) or dtype.hasobject:
        raise Damaged(f"the header of {name!r} claims shape {shape} and dtype {dtype}")
    return shape, by_columns, dtype
