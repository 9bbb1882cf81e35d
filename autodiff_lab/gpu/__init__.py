"""Tensors of a GPU: loaded by the first look for one, by `lab.device`, ``x.gpu()`` or `lab.config`.

Nothing to the left of this package knows it: a `DeviceTensor` answers for itself.  What has to know which class of
tensor holds an array, or what a Python value becomes, finds the classes of this package in a table.
"""

from autodiff_lab.engine import convert, tensor
from autodiff_lab.gpu.device import DeviceTensor, Guest, of_array
from autodiff_lab.kernels.cuda.array import DeviceArray
from autodiff_lab.kernels.cuda.gpus import memories, memory_holding, memory_of, simulate

__all__ = ["DeviceTensor", "memories", "memory_holding", "memory_of", "simulate"]

tensor.MAKERS[DeviceArray] = of_array
convert.NEWCOMERS[:] = [Guest.of]
