"""The file of a checkpoint: NumPy's ``.npz`` with one array for each path, and an index as JSON; no pickle.

A file is checked before it is trusted. What is in it cannot be larger than the file itself, as nothing is compressed,
and every array has its checksum.
"""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from autodiff_lab.errors import ConversionError
from autodiff_lab.layers.saving import Damaged, header

FORMAT = "autodiff_lab checkpoint"
VERSION = 1
INDEX = "checkpoint.json"


class Content(NamedTuple):
    """What a file holds: arrays by path, and the paths of objects that are reached by other paths as well."""

    arrays: dict[str, Any]
    also: dict[str, str]

    def key(self, path: str) -> str:
        """Return the path under which the value of an object at a path was written."""
        for other in sorted(self.also, key=len, reverse=True):
            if path == other or path.startswith(other + "/"):
                return self.also[other] + path[len(other) :]
        return path


def file_of(path: str | Path) -> Path:
    """Return the file of a checkpoint that is named with or without its suffix."""
    text = str(path)
    return Path(text if text.endswith(".npz") else text + ".npz")


def write(path: str | Path, content: Content) -> None:
    """Write a file, completely or not at all."""
    target = file_of(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".part")
    index = {"format": FORMAT, "version": VERSION, "also": content.also}
    with zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr(INDEX, json.dumps(index, indent=1))
        for name, array in content.arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)  # pyright: ignore[reportArgumentType]
    temporary.replace(target)


def read(path: str | Path) -> Content:
    """Read a file that `write` wrote.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ConversionError
        If it is damaged, or was not written by `write`.
    """
    file = file_of(path)
    size = file.stat().st_size
    try:
        with zipfile.ZipFile(file) as archive:
            return _content(archive, size)
    except (
        Damaged, KeyError, TypeError, ValueError, EOFError, OSError, RuntimeError, RecursionError, zipfile.BadZipFile,
        zlib.error,
    ) as error:  # fmt: skip
        raise ConversionError(
            f"restore: {file} is damaged, or is not a checkpoint of this package ({error}). Nothing was changed."
        ) from None


def _content(archive: zipfile.ZipFile, size: int) -> Content:
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise Damaged("a name occurs twice")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise Damaged("something in it is compressed")
    if sum(member.file_size for member in members) > size:
        raise Damaged("its parts claim to be larger than the file")
    index = json.loads(archive.read(INDEX))
    if not isinstance(index, dict) or index.get("format") != FORMAT or index.get("version") != VERSION:
        raise Damaged("it has another format or version")
    also = index.get("also")
    if not isinstance(also, dict) or not all(isinstance(name, str) for name in also.values()):
        raise Damaged("its index is not one of a checkpoint")
    return Content({m.filename.removesuffix(".npy"): _array(archive, m) for m in members if m.filename != INDEX}, also)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    with archive.open(member) as stream:
        shape, by_columns, dtype = header(stream, member.filename)
        size = math.prod(shape) * dtype.itemsize
        data = stream.read()  # to the end, which verifies the checksum
    if len(data) != size:
        raise Damaged(f"{member.filename!r} does not have the {size} bytes that its shape requires")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if by_columns else "C").copy(order="C")


def fitted(array: Any, like: Any) -> Any:
    """Return an array read from a file in the dtype of what it was: NumPy's format does not know bfloat16."""
    return array.view(like.dtype) if like.dtype.kind == "V" and array.dtype == np.dtype((np.void, 2)) else array


def list_variables(path: str | Path) -> list[tuple[str, list[int]]]:
    """Return the path and the shape of every array in a checkpoint.

    Parameters
    ----------
    path : str or Path
        As `Checkpoint.save` or `Checkpoint.write` returned it.

    Raises
    ------
    FileNotFoundError
        If there is no such checkpoint.
    ConversionError
        If the file is damaged, or is not a checkpoint.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "state"
    >>> _ = lab.train.Checkpoint(w=lab.Variable([1.0, 2.0])).write(path)
    >>> lab.train.list_variables(path)
    [('w', [2])]
    """
    return [(name, list(array.shape)) for name, array in read(path).arrays.items()]


def written(values: Mapping[str, Any], also: dict[str, str]) -> Content:
    """Return the content for values; arrays of GPUs are copied.

    Raises
    ------
    ConversionError
        If a value is not made of numbers.
    """
    for name, array in values.items():
        if array.dtype.kind == "O":
            raise ConversionError(f"Checkpoint: {name} holds strings, and only numbers can be written.")
    return Content(dict(values), also)
