"""The annotations of the public API say something, and what they say is true: examples run with them checked.

A call whose arguments an annotation forbids, and that succeeds all the same, or a result that is not what the signature
says, is an error in the annotation. `typeguard` checks them; it looks at every element, where others take a sample.
"""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import inspect
import io
import sys
import typing
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import typeguard

import autodiff_lab as lab
from tests.amputation import public
from tests.test_exports import PUBLIC, listed

MODULES = [*PUBLIC, "autodiff_lab.layers"]
MOST_ANY, FEW = 0.10, 5
"""The share of annotations of a module with Any, and how many there may be in a small one, such as `call` of models."""
SEVERAL = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
SEEING_THE_CHECK = {"Recording", "function", "Checkpoint", "forward", "record"}
"""Examples with results that differ if Python code wraps what they call: given names, traces, late restoring."""
POLICY: dict[str, Any] = {
    "forward_ref_policy": typeguard.ForwardRefPolicy.IGNORE,  # lists of lists: `TensorLike` names itself
    "collection_check_strategy": typeguard.CollectionCheckStrategy.ALL_ITEMS,
}


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class, as functions."""
    for name, value in vars(kind).items():
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        found = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        found = found.fget if isinstance(found, property) else found
        if inspect.isfunction(found):
            yield name, found


@cache
def functions() -> dict[str, Any]:
    """Return every public function and method by its name, each object once."""
    lab.Variable([1.0]).scatter_nd_update([[0]], [2.0])  # methods of variables are there once one was needed
    found: dict[str, Any] = {}
    seen: set[int] = set()
    for module in map(importlib.import_module, MODULES):
        for name in listed(module):
            value = getattr(module, name)
            if isinstance(value, ModuleType) or id(value) in seen:
                continue
            seen.add(id(value))
            if not isinstance(value, type):
                if callable(value) and hasattr(value, "__module__"):
                    found[f"{module.__name__}.{name}"] = value
            elif value.__module__.startswith("autodiff_lab"):
                found.update({f"{module.__name__}.{name}.{inner}": each for inner, each in members(value)})
    return found


@cache
def names_in(module: str) -> dict[str, Any]:
    """Return what annotations of a module can name: its globals, and what it imports for type checkers alone."""
    found = dict(vars(importlib.import_module(module)))
    file = found.get("__file__")
    tree = ast.parse(Path(file).read_text(encoding="utf-8")) if file else ast.parse("")
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                if isinstance(line, ast.Import | ast.ImportFrom):
                    exec(compile(ast.Module([line], []), module, "exec"), found)
    return found


@cache
def homes() -> dict[str | None, str]:
    """Return the modules of the package by their files."""
    functions()
    return {
        getattr(module, "__file__", None): name
        for name, module in list(sys.modules.items())
        if name.startswith("autodiff_lab")
    }


@cache
def hints(function: Any) -> dict[str, Any]:
    """Return the annotations of a function as types; `getattr` of a compiled or wrapped one leads to its source."""
    source = inspect.unwrap(function)
    code = getattr(source, "__code__", None)
    home = sys.modules.get(getattr(source, "__module__", ""), None)
    if code is not None:  # functions of ops name another module as their home, for pickles
        home = sys.modules.get(homes().get(code.co_filename, ""), home)
    if home is None:
        return {}
    named = names_in(home.__name__)
    made = inspect.isgeneratorfunction(source) and source is not function  # a context manager, whose result it is not
    return {
        name: eval(text, named) if isinstance(text, str) else text
        for name, text in getattr(source, "__annotations__", {}).items()
        if not (made and name == "return")
    }


def says_nothing(hint: Any) -> bool:
    """Return whether an annotation has `Any` in it: not in what NumPy leaves open, the dtype and shape of an array."""
    if hint is Any:
        return True
    origin = typing.get_origin(hint)
    if origin in (np.ndarray, np.dtype, type):
        return False
    inner = typing.get_args(hint)
    return any(says_nothing(each) for part in inner for each in (part if isinstance(part, list) else [part]))


@pytest.mark.extras
def test_few_annotations_say_nothing(record_property: Callable[[str, object], None]) -> None:
    total, empty = Counter[str](), defaultdict[str, list[str]](list)
    for name, function in functions().items():
        module = max((each for each in MODULES if name.startswith(f"{each}.")), key=len)
        typed = hints(function)
        for parameter in ("return", *inspect.signature(function).parameters):
            if parameter in ("self", "cls"):
                continue
            total[module] += 1
            if says_nothing(typed.get(parameter, None)):
                empty[module].append(f"{name}: {parameter}")
    every = sum(map(len, empty.values()))
    record_property("annotations with Any", f"{every} of {total.total()}")
    print(f"Annotations of the public API with Any: {every} of {total.total()}, {every / total.total():.1%}")
    assert total.total() > 3000
    for module, found in empty.items():
        assert len(found) <= max(FEW, MOST_ANY * total[module]), "\n".join(found)


def fits(value: Any, hint: Any) -> bool:
    value = np.asarray(value) if isinstance(value, np.generic) else value  # scalars have the methods of arrays
    try:
        typeguard.check_type(value, hint, **POLICY)
    except typeguard.TypeCheckError:
        return False
    return True


@cache
def signature_of(function: Any) -> inspect.Signature:
    return inspect.signature(function)


def checked(function: Any, name: str, wrong: set[str]) -> Any:
    """Return the function with a check around it, which notes annotations that do not hold."""
    signature, typed = signature_of(function), hints(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)  # what raises may be wrong in any way
        given = signature.bind(*args, **kwargs).arguments
        for parameter, value in given.items():
            several = signature.parameters[parameter].kind in SEVERAL
            if parameter in typed and not several and not fits(value, typed[parameter]):
                wrong.add(f"{name}: {parameter} is {typed[parameter]}, and was {value!r:.60}")
        if typed.get("return", typing.Self) is not typing.Self and not fits(result, typed["return"]):
            wrong.add(f"{name}: the result is {typed['return']}, and was {result!r:.60}")
        return result

    return call


@pytest.fixture(scope="module")
def noted() -> Iterator[set[str]]:
    """Put checks around all public functions and methods, and return what they will note."""
    wrong: set[str] = set()
    with pytest.MonkeyPatch.context() as patch:
        for module in map(importlib.import_module, MODULES):
            for name in listed(module):
                value = getattr(module, name)
                if inspect.isfunction(value):
                    patch.setattr(module, name, checked(value, f"{module.__name__}.{name}", wrong))
                elif isinstance(value, type) and value.__module__.startswith("autodiff_lab"):
                    for inner, each in members(value):
                        if inspect.isfunction(vars(value)[inner]):
                            patch.setattr(value, inner, checked(each, f"{name}.{inner}", wrong))
        yield wrong


@pytest.fixture
def watched(noted: set[str]) -> set[str]:
    """What the checks note from here on."""
    noted.clear()
    return noted


@pytest.mark.slow(keep=1)
@pytest.mark.extras
@pytest.mark.filterwarnings("ignore::typeguard.TypeHintWarning")
@pytest.mark.parametrize("name", public(MODULES))
def test_annotations_hold_in_every_example(name: str, watched: set[str]) -> None:
    module = importlib.import_module(name)
    said, broken = io.StringIO(), 0
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for exported in listed(module):
        text = inspect.getdoc(getattr(module, exported, None)) or ""
        if ">>>" in text and not isinstance(getattr(module, exported), ModuleType):
            value = getattr(module, exported)
            names = dict(vars(sys.modules[value.__module__])) if isinstance(value, type) else {}
            example = doctest.DocTestParser().get_doctest(text, names, f"{name}.{exported}", None, None)
            failed = runner.run(example, out=said.write, clear_globs=True).failed
            broken += failed if exported not in SEEING_THE_CHECK else 0
    assert not broken, said.getvalue()
    assert not watched, "\n".join(sorted(watched))


def test_a_wrong_annotation_is_noted() -> None:
    def half(x: int) -> int:
        return x / 2  # type: ignore[return-value]

    wrong: set[str] = set()
    checked(half, "half", wrong)(3.0)
    assert len(wrong) == 2
