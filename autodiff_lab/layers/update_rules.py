"""The rules of the optimizers: how a gradient, and the state kept from earlier ones, changes a variable.

Each is written once, for arrays and for the tensors of a trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from autodiff_lab.engine.convert import constant
from autodiff_lab.engine.devices import following, zeros_beside
from autodiff_lab.engine.indexed_slices import IndexedSlices
from autodiff_lab.engine.tensor import Tensor
from autodiff_lab.engine.variable import Variable
from autodiff_lab.layers.gradient_pairs import added_by_row
from autodiff_lab.layers.optimizers import OfEveryOptimizer, Optimizer, WithDecay, number
from autodiff_lab.ops.array.casting import cast
from autodiff_lab.ops.array.gathering import gather
from autodiff_lab.ops.math.arithmetic import maximum, minimum, sqrt
from autodiff_lab.ops.nn.updates import (
    adadelta_step,
    adagrad_step,
    adam_step,
    adamax_step,
    momentum_step,
    nadam_step,
    rmsprop_step,
    sgd_step,
)

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import LearningRate, Numbers


def _root(x: Any) -> Any:
    return sqrt(x) if isinstance(x, Tensor) else np.sqrt(x)


def _number(x: Any, like: Any) -> Any:
    """Return a number in the dtype of a gradient, so that it does not widen what it is multiplied with."""
    return cast(x, like.dtype) if isinstance(x, Tensor) else like.dtype.type(x)


def _larger(x: Any, y: Any) -> Any:
    return maximum(x, y) if isinstance(x, Tensor) else np.maximum(x, y)


class SGD(Optimizer):
    """Gradient descent, with optional momentum and Nesterov acceleration: ``v <- v - rate * g``.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable([1.0, 2.0])
    >>> _ = lab.optimizers.SGD(learning_rate=0.5).apply_gradients([(lab.constant([1.0, -2.0]), v)])
    >>> print(v.numpy())
    [0.5 3. ]
    """

    def __init__(
        self,
        learning_rate: LearningRate = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **more: Unpack[WithDecay],
    ) -> None:
        super().__init__(learning_rate, **more)
        self.momentum, self.nesterov = number(momentum, "SGD: momentum"), nesterov
        self.slots = ("momentum",) if momentum else ()

    def _takes_rows(self) -> bool:
        return type(self).change is SGD.change and not (self.momentum or self.weight_decay or self._clips())

    def _change_rows(self, slices: IndexedSlices, v: Variable) -> None:
        v.assign_sub(slices * self._rate_for(slices))

    def change(self, gradient: Numbers, value: Numbers, state: dict[str, Numbers], step: Numbers | int) -> Numbers:
        if not self.momentum:
            return -self._rate_for(gradient) * gradient
        state["momentum"] = self.momentum * state["momentum"] - self._rate_for(gradient) * gradient
        if self.nesterov:
            return self.momentum * state["momentum"] - self._rate_for(gradient) * gradient
        return state["momentum"]

    _formula = change

    def _kernel(self, rate: float, decay: float, step: int) -> tuple[Any, tuple[float, ...]]:
        if not self.momentum:
            return sgd_step, (rate, decay)
        return momentum_step, (rate, decay, float(self.momentum), float(bool(self.nesterov)))


class Adam(Optimizer):
    """Bias-corrected moments of the gradient: Kingma & Ba 2015.

    With `amsgrad` the largest second moment so far is used: Reddi, Kale & Kumar 2018.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> _ = lab.optimizers.Adam(0.1).apply_gradients([(lab.constant(2.0), v)])
    >>> print(round(float(v), 4))
    0.9
    """

    slots: tuple[str, ...] = ("m", "v")

    def __init__(self, learning_rate: LearningRate = 0.001, beta_1: float = 0.9, beta_2: float = 0.999,
                 epsilon: float = 1e-7, amsgrad: bool = False, **more: Unpack[WithDecay]) -> None:  # fmt: skip
        super().__init__(learning_rate, **more)
        self.beta_1, self.beta_2 = number(beta_1, "Adam: beta_1"), number(beta_2, "Adam: beta_2")
        self.epsilon, self.amsgrad = number(epsilon, "Adam: epsilon"), amsgrad
        self.slots = ("m", "v", "largest") if amsgrad else ("m", "v")

    def change(self, gradient: Numbers, value: Numbers, state: dict[str, Numbers], step: Numbers | int) -> Numbers:
        state["m"] = self.beta_1 * state["m"] + (1 - self.beta_1) * gradient
        size = state["v"] = self.beta_2 * state["v"] + (1 - self.beta_2) * gradient * gradient
        if self.amsgrad:
            size = state["largest"] = _larger(state["largest"], size)
        rate = self._rate_now() * _root(1 - self.beta_2**step) / (1 - self.beta_1**step)
        return -_number(rate, gradient) * state["m"] / (_root(size) + self.epsilon)

    _formula = change

    def _kernel(self, rate: float, decay: float, step: int) -> tuple[Any, tuple[float, ...]]:
        one, two = float(self.beta_1), float(self.beta_2)
        corrected = rate * (1 - two**step) ** 0.5 / (1 - one**step)
        return adam_step, (corrected, decay, one, 1 - one, two, 1 - two, float(self.epsilon))


class AdamW(Adam):
    """Adam with decoupled weight decay: Loshchilov & Hutter 2019.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> _ = lab.optimizers.AdamW(0.1).apply_gradients([(lab.constant(2.0), v)])
    >>> print(round(float(v), 3))
    0.9
    """

    def __init__(self, learning_rate: LearningRate = 0.001, weight_decay: float | None = 0.004, beta_1: float = 0.9,
                 beta_2: float = 0.999, epsilon: float = 1e-7, amsgrad: bool = False,
                 **more: Unpack[OfEveryOptimizer]) -> None:  # fmt: skip
        super().__init__(learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay=weight_decay, **more)


class RMSprop(Optimizer):
    """Gradients divided by a moving average of their size: Tieleman & Hinton 2012.

    With `centered`, by a moving average of their deviation from their moving mean.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> _ = lab.optimizers.RMSprop(0.1).apply_gradients([(lab.constant(2.0), v)])
    >>> print(round(float(v), 3))
    0.684
    """

    slots: tuple[str, ...] = ("square", "momentum")

    def __init__(self, learning_rate: LearningRate = 0.001, rho: float = 0.9, momentum: float = 0.0,
                 epsilon: float = 1e-7, centered: bool = False, **more: Unpack[WithDecay]) -> None:  # fmt: skip
        super().__init__(learning_rate, **more)
        self.rho, self.momentum = number(rho, "RMSprop: rho"), number(momentum, "RMSprop: momentum")
        self.epsilon, self.centered = number(epsilon, "RMSprop: epsilon"), centered
        self.slots = ("square", "momentum", "mean") if centered else ("square", "momentum")

    def change(self, gradient: Numbers, value: Numbers, state: dict[str, Numbers], step: Numbers | int) -> Numbers:
        size = state["square"] = self.rho * state["square"] + (1 - self.rho) * gradient * gradient
        if self.centered:
            mean = state["mean"] = self.rho * state["mean"] + (1 - self.rho) * gradient
            size = size - mean * mean
        moved = self._rate_for(gradient) * gradient / _root(size + self.epsilon)
        state["momentum"] = self.momentum * state["momentum"] + moved
        return -state["momentum"]

    _formula = change

    def _kernel(self, rate: float, decay: float, step: int) -> tuple[Any, tuple[float, ...]]:
        rho = float(self.rho)
        return rmsprop_step, (rate, decay, rho, 1 - rho, float(self.momentum), float(self.epsilon))


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares: Duchi et al. 2011.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> _ = lab.optimizers.Adagrad(0.1).apply_gradients([(lab.constant(2.0), v)])
    >>> print(round(float(v), 3))
    0.901
    """

    slots = ("sum",)

    def __init__(self, learning_rate: LearningRate = 0.001, initial_accumulator_value: float = 0.1,
                 epsilon: float = 1e-7, **more: Unpack[WithDecay]) -> None:  # fmt: skip
        super().__init__(learning_rate, **more)
        self.initial_accumulator_value = number(initial_accumulator_value, "Adagrad: initial_accumulator_value")
        self.epsilon = number(epsilon, "Adagrad: epsilon")

    def build(self, var_list: Iterable[Variable]) -> None:
        variables = list(var_list)
        new = [v for v in variables if v not in self._state]
        super().build(variables)
        for v in new:
            slot = self._state[v]["sum"]
            slot.assign(zeros_beside(v._held, v._held.shape) + v._held.dtype.type(self.initial_accumulator_value))

    def _takes_rows(self) -> bool:  # no other row changes, unless 0 is divided by 0
        return type(self).change is Adagrad.change and self.epsilon > 0 and not (self.weight_decay or self._clips())

    def _change_rows(self, slices: IndexedSlices, v: Variable) -> None:
        at, slot = slices.indices, self._state[v]["sum"]
        gradient = added_by_row(slices)
        state: dict[str, Any] = {"sum": gather(slot, at)}
        moved = gather(v, at) + self.change(gradient, gradient, state, 0)
        slot.scatter_update(IndexedSlices(state["sum"], at))  # pyright: ignore[reportAttributeAccessIssue]
        v.scatter_update(IndexedSlices(moved, at))  # pyright: ignore[reportAttributeAccessIssue]

    def change(self, gradient: Numbers, value: Numbers, state: dict[str, Numbers], step: Numbers | int) -> Numbers:
        state["sum"] = state["sum"] + gradient * gradient
        return -self._rate_for(gradient) * gradient / _root(state["sum"] + self.epsilon)

    _formula = change

    def _kernel(self, rate: float, decay: float, step: int) -> tuple[Any, tuple[float, ...]]:
        return adagrad_step, (rate, decay, float(self.epsilon))


