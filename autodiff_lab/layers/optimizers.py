"""Optimizers: rules that change variables along their gradients.

Updates are plain NumPy on the variables' arrays: training is not differentiated through. Under a trace the same
rules run on tensors, so a compiled training step includes its updates; no tape records them there either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from autodiff_lab.absent import STEPPERS
from autodiff_lab.engine.attributes import Elsewhere
from autodiff_lab.engine.devices import device
from autodiff_lab.engine.indexed_slices import IndexedSlices
from autodiff_lab.engine.moving import follow, ranked, settle
from autodiff_lab.engine.tape import GradientTape
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError, UnimplementedError
from autodiff_lab.events import VariableAssigned
from autodiff_lab.events.listener import name_scope, place_now, sinks_now, tell_listeners, trace_now, unheard
from autodiff_lab.layers.clipping import clipped_by_global_norm, clipped_by_norm
from autodiff_lab.layers.configured import Remembering, unexpected
from autodiff_lab.layers.fused import planned, stepped, tell_of_step
from autodiff_lab.layers.gradient_pairs import listed_pairs, steps_to_take
from autodiff_lab.layers.module import Module, ModuleGradient, arrived
from autodiff_lab.layers.rates import Rated, checked_rate, number, step_taken
from autodiff_lab.layers.saving import load_variables, save_variables
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.math.elementary import clip_by_value

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import GradientLike, GradientPair, LearningRate, LossLike, Numbers


_RENAMED = {"lr": "learning_rate", "decay": "a schedule of lab.optimizers.schedules as the learning_rate"}


class OfEveryOptimizer(TypedDict, total=False):
    """Arguments that every optimizer has after its own."""

    clipnorm: float | None
    clipvalue: float | None
    global_clipnorm: float | None
    use_ema: bool
    ema_momentum: float
    ema_overwrite_frequency: int | None
    jit_compile: bool
    name: str | None


class NoOthers(TypedDict):
    """No argument: a type checker reports every one, and the constructor says which name it is closest to."""


class WithDecay(OfEveryOptimizer, total=False):
    """Those, and a weight decay that the optimizer does not have among its own."""

    weight_decay: float | None


class Optimizer(Rated, Remembering):
    """Base of optimizers; a subclass defines `change`.

    Parameters
    ----------
    learning_rate : float or LearningRateSchedule
        The learning rate.
    weight_decay : float, optional
        Fraction of each variable that is subtracted at each step, times the rate, independently of the gradient.
    clipnorm : float, optional
        Largest norm of each gradient.
    clipvalue : float, optional
        Largest absolute value of an element.
    global_clipnorm : float, optional
        Largest norm of all gradients together.

    Raises
    ------
    UnimplementedError
        If `use_ema` is set; it and the arguments after it exist for compatibility with Keras.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Signs(lab.optimizers.Optimizer):
    ...     def change(self, gradient, value, state, step):
    ...         return -self.learning_rate * (gradient / abs(gradient))
    >>> v = lab.Variable(1.0)
    >>> _ = Signs(0.5).apply_gradients([(lab.constant(-3.0), v)])
    >>> float(v)
    1.5
    """

    slots: tuple[str, ...] = ()
    _change_rows: Callable[[Any, Variable], None]
    _awaited: tuple[Any, ...] = ()
    _formula: Any = None  # the `change` that `_kernel` computes; a subclass that has another one is not fused

    def __init__(self, learning_rate: LearningRate = 0.001, weight_decay: float | None = None,
                 clipnorm: float | None = None, clipvalue: float | None = None,
                 global_clipnorm: float | None = None, use_ema: bool = False,
                 ema_momentum: float = 0.99, ema_overwrite_frequency: int | None = None, *,
                 jit_compile: bool = False, name: str | None = None, **unknown: Unpack[NoOthers]) -> None:  # fmt: skip
        for word in unknown:
            error = unexpected(type(self), word)
            raise TypeError(f"{str(error).partition('. ')[0]}. Try {_RENAMED[word]}.") if word in _RENAMED else error
        self._rate = checked_rate(learning_rate)
        if use_ema:
            raise UnimplementedError(
                f"{type(self).__name__}: use_ema is not supported. Try averaging the variables in the training loop."
            )
        if sum(limit is not None for limit in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise InvalidArgumentError(
                f"{type(self).__name__}: only one of clipnorm, clipvalue and global_clipnorm can be set."
            )
        for limit, what in ((weight_decay, "weight_decay"), (clipnorm, "clipnorm"), (clipvalue, "clipvalue"),
                            (global_clipnorm, "global_clipnorm")):  # fmt: skip
            if limit is not None:
                number(limit, f"{type(self).__name__}: {what}")
        self.weight_decay = weight_decay
        self.clipnorm, self.global_clipnorm, self.clipvalue = clipnorm, global_clipnorm, clipvalue
        self.name = type(self).__name__ if name is None else str(name)
        with device("/CPU:0"), name_scope(""):  # read at every step
            self.iterations = Variable(0, dtype="int64", trainable=False, name=f"{self.name}/iterations")
        self._state: dict[Variable, dict[str, Variable]] = {}

    def get_config(self) -> dict[str, object]:
        """Return the settings from which an equal optimizer, with a state of its own, can be made.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> lab.optimizers.SGD(0.1, momentum=0.9).get_config()
        {'learning_rate': 0.1, 'momentum': 0.9}
        """
        return {**super().get_config(), "learning_rate": self._setting()}

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The optimizer's state: the step count and what it keeps for each variable."""
        return (self.iterations, *(slot for state in self._state.values() for slot in state.values()))

    def build(self, var_list: Iterable[Variable]) -> None:
        """Make the state for variables, initially zeros; the state of a variable that has moved follows it."""
        for v in var_list:
            if v in self._state:
                follow(v, self._state[v].values())
            else:
                with device(v.device), name_scope(""):
                    zeros = np.zeros(v._held.shape, v._held.dtype)[()]
                    self._state[v] = {
                        s: Variable(zeros, trainable=False, name=f"{self.name}/{v.name[:-2]}/{s}") for s in self.slots
                    }
        if self._awaited:
            arrived(self)

    def change(self, gradient: Numbers, value: Numbers, state: dict[str, Numbers], step: Numbers | int) -> Numbers:
        """Return what to add to a variable, and update `state`.  All are arrays, or tensors under a trace."""
        raise NotImplementedError

    def _counted(self, pairs: list[tuple[Any, Variable]]) -> Variable:
        """Finish a step that was taken over all variables at once, and tell those who listen."""
        if sinks_now():
            tell_of_step(pairs, self._state)
            self._constrain(pairs)
            return self.iterations.assign_add(1)
        self._constrain(pairs)
        self.iterations._held = self.iterations._held + np.int64(1)
        return self.iterations

    def _clips(self) -> bool:
        return self.clipvalue is not None or self.clipnorm is not None or self.global_clipnorm is not None

    def _has_formula(self) -> bool:
        return type(self).change is type(self)._formula

    def _fused(self) -> tuple[Any, tuple[float, ...]] | None:
        """Return the kernel and the settings of the next step; None if it is not one of a built-in optimizer."""
        if not self._has_formula() or type(self)._moved is not Optimizer._moved:
            return None
        rate = float(self._rate_now())
        decay = rate * float(self.weight_decay) if self.weight_decay else 0.0
        return self._kernel(rate, decay, int(self.iterations._held) + 1)

    def _kernel(self, rate: float, decay: float, step: int) -> tuple[Any, tuple[float, ...]]:
        """Return the kernel that computes what `_formula` does, and its settings."""
        raise NotImplementedError

    def _takes_rows(self) -> bool:
        """Return whether a step along slices changes the named rows alone, by a method `_change_rows`."""
        return False

    def _moved(self, gradient: Any, value: Any, state: dict[str, Any], step: Any) -> Any:
        """Return the change of a variable, including weight decay."""
        moved = self.change(gradient, value, state, step)
        if not self.weight_decay:
            return moved
        share = self._rate_now() * self.weight_decay
        return moved - (cast(share, value.dtype) if isinstance(share, Tensor) else share) * value

    def apply_gradients(self, grads_and_vars: Iterable[GradientPair], name: str | None = None) -> Variable:
        """Update each variable along its gradient; a gradient of None leaves it unchanged, with a warning in the log.

        A variable with a `constraint` is then assigned the constrained value.

        Raises
        ------
        DtypeMismatch
            If a variable holds integers: a step would be truncated.
        InvalidArgumentError
            If no variable has a gradient, or if these are not pairs of a gradient and a variable.
        """
        given, trace = listed_pairs(grads_and_vars), trace_now()
        if trace is None and stepped(self, given):
            return self._counted(given)
        pairs = steps_to_take(given, self._takes_rows())
        if trace is not None:
            return self._apply_traced(trace, pairs)
        self.build(v for _, v in pairs)
        if stepped(self, pairs) or (planned(self, [v for _, v in pairs]) and stepped(self, pairs)):
            return self._counted(pairs)
        gradients: list[Any] = self._clipped([g for g, _ in pairs])
        step = int(self.iterations._array) + 1
        for tensor, (_, v) in zip(gradients, pairs, strict=True):
            if tensor.__class__ is IndexedSlices:
                with unheard():
                    self._change_rows(tensor, v)
                for one in (v, *self._state[v].values()) if sinks_now() else ():
                    tell_listeners(VariableAssigned(one._id, one.name, one._held, tensor._values._id, place_now()))
                continue
            gradient = ranked(tensor._array)
            slots = self._state[v]
            state = {name: slot._array for name, slot in slots.items()}
            moved = self._moved(gradient, v._array, state, step)
            settle(v, v._array + moved, own=True)
            for kept, slot in slots.items():
                settle(slot, state[kept])
        self._constrain(pairs)
        return self.iterations.assign_add(1)

    def apply(self, grads: Iterable[GradientLike], trainable_variables: Iterable[Variable] | None = None) -> Variable:
        """Update variables along their gradients, both in the same order; by default those of the last call.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> w = lab.Variable(1.0)
        >>> _ = lab.optimizers.SGD(0.5).apply([lab.constant(1.0)], [w])
        >>> float(w)
        0.5
        """
        variables = list(self._state) if trainable_variables is None else list(trainable_variables)
        gradients = list(grads)
        if len(gradients) != len(variables):
            raise InvalidArgumentError(f"apply: got {len(gradients)} gradients for {len(variables)} variables.")
        return self.apply_gradients(zip(gradients, variables, strict=True))

    def _apply_traced(self, trace: Any, pairs: list[tuple[Any, Variable]]) -> Variable:
        """Update the variables by ops that only the trace sees."""
        new = [v for _, v in pairs if v not in self._state]
        self.build(v for _, v in pairs)
        trace.before.keep(slot for v in new for slot in self._state[v].values())
        with unheard():
            step = cast(self.iterations.read() + 1, "float64")
            for gradient, (_, v) in zip(self._clipped([g for g, _ in pairs]), pairs, strict=True):
                if gradient.__class__ is IndexedSlices:
                    self._change_rows(gradient, v)
                    continue
                slots = self._state[v]
                state: dict[str, Any] = {name: slot.read() for name, slot in slots.items()}
                moved = self._moved(gradient, v.read(), state, step)
                v.assign(v.read() + moved)
                for kept, slot in slots.items():
                    slot.assign(state[kept])
            self._constrain(pairs)
            self.iterations.assign_add(1)
            step_taken(trace, self.iterations)
        return self.iterations

    def _constrain(self, pairs: list[tuple[Any, Variable]]) -> None:
        """Apply the constraint of each variable that has one, after all of them have been updated."""
        for _, v in pairs:
            if v.constraint is not None:
                with unheard():
                    allowed = v.constraint(v)
                v.assign(allowed)

    def update(self, module: Module, along: ModuleGradient) -> None:
        """Update a module's trainable variables along a gradient that mirrors it.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> layer = lab.layers.Dense(1, kernel_initializer="ones")
        >>> loss, gradient = lab.value_with_gradient(lambda m: lab.reduce_sum(m([[1.0, 2.0]])))(layer)
        >>> lab.optimizers.SGD(0.5).update(layer, along=gradient)
        """
        self.apply_gradients(zip(along.gradients, module.trainable_variables, strict=True))

    def minimize(self, loss: LossLike, var_list: Sequence[Variable], tape: GradientTape | None = None) -> Variable:
        """Take one step that reduces a loss: `loss` is a function, or a tensor with its tape."""
        if tape is None:
            if not callable(loss):
                raise InvalidArgumentError("minimize: a loss tensor needs its tape. Try minimize(loss, v, tape=tape).")
            function: Callable[[], Any] = loss
            own = GradientTape()
            with own:
                loss = function()
            tape = own
        return self.apply_gradients(zip(tape.gradient(loss, list(var_list)), var_list, strict=True))

    def save_state(self, path: str | Path) -> None:
        """Write the optimizer's state into a ``.npz`` file."""
        save_variables(self.variables, path)

    def load_state(self, path: str | Path) -> None:
        """Read the optimizer's state; `build` must have been called for the variables."""
        load_variables(self.variables, path)

    def _clipped(self, gradients: list[Tensor]) -> list[Tensor]:
        """Return the clipped gradients, computed by ops that no tape records."""
        if not self._clips():
            return gradients
        with unheard():
            if self.clipvalue is not None:
                gradients = [clip_by_value(g, -self.clipvalue, self.clipvalue) for g in gradients]
            if self.clipnorm is not None:
                gradients = clipped_by_norm(gradients, self.clipnorm)
            if self.global_clipnorm is not None:
                gradients = clipped_by_global_norm(gradients, self.global_clipnorm)
        return gradients


Elsewhere.install(Optimizer, STEPPERS)
