"""Variables to and from ``.npz`` files: plain arrays, no pickle, all or nothing."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import ConversionError, ShapeMismatch


def save_variables(variables: Sequence[Variable], path: str | Path) -> None:
    """Write variables by position and name; the file appears whole or not at all."""
    target = Path(path)
    temporary = target.with_name(target.name + ".part")
    arrays = {f"{i:04d} {v.name}": np.asarray(v._array) for i, v in enumerate(variables)}
    with temporary.open("wb") as file:
        np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]
    temporary.replace(target)


def load_variables(variables: Sequence[Variable], path: str | Path) -> None:
    """Read variables by position; shapes and dtypes are checked before the first is changed."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            names = sorted(file.files)
            arrays = [file[key] for key in names]
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, EOFError, OSError, AttributeError, zipfile.BadZipFile) as error:
        raise ConversionError(
            f"load_weights: {path} is damaged, or is no file that save_weights wrote ({error}). Nothing was changed."
        ) from None
    if len(arrays) != len(variables):
        raise ShapeMismatch(f"load_weights: the file {path} has {len(arrays)} variables, the module {len(variables)}.")
    for variable, array, name in zip(variables, arrays, names, strict=True):
        if array.shape != variable._array.shape or array.dtype != variable._array.dtype:
            raise ShapeMismatch(
                f"load_weights: {name.split(' ', 1)[1]} is {array.dtype}{list(array.shape)} in the file, but "
                f"{variable.name} is {variable._array.dtype}{list(variable._array.shape)}. Nothing was changed."
            )
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)