class Nadam(Optimizer):
    """Adam with Nesterov's momentum: Dozat 2016.

    The momentum of step t is beta_1 (1 - 0.96^t / 2), as in Keras; the gradient counts as if it were already in the
    mean of the next step.

    Parameters
    ----------
    learning_rate : float or LearningRateSchedule
    beta_1, beta_2 : float
        Decay of the moving averages of the gradient and of its square.
    epsilon : float
        Added to the root of the average square.

    Raises
    ------
    InvalidArgumentError
        If a setting is not a number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> _ = lab.optimizers.Nadam(0.1).apply_gradients([(lab.constant(2.0), v)])
    >>> print(round(float(v), 3))
    0.894
    """

    slots = ("m", "v")

    def __init__(self, learning_rate: LearningRate = 0.001, beta_1: float = 0.9, beta_2: float = 0.999,
                 epsilon: float = 1e-7, **more: Unpack[WithDecay]) -> None:  # fmt: skip
        super().__init__(learning_rate, **more)
        self.beta_1, self.beta_2 = number(beta_1, "Nadam: beta_1"), number(beta_2, "Nadam: beta_2")
        self.epsilon = number(epsilon, "Nadam: epsilon")

    def change(self, gradient: Numbers, value: Numbers, state: dict[str, Numbers], step: Numbers | int) -> Numbers:
        mean = state["m"] = self.beta_1 * state["m"] + (1 - self.beta_1) * gradient
        size = state["v"] = self.beta_2 * state["v"] + (1 - self.beta_2) * gradient * gradient
        of_mean, of_gradient, of_root = (_number(x, gradient) for x in self._factors(self._rate_now(), step))
        return -(of_mean * mean + of_gradient * gradient) / (of_root * _root(size) + self.epsilon)

    _formula = change

    def _factors(self, rate: Any, step: Any) -> tuple[Any, Any, Any]:
        """Return what the mean, the gradient and the root of the mean square are multiplied with in a step."""
        now, later = (self.beta_1 * (1 - 0.5 * 0.96**t) for t in (step, step + 1))
        so_far = self.beta_1**step * _product(step)
        return rate * later / (1 - so_far * later), rate * (1 - now) / (1 - so_far), 1 / _root(1 - self.beta_2**step)

    def _kernel(self, rate: float, decay: float, step: int) -> tuple[Any, tuple[float, ...]]:
        of_mean, of_gradient, of_root = map(float, self._factors(rate, step))
        one, two = float(self.beta_1), float(self.beta_2)
        return nadam_step, (of_mean, decay, of_gradient, one, 1 - one, two, 1 - two, of_root, float(self.epsilon))


