"""Code outside of the engine that reads an array as `_held` asks for its shape, dtype or place, and not for values.

A compiled function is traced once, so the trace must be notified when values are read: `Tensor._array` does that, and
`_held` does not.
"""

import ast
from collections.abc import Iterator

from tests.tree import PACKAGE, project_files, shown

LOOKING = ("ops", "extras", "layers", "transforms")
"""Layers whose code users call while a function is traced; in the engine each read is told in its own way."""
HARMLESS = {"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "__class__"}
PLACES = {"memory_of", "on_gpu", "beside", "zeros_beside", "device_of"}
"""Functions that look at no values of their first argument."""
TOLD = {
    "transforms/custom.py": "the trace finds the values by their arrays",
    "transforms/recompute.py": "the trace finds the values by their arrays",
    "transforms/surgery.py": "the trace finds the values by their arrays",
    "transforms/jacobians.py": "names for arrays whose shapes are asked for; parts of one Jacobian are joined eagerly",
    "transforms/functional.py": "a unit cotangent of the shape",
    "extras/row_trace.py": "tells arrays apart, and takes those of variables back",
    "layers/fused.py": "runs where nobody listens, and so no trace either",
    "layers/normalization.py": "moves averages at once where nobody listens",
    "layers/optimizers.py": "the fused step, which runs where nobody listens",
    "ops/array/assigning.py": "changes rows in place where nobody listens",
    "ops/array/sequences.py": "the dtype of a cotangent, and where it lies",
    "ops/array/indexing.py": "a part of a variable is what an op made, under the same id",
}


def values_read(tree: ast.AST) -> Iterator[int]:
    """Yield the lines on which `_held` may be read for its values."""
    for node in ast.walk(tree):
        harmless = [node.value] if isinstance(node, ast.Attribute) and node.attr in HARMLESS else []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PLACES:
            harmless = node.args[:1]
        for found in harmless:
            found.harmless = True  # type: ignore[attr-defined]
        read = isinstance(node, ast.Attribute) and node.attr == "_held" and isinstance(node.ctx, ast.Load)
        if read and not hasattr(node, "harmless"):
            yield node.lineno


def test_values_are_read_where_a_trace_hears_of_it() -> None:
    complaints = [
        f"{shown(path)}:{line}"
        for path in project_files()
        if path.suffix == ".py" and path.is_relative_to(PACKAGE)
        for inside in [path.relative_to(PACKAGE)]
        if inside.parts[0] in LOOKING and inside.as_posix() not in TOLD
        for line in values_read(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not complaints, "Read `_array` here, so that a trace hears of the look:\n" + "\n".join(complaints)


def test_a_look_is_found_and_a_shape_is_none() -> None:
    text = "a = x._held + 1\nb = x._held.shape\nc = beside(x._held, y._array)\nd = f(x._held)\n"
    assert list(values_read(ast.parse(text))) == [1, 4]


OBSERVING = {"setprofile", "_getframe", "f_back", "f_code", "f_globals", "f_locals"}
"""Ways to Python's frames and to the calls that it makes."""


def observed(tree: ast.AST) -> set[str]:
    """Return the ways to frames and calls that a module takes."""
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & OBSERVING


def test_calls_are_observed_in_one_module_and_frames_read_in_one_more_for_messages() -> None:
    found = {
        path.name: observed(ast.parse(path.read_text(encoding="utf-8")))
        for path in project_files()
        if path.suffix == ".py" and path.is_relative_to(PACKAGE / "compile")
    }
    assert {name for name, ways in found.items() if ways} == {"effects.py", "frames.py"}
    assert {name for name, ways in found.items() if "setprofile" in ways} == {"effects.py"}
