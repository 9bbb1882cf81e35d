"""Structures are walked in one place: no code other than `engine/nest.py` recurses into them."""

import ast
from collections.abc import Iterator

from tests.tree import PACKAGE

CONTAINERS = {"list", "tuple", "dict", "Mapping"}
HOME = "engine/nest.py"
OTHERS = {
    # Lists of numbers, which become one tensor or one text: no structures.
    "engine/convert.py": {"contains_tensor", "_pack"},
    "compile/front/trace.py": {"_literal"},
    "extras/ragged/functions.py": {"_flat"},
    # Constants of a code object.
    "compile/front/codes.py": {"_texts"},
    # Values as JSON or text holds them, and what makes them comparable.
    "compile/program/rewriting.py": {"hashable"},
    "recording/parameters.py": {"plain"},
    "draw/running.py": {"jsonable", "_names"},
    "draw/lowering/steps.py": {"numbered"},
    "recording/numbers.py": {"_elements"},
    "recording/text.py": {"written"},
    "recording/wire.py": {"data_to_json"},
    "layers/summaries.py": {"_text"},
    "training/saving.py": {"_written", "read"},
    "kernels/base/loops.py": {"_told"},
    # Tuples in the text of a loop, and those that it returns.
    "kernels/lowering/statements.py": {"_put"},
    "kernels/lowering/wrapping.py": {"_given_back"},
    # What another framework's functions take and return.
    "adapters/torch/values.py": {"tensors_in"},
    # Names of parts say how one reaches them, and a difference of two structures where it is.
    "engine/tensor.py": {"named"},
    "extras/nesting.py": {"same_structure"},
    # A list is an input or a structure of inputs, which the layer decides at each level.
    "layers/calling.py": {"entered", "shapes", "fitted", "argument"},
    # A list is a tensor where the signature says so.
    "compile/front/signed.py": {"_taken"},
    # One level after the other, because each container is watched for changes.
    "compile/front/lending.py": {"_lend"},
    # Arguments of a NumPy function, on their way to a GPU.
    "kernels/cuda/memory.py": {"wrapped", "operands", "indices", "hosted", "uploaded"},
    # A module may hold a module.
    "layers/module.py": {"_mirror"},
}


def test_nothing_else_descends_into_structures_by_hand() -> None:
    found = {f"{path}: {name}" for path, name in _descending() if path != HOME}
    known = {f"{path}: {name}" for path, names in OTHERS.items() for name in names}
    assert found - known == set(), "Go through autodiff_lab.engine.nest, or say in the table above why not."
    assert known - found == set(), "These do not descend any more; take them off the table."


def _descending() -> Iterator[tuple[str, str]]:
    """Functions that ask whether a value is a container, and call themselves for each part of it."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        asks = "isinstance" in text  # parsing all takes seconds
        for function in ast.walk(ast.parse(text)) if asks else ():
            if isinstance(function, ast.FunctionDef) and _asks_for_containers(function) and _repeats_itself(function):
                yield path.relative_to(PACKAGE).as_posix(), function.name


def _asks_for_containers(function: ast.FunctionDef) -> bool:
    asked = [
        {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance" and len(node.args) == 2
    ]
    return any(CONTAINERS & kinds for kinds in asked)


def _repeats_itself(function: ast.FunctionDef) -> bool:
    loops = (ast.For, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)
    repeated = [node for node in ast.walk(function) if isinstance(node, loops)]
    repeated += [n for n in ast.walk(function) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "map"]
    names = {
        part.id if isinstance(part, ast.Name) else part.attr
        for node in repeated
        for part in ast.walk(node)
        if isinstance(part, ast.Name)
        or (isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self")
    }
    return function.name in names