_PRODUCTS = np.cumprod(1 - 0.5 * 0.96 ** np.arange(1, 1001))
"""The products of the factors 1 - 0.96^t / 2 of Nadam's momenta; those after the last one are 1 in float64."""


def _product(step: Any) -> Any:
    """Return the product of the factors up to a step, so that no optimizer has to keep it."""
    if not isinstance(step, Tensor):
        return _PRODUCTS[min(int(step), len(_PRODUCTS)) - 1]
    with following(step):
        known = constant(_PRODUCTS)
    return gather(known, cast(minimum(step, float(len(_PRODUCTS))) - 1, "int64"))


class Adamax(Optimizer):
    """Adam with the largest gradient, which decays, in place of the root of the mean square: Kingma & Ba 2015.

    Parameters
    ----------
    learning_rate : float or LearningRateSchedule
    beta_1, beta_2 : float
        Decay of the moving average of the gradient, and of its largest absolute value.
    epsilon : float
        Added to the largest absolute value.

    Raises
    ------
    InvalidArgumentError
        If a setting is not a number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> _ = lab.optimizers.Adamax(0.1).apply_gradients([(lab.constant(2.0), v)])
    >>> print(round(float(v), 3))
    0.9
    """

    slots = ("m", "u")

    def __init__(self, learning_rate: LearningRate = 0.001, beta_1: float = 0.9, beta_2: float = 0.999,
                 epsilon: float = 1e-7, **more: Unpack[WithDecay]) -> None:  # fmt: skip
        super().__init__(learning_rate, **more)
        self.beta_1, self.beta_2 = number(beta_1, "Adamax: beta_1"), number(beta_2, "Adamax: beta_2")
        self.epsilon = number(epsilon, "Adamax: epsilon")

    def change(self, gradient: Numbers, value: Numbers, state: dict[str, Numbers], step: Numbers | int) -> Numbers:
        state["m"] = self.beta_1 * state["m"] + (1 - self.beta_1) * gradient
        largest = state["u"] = _larger(self.beta_2 * state["u"], abs(gradient))
        rate = self._rate_now() / (1 - self.beta_1**step)
        return -_number(rate, gradient) * state["m"] / (largest + self.epsilon)

    _formula = change

    def _kernel(self, rate: float, decay: float, step: int) -> tuple[Any, tuple[float, ...]]:
        one = float(self.beta_1)
        return adamax_step, (rate / (1 - one**step), decay, one, 1 - one, float(self.beta_2), float(self.epsilon))


