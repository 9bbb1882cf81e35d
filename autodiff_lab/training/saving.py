"""Whole models in one file: their layers as JSON and their weights as arrays, in a zip archive without pickle.

Only classes of this package, and those that the reader passes as `custom_objects`, are ever made from a file.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from autodiff_lab import layers
from autodiff_lab.engine import nest
from autodiff_lab.engine.dtypes import DType, as_dtype
from autodiff_lab.engine.op import REGISTRY, Op
from autodiff_lab.errors import ConversionError, InvalidArgumentError, LabError
from autodiff_lab.layers import (
    activations,
    confusion,
    constraints,
    distances,
    initializers,
    losses,
    metrics,
    regularizers,
    schedules,
    update_rules,
)
from autodiff_lab.layers.graphs import Call, KerasTensor, called, item
from autodiff_lab.layers.inputs import InputLayer
from autodiff_lab.layers.layer import Layer
from autodiff_lab.layers.model import Model
from autodiff_lab.layers.saving import is_hdf5, of_hdf5, packed, unpack, warn_of_hdf5
from autodiff_lab.layers.sequential import Sequential
from autodiff_lab.training.utilities import CUSTOM

VERSION = 1
Writer = Callable[[Any], Any]


def save_model(model: Any, filepath: str | Path, overwrite: bool = True) -> None:
    """Write a model, its weights and the state of its optimizer to a file.

    Parameters
    ----------
    model : Model
        A `Sequential`, a functional model, or a subclass whose constructor takes plain values.
    filepath : str or Path
        Usually with the suffix ``.keras``; the format is this package's own.
    overwrite : bool
        Whether a file that exists is replaced.

    Raises
    ------
    ConversionError
        If something in the model cannot be written, such as a Python function; the file is then left unchanged.
    FileExistsError
        If the file exists and must not be replaced.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.keras"
    >>> model = lab.Sequential([lab.keras.Input(shape=(2,)), lab.layers.Dense(1)])
    >>> lab.keras.models.save_model(model, path)
    >>> again = lab.keras.models.load_model(path)
    >>> bool(lab.reduce_all(again(lab.ones((1, 2))) == model(lab.ones((1, 2)))))
    True
    """
    write_model(model, filepath, overwrite)


def write_model(model: Any, filepath: str | Path, overwrite: bool) -> None:
    """Write a model as `save_model` and the method `save` of models do."""
    target = Path(filepath)
    if not overwrite and target.exists():
        raise FileExistsError(f"save: {target} exists. Try overwrite=True.")
    warn_of_hdf5("save", target, "an archive of JSON and arrays", ".keras")
    config = {"format": "autodiff_lab model", "version": VERSION, "model": _object(model), "compiled": _training(model)}
    state = model.optimizer._state if config["compiled"] else {}
    config["stepped"] = [n for n, v in enumerate(model.variables) if v in state]
    text = json.dumps(config, indent=1)
    temporary = target.with_name(target.name + ".part")
    with zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr("model.json", text)
        archive.writestr("weights.npz", packed(model.variables))
        if config["compiled"]:
            own = [slot for n in config["stepped"] for slot in state[model.variables[n]].values()]
            archive.writestr("optimizer.npz", packed([model.optimizer.iterations, *own]))
    temporary.replace(target)


def load_model(filepath: str | Path, custom_objects: Mapping[str, Any] | None = None, compile: bool = True) -> Any:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    filepath : str or Path
    custom_objects : dict of str to class, optional
        Your own classes in the model, by name.
    compile : bool
        Whether the model is compiled as it was, with the state of its optimizer.

    Raises
    ------
    ConversionError
        If the file is damaged, or was not written by `save_model`.
    InvalidArgumentError
        If it holds a class that is not in `custom_objects`.

    Examples
    --------
    >>> import autodiff_lab as lab
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.keras"
    >>> lab.Sequential([lab.keras.Input(shape=(2,)), lab.layers.Dense(1)]).save(path)
    >>> lab.keras.models.load_model(path).layers[0].units
    1
    """
    try:
        with zipfile.ZipFile(filepath) as archive:
            config = json.loads(archive.read("model.json"))
            parts = {name: archive.read(name) for name in archive.namelist() if name.endswith(".npz")}
        if config.get("format") != "autodiff_lab model" or config.get("version") != VERSION:
            raise ValueError("it has another format")
        model = Reader(custom_objects or {}).object(config["model"])
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, IndexError, RecursionError) as error:
        if isinstance(error, LabError):
            raise
        with Path(filepath).open("rb") as stream:
            if is_hdf5(stream):
                raise of_hdf5("load_model", filepath) from None
        raise ConversionError(
            f"load_model: {filepath} is damaged, or is not a file that save wrote ({type(error).__name__}: {error})."
        ) from None
    unpack(model.variables, io.BytesIO(parts["weights.npz"]), filepath)
    if compile and config.get("compiled"):
        model.compile(**Reader(custom_objects or {}).read(config["compiled"]))
        # The variables that the optimizer had taken a step for, by position; older files do not say.
        known = dict(enumerate(model.variables))
        stepped = [known.get(n) for n in config["stepped"]] if "stepped" in config else model.trainable_variables
        if None in stepped:
            raise ConversionError(f"load_model: {filepath} is damaged: its optimizer has state of unknown variables.")
        model.optimizer.build(stepped)
        unpack(model.optimizer.variables, io.BytesIO(parts["optimizer.npz"]), filepath)
    return model


