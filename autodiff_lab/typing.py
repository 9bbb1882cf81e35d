"""Names for annotations of your own functions: what becomes a tensor, how dtypes, shapes and axes are given.

>>> import autodiff_lab as lab
>>> from autodiff_lab.typing import TensorLike
>>> def mean_square(x: TensorLike) -> lab.Tensor:
...     return lab.reduce_mean(lab.square(x))
>>> print(mean_square([1.0, 3.0]))
Tensor(5.0, shape=(), dtype=float32)
"""

from autodiff_lab.engine.annotations import (
    DTypeLike,
    IntsLike,
    PaddingLike,
    ShapeLike,
    SupportsArray,
    SupportsTensor,
    TensorLike,
)

__all__ = ["DTypeLike", "IntsLike", "PaddingLike", "ShapeLike", "SupportsArray", "SupportsTensor", "TensorLike"]
