"""Data flows to the right, so imports point to the left: every import of the package is checked against one table.

The table holds all rules. A layer is a module or folder directly inside ``autodiff_lab``. Imports are read
from the source at any depth, `importlib.import_module("autodiff_lab. ...")` included; those under
``if TYPE_CHECKING:`` never run and are exempt (their number is printed at the end of a run).
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.tree import PACKAGE, project_files, shown

NOTHING: frozenset[str] = frozenset()
EVERYTHING = frozenset({"*"})


def _layers(*names: str) -> frozenset[str]:
    """Return the layers named, with `errors` and `events`, which every layer to their right may import."""
    return frozenset({*names, "errors", "events"})


# layer: what it may import (ours). A dotted entry allows that module alone.
LAYERS: dict[str, frozenset[str]] = {
    "errors": NOTHING,
    "absent": NOTHING,
    "imports": frozenset({"absent"}),
    "shown": NOTHING,
    "events": NOTHING,
    "repeats": NOTHING,
    "kernels": frozenset({"errors"}),
    "engine": _layers(
        "absent",
        "kernels.arrays",
        "kernels.base.choose",
        "kernels.base.columns",
        "kernels.base.elementwise",
        "kernels.base.halves",
        "kernels.base.order",
    ),
    "ops": _layers("engine", "kernels"),
    "extras": _layers("engine", "ops", "kernels"),
    "transforms": _layers("engine", "ops"),
    "layers": _layers("engine", "ops", "transforms", "absent"),
    "compile": _layers(
        "engine",
        "ops",
        "kernels",
        "transforms.bands",
        "transforms.blocks",
        "transforms.columns",
        "transforms.structured",
        "extras.tensor_spec",
        "repeats",
    ),
    "gpu": _layers("engine", "kernels"),
    "training": _layers("engine", "ops", "layers", "compile"),
    "recording": _layers(),
    "explain": _layers("recording", "testing"),
    "draw": _layers("recording", "explain", "repeats", "engine.op"),  # whose expressions run in the page
    "widgets": _layers("draw", "recording", "explain"),
    # Other frameworks' programs as recordings; the table of ops says how those are written that are like ours.
    "adapters": _layers("recording", "engine.op"),
}
# The public namespaces: explicit export lines and nothing else.
NAMESPACES = (
    "math", "nn", "linalg", "random", "ragged", "sparse", "strings", "image", "data", "queue", "keras", "bitwise",
    "sets", "signal", "experimental", "nest", "dtypes", "activations", "initializers", "losses", "metrics",
    "optimizers", "autodiff", "debugging", "config", "callbacks", "regularizers", "constraints", "train", "typing",
)  # fmt: skip
LAYERS.update(dict.fromkeys(NAMESPACES, _layers("engine", "ops", "layers", "extras", "transforms", "absent")))
LAYERS["callbacks"] = LAYERS["train"] = _layers("training", "absent")
# Keras's names gather the namespaces of layers and of what trains them.
LAYERS["keras"] = _layers(
    "absent",
    "engine",
    "layers",
    "training",
    "activations",
    "callbacks",
    "constraints",
    "initializers",
    "losses",
    "metrics",
    "optimizers",
    "regularizers",
)
# Passes over finished recordings: the rules of the engine on what a recording holds.
LAYERS["teaching"] = _layers("engine", "recording", "explain.expressions", "explain.subjects")
LAYERS["style"] = frozenset({"errors"})
# The doors: learners, op authors, testers, the shell, the notebooks. They import what they present.
LAYERS.update(dict.fromkeys(("__init__", "__main__", "testing", "cli", "magic", "lessons", "exploring"), EVERYTHING))

# Methods that work to their right, and what their bodies may import. Nothing else may.
RIGHTWARD: dict[tuple[str, str], frozenset[str]] = {
    ("recording", "Exporting.to_svg"): frozenset({"draw"}),
    ("recording", "Exporting.to_png"): frozenset({"draw"}),
    ("recording", "Exporting.to_pdf"): frozenset({"draw"}),
    ("recording", "Exporting.to_dot"): frozenset({"draw"}),
    ("recording", "Exporting.to_html"): frozenset({"draw", "widgets"}),
    ("recording", "Exporting.explore"): frozenset({"draw", "widgets"}),
    ("recording", "Exporting._repr_mimebundle_"): frozenset({"draw", "widgets"}),
    ("recording", "Exporting._ipython_display_"): frozenset({"widgets"}),
    ("recording", "Recording.explain"): frozenset({"explain"}),
    ("recording", "Recording.ledger"): frozenset({"explain"}),
    ("recording", "Recording.first_nonfinite"): frozenset({"explain"}),
    ("recording", "Recording.to_text"): frozenset({"explain"}),
    ("recording", "Recording.__repr__"): frozenset({"explain"}),
    ("layers", "Model.save"): frozenset({"training"}),
    ("layers", "Model.get_config"): frozenset({"training"}),
    ("layers", "Model.from_config"): frozenset({"training"}),
    ("layers", "Trainer.compile"): frozenset({"training"}),
    ("layers", "Trainer.fit"): frozenset({"training"}),
    ("layers", "Trainer.evaluate"): frozenset({"training"}),
    ("layers", "Trainer.predict"): frozenset({"training"}),
    ("layers", "Trainer.train_on_batch"): frozenset({"training"}),
    ("layers", "Trainer.test_on_batch"): frozenset({"training"}),
    ("layers", "Trainer.predict_on_batch"): frozenset({"training"}),
    ("compile", "Readable.to_html"): frozenset({"exploring"}),
    ("compile", "Readable._repr_mimebundle_"): frozenset({"exploring"}),
    ("compile", "Readable._ipython_display_"): frozenset({"widgets"}),
    ("shown", "_html"): frozenset({"exploring"}),
    ("shown", "_text"): frozenset({"exploring"}),
    ("layers", "Module._repr_html_"): frozenset({"exploring"}),
    ("layers", "Remembering._repr_html_"): frozenset({"exploring"}),
    ("engine", "place_of"): frozenset({"gpu"}),
    ("engine", "copied_on_gpu"): frozenset({"gpu"}),
    ("engine", "unpacked"): frozenset({"gpu"}),
    ("engine", "_listed"): frozenset({"gpu"}),
    ("engine", "simulate_gpu"): frozenset({"gpu"}),
    ("engine", "enable_op_determinism"): frozenset({"gpu"}),
    ("ops", "load"): frozenset({"extras"}),
    ("ops", "late.answer"): frozenset({"extras", "absent"}),
    ("engine", "Differentiating.jacobian"): frozenset({"transforms"}),
    ("engine", "Differentiating.batch_jacobian"): frozenset({"transforms"}),
    ("engine", "Differentiating.explain"): frozenset({"explain", "recording"}),
}


DRAWING = {("ops", "_drawn")}
"""Draws many random numbers where they are to lie, inside the block of a GPU."""


@dataclass(frozen=True)
class Import:
    """One internal import: its location, its dotted target without ``autodiff_lab``, and its kind."""

    line: int
    function: str
    target: str
    types_only: bool


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _targets(node: ast.AST, package: list[str]) -> Iterator[str]:
    """Yield the dotted names that a node imports; `package` is the folder of the module, below ``autodiff_lab``."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        start = ["autodiff_lab", *package][: 1 + len(package) - (node.level - 1)] if node.level else []
        base = ".".join([*start, *([node.module] if node.module else [])])
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in {"import_module", "__import__"} and isinstance(node.args[0].value, str):
            yield node.args[0].value