def _training(model: Any) -> Any:
    """Return what `compile` was given, as far as it can be written; None if it cannot."""
    given = model._compiled and model._compiled.given
    if not given or model.optimizer is None:
        return None
    try:
        return _written(given)
    except ConversionError:
        return None


_OPERANDS = ("args", "params")
_OPS = "autodiff_lab.ops."
_NAMESPACES = ("", "nn", "math", "linalg")
"""Where functions that may stand between layers are looked up: the package itself, and three of its namespaces."""


def _public(namespace: str, name: str) -> Any:
    """Return the op of that name; None if there is none, or if it is another kind of function."""
    module = import_module(f"autodiff_lab.{namespace}".rstrip("."))
    found = getattr(module, name, None) if name in module.__all__ else None
    if not getattr(found, "__module__", "").startswith(_OPS):
        raise ValueError(f"{name!r} is not an op")
    return found


# --- writing ---------------------------------------------------------------------------------------------------------


def _object(value: Any) -> dict[str, Any]:
    """Return a layer as a dict of its class and its settings."""
    config: dict[str, Any] = {"class_name": type(value).__name__}
    whole = config_of(value)
    config["config"] = whole or {key: _written(item) for key, item in value.get_config().items()}
    if getattr(value, "_built_for", None) is not None and not isinstance(value, InputLayer):
        config["built_for"] = _written(value._built_for)
    if not getattr(value, "trainable", True):
        config["trainable"] = False
    return config


def config_of(model: Any) -> dict[str, Any] | None:
    """Return the layers of a `Sequential`, or the graph of a model with the constructor of `Model`; None for others."""
    if type(model) is Sequential:
        entry = [] if model._entry is None else [model._entry]
        return {"name": model.name, "layers": [_written(layer) for layer in [*entry, *model.layers]]}
    graph = getattr(model, "_graph", None)
    if graph is not None and type(model).__init__ is Model.__init__:
        return {"name": model.name, **_graph(model, graph)}
    return None


def _graph(model: Any, graph: Any) -> dict[str, Any]:
    """Return the calls of a functional model: each tensor is named by its call and its place among the results."""
    names: dict[int, Any] = {id(x): ["input", i] for i, x in enumerate(graph.sources)}
    for i, call in enumerate(graph.calls):
        for place, symbol in enumerate(nest.flatten(call.outputs)[0]):
            names[id(symbol)] = [i, place]

    def written(value: Any) -> Any:
        return _written(value, lambda x: {"tensor": names[id(x)]})

    numbers = {id(layer): i for i, layer in enumerate(model.layers)}
    calls = [
        {**_function(call, numbers), "args": written(list(call.args)), "params": written(call.params)}
        for call in graph.calls
    ]
    return {
        "layers": [_object(layer) for layer in model.layers], "calls": calls,
        "inputs": written(graph.inputs), "outputs": written(graph.outputs),
    }  # fmt: skip


def _function(call: Call, numbers: dict[int, int]) -> dict[str, Any]:
    if id(call.function) in numbers:
        return {"layer": numbers[id(call.function)]}
    if isinstance(call.function, Op) and REGISTRY.get(call.function.name) is call.function:
        return {"op": call.function.name}
    if call.function is item:
        return {"item": True}
    return _leaf(call.function)


