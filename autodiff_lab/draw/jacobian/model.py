"""What is drawn: a Jacobian with names for its rows and columns, and the product of small matrices that avoids it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from autodiff_lab.recording.numbers import counted, short


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """Small matrices whose product is the cotangent times the Jacobian.

    Attributes
    ----------
    names : tuple of str
        Of the left factor, the right factor and the result.
    left, right : numpy.ndarray
        Shapes (p, k) and (k, q).
    cotangent_first : bool
        Whether the left factor is the cotangent and the right one is fixed; otherwise the other way round.
    """

    names: tuple[str, str, str]
    left: np.ndarray
    right: np.ndarray
    cotangent_first: bool = True

    @property
    def result(self) -> np.ndarray:
        """The product of both, of the shape of the input."""
        return self.left @ self.right

    def fixed_at(self, row: tuple[int, ...], column: tuple[int, ...]) -> tuple[int, int] | None:
        """Return where the fixed factor holds the derivative of an output for an input element; None if it is 0.

        Examples
        --------
        >>> product = Product(("G", "Bᵀ", "Ā"), np.ones((3, 2)), np.ones((2, 4)))
        >>> product.fixed_at((0, 1), (0, 3)), product.fixed_at((0, 1), (2, 3))
        ((1, 3), None)
        """
        if self.cotangent_first:
            return (row[1], column[1]) if row[0] == column[0] else None
        return (column[0], row[0]) if row[1] == column[1] else None


@dataclass(frozen=True, eq=False)
class JacobianTable:
    """A Jacobian as a matrix: a row for each element of the output, a column for each element of the input.

    Attributes
    ----------
    array : numpy.ndarray
        Shape (*output, *input), as `tape.jacobian` gives it.
    output_shape, input_shape : tuple of int
        How it splits.
    output, input : str
        Names of both.
    product : Product, optional
        The product that avoids the table.

    Examples
    --------
    >>> table = JacobianTable(np.eye(2), (2,), (2,), "y", "x")
    >>> table.sentence(0, 1)
    'row 1 of 2, column 2 of 2: y[0] does not use x[1], so the derivative is 0'
    """

    array: np.ndarray
    output_shape: tuple[int, ...]
    input_shape: tuple[int, ...]
    output: str = "y"
    input: str = "x"
    product: Product | None = None

    @cached_property
    def matrix(self) -> np.ndarray:
        """The same numbers as rows and columns, shape (outputs, inputs)."""
        return np.asarray(self.array, dtype=float).reshape(math.prod(self.output_shape), math.prod(self.input_shape))

    @cached_property
    def rows(self) -> list[tuple[int, ...]]:
        """The index of each output element, in order."""
        return list(np.ndindex(*self.output_shape))

    @cached_property
    def columns(self) -> list[tuple[int, ...]]:
        """The index of each input element, in order."""
        return list(np.ndindex(*self.input_shape))

    @property
    def zeros(self) -> int:
        """How many numbers of the table are 0."""
        return int((self.matrix == 0).sum())

    def row_name(self, row: int) -> str:
        """Return the name of an output element, for example ``C[0,1]``."""
        return _named(self.output, self.rows[row])

    def column_name(self, column: int) -> str:
        """Return the name of an input element."""
        return _named(self.input, self.columns[column])

    def fixed_at(self, row: int, column: int) -> tuple[int, int] | None:
        """Return where the fixed factor of the product holds this number, if it does."""
        return None if self.product is None else self.product.fixed_at(self.rows[row], self.columns[column])

    def sentence(self, row: int, column: int) -> str:
        """Say what one number of the table means."""
        height, width = self.matrix.shape
        value = self.matrix[row, column]
        where = f"row {row + 1} of {height}, column {column + 1} of {width}: "
        output, source = self.row_name(row), self.column_name(column)
        place = self.fixed_at(row, column)
        if value == 0 and place is None:
            return f"{where}{output} does not use {source}, so the derivative is 0"
        said = f"{where}{output} grows by {short(value, minus='−')} for each unit of {source}"
        if place is None or self.product is None:
            return said
        return f"{said}, which is {_named(self.product.names[int(self.product.cotangent_first)], place)}"

    def account(self) -> str:
        """Describe the table, its product and the cost of each way in a few lines.

        Examples
        --------
        >>> print(JacobianTable(np.eye(2), (2,), (2,), "y", "x").account())
        Jacobian of y (2) with respect to x (2): 2 × 2 = 4 numbers, 2 of them 0
          the whole table, a column for each forward pass: 2 passes
          the whole table, a row for each backward pass: 2 passes
          one gradient: 1 backward pass, 2 numbers
        """
        height, width = self.matrix.shape
        of = f"{self.output} ({_by(self.output_shape)}) with respect to {self.input} ({_by(self.input_shape)})"
        lines = [
            f"Jacobian of {of}: {height} × {width} = {counted(self.matrix.size, 'number')}, {self.zeros} of them 0",
            f"  the whole table, a column for each forward pass: {counted(width, 'pass')}",
            f"  the whole table, a row for each backward pass: {counted(height, 'pass')}",
            f"  one gradient: 1 backward pass, {counted(width, 'number')}",
        ]
        if self.product is not None:
            left, right, result = self.product.names
            lines.append(
                f"  the product that avoids it: {left} ({_by(self.product.left.shape)}) · "
                f"{right} ({_by(self.product.right.shape)}) = {result} ({_by(self.product.result.shape)})"
            )
        return "\n".join(lines)


def _named(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{','.join(map(str, index))}]" if index else name


def _by(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) if shape else "one number"
