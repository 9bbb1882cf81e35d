"""The public functions of the package, each once, with all the names under which it can be called."""

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from autodiff_lab.engine.op import REGISTRY, Op
from tests.test_exports import PUBLIC

FAMILIES = ("autodiff_lab.ops", "autodiff_lab.extras", "autodiff_lab.engine.primitives")
MODULES = ("autodiff_lab.ops.", "autodiff_lab.extras.families.")
"""Modules that hold operations; layers, tapes and transforms have pages of their own."""


@dataclass(frozen=True)
class Function:
    """A public function: where it is declared, how it is called, and the op that it applies, if it is one."""

    call: Callable[..., Any]
    names: tuple[str, ...]
    module: str
    op: Op | None

    @property
    def text(self) -> str:
        """Its docstring."""
        return inspect.getdoc(self.call) or ""


def functions() -> list[Function]:
    """Return every public function that belongs to a family of operations, in the order of the modules."""
    names: dict[int, list[str]] = {}
    found: dict[int, Callable[..., Any]] = {}
    for name, value in _exported():
        found[id(value)] = value
        names.setdefault(id(value), []).append(name)
    ops = {id(op): op for op in REGISTRY.values()}
    made = [
        Function(value, tuple(sorted(names[key], key=_by_length)), module_of(value), ops.get(id(_op_of(value))))
        for key, value in found.items()
    ]
    return sorted(
        (f for f in made if f.module.startswith(FAMILIES)), key=lambda f: (family_of(f.module), f.module, f.names)
    )


def _by_length(name: str) -> tuple[int, str]:
    return name.count("."), name


def _exported() -> Iterator[tuple[str, Callable[..., Any]]]:
    for place in PUBLIC:
        yield from _callables(importlib.import_module(place), place.replace("autodiff_lab", "lab", 1))


def _callables(module: ModuleType, prefix: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield what a namespace exports, and what a module of operations does that it exports (``lab.math.special``)."""
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, ModuleType) and value.__name__.startswith(MODULES) and prefix != "lab":
            yield from _callables(value, f"{prefix}.{name}")
        elif callable(value) and not isinstance(value, type):
            yield f"{prefix}.{name}", value


def _op_of(call: Callable[..., Any]) -> Any:
    return getattr(call, "op", None)


def module_of(call: Callable[..., Any]) -> str:
    """Return the module in which a function is declared; ops are made by one helper, so theirs is looked up."""
    op = _op_of(call)
    return call.__module__ if op is None else declared_in(op.name)


_DECLARED: dict[str, str] = {}


def declared_in(op: str) -> str:
    """Return the module whose source declares an op."""
    if not _DECLARED:
        _DECLARED.update(_declarations())
    return _DECLARED.get(op, "")


def _declarations() -> Iterator[tuple[str, str]]:
    """Yield op and module from the sources: an op is declared where its name is the first argument of a call."""
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not name.startswith(FAMILIES) or file is None:
            continue
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and first.value in REGISTRY:
                    yield str(first.value), name


def family_of(module: str) -> str:
    """Return the name of the family that a module holds: ``array`` and ``engine.primitives`` go together."""
    first, *parts = module.removeprefix("autodiff_lab.").replace("extras.families.", "extras.").split(".")
    return "math" if first == "engine" else parts[0] if first in {"ops", "extras"} else first
