"""Values of PyTorch as a recording holds them: by reference, copied before anybody writes into their memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from autodiff_lab.recording.snapshot import NOT_SEEN, Policy, Snapshot

SMALL = 64
"""Elements up to which a value is copied when the block ends, whatever becomes of the tensor."""
LARGEST_LOCAL = 1_000_000
"""Elements up to which a local derivative is worked out."""
_NAMED = {torch.bfloat16} | {getattr(torch, name) for name in ("float8_e4m3fn", "float8_e5m2") if hasattr(torch, name)}
_NUMBERS = {torch.float32, torch.float64, torch.bool, torch.int64}


class TensorValue:
    """A tensor by reference; unknown once somebody wrote into it unheard."""

    __slots__ = ("_flat", "_snapshot", "_tensor", "_version", "nbytes")

    def __init__(self, tensor: Any) -> None:
        self._tensor, self._version, self.nbytes = tensor, version_of(tensor), tensor.nbytes
        self._flat: Any = None
        self._snapshot: Snapshot | None = None

    @property
    def shape(self) -> Any:
        """The shape of the tensor, None if it is not known any more."""
        if self._flat is not None:
            return self._flat[2]
        if self._tensor is not None:
            return self._tensor.shape
        return None if self._snapshot is None else torch.Size(self._snapshot.shape)

    @property
    def known(self) -> bool:
        """Whether the tensor is still held by reference."""
        return self._tensor is not None and self._flat is None

    @property
    def tensor(self) -> Any:
        """The tensor itself, None if it is not known any more."""
        tensor = self._tensor
        if tensor is None:
            kept = None if self._snapshot is None else self._snapshot.array
            return None if kept is None else torch.as_tensor(np.array(kept))
        if self._flat is not None:
            start, count, shape = self._flat
            if tensor.__class__ is NumberValue:
                return tensor.tensor
            return tensor[start : start + count].view(shape)
        return tensor if version_of(tensor) == self._version else None

    def array(self) -> Any:
        """Return the numbers as a NumPy array; those of types that NumPy does not have are doubles."""
        if self._snapshot is not None:
            return self._snapshot.array
        return array_of(self.tensor)

    def settle(self) -> None:
        """Copy the tensor, as somebody is about to write into its memory."""
        tensor = self.tensor
        if tensor is not None and self._flat is None:
            self._tensor = tensor.clone()
            self._version = version_of(self._tensor)

    def to_snapshot(self, policy: Policy, leaf: bool) -> Snapshot:
        """Return what a policy keeps of the tensor, and let go of it."""
        if self._snapshot is None:
            tensor = self.tensor
            array = array_of(tensor)
            self._snapshot = NOT_SEEN if array is None else policy(array, leaf)
            if tensor is not None and tensor.dtype in _NAMED and array is not None:
                self._snapshot = replace(self._snapshot, dtype=str(tensor.dtype).removeprefix("torch."))
            self._tensor = None
        return self._snapshot


class Unknown:
    """A tensor without numbers: on the meta device, sparse, nested, or inside a transform of `torch.func`."""

    __slots__ = ("_snapshot", "nbytes")

    def __init__(self, tensor: Any = None) -> None:
        self.nbytes = 0
        self._snapshot = NOT_SEEN
        if tensor is not None:
            name = str(tensor.dtype).removeprefix("torch.")
            self._snapshot = replace(NOT_SEEN, dtype=name, shape=tuple(tensor.shape))

    def array(self) -> Any:
        """Return None: nothing is known."""
        return

    def to_snapshot(self, policy: Policy, leaf: bool) -> Snapshot:
        """Return what stands for an unknown value."""
        return self._snapshot


class NumberValue:
    """A plain number in the dtype that it takes on beside a tensor, or a tensor of that number everywhere."""

    __slots__ = ("_dtype", "_number", "_shape", "nbytes")

    def __init__(self, number: Any, dtype: Any, shape: Any = ()) -> None:
        self._number, self._dtype, self._shape, self.nbytes = number, dtype, shape, 8

    @property
    def tensor(self) -> Any:
        """The number as a tensor."""
        return torch.full(self._shape, self._number, dtype=self._dtype)

    def array(self) -> Any:
        """Return the number as a NumPy array."""
        return array_of(self.tensor)

    def to_snapshot(self, policy: Policy, leaf: bool) -> Snapshot:
        """Return the number."""
        found = policy(self.array(), leaf)
        return replace(found, dtype="bfloat16") if self._dtype is torch.bfloat16 else found


class SumValue:
    """The sum of two adjoints, which becomes the tensor that autograd made of them once that is seen."""

    __slots__ = ("_parts", "_tensor", "nbytes")

    def __init__(self, first: Any, second: Any) -> None:
        self._parts, self._tensor, self.nbytes = (first, second), None, 0

    @property
    def open(self) -> bool:
        """Whether nothing has been added up yet."""
        return self._parts is not None

    def resolve(self) -> None:
        """Add up now, while both parts are known."""
        if self._parts is not None:
            tensor = self.tensor
            if tensor is not None:
                self.become(TensorValue(tensor))

    def become(self, value: Any) -> None:
        """Take on the value that autograd computed."""
        self._tensor, self._parts = value, None

    @property
    def tensor(self) -> Any:
        """The sum as a tensor."""
        if self._parts is None:
            return self._tensor.tensor
        first, second = [part.tensor for part in self._parts]
        return None if first is None or second is None else first + second

    def array(self) -> Any:
        """Return the sum as a NumPy array."""
        return self._tensor.array() if self._parts is None else array_of(self.tensor)

    def to_snapshot(self, policy: Policy, leaf: bool) -> Snapshot:
        """Return what a policy keeps of the sum."""
        self.resolve()
        if self._parts is not None:
            return NOT_SEEN
        return self._tensor.to_snapshot(policy, leaf)


class LocalValue:
    """The derivative of an elementwise op at a unit cotangent: PyTorch's own, worked out when it is looked at."""

    __slots__ = ("_again", "_position", "_values", "nbytes")

    def __init__(self, again: Any, values: tuple[Any, ...], position: int) -> None:
        self._again, self._values, self._position, self.nbytes = again, values, position, 0

    def to_snapshot(self, policy: Policy, leaf: bool) -> Snapshot:
        """Run the op once more on what is kept of its inputs, and ask autograd for its slope."""
        func, template, kwargs, order, shape = self._again
        try:
            found = slope(func, template, kwargs, order, shape, self._values, self._position)
        except Exception:  # noqa: BLE001 - a picture without this number is better than none
            found = None
        return NOT_SEEN if found is None else TensorValue(found).to_snapshot(policy, leaf)