def imports_of(source: str, package: list[str]) -> tuple[Import, ...]:
    """Return the imports of our own modules in a source text."""
    return _imports_of(source, tuple(package))


@cache
def _imports_of(source: str, package: tuple[str, ...]) -> tuple[Import, ...]:

    def walk(node: ast.AST, path: tuple[str, ...], types_only: bool) -> Iterator[Import]:
        for target in _targets(node, list(package)):
            first, _, rest = target.partition(".")
            if first == "autodiff_lab":
                yield Import(getattr(node, "lineno", 0), ".".join(path), rest, types_only)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            path = (*path, node.name)
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            for child in node.body:
                yield from walk(child, path, True)
            for child in node.orelse:
                yield from walk(child, path, types_only)
            return
        for child in ast.iter_child_nodes(node):
            yield from walk(child, path, types_only)

    return tuple(walk(ast.parse(source), (), False))


def _allows(allowed: frozenset[str], target: str) -> bool:
    return "*" in allowed or any(target == entry or target.startswith(f"{entry}.") for entry in allowed)


def layer_of(module: list[str]) -> str:
    return module[0]


def complaints(source: str, module: list[str], name: str) -> list[str]:
    """Return what is wrong with the imports of a module, a sentence each; `module` is its path below the package."""
    layer = layer_of(module)
    if layer not in LAYERS:
        return [f"{name}:1: the layer {layer!r} is not in the table of tests/test_layers.py"]
    wrong: list[str] = []
    for found in imports_of(source, module[:-1]):
        target_layer = found.target.partition(".")[0]
        target = found.target if target_layer in LAYERS else "__init__"
        if target_layer == layer or found.types_only or _allows(LAYERS[layer], target):
            continue
        function = ".".join(found.function.split(".")[:2])
        if _allows(RIGHTWARD.get((layer, function), NOTHING), target):
            continue
        allowed = ", ".join(sorted(LAYERS[layer])) or "nothing of ours"
        wrong.append(f"{name}:{found.line}: {layer} imports {found.target or 'autodiff_lab'}; it may import {allowed}")
    return wrong


def modules() -> list[tuple[Path, list[str]]]:
    """Return the modules of the package with their paths below it: ``(.../engine/tape.py, ["engine", "tape"])``."""
    return [
        (path, list(path.relative_to(PACKAGE).with_suffix("").parts))
        for path in project_files()
        if path.is_relative_to(PACKAGE) and path.suffix == ".py"
    ]


