"""Arrays of other libraries that become tensors without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodiff_lab.engine.convert import KNOWN, tell_entry
from autodiff_lab.engine.sharing import unpacked
from autodiff_lab.engine.tensor import Tensor, wrap
from autodiff_lab.errors import ConversionError

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike


def from_dlpack(value: TensorLike) -> Tensor:
    """Return a tensor on the memory of another library's array, without a copy.

    Parameters
    ----------
    value : object with ``__dlpack__``
        An array of CuPy, PyTorch, JAX or NumPy, on a CPU or an NVIDIA GPU.  A tensor never changes, so the array must
        not be written to from now on; where that cannot be promised, `constant` copies.

    Raises
    ------
    ConversionError
        If it exports nothing, is on another kind of device, or has a dtype that tensors have not.
    DeviceError
        If our kernels cannot run on its GPU.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import numpy as np
    >>> print(lab.from_dlpack(np.array([1.0, 2.0], np.float32)) * 2)
    Tensor([2. 4.], shape=(2,), dtype=float32)
    """
    array = unpacked(value)
    if array.dtype not in KNOWN:
        raise ConversionError(f"from_dlpack: tensors cannot hold dtype {array.dtype}. Try array.astype('float32').")
    tensor = wrap(array)
    tell_entry(value, tensor, "converted")
    return tensor
