"""Steps of an optimizer over all of its variables at once, on NumPy or Numba, with few Python calls for each variable.

Small variables of one dtype take a step together: their gradients are put side by side into one vector, what the
optimizer keeps for them lies in such vectors for good, and each step makes a new vector of values, of which the
variables get their parts.  Users see none of this: a slot that somebody looks at gets an array of its own, and one that
somebody assigned is taken over.  Large variables take their steps alone and in place; see `engine.buffers`.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from autodiff_lab.engine.assigning import LOCK
from autodiff_lab.engine.buffers import Part, writable
from autodiff_lab.engine.indexed_slices import IndexedSlices
from autodiff_lab.engine.silence import quietly
from autodiff_lab.engine.tensor import MAKERS, Tensor, wrap
from autodiff_lab.engine.variable import Variable
from autodiff_lab.events import TensorMet, VariableAssigned
from autodiff_lab.events.listener import place_now, sinks_now, tell_listeners, tell_look

if TYPE_CHECKING:
    from autodiff_lab.layers.optimizers import Optimizer

LARGE = 1 << 14
"""Variables of at least this many elements take a step alone."""
LINE = 16
"""Parts of a vector begin at multiples of this many elements, where a cache line begins."""
DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
MOST_PLANS = 8
ndarray = np.ndarray
_plans: WeakKeyDictionary[Optimizer, list[Plan]] = WeakKeyDictionary()  # apart from optimizers: copies make their own


class _Group:
    """Small variables of one dtype, by their places in the list of pairs."""

    def __init__(self, places: list[int], variables: list[Variable], slots: list[list[Variable]], dtype: Any) -> None:
        self.places, self.variables = places, variables
        self.shapes = [v._held.shape for v in variables]
        ends, begins = 0, []
        for shape in self.shapes:
            begins.append(ends)
            ends += -(-int(np.prod(shape)) // LINE) * LINE
        self.ranges = [slice(b, b + int(np.prod(shape))) for b, shape in zip(begins, self.shapes, strict=True)]
        self.size, self.dtype = ends, dtype
        self.gradient, self.settings = np.zeros(ends, dtype), np.zeros(0, dtype)
        self.gradients = self._parts(self.gradient)
        self.kept = [np.zeros(ends, dtype) for _ in slots[0]]
        self.slots = [
            (slot, Part(memory[r], shape), part)
            for n, memory in enumerate(self.kept)
            for of_one, r, shape, part in zip(slots, self.ranges, self.shapes, self._parts(memory), strict=True)
            for slot in [of_one[n]]
        ]
        self.targets = list(zip(variables, self.shapes, self.ranges, strict=True))
        self.values: list[Any] = [None] * len(variables)
        self.whole: Any = None

    def _parts(self, memory: Any) -> list[Any]:
        """Return views of a vector in the shapes of the variables."""
        return [memory[r].reshape(shape) for r, shape in zip(self.ranges, self.shapes, strict=True)]

    def step(self, kernel: Any, arrays: list[Any], settings: tuple[float, ...]) -> None:
        for part, n in zip(self.gradients, self.places, strict=True):
            part[...] = arrays[n]
        for slot, mine, part in self.slots:
            if slot._own is not mine:  # somebody looked at it, or assigned it
                part[...] = slot._held
                slot._own = mine
        new: Any = None
        for v, value in zip(self.variables, self.values, strict=True):
            if v._own is not value:
                new = np.zeros(self.size, self.dtype)
                for w, part in zip(self.variables, self._parts(new), strict=True):
                    part[...] = w._held
                break
        if new is None:
            new = self.whole.copy()
        if self.settings.size != len(settings):
            self.settings = np.zeros(len(settings), self.dtype)
        self.settings[:] = settings
        kernel(new, self.gradient, self.settings, *self.kept)
        self.whole = new
        values = self.values
        for n, (v, shape, r) in enumerate(self.targets):
            part = new[r]
            v._own = values[n] = part if len(shape) == 1 else part.reshape(shape) if shape else part[0]


class Plan:
    """How an optimizer takes a step of certain variables, in this order."""

    def __init__(self, variables: list[Variable], slots: list[list[Variable]]) -> None:
        self.variables, self.kept = variables, slots
        self.shapes = [v._held.shape for v in variables]
        self.dtypes = [v._held.dtype for v in variables]
        self.constrained = any(v.constraint is not None for v in variables)
        small: dict[Any, list[int]] = {}
        self.large: list[int] = []
        for n, v in enumerate(variables):
            if v._held.size >= LARGE:
                self.large.append(n)
            else:
                small.setdefault(v._held.dtype, []).append(n)
        self.groups = [
            _Group(places, [variables[n] for n in places], [slots[n] for n in places], dtype)
            for dtype, places in small.items()
        ]

    def arrays(self, pairs: Any, rows: bool, heard: bool) -> list[Any] | None:
        """Return the gradients of pairs as arrays; None if the plan does not fit them.

        Slices stay as they are if `rows`. Where somebody listens, the plan fits neither slices nor state on a GPU,
        which first has to follow its variable.
        """
        if len(pairs) != len(self.variables):
            return None
        if heard and any(slot._own.__class__ in MAKERS for kept in self.kept for slot in kept):
            return None
        found: list[Any] = []
        for pair, variable, shape, dtype in zip(pairs, self.variables, self.shapes, self.dtypes, strict=True):
            if pair.__class__ is not tuple or len(pair) != 2 or pair[1] is not variable:
                return None
            gradient = pair[0]
            if gradient.__class__ is Tensor:
                array = gradient._held
            elif heard or gradient.__class__ is not IndexedSlices:
                return None
            elif gradient._shape == shape and gradient.dtype == variable.dtype:
                array = gradient if rows and variable._own.size >= LARGE else gradient.__tensor__()._held
                if array is gradient:
                    found.append(array)
                    continue
            else:
                return None
            if array.shape != shape or array.dtype is not dtype or (array.__class__ is not ndarray and shape):
                return None
            found.append(array)
        return found

    def step(self, kernel: Any, arrays: list[Any], settings: tuple[float, ...], optimizer: Any) -> None:
        """Change the variables and what is kept for them."""
        with LOCK.held:
            for group in self.groups:
                group.step(kernel, arrays, settings)
            for n in self.large:
                gradient, v = arrays[n], self.variables[n]
                if gradient.__class__ is IndexedSlices:
                    optimizer._change_rows(gradient, v)
                    continue
                flat = [writable(slot).reshape(-1) for slot in self.kept[n]]
                along = np.array(settings, self.dtypes[n])
                kernel(writable(v).reshape(-1), _vector(gradient), along, *flat)


def fits(variables: list[Variable]) -> bool:
    """Return whether steps of these variables may be fused: different ones with floats on the CPU, not halves."""
    return len({id(v) for v in variables}) == len(variables) and all(
        v._held.dtype in DTYPES and isinstance(v._held, np.ndarray | np.floating) and v._shape is None
        for v in variables
    )


def stepped(optimizer: Optimizer, pairs: Any) -> bool:
    """Take a step if a plan fits the pairs; return False otherwise, in which case nothing has changed."""
    plans = _plans.get(optimizer)
    found = optimizer._fused() if plans else None  # pyright: ignore[reportPrivateUsage]
    if not plans or found is None:
        return False
    rows, heard = optimizer._takes_rows(), bool(sinks_now())  # pyright: ignore[reportPrivateUsage]
    for plan in plans:
        arrays = plan.arrays(pairs, rows, heard)
        if arrays is not None:
            break
    else:
        return False
    kernel, settings = found
    quietly(_step, optimizer, plan, kernel, arrays, settings)
    return True


def _step(optimizer: Optimizer, plan: Plan, kernel: Any, arrays: list[Any], settings: tuple[float, ...]) -> None:
    if optimizer.clipvalue is not None:
        arrays = [np.clip(a, -optimizer.clipvalue, optimizer.clipvalue) for a in arrays]
    elif optimizer.clipnorm is not None:
        arrays = [_shortened(a, optimizer.clipnorm, _square(a)) for a in arrays]
    elif optimizer.global_clipnorm is not None:
        square = sum(map(_square, arrays))
        arrays = [_shortened(a, optimizer.global_clipnorm, square) for a in arrays]
    plan.step(kernel, arrays, settings, optimizer)


def _vector(array: Any) -> Any:
    """Return a gradient as a vector that Numba takes: contiguous, and not read-only although nobody writes to it."""
    flags = array.flags
    return (array if flags.c_contiguous and flags.writeable else np.array(array, order="C")).reshape(-1)


def _square(array: Any) -> float:
    """Return the sum of squares, in float64."""
    wide = array.reshape(-1).astype(np.float64, copy=False)
    return float(wide.dot(wide))


def _shortened(array: Any, limit: float, square: float) -> Any:
    """Return a gradient scaled down to a norm, whose square is given, of at most `limit`."""
    length = square**0.5
    return array * array.dtype.type(limit / length) if length > limit else array


def tell_of_step(pairs: Any, state: Any) -> None:
    """Tell listeners of the gradients that were used, and of new values of variables and of what is kept for them."""
    place, sinks = place_now(), sinks_now()
    for gradient, v in pairs:
        tell_look(gradient)
        for changed in (v, *state[v].values()):
            tensor = wrap(changed._held)
            for sink in sinks:
                sink.note(TensorMet, tensor, "converted")
            tell_listeners(VariableAssigned(changed._id, changed.name, tensor._held, tensor._id, place))


def planned(optimizer: Optimizer, variables: list[Variable]) -> bool:
    """Make a plan for variables whose slots have been built, if their steps may be fused and there is none yet."""
    plans = _plans.setdefault(optimizer, [])
    known = any(len(plan.variables) == len(variables) and all(map(is_, plan.variables, variables)) for plan in plans)
    if known or optimizer._fused() is None or not fits(variables):  # pyright: ignore[reportPrivateUsage]
        return False
    slots = [list(optimizer._state[v].values()) for v in variables]  # pyright: ignore[reportPrivateUsage]
    del plans[MOST_PLANS - 1 :]
    plans.insert(0, Plan(variables, slots))
    return True
