"""Casts, identities, copies between devices and the ways to stop a gradient on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from autodiff_lab.engine.apply import general
from autodiff_lab.engine.contributions import CASTS_OF_HALVES
from autodiff_lab.engine.convert import convert, handed
from autodiff_lab.engine.devices import device_now, device_of, moved, place_of
from autodiff_lab.engine.dtypes import DIFFERENTIABLE, as_dtype
from autodiff_lab.engine.indexed_slices import IndexedSlices
from autodiff_lab.engine.tensor import Tensor, named
from autodiff_lab.errors import DtypeMismatch, NotOneTensor
from autodiff_lab.kernels.arrays import ranked
from autodiff_lab.kernels.base.halves import is_half
from autodiff_lab.ops.docs import doc
from autodiff_lab.ops.structured import elementwise

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import DTypeLike, TensorLike


def _copied(x: Any, device: str) -> Any:
    place = place_of(device)
    return moved(x, None if place.__class__ is str else place)


def _copy_rule(ops: Any, g: Any, out: Any, x: Any, device: str) -> Any:
    """Copy the gradient back to the device that the value came from."""
    return ops.copy_to_device(g, device=device_of(x) if ops.raw else device_of(x._held))


copy_to_device = general(
    "copy_to_device", _copied, _copy_rule,
    warns=False, symbol="copy", latex=r"\operatorname{{copy}}({0})", locals_latex=("1",),
    sentence="copies {0} to another device", keeps="nothing", registered="Copy",
    doc="The kernel-level copy to a device; `lab.identity` in a device block and ``x.gpu()`` call it.")


def _cast(x: Any, dtype: str) -> Any:
    wanted = as_dtype(dtype).dtype
    if x.itemsize == 2 and not CASTS_OF_HALVES and is_half(x.dtype):
        CASTS_OF_HALVES.append(True)
    if x.dtype.kind == "c" != wanted.kind:
        x = x.real  # without the warning of NumPy
    return ranked(x).astype(wanted)[()]


cast_float = general(
    "cast", _cast, lambda ops, g, out, x, dtype: ops.cast(g, dtype=_name(x.dtype)),
    symbol="cast", latex=r"\operatorname{{cast}}({0})", locals_latex=("1",), sentence="casts {0} to another dtype",
    keeps="nothing", registered="Cast", doc="The kernel-level cast between floats; `lab.cast` is the public function.")
cast_other = general(
    "cast_to_discrete", _cast, None,
    symbol="cast", latex=r"\operatorname{{cast}}({0})", sentence="casts {0} from or to integers",
    doc="The kernel-level cast from or to integers and bools, where gradients stop; `lab.cast`.")


def _name(dtype: Any) -> str:
    return as_dtype(dtype).name


@elementwise
def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    wanted = as_dtype(dtype)
    if x.__class__ is IndexedSlices:
        return named(x.with_values(cast(x.values, wanted)), name)  # type: ignore[return-value] - as TensorFlow's does
    plain = isinstance(x, (list, tuple)) and not _has_tensor(x)
    try:
        x = convert(np.asarray(x) if plain else x)
    except NotOneTensor as met:
        return named(handed(met, cast, (x,), dtype=dtype), name)
    have = x._held.dtype
    if have == wanted.dtype:
        return x
    if "O" in (have.kind, wanted.dtype.kind):
        raise DtypeMismatch(f"cast: cannot cast {x.dtype.name} to {wanted.name}. "
                            "Try lab.strings.as_string(x) or lab.strings.to_number(x).")
    if have in DIFFERENTIABLE and wanted.dtype in DIFFERENTIABLE:
        return cast_float(x, dtype=wanted.name, name=name)
    return cast_other(x, dtype=wanted.name, name=name)


def _has_tensor(value: Any) -> bool:
    from autodiff_lab.engine.convert import contains_tensor
    return contains_tensor(value)


cast.__doc__ = doc(
    "The same numbers in another dtype; floats are cut towards zero when they become integers.",
    shapes="x (*s) -> (*s)", dtypes="any to any", raises=("convert",),
    derivative="1 between floats, where the gradient returns in the dtype of x; gradients stop at integers and bools",
    example=">>> print(lab.cast([1.7, -1.7], lab.int32))\nTensor([ 1 -1], shape=(2,), dtype=int32)")

_identity = general(
    "identity", lambda x: x, lambda ops, g, out, x: g,
    warns=False,
    symbol="=", latex="{0}", locals_latex=("1",), sentence="passes {0} on", keeps="nothing", registered="Identity",
    expression="{0}",
    doc="The kernel-level identity; `lab.identity` is the public function.")


@elementwise
def identity(input: TensorLike, name: str | None = None) -> Tensor:
    if input.__class__ is IndexedSlices:
        return named(input.with_values(identity(input.values)), name)  # type: ignore[return-value]
    try:
        x = convert(input)
    except NotOneTensor as met:
        return named(handed(met, identity, (input,)), name)
    place = device_now()
    if place is None or place_of(x.device) is place:
        return _identity(x, name=name)
    return copy_to_device(x, device=place if place.__class__ is str else place.name, name=name)


identity.__doc__ = doc(
    "The same value as a new tensor; in a block of `device` a copy on that device.", shapes="x (*s) -> (*s)",
    dtypes="any", derivative="1", example=">>> print(lab.identity([1.0, 2.0]))\n"
    "Tensor([1. 2.], shape=(2,), dtype=float32)")

after = general(
    "after", lambda x, y: x, lambda ops, g, out, x, y: g, None,
    warns=False, symbol="after", latex="{0}", locals_latex=("1", "0"), sentence="passes {0} on once {1} is there",
    keeps="nothing",
    doc="""The first value, and none of the second: in a compiled program it is there when the second is, not sooner.

    The rule of `lab.recompute_grad`, its public function, uses it, so that what is computed again is neither merged
    with the first time nor brought forward.
    """)

stopped = general(
    "stop_gradient", lambda x: x, None,
    warns=False, symbol="stop", latex=r"\operatorname{{stop}}({0})", sentence="passes {0} on and stops its gradient",
    registered="StopGradient", doc="The kernel-level stop; `lab.stop_gradient` is the public function.")


def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    if input.__class__ is IndexedSlices:
        return named(input.with_values(stop_gradient(input.values)), name)  # type: ignore[return-value]
    return stopped(convert(input), name=name)


stop_gradient.__doc__ = doc(
    "The same value, through which no gradient passes.", shapes="x (*s) -> (*s)", dtypes="any",
    derivative="none, by intention",
    example=""">>> x = lab.Variable(3.0)
>>> with lab.GradientTape() as tape:
...     y = x * lab.stop_gradient(x)
>>> print(tape.gradient(y, x))
Tensor(3.0, shape=(), dtype=float32)""")
