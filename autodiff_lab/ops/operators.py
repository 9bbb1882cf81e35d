"""Python's operators, and the methods of variables that ops implement, before their families have loaded.

A family that implements an operator puts it into `Tensor` and `Variable` when it loads.  Until then a stand-in is
there, which loads the family when it is first used and hands over to what is then in its place.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

_BOTH = {
    "array.indexing": "getitem",
    "linalg.products": "matmul rmatmul",
    "math.arithmetic": ("abs floordiv mod mul neg pow rfloordiv rmod rmul rpow rsub rtruediv sub truediv"),
    "math.bits": "and invert or rand ror rxor xor",
    "math.comparison": "eq ge gt le lt ne",
}
_OF_VARIABLES = "add max min sub update"


def _stand_in(name: str, home: str) -> Any:
    def method(self: TensorLike, *arguments: Any, **more: Any) -> Any:
        import_module(home)
        found = getattr(type(self), name)
        if found is method:  # a class that took over the operators of a tensor holds this stand-in
            found = getattr(Tensor, name)
        return found(self, *arguments, **more)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Loads `{home}`, which puts the real method here."
    return method


def _divmod(self: Any, other: Any) -> tuple[Any, Any]:
    """Return quotients, rounded down, and remainders."""
    return self // other, self % other


def _rdivmod(self: Any, other: Any) -> tuple[Any, Any]:
    """Return quotients, rounded down, and remainders, of a value that is not a tensor."""
    return other // self, other % self


def _round(self: Any, digits: int | None = None) -> Any:
    """Return the nearest integers, halves to even, in the same dtype."""
    if digits is not None:
        raise TypeError(
            f"round: tensors are rounded to integers only. Try lab.round(x * {10.0**digits:g}) / {10.0**digits:g}."
        )
    return import_module("autodiff_lab.ops.math.comparison").round(self)


def install() -> None:
    """Put the stand-ins into `Tensor` and `Variable`."""
    for cls in (Tensor, Variable):
        cls.__divmod__, cls.__rdivmod__, cls.__round__ = _divmod, _rdivmod, _round  # type: ignore[method-assign]
    for family, names in _BOTH.items():
        for name in names.split():
            method = _stand_in(f"__{name}__", f"autodiff_lab.ops.{family}")
            for cls in (Tensor, Variable):
                setattr(cls, method.__name__, method)
    for kind in _OF_VARIABLES.split():
        for name in (f"scatter_nd_{kind}", f"scatter_{kind}"):
            setattr(Variable, name, _stand_in(name, "autodiff_lab.ops.array.assigning"))
    for name in ("scatter_mul", "scatter_div", "sparse_read", "gather_nd"):
        setattr(Variable, name, _stand_in(name, "autodiff_lab.ops.array.assigning"))