def test_every_import_agrees_with_the_table(figure: Callable[[str, str], None]) -> None:
    wrong: list[str] = []
    types_only = 0
    for path, module in modules():
        source = path.read_text(encoding="utf-8")
        wrong += complaints(source, module, shown(path))
        types_only += sum(found.types_only for found in imports_of(source, module[:-1]))
    figure("imports for type checkers alone", str(types_only))
    assert not wrong, "Imports that point the wrong way:\n" + "\n".join(wrong)


def test_no_arrow_leads_from_the_core_into_gpu_code() -> None:
    """The lazy imports of `RIGHTWARD` aside, those behind devices, foreign arrays and `lab.config`."""
    wrong: list[str] = []
    for path, module in modules():
        if layer_of(module) not in ("engine", "ops", "extras", "transforms", "layers"):
            continue
        for found in imports_of(path.read_text(encoding="utf-8"), module[:-1]):
            device = found.target.startswith(("gpu", "kernels.cuda")) or ".cuda" in found.target
            function = ".".join(found.function.split(".")[:2])
            if device and not found.types_only and (layer_of(module), function) not in {*RIGHTWARD, *DRAWING}:
                wrong.append(f"{shown(path)}:{found.line}: {found.target}")
    assert not wrong, "Tensors of a GPU answer for themselves; nothing here imports its code:\n" + "\n".join(wrong)


def test_nothing_imports_an_adapter_that_the_user_did_not_ask_for() -> None:
    """`autodiff_lab.adapters` needs no framework, and nothing outside it but the command line names an adapter."""
    wrong: list[str] = []
    for path, module in modules():
        for found in imports_of(path.read_text(encoding="utf-8"), module[:-1]):
            parts = found.target.split(".")
            adapter = parts[0] == "adapters" and parts[1:2] in (["torch"], ["jax"])
            if adapter and module[:2] != parts[:2] and module[0] != "cli" and not found.types_only:
                wrong.append(f"{shown(path)}:{found.line}: {found.target}")
    assert not wrong, "An adapter is imported by its name, by its user:\n" + "\n".join(wrong)


@pytest.mark.slow
def test_every_rightward_method_still_needs_its_exception() -> None:
    stale = set(RIGHTWARD)
    defined: set[tuple[str, str]] = set()
    for path, module in modules():
        source, layer = path.read_text(encoding="utf-8"), layer_of(module)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                defined |= {(layer, f"{node.name}.{f.name}") for f in node.body if isinstance(f, ast.FunctionDef)}
        for found in imports_of(source, module[:-1]):
            key = (layer, ".".join(found.function.split(".")[:2]))
            if _allows(RIGHTWARD.get(key, NOTHING), found.target):
                stale.discard(key)
    stale &= defined
    assert not stale, f"These methods import nothing to their right any more; take them off the list: {sorted(stale)}"


@pytest.mark.parametrize(
    ("module", "source", "line"),
    [
        ("draw.graph", "import os\nfrom autodiff_lab.engine.tape import GradientTape\n", 2),
        ("widgets.explorer", "def show():\n    import autodiff_lab.engine\n", 2),
        ("kernels.reference", "from autodiff_lab import events\n", 1),
        ("engine.tape", "from ..recording import Recording\n", 1),
        ("engine.tape", "from autodiff_lab.kernels import softmax\n", 1),
        ("ops.math", "import autodiff_lab as lab\n", 1),
        ("ops.math", "from autodiff_lab import Tensor\n", 1),
        ("events", "from autodiff_lab.errors import TapeError\n", 1),
        ("recording.text", "import importlib\nimportlib.import_module('autodiff_lab.draw')\n", 2),
        ("recording.recording", "class Recording:\n    def load(self):\n        from autodiff_lab import draw\n", 3),
        (
            "recording.recording",
            "class Recording:\n    def to_svg(self):\n        from autodiff_lab import engine\n",
            3,
        ),
        ("unheard_of", "", 1),
    ],
)
def test_the_check_catches_a_wrong_import(module: str, source: str, line: int) -> None:
    (sentence,) = complaints(source, module.split("."), "file.py")
    assert sentence.startswith(f"file.py:{line}: ")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "engine.tape",
            "from autodiff_lab.kernels.base import choose\nfrom autodiff_lab.kernels.base.choose import k\n",
        ),
        ("engine.tape", "from .sweep import sweep\nfrom ..errors import TapeError\nfrom . import tensor\n"),
        (
            "engine.tape",
            "class Differentiating:\n    def jacobian(self):\n        from autodiff_lab.transforms import jacobian\n",
        ),
        (
            "draw.svg",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from autodiff_lab.engine import Tensor\n",
        ),
        ("explain.missing", "from autodiff_lab.recording import Recording\nimport numpy\n"),
        ("ops.math.exponential", "from ...engine import op\nfrom ..shape import reshape\n"),
        ("lessons", "import autodiff_lab as lab\n"),
    ],
)
def test_the_check_allows_what_the_table_allows(module: str, source: str) -> None:
    assert complaints(source, module.split("."), "file.py") == []
