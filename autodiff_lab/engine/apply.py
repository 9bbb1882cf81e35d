"""How an op is applied and recorded: one short call path for each arity, which is where eager speed comes from.

A sink has `tracked` (answers ``in``, takes `.add`) and `append(entry)`.  An entry is ``(op, out, ins, params, need)``:
`out` is a tensor (a tuple of them when the op has several outputs), `params` a dict or None, `need` the positions of
the inputs that were tracked when the op ran.  `need` is semantics, not bookkeeping: an op that ran before a tensor was
watched must stay unconnected.
"""

# Every function that ops are made of begins with `operand`, which makes tensors of what is not one. A checker does not
# see that, and another name for the result would cost time.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from autodiff_lab.engine.chains import faster_kernel
from autodiff_lab.engine.convert import operand, operands
from autodiff_lab.engine.failure import dtypes_differ, failed, wrong_dtype
from autodiff_lab.engine.lean import LEAN_BYTES, LEAN_TWO, NEED_0, NEED_1, is_large, lean_entry, lean_one
from autodiff_lab.engine.namespace import RAW, RECORDING
from autodiff_lab.engine.op import Op, register
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.tensor import Tensor, named, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events.listener import EVERYTHING, fresh_id, sinks_now
from autodiff_lab.kernels.base.columns import by_columns

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import TensorLike

# Values follow IEEE 754 and say nothing. NumPy attributes a warning to the module that calls it, so a filter for our
# modules silences it and leaves the user's own NumPy code alone. Setting `np.errstate` for each op would cost more than
# the op. Where a user turns warnings into errors after our import, `_quietly` runs the kernel again.
warnings.filterwarnings(
    "ignore",
    message="(divide by zero|overflow|underflow|invalid value) encountered",
    category=RuntimeWarning,
    module=r"autodiff_lab\.",
)
LOUD = (RuntimeWarning, FloatingPointError)
"""What NumPy raises in place of a warning, if the user asked for errors."""

ndarray, float32, float64 = np.ndarray, np.float32, np.float64
NEED_BOTH = (0, 1)
HOME = "autodiff_lab.ops.by_name"
"""Where a pickle finds an op by its name."""
MANY = 512
"""Elements of two operands of different shapes from which on it matters how they are broadcast."""
MANY_PAIRS = 4096
"""Pairs of their elements from which on it does."""


class _Named(Protocol):
    """A public function that a factory made: `__call__` of a subclass has its parameters, for type checkers."""

    __name__: str


class _OfOne(_Named, Protocol):
    def __call__(self, x: TensorLike, name: str | None = None) -> Tensor: ...


