"""Module: an object that finds the variables it holds, and whose gradient mirrors its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from autodiff_lab.absent import MODULES
from autodiff_lab.engine import nest
from autodiff_lab.engine.attributes import Elsewhere
from autodiff_lab.engine.dtypes import DType
from autodiff_lab.engine.moving import move_all
from autodiff_lab.engine.variable import Variable
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.events.listener import SCOPE, name_scope
from autodiff_lab.transforms.functional import value_with_pullback

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])")
"""Where a word begins inside a class name."""


APART = frozenset({"_awaited", "_built_for", "_frozen", "_given", "_penalties", "symbols"})
"""Attributes that hold shapes, or variables and modules that exist as other attributes as well."""


M = TypeVar("M", bound="Module")
P = ParamSpec("P")
R = TypeVar("R")


def await_values(owner: Any, update: Callable[[], None], needed: bool) -> None:
    """Keep what is to run when a layer or an optimizer has made its variables, or drop it if it is not needed."""
    others = [other for other in vars(owner).pop("_awaited", ()) if other != update]
    if needed or others:
        owner._awaited = [*others, update] if needed else others


def arrived(owner: Any) -> None:
    """Run what waits for the variables of a layer or an optimizer, which it has just made."""
    for update in list(vars(owner).get("_awaited", ())):
        update()


class ModuleGradient:
    """Gradients under the names of a module's attributes; `gradients` has them in the order of its variables."""

    def __init__(self, gradients: list[Any]) -> None:
        self.gradients = gradients

    def __repr__(self) -> str:
        names = ", ".join(name for name in vars(self) if name != "gradients")
        return f"ModuleGradient({names})"


