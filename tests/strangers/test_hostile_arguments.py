"""Every public function with hostile arguments returns a value or raises one of our errors.

Seeded; the environment variable FUZZ_COUNT says how many times ten calls are made.
"""

import inspect
import os
import random
import traceback
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import LabError
from tests.amputation import AWAY, EXTRAS, is_about_what_is_hidden
from tests.tree import PACKAGE

COUNT = int(os.environ.get("FUZZ_COUNT", "1500"))
NAMESPACES = ["", "math", "nn", "linalg", "random", "bitwise", "signal", "image", "strings", "ragged", "sparse", "nest",
              "autodiff", "debugging"]  # fmt: skip
LEFT_OUT = {
    "load_ipython_extension", "explore", "plot_derivative", "use_kernels", "set_seed", "set_global_generator",
    "RegisterGradient", "print", "enable_check_numerics", "record", "differentiable", "placeholder", "name_scope",
    "load_recording", "function",
}  # fmt: skip
"""What changes the state of the process, prints, reads files or opens a figure."""


CALLED = {"default", "fn", "f", "op", "function", "func", "cond", "body"}
"""Parameters that take functions of the user, whose errors are the user's."""


def functions() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for space in NAMESPACES:
        if not EXTRAS and is_about_what_is_hidden(PACKAGE / f"{space}.py"):
            continue
        module = import_module(f"autodiff_lab.{space}".rstrip("."))
        for name in module.__all__:
            if {f"{space}.{name}".lstrip("."), f"autodiff_lab.{name}"} & AWAY:
                continue
            value = getattr(module, name)
            if callable(value) and not isinstance(value, (ModuleType, type)) and name not in LEFT_OUT:
                found[f"{space}.{name}".lstrip(".")] = value
    return found


FUNCTIONS = functions()


def ordinary(rng: random.Random) -> Any:
    """Return an argument as programs give them."""
    return rng.choice([
        lambda: lab.ones((2, 3)), lambda: lab.constant([1.0, 2.0, 3.0]), lambda: lab.constant(2.0),
        lambda: lab.constant([[1.0, 2.0], [3.0, 4.0]]), lambda: lab.constant([0, 1, 2]), lambda: 1, lambda: 0,
        lambda: 2, lambda: -1, lambda: 0.5, lambda: [2, 3], lambda: True, lambda: lab.ones((1, 4, 4, 2)),
        lambda: lab.constant([True, False]), lambda: lab.Variable([1.0, 2.0]), lambda: lab.ones((1, 5, 2)),
        lambda: lab.constant([1 + 2j]), lambda: lab.constant(["a", "b"]), lambda: lambda *v: v[0],
        lambda: [lab.ones(2), lab.ones(2)], lambda: "float32", lambda: "SAME", lambda: lab.ones((2, 2, 2)),
    ])()  # fmt: skip


def hostile(rng: random.Random) -> Any:
    """Return an argument that nobody should give."""
    return rng.choice([
        lambda: None, lambda: "nonsense", lambda: b"\xff", lambda: "", lambda: 2**62, lambda: -(2**62),
        lambda: 10**30, lambda: float("nan"), lambda: float("inf"), lambda: -7, lambda: 99, lambda: 1.5, list,
        lambda: [[]], dict, lambda: {"a": 1}, object, lambda: ..., lambda: [1, [2, 3]], lambda: [None],
        lambda: lab.zeros((0,)), lambda: lab.zeros((2, 0, 3)), lambda: lab.constant(float("nan")),
        lambda: lab.constant([2**62]), lambda: lab.constant(-5), lambda: lab.zeros((1,) * 9), lambda: lab.int8,
        lambda: lab.constant([1, 2], lab.uint8), lambda: lab.constant([1.0], lab.bfloat16), lambda: np.float64,
        lambda: np.array(["x", None], object), lambda: np.array("2020-01-01", "datetime64[D]"), lambda: range(3),
        lambda: {1, 2}, lambda: lab.TensorShape(None), lambda: lab.TensorShape([None, 2]), lambda: lab, lambda: int,
        *([lambda: lab.ragged.constant([[1, 2], [3]])] if EXTRAS else []),
        lambda: 1j, lambda: [1.5, "a"], lambda: (x for x in (1, 2)),
        lambda: lab.constant([99, -99]), lambda: [[0, 5], [7, 1]], lambda: [-1, -1], lambda: lab.constant(""),
        lambda: np.zeros((2, 2))[::-1], lambda: lab.constant([[float("inf"), 1.0], [1.0, 1.0]]), lambda: lambda: 1,
        *([lambda: lab.IndexedSlices(lab.ones((1, 2)), lab.constant([0]))] if EXTRAS else []), lambda: NotImplemented,
    ])()  # fmt: skip


