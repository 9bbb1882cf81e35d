"""What public functions take and return, for annotations: values that become tensors, dtypes, shapes, axes.

Nothing reads these while a program runs, so modules import them for type checkers alone. `autodiff_lab.typing` is where
users find them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias, Union, runtime_checkable

import numpy as np

from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.indexed_slices import IndexedSlices
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""What `Tensor.numpy` returns; the dtype is known when the program runs. Scalars, for rank 0, have the same methods."""


@runtime_checkable
class SupportsArray(Protocol):
    """What NumPy can make an array of: arrays, tensors and data frames of other libraries.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_lab.typing import SupportsArray
    >>> isinstance(np.zeros(3), SupportsArray), isinstance([0.0], SupportsArray)
    (True, False)
    """

    def __array__(self) -> Array: ...


@runtime_checkable
class SupportsTensor(Protocol):
    """What says which tensor it stands for.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> from autodiff_lab.typing import SupportsTensor
    >>> class Length:
    ...     def __tensor__(self):
    ...         return lab.constant(2.0)
    >>> isinstance(Length(), SupportsTensor), float(lab.square(Length()))
    (True, 4.0)
    """

    def __tensor__(self) -> Tensor: ...


Numbers: TypeAlias = Array | np.float32 | np.float64 | Tensor
"""An array or a number, or under a trace the tensor that stands for it: one rule is written for both."""
TensorLike: TypeAlias = Union[  # noqa: UP007 - it names itself, which `|` cannot
    Tensor, Variable, SupportsArray, SupportsTensor, int, float, complex, str, bytes, Sequence["TensorLike"]
]
"""What becomes a tensor where one is needed: tensors, variables, arrays, numbers, and lists of them to any depth."""
DTypeLike: TypeAlias = DType | np.dtype[Any] | type[Any] | str
"""How a dtype is named: ``lab.float32``, ``np.float32``, ``"float32"``, ``float``."""
GradientLike: TypeAlias = TensorLike | IndexedSlices | None
"""A gradient that an optimizer takes; None leaves the variable unchanged."""
GradientPair: TypeAlias = tuple[GradientLike, Variable]
"""A gradient and the variable that it is for."""
LossLike: TypeAlias = Tensor | Callable[[], Tensor]
"""A loss, or a function without arguments that computes it."""
IntsLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | SupportsArray
"""One integer or several: axes, strides, sizes of windows."""
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex | None] | Tensor | Variable | Array
"""A shape: lengths of axes, None where one is open, or a tensor of them."""
PaddingLike: TypeAlias = str | Sequence[Sequence[int]] | SupportsArray
"""``"VALID"``, ``"SAME"``, or how many zeros lie before and after each axis."""
NameOrCallable: TypeAlias = str | Callable[..., object] | Mapping[str, object] | None
"""An initializer, activation, regularizer or constraint: its name, itself, or its configuration."""
LearningRate: TypeAlias = TensorLike | Callable[..., object] | Mapping[str, object]
"""A learning rate: a number, a schedule, its configuration, or a function without arguments."""
MaybeResult: TypeAlias = Any
"""Several tensors, in the few layers that return them: ``Tensor | MaybeResult`` completes as a tensor does."""
MaybeNone: TypeAlias = Any
"""None, in a few cases that a checker cannot see; ``Tensor | MaybeNone`` asks for no test of None in every program."""
InputShape: TypeAlias = Sequence[int | MaybeNone]
"""The shape that `Layer.build` gets: None stands for the length of an axis that is open, as the batch's may be."""