class _OfTwo(_Named, Protocol):
    def __call__(self, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor: ...


class _OfFeatures(_Named, Protocol):
    def __call__(self, features: TensorLike, name: str | None = None) -> Tensor: ...


def _quietly(kernel: Callable[..., Any], *arrays: Any, **params: Any) -> Any:
    """Run a kernel again without warnings if the user turned NumPy's into errors: values follow IEEE 754 anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # those that SciPy gives in words
        return quietly(kernel, *arrays, **params)


def record_application(  # noqa: C901, PLR0912 - spelled out, as `unary` is
    sinks: Any, op: Op, out: Any, ins: tuple[Tensor, ...], params: Any
) -> None:
    """Send an application to the sinks, whatever its arity."""
    if op.rules is None:
        for sink in sinks:
            if sink.hears_all:
                sink.append((op, out, ins, params, ()))
        return
    x, y = ins if len(ins) == 2 else (ins[0], None) if len(ins) == 1 else (None, None)
    for sink in sinks:
        tracked = sink.tracked
        if y is not None:  # as in the last case, spelled out for most entries
            if x._id in tracked:  # type: ignore[union-attr]
                need: tuple[int, ...] = NEED_BOTH if y._id in tracked else NEED_0
            elif y._id in tracked:
                need = NEED_1
            else:
                continue
        elif x is not None:
            if x._id not in tracked:
                continue
            need = NEED_0
        else:
            need = tuple([i for i, t in enumerate(ins) if t._id in tracked])
            if not need:
                continue
        if out.__class__ is not tuple:
            if out._held.dtype.kind in "fcV":
                tracked.add(out._id)
        else:
            for t in out:
                if t._held.dtype.kind in "fcV":
                    tracked.add(t._id)
        if sink.lean and is_large(op, out, ins):
            sink.append(lean_entry(op, out, ins, params, need))
        else:
            sink.append((op, out, ins, params, need))


def declare(op: Op, apply: Callable[..., Any]) -> Any:
    """Put an op into the registry and both namespaces, and install its operator."""
    register(op)
    setattr(RAW, op.name, op.kernel)
    setattr(RECORDING, op.name, apply)
    apply.__name__ = apply.__qualname__ = op.name
    apply.__module__ = HOME
    apply.__doc__ = op.doc
    apply.op = op  # type: ignore[attr-defined]
    op.apply = apply
    if op.operator:
        for cls in (Tensor, Variable):
            setattr(cls, f"__{op.operator}__", apply)  # itself: one call deeper costs a tenth of an op
            if op.arity == 2 and op.operator not in ("eq", "ne", "lt", "le", "gt", "ge"):
                setattr(cls, f"__r{op.operator}__", _reflected(apply, op.operator))
    return apply


def _reflected(apply: Callable[..., Any], operator: str) -> Callable[..., Any]:
    def reflected(x: Any, y: Any) -> Any:
        return apply(y, x)

    reflected.__name__ = f"__r{operator}__"
    return reflected


def unary(  # noqa: C901 - spelled out: a call more for each op would be felt
    name: str, kernel: Callable[[Any], Any], rule: Any, *, floating: bool = True, **about: Any
) -> _OfOne:
    """Declare an elementwise op of one input; `floating` ops refuse integers instead of widening them."""
    kinds = "floating" if floating else "any"
    op = Op(name, kernel, None if rule is None else (rule,), 1, elementwise=True, dtypes=kinds, **about)
    kernel = op.kernel = faster_kernel(op)
    silent, lets_go = rule is None, op.keeps != "all"

    def apply(x: TensorLike, name: str | None = None) -> Tensor:  # noqa: C901, PLR0912
        if x.__class__ is not Tensor:
            x = operand(x)
            if x.__class__ is not Tensor and hasattr(x, "__lab_apply__"):
                return named(x.__lab_apply__(op, (x,), {}), name)
        array = x._held
        out = Tensor()
        out._id = fresh_id()
        out._hollow = None
        try:
            value = out._held = kernel(array)
        except LOUD:
            value = out._held = _quietly(kernel, array)
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is reworded
            raise failed(op, (x,), None, error) from None
        if (
            floating
            and (
                value.__class__ is not array.__class__
                or (value.__class__ is ndarray and value.dtype is not array.dtype)
            )
            and (value.dtype != array.dtype or value.ndim != array.ndim)
        ):
            raise wrong_dtype(op, (x,))
        sinks = sinks_now()
        if sinks:
            if silent:
                record_application(sinks, op, out, (x,), None)
            else:
                key = x._id
                for sink in sinks:
                    tracked = sink.tracked
                    if tracked is EVERYTHING:
                        sink.append((op, out, (x,), None, NEED_0))
                    elif key in tracked:
                        tracked.add(out._id)
                        if value.__class__ is ndarray and lets_go and sink.lean and value.nbytes >= LEAN_BYTES:
                            sink.append(lean_one(op, out, x, None, NEED_0))
                        else:
                            sink.append((op, out, (x,), None, NEED_0))
        if name is not None:
            named(out, name)
        return out

    return declare(op, apply)


def binary(  # noqa: C901, PLR0915 - spelled out, as `unary` is
    name: str, kernel: Callable[[Any, Any], Any], rule_x: Any, rule_y: Any, *, elementwise: bool = True,
    direct: Any = None, **about: Any
) -> _OfTwo:  # fmt: skip
    """Declare an op of two inputs of one dtype; `direct` is a quicker kernel that small integers must not take."""
    silent = rule_x is None
    plain = direct is None
    op = Op(name, kernel, None if silent else (rule_x, rule_y), 2, elementwise=elementwise, dtypes="same", **about)
    lets_go = op.keeps != "all"
    kernel = op.kernel = faster_kernel(op)
    lean: Any = LEAN_TWO.get(op.keeps)

    def apply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:  # noqa: C901, PLR0912
        if x.__class__ is not Tensor or y.__class__ is not Tensor:
            x, y = operands(op, x, y)
            if x.__class__ is not Tensor and hasattr(x, "__lab_apply__"):
                return named(x.__lab_apply__(op, (x, y), {}), name)
            if y.__class__ is not Tensor and hasattr(y, "__lab_apply__"):
                return named(y.__lab_apply__(op, (x, y), {}), name)
        a, b = x._held, y._held
        if (a.__class__ is not b.__class__ or a.__class__ is ndarray) and a.dtype is not b.dtype and a.dtype != b.dtype:
            raise dtypes_differ(op, x, y)
        out = Tensor()
        out._id = fresh_id()
        out._hollow = None
        try:
            if (
                a.__class__ is ndarray is b.__class__
                and ((n := a.size) + (m := b.size) > MANY or n * m > MANY_PAIRS)
                and (a.shape != b.shape or a.strides != b.strides or not a.flags.c_contiguous)
            ):
                value = by_columns(kernel if plain or a.dtype.kind != "f" else direct, a, b)
            elif plain:
                value = kernel(a, b)
            elif a.__class__ is float32 or a.__class__ is float64 or (a.__class__ is ndarray and a.dtype.num > 4):
                value = direct(a, b)
            else:  # integers of 8 and 16 bits among them: NumPy numbers its dtypes
                value = kernel(a, b)
        except LOUD:
            value = _quietly(kernel, a, b)
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is reworded
            raise failed(op, (x, y), None, error) from None
        out._held = value
        sinks = sinks_now()
        if sinks:
            if silent:
                record_application(sinks, op, out, (x, y), None)
            else:
                for sink in sinks:
                    tracked = sink.tracked
                    if tracked is EVERYTHING:
                        sink.append((op, out, (x, y), None, NEED_BOTH))
                        continue
                    if x._id in tracked:
                        need = NEED_BOTH if y._id in tracked else NEED_0
                    elif y._id in tracked:
                        need = NEED_1
                    else:
                        continue
                    tracked.add(out._id)
                    if value.__class__ is ndarray and lets_go and sink.lean and value.nbytes >= LEAN_BYTES:
                        sink.append(lean(op, out, x, y, None, need))
                    else:
                        sink.append((op, out, (x, y), None, need))
        if name is not None:
            named(out, name)
        return out

    return declare(op, apply)


def of_features(apply: _OfOne) -> _OfFeatures:
    """Return an activation with its public signature: the argument is named `features`, as in TensorFlow."""

    def activation(features: TensorLike, name: str | None = None) -> Tensor:
        return apply(features, name)

    activation.__name__ = activation.__qualname__ = apply.__name__
    activation.__module__ = HOME
    apply.public = activation  # type: ignore[attr-defined]
    activation.__doc__ = apply.__doc__
    activation.op = apply.op  # type: ignore[attr-defined]
    return activation


def general(
    name: str, kernel: Callable[..., Any], *rules: Any, shared: bool = False, **about: Any
) -> Callable[..., Any]:
    """Declare an op of any number of inputs with parameters; a kernel that gives a tuple has several outputs."""
    found: Any = rules[0] if shared else (rules or None)
    if found == (None,):
        found = None
    op = Op(name, kernel, found, len(rules) if not shared else None, **about)

    def apply(*inputs: Any, name: str | None = None, **params: Any) -> Any:
        for x in inputs:
            if x.__class__ is not Tensor:
                return named(_apply_to_any(op, inputs, params), name)
        return apply_op(op, inputs, params) if name is None else named(apply_op(op, inputs, params), name)

    return declare(op, apply)


def _apply_to_any(op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Apply an op to variables, Python values and objects with ``__lab_apply__`` among its inputs."""
    values = tuple([x if x.__class__ is Tensor else operand(x) for x in inputs])
    for value in values:
        if value.__class__ is not Tensor and hasattr(value, "__lab_apply__"):
            return value.__lab_apply__(op, values, params)
    return apply_op(op, values, params)


def apply_op(op: Op, ins: tuple[Tensor, ...], params: dict[str, Any]) -> Any:
    """Run an op on tensors, and record it."""
    arrays = (ins[0]._held,) if len(ins) == 1 else [x._held for x in ins]
    try:
        value = quietly(op.kernel, *arrays, **params) if op.warns else op.kernel(*arrays, **params)
    except LOUD:
        value = _quietly(op.kernel, *arrays, **params)
    except Exception as error:  # noqa: BLE001 - whatever a kernel raises is reworded
        raise failed(op, ins, params, error) from error.__cause__
    if value.__class__ is ndarray:  # as `wrap` does, without the call
        out: Any = Tensor()
        out._held, out._id, out._hollow = value, fresh_id(), None
    else:
        out = tuple([wrap(v) for v in value]) if value.__class__ is tuple else wrap(value)
    sinks = sinks_now()
    if sinks:
        record_application(sinks, op, out, ins, params)
    return out