def _written(value: Any, tensor: Writer | None = None) -> Any:
    """Return a value in terms of JSON.

    Raises
    ------
    ConversionError
        If it has no such form.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, KerasTensor) and tensor is not None:
        return tensor(value)
    if isinstance(value, (list, tuple)):
        return {"tuple" if isinstance(value, tuple) else "list": [_written(item, tensor) for item in value]}
    if isinstance(value, Mapping):
        return {"dict": [[key, _written(item, tensor)] for key, item in value.items()]}
    return _leaf(value)


def _leaf(value: Any) -> Any:
    for kind, (types, write, _) in _LEAVES.items():
        if isinstance(value, types):
            return {kind: write(value)}
    for name, function in activations.BY_NAME.items():
        if function is value:
            return {"activation": name}
    name = getattr(value, "__name__", "")
    for namespace in _NAMESPACES if name and getattr(value, "__module__", "").startswith(_OPS) else ():
        if getattr(import_module(f"autodiff_lab.{namespace}".rstrip(".")), name, None) is value:
            return {"function": [namespace, name]}
    if isinstance(value, Layer):
        return {"object": _object(value)}
    if not hasattr(value, "get_config"):
        raise ConversionError(
            f"save: {value!r} cannot be written. Try a class of your own with get_config(), or save_weights."
        )
    settings = {key: _written(item) for key, item in value.get_config().items()}
    return {"object": {"class_name": type(value).__name__, "config": settings}}


_LEAVES: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "array": ((np.ndarray, np.number), lambda x: [x.dtype.name, x.tolist()], lambda x: np.array(x[1], np.dtype(x[0]))),
    "dtype": (DType, lambda x: x.name, as_dtype),
    "slice": (slice, lambda x: [x.start, x.stop, x.step], lambda x: slice(*x)),
    "ellipsis": (type(...), lambda x: None, lambda x: ...),
}
"""Values that need a form of their own: their types, how they are written, and how they are read."""


_INITIALIZER = "Identity of weights"
"""Where a reader has the initializer that is called like a layer."""


# --- reading ---------------------------------------------------------------------------------------------------------


def _classes() -> dict[str, type]:
    modules = (
        initializers, regularizers, constraints, losses, distances, metrics, confusion, update_rules, schedules, layers,
    )  # fmt: skip
    found: dict[str, type] = {"Model": Model, _INITIALIZER: initializers.Identity}
    for module in modules:
        found.update({
            name: value for name, value in vars(module).items()
            if isinstance(value, type) and hasattr(value, "get_config") and not name.startswith("_")
        })  # fmt: skip
    return found


class Reader:
    """Makes objects from what `save_model` wrote."""

    def __init__(self, custom: Mapping[str, Any]) -> None:
        self.known = {**_classes(), **CUSTOM, **custom}

    def read(self, value: Any, tensors: Callable[[Any], Any] | None = None) -> Any:
        """Return the value of a part of the file."""
        if not isinstance(value, dict):
            return value
        ((kind, inner),) = value.items()
        if kind == "tensor" and tensors is not None:
            return tensors(inner)
        if kind in ("list", "tuple"):
            items = [self.read(item, tensors) for item in inner]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return {key: self.read(item, tensors) for key, item in inner}
        if kind in _LEAVES:
            return _LEAVES[kind][2](inner)
        if kind == "function":
            return _public(*inner)
        return activations.get(inner) if kind == "activation" else self.object(inner)

    def object(self, value: dict[str, Any]) -> Any:
        """Return the layer or the setting that a dict of class name and settings describes."""
        name, config = value["class_name"], value["config"]
        if name == layers.Identity.__name__ and "name" not in config:  # every layer has a name
            name = _INITIALIZER
        cls: Any = self.known.get(name)
        if cls is None:
            raise InvalidArgumentError(
                f"load_model: the file holds the class {name!r}. Try load_model(path, custom_objects={{{name!r}: "
                f"{name}}})."
            )
        if cls is Sequential:
            made: Any = Sequential([self.read(layer) for layer in config["layers"]], name=config["name"])
        elif "calls" in config:
            made = self._functional(config, cls)
        else:
            made = cls.from_config({key: self.read(item) for key, item in config.items()})
        if "built_for" in value and not made.built:
            made.build(self.read(value["built_for"]))
        if value.get("trainable") is False:
            made.trainable = False
        return made

    def _functional(self, config: dict[str, Any], cls: type[Model]) -> Model:
        layers = [self.object(layer) for layer in config["layers"]]
        sources = [layer.output for layer in layers if isinstance(layer, InputLayer)]
        results: list[list[Any]] = []

        def tensor(place: Any) -> Any:
            return sources[place[1]] if place[0] == "input" else results[place[0]][place[1]]

        for call in config["calls"]:
            args, params = self.read(call["args"], tensor), self.read(call["params"], tensor)
            if "layer" in call:
                found = layers[call["layer"]](*args, **params)
            elif "op" in call:
                found = called(REGISTRY[call["op"]], tuple(args), params)
            else:
                function = item if "item" in call else self.read({k: call[k] for k in call if k not in _OPERANDS})
                found = called(function, tuple(args), params)
            results.append(nest.flatten(found)[0])
        inputs, outputs = self.read(config["inputs"], tensor), self.read(config["outputs"], tensor)
        return cls(inputs, outputs, name=config["name"])
