"""Random tensors, repeatable by a seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from autodiff_lab.engine.dtypes import as_dtype
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.ops.array.creation import as_shape

_state: dict[str, np.random.Generator] = {"generator": np.random.default_rng()}


def set_seed(seed: int) -> None:
    """Make the numbers that follow repeatable.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.random.set_seed(1)
    >>> a = lab.random.normal((2,))
    >>> lab.random.set_seed(1)
    >>> bool(lab.reduce_all(a == lab.random.normal((2,))))
    True
    """
    _state["generator"] = np.random.default_rng(seed)


def _generator(seed: int | None) -> np.random.Generator:
    return _state["generator"] if seed is None else np.random.default_rng(seed)


def normal(shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = "float32", seed: int | None = None,
           name: str | None = None) -> Tensor:
    """Normally distributed numbers.

    Shapes: shape s -> (*s).  Dtypes: floating.  Derivative: none.

    Raises
    ------
    InvalidArgumentError
        If the dtype is not floating.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.random.normal((3, 2)).shape
    TensorShape([3, 2])
    """
    values = _generator(seed).normal(float(mean), float(stddev), as_shape(shape))
    return _floats(values, dtype, "normal")


def uniform(shape: Any, minval: float = 0, maxval: float | None = None, dtype: Any = "float32",
            seed: int | None = None, name: str | None = None) -> Tensor:
    """Uniformly distributed numbers from `minval` up to, and without, `maxval` (1 by default).

    Shapes: shape s -> (*s).  Dtypes: floating, or integers with a `maxval`.  Derivative: none.

    Raises
    ------
    InvalidArgumentError
        If the dtype is an integer and there is no `maxval`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> bool(lab.reduce_all(lab.random.uniform((100,)) < 1.0))
    True
    """
    wanted = as_dtype(dtype)
    if wanted.is_integer:
        if maxval is None:
            raise InvalidArgumentError("uniform: an integer dtype needs maxval")
        return wrap(np.asarray(_generator(seed).integers(int(minval), int(maxval), as_shape(shape)))
                    .astype(wanted.dtype)[()])
    high = 1.0 if maxval is None else float(maxval)
    return _floats(_generator(seed).uniform(float(minval), high, as_shape(shape)), dtype, "uniform")


def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows of a tensor in random order.

    Shapes: value (n, *s) -> (n, *s).  Dtypes: any.  Derivative: gathers back.

    Raises
    ------
    ConversionError
        If the value is not numeric.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> sorted(lab.random.shuffle([3, 1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    from autodiff_lab.engine.convert import convert
    from autodiff_lab.ops.array.gathering import gather
    x = convert(value)
    return gather(x, _generator(seed).permutation(x._array.shape[0]).astype(np.int32))


def _floats(values: Any, dtype: Any, name: str) -> Tensor:
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise InvalidArgumentError(f"{name}: dtype must be floating, got {wanted.name}")
    return wrap(np.asarray(values).astype(wanted.dtype)[()])
