"""Names that Keras, TensorFlow or PyTorch have and this package does not: what to use instead.

Each table maps a name to the end of the message for it. A namespace answers with them through a module-level
``__getattr__``, a class through `Elsewhere`; every other missing name keeps Python's ordinary AttributeError.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from autodiff_lab.absent.arrays import ARRAYS, IMAGE, LINALG, MATH, RANDOM, SIGNAL
from autodiff_lab.absent.models import (
    ARGUMENTS,
    INITIALIZERS,
    LAYERS,
    LOSSES,
    METRICS,
    MODULES,
    NN,
    OPTIMIZERS,
    SCHEDULES,
    STEPPERS,
)
from autodiff_lab.absent.programs import BACKEND, CALLBACKS, DATA, KERAS, ROOT, TRAIN, UTILS
from autodiff_lab.absent.tensors import TAPES, TENSORS

__all__ = ["ARGUMENTS", "MODULES", "STEPPERS", "TABLES", "TAPES", "TENSORS", "answering", "cure_for", "no_name"]

TABLES = {
    "autodiff_lab": ARRAYS | ROOT, "autodiff_lab.callbacks": CALLBACKS, "autodiff_lab.data": DATA,
    "autodiff_lab.image": IMAGE, "autodiff_lab.initializers": INITIALIZERS, "autodiff_lab.keras": KERAS,
    "autodiff_lab.keras.backend": BACKEND, "autodiff_lab.keras.utils": UTILS, "autodiff_lab.layers": LAYERS,
    "autodiff_lab.layers.schedules": SCHEDULES, "autodiff_lab.linalg": LINALG, "autodiff_lab.losses": LOSSES,
    "autodiff_lab.math": MATH, "autodiff_lab.metrics": METRICS, "autodiff_lab.nn": NN,
    "autodiff_lab.optimizers": OPTIMIZERS, "autodiff_lab.random": RANDOM, "autodiff_lab.signal": SIGNAL,
    "autodiff_lab.train": TRAIN,
}  # fmt: skip
"""Each namespace with the names that it does not have."""


_ALIKE = 0.7
"""From which likeness on, between 0 and 1, a name is taken for a misspelt one."""


def no_name(module: ModuleType, name: str) -> AttributeError:
    """Return the error for a name that a namespace does not have: what to use, or where the name is.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> print(no_name(lab, "log"))
    module 'autodiff_lab' has no attribute 'log'. Try lab.math.log.
    >>> print(no_name(lab.keras, "mixed_precision"))
    module 'autodiff_lab.keras' has no attribute 'mixed_precision'. Try dtype=... of each layer; a model may mix...
    >>> print(no_name(lab, "reduce_sums"))
    module 'autodiff_lab' has no attribute 'reduce_sums'. Did you mean: 'reduce_sum'?
    """
    cure = cure_for(module.__name__, name)
    text = f"module {module.__name__!r} has no attribute {name!r}"
    if cure:
        return AttributeError(f"{text}. Try {cure}.", name=name, obj=module)
    if name.startswith("_"):  # Python itself asks for those
        return AttributeError(text, name=name, obj=module)
    from difflib import get_close_matches

    near = get_close_matches(name, dir(module), 1, _ALIKE)
    if near:
        # What Python adds in a terminal, and a notebook does not; without `obj` Python does not add it once more.
        return AttributeError(f"{text}. Did you mean: {near[0]!r}?", name=name)
    return AttributeError(text, name=name, obj=module)


def cure_for(module: str, name: str) -> str:
    """Return what to use instead of a name that a namespace does not have, empty if nothing is known.

    Examples
    --------
    >>> cure_for("autodiff_lab", "optim"), cure_for("autodiff_lab.nn", "nonsense")
    ('lab.optimizers', '')
    """
    cure = TABLES.get(module, {}).get(name)
    if cure is None and module in _OF_ANY_NAME and not name.startswith("_"):  # Python itself asks for those
        cure = " or ".join(_homes(name)) or ARRAYS.get(name)
    return cure or ""


_OF_ANY_NAME = ("autodiff_lab", "autodiff_lab.keras.backend", "autodiff_lab.linalg", "autodiff_lab.math",
                "autodiff_lab.nn", "autodiff_lab.random", "autodiff_lab.signal")  # fmt: skip
"""Namespaces that are asked for what lies in others, and for what NumPy calls otherwise."""


def _homes(name: str) -> list[str]:
    """Return where a name is: in the package itself, or in its namespaces."""
    package = sys.modules["autodiff_lab"]
    if name in package.__all__:
        return [f"lab.{name}"]
    for module in package._MODULES:
        with suppress(ModuleNotFoundError):
            import_module(f"autodiff_lab.{module}")
    return [
        f"lab.{home}.{name}"
        for home, module in sorted(vars(package).items())
        if isinstance(module, ModuleType) and name in getattr(module, "__all__", ())
    ]


def answering(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a namespace, of which completion offers the public names.

    Examples
    --------
    >>> from autodiff_lab import keras
    >>> keras.utils.plot_model
    Traceback (most recent call last):
        ...
    AttributeError: module 'autodiff_lab.keras.utils' has no attribute 'plot_model'. Try model.summary(), or lab.reco...
    """

    def answer(name: str) -> NoReturn:
        raise no_name(sys.modules[module], name)

    namespace = vars(sys.modules[module])
    namespace.setdefault("__path__", [])  # for the finder in `imports`
    namespace["__dir__"] = lambda: list(namespace["__all__"])
    return answer