def no_option(rng: random.Random) -> Any:
    """Return what is neither a flag, nor a number, nor a choice among words."""
    return rng.choice([
        lambda: np.zeros((2, 2)), lambda: lab.ones(2), lambda: "yes", lambda: NotImplemented, list, dict, lambda: None,
        lambda: 2**62, lambda: 10**30, lambda: -7, lambda: [1, [2, 3]], lambda: lab.float32,
        lambda: lab.constant("a"), lambda: np.array(["x", None], object),
    ])()  # fmt: skip


def calls(function: Callable[..., Any], rng: random.Random) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments of which some are hostile, for the parameters that a function has."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    badness = rng.choice([0.2, 0.5, 1.0, None])
    parameters = inspect.signature(function).parameters
    aimed = rng.choice([*parameters, ""]) if badness is None else ""  # everything else is ordinary
    for p in parameters.values():
        if p.name == "name":
            continue
        value = hostile(rng) if p.name == aimed or rng.random() < (badness or 0.0) else ordinary(rng)
        if p.name == aimed and p.default is not p.empty:
            value = no_option(rng)
        if p.kind is p.VAR_POSITIONAL:
            args += [value] * rng.choice([0, 1, 2])
        elif p.kind is not p.VAR_KEYWORD and (p.default is p.empty or p.name == aimed or rng.random() < 0.3):
            kwargs[p.name] = value
    return args, kwargs


def raised_by_us(error: BaseException) -> bool:
    """Whether an error is ours, or a built-in one that a line of ours raises; a wrong call is Python's to refuse."""
    if isinstance(error, LabError):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    if len(frames) == 1:
        return isinstance(error, TypeError)  # an argument is missing, or given twice
    last = frames[-1]
    return Path(last.filename).is_relative_to(PACKAGE) and (last.line or "").startswith("raise ")


def outcomes(seed: int) -> Iterator[str]:
    """Call one function, and tell of an error that is not in our words."""
    rng = random.Random(seed)
    name = rng.choice(list(FUNCTIONS))
    for _ in range(10):
        args, kwargs = calls(FUNCTIONS[name], rng)
        line = complaint(name, args, kwargs)
        if line:
            yield line


def complaint(name: str, args: list[Any], kwargs: dict[str, Any]) -> str:
    """Call a function, and tell of an error that is not in our words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            FUNCTIONS[name](*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - which one is the question
        if not raised_by_us(error) and not any(key in CALLED and callable(value) for key, value in kwargs.items()):
            last = traceback.extract_tb(error.__traceback__)[-1]
            given = ", ".join([*map(repr, args), *(f"{key}={value!r:.60}" for key, value in kwargs.items())])
            return f"{name}({given}): {type(error).__name__}: {error!s:.100} at {last.filename}:{last.lineno}"
    return ""


@pytest.mark.parametrize("block", range(10))
def test_every_option_is_checked(block: int) -> None:
    """Every argument with a default, one at a time; the others are as programs give them."""
    found: list[str] = []
    for name, function in [*FUNCTIONS.items()][block::10]:
        parameters = inspect.signature(function).parameters.values()
        for option in (p for p in parameters if p.default is not p.empty and p.name != "name"):
            for seed in range(COUNT // 400):
                rng = random.Random(seed)
                kwargs = {p.name: ordinary(rng) for p in parameters
                          if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}  # fmt: skip
                found.append(complaint(name, [], {**kwargs, option.name: no_option(rng)}))
    found = [line for line in found if line]
    assert not found, f"{len(found)} errors that are not ours:\n" + "\n".join(found[:40])


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("block", range(10))
def test_hostile_arguments_are_refused_in_our_words(block: int) -> None:
    found = [line for seed in range(block * COUNT // 10, (block + 1) * COUNT // 10) for line in outcomes(seed)]
    assert not found, f"{len(found)} errors that are not ours:\n" + "\n".join(found[:40])