class Slot:
    """Stands for a tensor among the arguments of a call that is kept."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def slope(func: Any, template: Any, kwargs: Any, order: Any, shape: Any, values: tuple[Any, ...], position: int) -> Any:
    """Return the derivative of an elementwise function with respect to one of its inputs, broadcast to the result."""
    leaves: dict[int, Any] = {}
    for place, at in enumerate(order):
        if at is None:
            continue
        array = values[place].array() if values[place] is not None else None
        if array is None:
            return None
        leaf = torch.as_tensor(np.array(array)).expand(shape).clone()
        leaves[at] = leaf.requires_grad_() if leaf.is_floating_point() or leaf.is_complex() else leaf
    wanted = leaves.get(order[position])
    if wanted is None or not wanted.requires_grad:
        return None

    def filled(value: Any) -> Any:
        if value.__class__ is Slot:
            return leaves[value.index]
        return type(value)(map(filled, value)) if type(value) in (tuple, list) else value

    with torch.enable_grad():
        out = func(*filled(template), **{key: filled(value) for key, value in (kwargs or {}).items()})
        (found,) = torch.autograd.grad(out.sum(), wanted)
    return found.detach()


def version_of(tensor: Any) -> int:
    """Return how often somebody wrote into a tensor; inference tensors do not count."""
    try:
        return tensor._version
    except RuntimeError:
        return 0


def array_of(tensor: Any) -> Any:
    """Return the numbers of a tensor as a NumPy array, None for a tensor without numbers that NumPy could hold."""
    if tensor is None or tensor.is_meta:
        return None
    try:
        with torch.no_grad():
            plain = tensor.detach().resolve_conj().resolve_neg().cpu()
            if plain.dtype in _NAMED:
                plain = plain.double()
            return plain.numpy()
    except (RuntimeError, TypeError):  # quantized tensors, tensors inside a transform of `torch.func`
        return None


def settle_small(values: Iterable[Any]) -> None:
    """Copy small tensors, many at a time: the program that goes on may write into them."""
    groups: dict[tuple[Any, Any], list[TensorValue]] = {}
    for value in values:
        tensor = value._tensor
        small = tensor is not None and value._flat is None and value.nbytes <= SMALL * 8
        if small and version_of(tensor) == value._version:
            if tensor.ndim == 0 and tensor.dtype in _NUMBERS and tensor.is_cpu:  # its number costs less than a copy
                try:
                    value._tensor = NumberValue(tensor.item(), tensor.dtype)
                except RuntimeError:  # inside a transform of `torch.func`
                    continue
                value._flat = 0, 1, tensor.shape
            else:
                groups.setdefault((tensor.dtype, tensor.device), []).append(value)
    for (dtype, _), group in groups.items():
        try:
            flat = torch._C._nn.flatten_dense_tensors([value._tensor for value in group])
        except RuntimeError:  # a tensor of a transform of `torch.func` is among them
            continue
        start, size = 0, dtype.itemsize
        for value in group:
            count = value.nbytes // size
            value._flat = start, count, value._tensor.shape
            value._tensor = flat
            start += count


def tensors_in(value: Any) -> Iterable[Any]:
    """Yield the tensors in arguments or results, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def emptied(value: Any, next_slot: Callable[[], int]) -> Any:
    """Return arguments with a slot in place of each tensor."""
    if isinstance(value, torch.Tensor):
        return Slot(next_slot())
    return type(value)([emptied(v, next_slot) for v in value]) if type(value) in (tuple, list) else value
