"""Which CUDA methods the tests compare with their references, read from the tests' source without running it.

A test calls ``agree("softmax", x, axis=-1)``; the name may be a parameter of the test, of a loop or of a function that
other tests call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

COMPARISONS = frozenset({"agree", "both"})
"""Functions of the tests whose first argument names a method."""
FOLDER = Path(__file__).resolve().parents[1] / "simulated"
"""The tests that run kernels in the simulator."""
Names = dict[str, frozenset[str]]
"""What variables may hold, as far as strings go."""


def methods_tested(folder: Path) -> dict[str, list[str]]:
    """Return the names of the methods that a folder's tests compare, each with the files that do.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tests.cuda_report.coverage import methods_tested
    >>> methods_tested(Path("no such folder"))
    {}
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("test_*.py")):
        for name in sorted(compared(path.read_text(encoding="utf-8"))):
            found.setdefault(name, []).append(path.name)
    return found


def compared(source: str) -> set[str]:
    """Return the names that the tests of a source text pass to `agree` and `both`."""
    tree = ast.parse(source)
    known = _assigned(tree.body, {})
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    places = dict.fromkeys(COMPARISONS, 0)
    while more := {f.name: at for f in functions if f.name not in places for at in _passes_on(f, places)}:
        places.update(more)  # helpers of helpers
    found: set[str] = set()
    for function in functions:
        names = {**known, **_parameters(function, known)}
        names = {**names, **_assigned(list(ast.walk(function)), names)}
        for call, at in _calls(function, places):
            found |= _strings(call.args[at], names)
    return found


def _calls(function: ast.FunctionDef, places: dict[str, int]) -> Iterator[tuple[ast.Call, int]]:
    """Yield calls of functions that compare, and which argument names the method."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in places and len(node.args) > places[name]:
                yield node, places[name]


def _passes_on(function: ast.FunctionDef, places: dict[str, int]) -> Iterator[int]:
    """Yield which parameter a helper passes on as the name of a method."""
    parameters = [argument.arg for argument in function.args.args]
    for call, at in _calls(function, places):
        given = call.args[at]
        if isinstance(given, ast.Name) and given.id in parameters and not function.name.startswith("test"):
            yield parameters.index(given.id)


def _parameters(function: ast.FunctionDef, known: Names) -> Names:
    """What ``pytest.mark.parametrize`` gives a test, as far as it is strings."""
    found: Names = {}
    for mark in function.decorator_list:
        if not (isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("parametrize") and len(mark.args) > 1):
            continue
        titles = [name for title in _strings(mark.args[0], known) for name in title.replace(" ", "").split(",")]
        if isinstance(mark.args[0], (ast.Tuple, ast.List)):
            titles = [str(_literal(one)) for one in mark.args[0].elts]
        for place, title in enumerate(titles):
            found[title] = _column(mark.args[1], place if len(titles) > 1 else None, known)
    return found


def _assigned(nodes: list[Any], known: Names) -> Names:
    """What variables and loops hold."""
    found = dict(known)
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = _strings(node.value, found)
        elif isinstance(node, (ast.For, ast.comprehension)):
            targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
            for place, target in enumerate(targets):
                if isinstance(target, ast.Name):
                    found[target.id] = _column(node.iter, place if len(targets) > 1 else None, found)
    return found


def _column(rows: ast.expr, place: int | None, known: Names) -> frozenset[str]:
    """The strings at one place of every row."""
    if isinstance(rows, (ast.Tuple, ast.List, ast.Set)) and place is not None:
        cells = [r.elts[place] for r in rows.elts if isinstance(r, (ast.Tuple, ast.List)) and len(r.elts) > place]
        return frozenset[str]().union(*(_strings(cell, known) for cell in cells))
    return _strings(rows, known)


def _strings(node: ast.expr, known: Names) -> frozenset[str]:
    """The strings that an expression may give, those inside tuples, lists and dicts among them."""
    if isinstance(node, ast.Constant):
        return frozenset({node.value}) if isinstance(node.value, str) else frozenset()
    if isinstance(node, ast.Name):
        return known.get(node.id, frozenset())
    if isinstance(node, ast.JoinedStr):
        parts = [_strings(v.value if isinstance(v, ast.FormattedValue) else v, known) for v in node.values]
        return frozenset("".join(choice) for choice in product(*parts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _strings(node.left, known), _strings(node.right, known)
        return frozenset(a + b for a in left for b in right) or left | right
    if isinstance(node, ast.IfExp):
        return _strings(node.body, known) | _strings(node.orelse, known)
    if isinstance(node, (ast.Attribute, ast.Lambda)):
        return frozenset()
    inside = [_strings(child, known) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return frozenset[str]().union(*inside)


def _literal(node: ast.expr) -> Any:
    return node.value if isinstance(node, ast.Constant) else ""