class Module:
    """Base of everything that holds variables; define ``__call__`` in a subclass.

    Variables and modules are found in attributes, also inside lists, tuples and dicts, in the order in which the
    attributes were set.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> class Line(lab.Module):
    ...     def __init__(self):
    ...         self.slope = lab.Variable(2.0, name="slope")
    ...         self.offset = lab.Variable(1.0, name="offset")
    ...     def __call__(self, x):
    ...         return self.slope * x + self.offset
    >>> line = Line()
    >>> [v.name for v in line.trainable_variables]
    ['slope:0', 'offset:0']
    >>> float(lab.gradient(lambda model: model(3.0))(line).slope)
    3.0
    """

    moved_to: str | None = None
    """The device given to `move_to`, for the weights of layers that are not built yet."""

    _trainable = True
    _frozen: tuple[Variable, ...] = ()
    """Variables that this module has frozen, and will unfreeze."""

    def __init__(self, name: str | None = None) -> None:
        if not isinstance(name, str | None):
            raise InvalidArgumentError(
                f"{type(self).__name__}: name must be a str, got {name!r}. Try passing other settings by keyword."
            )
        self._given_name = name
        self._around = SCOPE.get()

    @property
    def name(self) -> str:
        """The given name, or that of the class: ``TwoLayers`` is ``two_layers``."""
        return getattr(self, "_given_name", None) or _WORDS.sub("_", type(self).__name__).lower()

    @property
    def name_scope(self) -> name_scope:
        """The scope of the module's name, in which `with_name_scope` runs methods: a block for ``with``."""
        around = getattr(self, "_around", "")
        return name_scope(f"{around}/{self.name}/" if around else f"{self.name}/")

    @staticmethod
    def with_name_scope(method: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
        """Decorate a method that runs in the module's name scope, so that its variables are named after the module.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> class TwoLayers(lab.Module):
        ...     @lab.Module.with_name_scope
        ...     def __call__(self, x):
        ...         if not hasattr(self, "w"):
        ...             self.w = lab.Variable(lab.ones((2, 2)), name="w")
        ...         return x @ self.w
        >>> layers = TwoLayers()
        >>> _ = layers(lab.ones((1, 2)))
        >>> layers.w.name
        'two_layers/w:0'
        """

        @functools.wraps(method)
        def inside(self: M, *args: P.args, **kwargs: P.kwargs) -> R:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Every variable, each once."""
        found: dict[Variable, None] = {}
        _variables(self, set(), found)
        return tuple(found)

    @property
    def trainable(self) -> bool:
        """Whether the variables are trained; setting it applies to every inner module too.

        A variable that was made with ``trainable=False``, such as a moving mean, stays as it is. Tapes do not watch
        the others while it is False.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> model = lab.Sequential([lab.layers.Dense(3), lab.layers.Dense(1)])
        >>> y = model(lab.ones((2, 4)))
        >>> model.layers[0].trainable = False
        >>> [v.shape.as_list() for v in model.trainable_variables]
        [[3, 1], [1]]
        """
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        for module in (self, *self.submodules):
            module._set_trainable(bool(value))

    def _set_trainable(self, value: bool) -> None:
        self._trainable = value
        frozen, self._frozen = self._frozen, ()
        for v in frozen:
            v.trainable = True
        if not value:
            self._freeze(child for child in _held(self) if isinstance(child, Variable) and child.trainable)

    def _freeze(self, variables: Iterable[Variable]) -> None:
        """Freeze variables until the module is trainable again."""
        for v in variables:
            v.trainable = False
            self._frozen += (v,)

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Every trainable variable, each once; none if the module is not trainable."""
        return tuple(v for v in self.variables if v.trainable) if self._trainable else ()

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """Every variable that is not trained, such as a moving mean, each once."""
        return tuple(v for v in self.variables if not v.trainable) if self._trainable else self.variables

    @property
    def submodules(self) -> tuple[Module, ...]:
        """Every module inside, at any depth, each once."""
        return tuple(dict.fromkeys(_modules(self, set())))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"

    def _repr_html_(self) -> str:
        from autodiff_lab.exploring.cards import html_of

        return html_of(self)

    def mirrored(self, gradients: list[Any]) -> ModuleGradient:
        """Return gradients, in the order of `trainable_variables`, under the names of the attributes."""
        found = dict(zip(self.trainable_variables, gradients, strict=True))
        return _mirror(self, found, gradients)

    def applied_for_backpropagation(self, *inputs: Any) -> tuple[Any, Callable[[Any], Any]]:
        """Return the module's value, and a function from its cotangent to the gradients of the module and the inputs.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> layer = lab.layers.Dense(1)
        >>> value, backprop = layer.applied_for_backpropagation(lab.ones((1, 2)))
        >>> gradient, dx = backprop(lab.ones((1, 1)))
        >>> gradient.kernel.shape, dx.shape
        (TensorShape([2, 1]), TensorShape([1, 2]))
        """
        return value_with_pullback(_build_and_apply(self, inputs), self, *inputs)

    def move_to(self, device: str) -> Self:
        """Move every variable to a device, also those that layers make later; see `Variable.move_to`.

        Raises
        ------
        DeviceError
            If there is no such device.
        TapeMisused
            If a tape holds a read of one of the variables; then none is moved.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> layer = lab.layers.Dense(1, input_shape=(2,)).move_to("/CPU:0")
        """
        move_all(self.variables, device)
        for module in (self, *self.submodules):
            module.moved_to = device
        return self

    def save_weights(self, path: str | Path) -> None:
        """Write every variable into a NumPy ``.npz`` file, by position and name; no pickle."""
        from autodiff_lab.layers.saving import save_variables

        save_variables(self.variables, path)

    def load_weights(self, path: str | Path) -> None:
        """Read every variable from a file that `save_weights` wrote.

        Raises
        ------
        ConversionError
            If the file is damaged, or was not written by `save_weights`; then nothing is changed.
        ShapeMismatch
            If the file has other variables, shapes or dtypes; then nothing is changed.
        """
        from autodiff_lab.layers.saving import load_variables

        load_variables(self.variables, path)


Elsewhere.install(Module, MODULES)


def _build_and_apply(module: Module, inputs: tuple[Any, ...]) -> Callable[..., Any]:
    """Return the call as a function of the module; unbuilt layers are built for the shapes of the inputs."""
    build = getattr(module, "ensure_built", None)
    if build is not None:
        build(*inputs)
    return lambda model, *xs: model(*xs)


_PLAIN = frozenset({type(None), bool, int, float, str, DType, FunctionType, MethodType})
"""What most attributes of a layer are: they hold nothing, and are not looked into."""


def _found(values: Iterable[Any], inside: bool = False) -> list[Any]:
    """Return the variables and modules among some values, and those in lists, tuples and dicts among them."""
    found: list[Any] = []
    for value in values:
        kind = value.__class__
        if kind is Variable or issubclass(kind, (Variable, Module)):
            found.append(value)
        elif (kind is list or kind is tuple) and not inside:
            if value:
                found += _found(value, inside=True)
        elif issubclass(kind, (list, tuple, dict)) and value:
            found += [leaf for leaf in nest.flatten(value)[0] if isinstance(leaf, (Variable, Module))]
    return found


def _held(module: Module) -> list[Any]:
    return _found(
        [value for name, value in vars(module).items() if value.__class__ not in _PLAIN and name not in APART]
    )


def _variables(module: Module, seen: set[int], found: dict[Variable, None]) -> None:
    """Find the variables of a module that was not seen yet, and of those inside."""
    seen.add(id(module))
    for child in _held(module):
        if isinstance(child, Variable):
            found[child] = None
        elif id(child) not in seen:
            _variables(child, seen, found)


def _modules(module: Module, seen: set[int]) -> Iterator[Module]:
    seen.add(id(module))
    for child in _held(module):
        if isinstance(child, Module) and id(child) not in seen:
            yield child
            yield from _modules(child, seen)


def _mirror(value: Any, found: dict[Variable, Any], gradients: list[Any] | None = None) -> Any:
    if isinstance(value, Variable):
        return found.get(value)
    if isinstance(value, (list, tuple, dict)):
        leaves, rebuild = nest.flatten(value)
        return rebuild([_mirror(leaf, found) for leaf in leaves])
    if not isinstance(value, Module):
        return None
    order = [found.get(v) for v in value.trainable_variables] if gradients is None else gradients
    result = ModuleGradient(order)
    for name, attribute in vars(value).items():
        if name not in APART and _found([attribute]):
            setattr(result, name, _mirror(attribute, found))
    return result
