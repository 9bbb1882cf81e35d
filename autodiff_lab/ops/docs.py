"""The standard form of an op's docstring, built from its facts so that all of them read alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_RAISES = {
    "floating": ("DtypeMismatch", "If x is not a floating-point tensor."),
    "broadcast": ("ShapeMismatch", "If the shapes do not broadcast."),
    "dtypes": ("DtypeMismatch", "If the dtypes differ; a Python number adopts the tensor's."),
    "shape": ("ShapeMismatch", "If the shapes do not fit."),
    "argument": ("InvalidArgumentError", "If an argument does not fit the input."),
    "real": ("DtypeMismatch", "If the input is not of real numbers."),
    "convert": ("ConversionError", "If an input is not numeric or not rectangular."),
}


def doc(summary: str, *, shapes: str, derivative: str, example: str, dtypes: str = "floating",
        domain: str = "all real numbers", raises: tuple[str, ...] = ("convert",), notes: str = "") -> str:
    """Return a docstring with shapes, dtypes, domain, derivative, errors and an example that runs.

    `example` holds lines of input and output as a console session; the import is added.
    """
    lines = [summary, "", f"Shapes: {shapes}.  Dtypes: {dtypes}.", f"Domain: {domain}.  Derivative: {derivative}."]
    if notes:
        lines += ["", notes]
    lines += ["", "Raises", "------"]
    for key in raises:
        error, why = _RAISES[key]
        lines += [error, f"    {why}"]
    lines += ["", "Examples", "--------", ">>> import autodiff_lab as lab"]
    lines += [line.strip() if line.lstrip().startswith((">>>", "...")) else line for line in
              example.strip("\n").splitlines()]
    return "\n".join(lines) + "\n"


def document(table: Iterable[tuple[Any, ...]], columns: str = "summary shapes derivative example", **same: Any) -> None:
    """Give functions their docstrings: a row is a function and its cells, `same` what all rows have in common."""
    for function, *cells in table:
        function.__doc__ = doc(**dict(zip(columns.split(), cells, strict=True)), **same)


def of_one(summary: str, derivative: str, example: str, domain: str = "all real numbers", **more: object) -> str:
    """Return the docstring of an elementwise op of one input."""
    settings: dict[str, object] = {"raises": ("floating", "convert"), **more}
    return doc(summary, shapes="x (*s) -> (*s)", derivative=derivative, example=example, domain=domain,
               **settings)  # type: ignore[arg-type]


def of_two(summary: str, derivative: str, example: str, domain: str = "all real numbers", **more: object) -> str:
    """Return the docstring of an elementwise op of two inputs."""
    settings: dict[str, object] = {"dtypes": "any number, both the same", "raises": ("broadcast", "dtypes"), **more}
    return doc(summary, shapes="x (*s), y (*t) -> broadcast of s and t", derivative=derivative, example=example,
               domain=domain, **settings)  # type: ignore[arg-type]
