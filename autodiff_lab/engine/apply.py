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
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from autodiff_lab.engine.chains import faster_kernel
from autodiff_lab.engine.convert import operand, operands
from autodiff_lab.engine.failure import dtypes_differ, failed, wrong_dtype
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
_new = tuple.__new__
NEED_0, NEED_1, NEED_BOTH = (0,), (1,), (0, 1)
HOME = "autodiff_lab.ops.by_name"
"""Where a pickle finds an op by its name."""
MANY = 512
"""Elements of two operands of different shapes from which on it matters how they are broadcast."""
LEAN_BYTES = 2 << 10
"""Values smaller than this stay on the tape whether or not a rule reads them: letting go would cost more."""


class _Named(Protocol):
    """A public function that a factory made: `__call__` of a subclass has its parameters, for type checkers."""

    __name__: str


class _OfOne(_Named, Protocol):
    def __call__(self, x: TensorLike, name: str | None = None) -> Tensor: ...


class _OfTwo(_Named, Protocol):
    def __call__(self, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor: ...


class _OfFeatures(_Named, Protocol):
    def __call__(self, features: TensorLike, name: str | None = None) -> Tensor: ...


class Hollow(NamedTuple):
    """What is left of an array that no rule reads: its shape, its dtype, and the memory that it lay in."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    memory: Any
    nbytes = 0


def _hollow(tensor: Tensor) -> Tensor:
    """Return the tensor without its array; made once for each tensor, since most are an output, then an input."""
    stub = getattr(tensor, "_hollow", None)  # a missing attribute would cost more than the rest: makers set None
    if stub is None:
        array = tensor._held
        memory = None if array.__class__ is ndarray else getattr(array, "memory", None)
        stub = tensor._hollow = Tensor()
        stub._id = tensor._id
        stub._held = _new(Hollow, (array.shape, array.dtype, memory))
    return stub


def lean_entry(op: Op, out: Any, ins: tuple[Tensor, ...], params: Any, need: tuple[int, ...]) -> tuple[Any, ...]:
    """Make an entry without the values that the op's rules do not read."""
    keeps = op.keeps
    if keeps == "inputs":
        return op, out if out.__class__ is tuple else _hollow(out), ins, params, need
    if keeps == "nothing" and out.__class__ is not tuple:
        out = _hollow(out)
    if len(ins) == 1:
        (x,) = ins
        return op, out, (_hollow(x),), params, need
    if len(ins) == 2:
        x, y = ins
        return op, out, (_hollow(x), y if keeps == "output and input 1" else _hollow(y)), params, need
    return op, out, tuple([_hollow(t) for t in ins]), params, need


def _any_large(out: Any, ins: tuple[Tensor, ...]) -> bool:
    for t in ins:
        if t._held.nbytes >= LEAN_BYTES:
            return True
    if out.__class__ is not tuple:
        return out._held.nbytes >= LEAN_BYTES
    return any(t._held.nbytes >= LEAN_BYTES for t in out)


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
    of_one = len(ins) == 1
    for sink in sinks:
        tracked = sink.tracked
        if of_one:
            if ins[0]._id not in tracked:
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
        if sink.lean and op.keeps != "all" and ((of_one and ins[0]._held.nbytes >= LEAN_BYTES) or _any_large(out, ins)):
            sink.append(lean_entry(op, out, ins, params, need))
        else:
            sink.append((op, out, ins, params, need))


def _record_one(sinks: Any, op: Op, out: Tensor, x: Tensor) -> None:
    key = x._id
    for sink in sinks:
        tracked = sink.tracked
        if tracked is EVERYTHING:
            sink.append((op, out, (x,), None, NEED_0))
        elif key in tracked:
            tracked.add(out._id)
            if out._held.__class__ is ndarray and sink.lean and op.keeps != "all" and out._held.nbytes >= LEAN_BYTES:
                sink.append(lean_entry(op, out, (x,), None, NEED_0))
            else:
                sink.append((op, out, (x,), None, NEED_0))


def _record_two(sinks: Any, op: Op, out: Tensor, x: Tensor, y: Tensor) -> None:
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
        if out._held.__class__ is ndarray and sink.lean and op.keeps != "all" and out._held.nbytes >= LEAN_BYTES:
            sink.append(lean_entry(op, out, (x, y), None, need))
        else:
            sink.append((op, out, (x, y), None, need))


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
    silent = rule is None

    def apply(x: TensorLike, name: str | None = None) -> Tensor:  # noqa: C901
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
            elif len(sinks) == 1 and value.__class__ is not ndarray:  # as `_record_one` does, without the call
                (sink,) = sinks
                if x._id in sink.tracked:
                    sink.tracked.add(out._id)
                    sink.append((op, out, (x,), None, NEED_0))
            else:
                _record_one(sinks, op, out, x)
        if name is not None:
            named(out, name)
        return out

    return declare(op, apply)


def binary(  # noqa: C901 - spelled out, as `unary` is
    name: str, kernel: Callable[[Any, Any], Any], rule_x: Any, rule_y: Any, *, elementwise: bool = True,
    direct: Any = None, **about: Any
) -> _OfTwo:  # fmt: skip
    """Declare an op of two inputs of one dtype; `direct` is a quicker kernel that small integers must not take."""
    silent = rule_x is None
    plain = direct is None
    op = Op(name, kernel, None if silent else (rule_x, rule_y), 2, elementwise=elementwise, dtypes="same", **about)
    kernel = op.kernel = faster_kernel(op)

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
            if plain:
                if a.__class__ is ndarray is b.__class__ and a.size + b.size > MANY and a.shape != b.shape:
                    out._held = by_columns(kernel, a, b)
                else:
                    out._held = kernel(a, b)
            elif a.__class__ is float32 or a.__class__ is float64 or (a.__class__ is ndarray and a.dtype.num > 4):
                out._held = direct(a, b)
            else:  # integers of 8 and 16 bits among them: NumPy numbers its dtypes
                out._held = kernel(a, b)
        except LOUD:
            out._held = _quietly(kernel, a, b)
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is reworded
            raise failed(op, (x, y), None, error) from None
        sinks = sinks_now()
        if sinks:
            if silent:
                record_application(sinks, op, out, (x, y), None)
            elif len(sinks) == 1 and out._held.__class__ is not ndarray:  # as `_record_two` does, without the call
                (sink,) = sinks
                tracked = sink.tracked
                if x._id in tracked:
                    tracked.add(out._id)
                    sink.append((op, out, (x, y), None, NEED_BOTH if y._id in tracked else NEED_0))
                elif y._id in tracked:
                    tracked.add(out._id)
                    sink.append((op, out, (x, y), None, NEED_1))
            else:
                _record_two(sinks, op, out, x, y)
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
