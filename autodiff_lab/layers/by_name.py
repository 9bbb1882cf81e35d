"""Losses, metrics and optimizers by name: what `model.compile("adam", "mse", metrics=["mae"])` means."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from autodiff_lab.engine.convert import convert
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.layers import confusion, distances, loss_functions, losses, metrics, update_rules
from autodiff_lab.layers.configured import Configured
from autodiff_lab.layers.metrics import Mean
from autodiff_lab.layers.optimizers import Optimizer
from autodiff_lab.ops.array.casting import cast

if TYPE_CHECKING:
    from autodiff_lab.engine.annotations import NameOrCallable

_SHORT = {
    "mse": "mean_squared_error", "mae": "mean_absolute_error", "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error", "bce": "binary_crossentropy", "logcosh": "log_cosh",
    "kld": "kl_divergence", "rmse": "root_mean_squared_error", "acc": "accuracy",
}  # fmt: skip


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _classes(base: type, *modules: Any) -> dict[str, type]:
    found = [
        value for module in modules for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, base) and value is not base and not name.startswith("_")
    ]  # fmt: skip
    return {cls.__name__: cls for cls in found}


@cache
def _tables() -> dict[str, dict[str, type]]:
    return {
        "loss": _classes(losses.Loss, losses, distances),
        "metric": _classes(Mean, metrics, confusion) | {"Mean": Mean},
        "optimizer": _classes(Optimizer, update_rules),
    }


def _found(kind: str, identifier: Any) -> Any:
    """Return the class of an identifier: a name of either form, or a dict of class name and settings."""
    table = _tables()[kind]
    names = {_snake(name): cls for name, cls in table.items()} | {name.lower(): cls for name, cls in table.items()}
    wanted = _SHORT.get(identifier.lower(), identifier) if isinstance(identifier, str) else None
    cls = table.get(wanted or "") or names.get(wanted or "")
    if cls is None:
        raise InvalidArgumentError(f"unknown {kind} {identifier!r}. Try one of: {', '.join(sorted(table))}.")
    return cls


def _made(kind: str, identifier: dict[str, Any]) -> Any:
    cls: type[Configured] = _found(kind, identifier.get("class_name"))
    return cls(**identifier.get("config", {}))


def get_loss(identifier: NameOrCallable) -> Callable[..., Any] | None:
    """Return the loss function with a name, or a loss from a dict of class name and settings.

    A function or a loss is returned as it is, and so is None.

    Raises
    ------
    InvalidArgumentError
        If there is none with that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.losses.get("mse")([[1.0, 2.0]], [[1.0, 4.0]]))
    Tensor([2.], shape=(1,), dtype=float32)
    """
    if identifier is None or (callable(identifier) and not isinstance(identifier, type)):
        given: Any = identifier
        return given
    if isinstance(identifier, type):
        return identifier()
    if isinstance(identifier, dict):
        return _made("loss", identifier)
    name = _SHORT.get(str(identifier).lower(), identifier)
    function = getattr(loss_functions, name, None) if isinstance(name, str) and name.islower() else None
    return function or _found("loss", identifier)()


def loss_object(identifier: Any) -> Any:
    """Return a loss that reduces over the batch: the class of a name or of a function of `lab.losses`, or the object.

    Any other function of labels and predictions becomes the mean of its results.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(loss_object(lab.losses.mse))
    MeanSquaredError(reduction='sum_over_batch_size', name='mean_squared_error')
    >>> print(loss_object(lambda y, p: lab.reduce_max(abs(y - p), axis=-1))([[1.0], [2.0]], [[2.0], [5.0]]))
    Tensor(2.0, shape=(), dtype=float32)
    """
    if isinstance(identifier, str):
        return _found("loss", identifier)()
    found: Any = get_loss(identifier)
    if found is None or isinstance(found, losses.Loss):
        return found
    name = getattr(found, "__name__", "")
    return _found("loss", name)() if getattr(loss_functions, name, None) is found else _OfFunction(found)


class _OfFunction(losses.Loss):
    """A function of labels and predictions as a loss; its results are reduced over the batch."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        name = getattr(function, "__name__", type(function).__name__)
        super().__init__(name=name if name.isidentifier() else "loss")
        self.function = function

    def call(self, y_true: Any, y_pred: Any) -> Any:
        labels = y_true if y_true.dtype.name == "string" else cast(y_true, y_pred.dtype)
        return convert(self.function(labels, y_pred))

    def get_config(self) -> dict[str, Any]:
        return {"function": self.function}


def get_metric(identifier: NameOrCallable) -> Any:
    """Return the metric with a name, or from a dict of class name and settings; a metric is returned as it is.

    A function of labels and predictions, and the name of a loss, become the mean of their results.

    Raises
    ------
    InvalidArgumentError
        If there is none with that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(lab.metrics.get("mae")([1.0, 2.0], [1.0, 4.0]))
    Tensor(1.0, shape=(), dtype=float32)
    """
    if isinstance(identifier, type):
        return identifier()
    if isinstance(identifier, dict):
        return _made("metric", identifier)
    if not isinstance(identifier, str):
        return identifier if hasattr(identifier, "update_state") else confusion.MeanMetricWrapper(identifier)
    try:
        return _found("metric", identifier)()
    except InvalidArgumentError:
        name = _SHORT.get(identifier.lower(), identifier)
        function = getattr(loss_functions, name, None) if name.islower() else None
        if function is None:
            raise
        return confusion.MeanMetricWrapper(function, name=identifier)


def get_optimizer(identifier: NameOrCallable) -> Optimizer:
    """Return the optimizer with a name, or from a dict of class name and settings; an optimizer is returned as it is.

    Raises
    ------
    InvalidArgumentError
        If there is none with that name.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> lab.optimizers.get("adam").learning_rate
    0.001
    """
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, type):
        return identifier()
    return _made("optimizer", identifier) if isinstance(identifier, dict) else _found("optimizer", identifier)()
