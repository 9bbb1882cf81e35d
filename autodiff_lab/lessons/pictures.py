"""Pictures for single lessons: a Jacobian beside its product, tapes as frames, derivatives one below the other.

The drawing is done in `autodiff_lab.draw`; here the tape computes what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import autodiff_lab as lab
from autodiff_lab.draw import frames
from autodiff_lab.draw.curves import account as curves_account
from autodiff_lab.draw.curves import svg as curves_svg
from autodiff_lab.draw.jacobian import JacobianTable, Product
from autodiff_lab.draw.lines import cut
from autodiff_lab.errors import ConversionError, MissingPackage, ShapeMismatch
from autodiff_lab.exploring.curves import curves_of

if TYPE_CHECKING:
    from autodiff_lab.widgets.jacobian_map import JacobianMap


@dataclass(frozen=True, repr=False)
class Picture:
    """A static picture with its account in words.

    Attributes
    ----------
    account : str
        What it shows, as text; the same in every run.
    svg : str
        One ``<svg>`` element.

    Examples
    --------
    >>> Picture("a line", "<svg/>")
    a line
    """

    account: str
    svg: str

    def __repr__(self) -> str:
        return self.account

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the picture, and the account where there are none."""
        return {"text/plain": self.account, "image/svg+xml": self.svg}


def jacobian_map(function: Callable[[Any], Any], at: Any, output: str = "y", source: str = "x") -> JacobianMap:
    """Open the Jacobian of a function as a map to walk with the arrow keys.

    Parameters
    ----------
    function : callable
        Of one Tensor.
    at : array_like
        Where; shape (*s), and the function's value has shape (*t).
    output, source : str
        What value and argument are called.

    Raises
    ------
    ConversionError
        If the function returns something that is not a tensor, as NumPy's functions do.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.jacobian_map(lambda x: x * x, [1.0, 2.0]).account())
    Jacobian of y (2) with respect to x (2): 2 × 2 = 4 numbers, 2 of them 0
      the whole table, a column for each forward pass: 2 passes
      the whole table, a row for each backward pass: 2 passes
      one gradient: 1 backward pass, 2 numbers
      row 1 of 2, column 1 of 2: y[0] grows by 2 for each unit of x[0]
    """
    return _opened(_table(function, at, output, source, None))


def _opened(table: JacobianTable) -> JacobianMap:
    try:
        from autodiff_lab.widgets.jacobian_map import JacobianMap
    except ImportError as missing:
        raise MissingPackage.of("This map", "anywidget", "lab", ", or print lab.jacobian(function, x)") from missing
    return JacobianMap(table)


def matmul_map(a: Any, b: Any, cotangent: Any, by: str = "A") -> JacobianMap:
    """Open the Jacobian of a matrix product with respect to one factor, beside the product a backward pass computes.

    Parameters
    ----------
    a, b : array_like
        Shapes (p, q) and (q, r).
    cotangent : array_like
        Shape (p, r): what comes in from the right.
    by : str
        ``"A"`` or ``"B"``.

    Raises
    ------
    ShapeMismatch
        If the shapes do not fit.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> shown = lessons.matmul_map(np.ones((3, 4)), np.ones((4, 2)), np.ones((3, 2)))
    >>> print(shown.account().splitlines()[-2].strip())
    the product that avoids it: G (3×2) · Bᵀ (2×4) = Ā (3×4)
    """
    left, right, g = (np.asarray(each, dtype=float) for each in (a, b, cotangent))
    if g.shape != (left.shape[0], right.shape[1]):
        raise ShapeMismatch(f"A·B has shape {(left.shape[0], right.shape[1])}, and the cotangent {g.shape}.")
    if by == "A":
        fixed = lab.constant(right)
        product = Product(("G", "Bᵀ", "Ā"), g, right.T)
        return _opened(_table(lambda x: lab.matmul(x, fixed), left, "C", "A", product))
    fixed = lab.constant(left)
    product = Product(("Aᵀ", "G", "B̄"), left.T, g, cotangent_first=False)
    return _opened(_table(lambda x: lab.matmul(fixed, x), right, "C", "B", product))


def _table(function: Callable[[Any], Any], at: Any, output: str, source: str, product: Product | None) -> JacobianTable:
    x = lab.constant(np.asarray(at, dtype=np.float64))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    if y is None:
        raise ConversionError("The function returned None. Try ending it with a return.")
    if not isinstance(y, lab.Tensor | lab.Variable):
        kind = type(y).__name__
        raise ConversionError(
            f"The function's value is of type {kind}, not a tensor: it left the engine, and no tape saw how it was"
            " made. Try the functions of lab, such as lab.cumsum, instead of NumPy's."
        )
    jacobian = tape.jacobian(y, x, unconnected_gradients=lab.UnconnectedGradients.ZERO)
    return JacobianTable(jacobian.numpy(), y.numpy().shape, x.numpy().shape, cut(output), cut(source), product)


def tape_frames(recording: lab.Recording, names: Sequence[str] = ()) -> Picture:
    """Draw the tapes of a recording as frames, one inside the other where they were nested.

    Parameters
    ----------
    recording : Recording
        What is drawn.
    names : sequence of str
        Names of the tapes, in the order in which they were opened.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> x = lab.Variable(3.0, name="x")
    >>> with lab.record() as recording, lab.GradientTape() as tape:
    ...     y = x * x
    >>> lessons.tape_frames(recording, ["tape"])
    ┌ tape
    │ × → y = 9
    └
    """
    return Picture(frames.text(recording, names), frames.svg(recording, names))


def derivatives(function: Callable[[Any], Any], lo: float, hi: float, order: int = 4, at: float | None = None,
                name: str | None = None) -> Picture:  # fmt: skip
    """Draw a function above its derivatives, up to the fourth, each computed by one more tape.

    Parameters
    ----------
    function : callable
        Of one Tensor.
    lo, hi : float
        The interval.
    order : int
        How many derivatives, from 1 to 4.
    at : float, optional
        A point whose values are listed.
    name : str, optional
        What the function is called.

    Examples
    --------
    >>> from autodiff_lab import lessons
    >>> print(lessons.derivatives(lambda x: x**3, -1.0, 1.0, order=3, at=0.5).account.splitlines()[-1].strip())
    at x = 0.5: f(x) = 0.125, f′(x) = 0.75, f″(x) = 3, f‴(x) = 6
    """
    curves, sampler = curves_of(function, lo, hi, 201, order, name, also=[] if at is None else [at])
    return Picture(curves_account(curves, at), curves_svg(curves, at, sampler.order))