class Adadelta(Optimizer):
    """Gradients scaled by the size of earlier changes over that of earlier gradients: Zeiler 2012.

    The rule of the paper has a learning rate of 1; the default is that of Keras.

    Parameters
    ----------
    learning_rate : float or LearningRateSchedule
    rho : float
        Decay of the moving averages of squares.
    epsilon : float
        Added to both averages.

    Raises
    ------
    InvalidArgumentError
        If a setting is not a number.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> v = lab.Variable(1.0)
    >>> _ = lab.optimizers.Adadelta(1.0).apply_gradients([(lab.constant(2.0), v)])
    >>> print(round(float(v), 4))
    0.9986
    """

    slots = ("gradient", "change")

    def __init__(self, learning_rate: LearningRate = 0.001, rho: float = 0.95, epsilon: float = 1e-7,
                 **more: Unpack[WithDecay]) -> None:  # fmt: skip
        super().__init__(learning_rate, **more)
        self.rho, self.epsilon = number(rho, "Adadelta: rho"), number(epsilon, "Adadelta: epsilon")

    def change(self, gradient: Numbers, value: Numbers, state: dict[str, Numbers], step: Numbers | int) -> Numbers:
        size = state["gradient"] = self.rho * state["gradient"] + (1 - self.rho) * gradient * gradient
        moved = _root((state["change"] + self.epsilon) / (size + self.epsilon)) * gradient
        state["change"] = self.rho * state["change"] + (1 - self.rho) * moved * moved
        return -self._rate_for(gradient) * moved

    _formula = change

    def _kernel(self, rate: float, decay: float, step: int) -> tuple[Any, tuple[float, ...]]:
        return adadelta_step, (rate, decay, float(self.rho), 1 - float(self.rho), float(self.epsilon))
