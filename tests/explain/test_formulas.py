"""Formulas of values in sentences: read as Python they are what was computed, with no more brackets than that takes."""

import ast
import random
from typing import Any

import pytest

import autodiff_lab as lab
from autodiff_lab.explain.expressions import NODES, applied, spoken

SIGNS = {kind: op for op, kind in NODES.items()}


def grown(rng: random.Random, depth: int) -> Any:
    """Return a random formula as a tree: a name, a number, or an op and its parts."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["x", "y", "h", "2.0", "-3.0", "w[0, 1]"])
    op = rng.choice([*NODES, "sin"])
    return (op, *(grown(rng, depth - 1) for _ in range(1 if op == "sin" else 2)))


def written(tree: Any) -> str:
    return tree if isinstance(tree, str) else applied(tree[0], [written(part) for part in tree[1:]])


def read(node: ast.expr) -> Any:
    """Return the tree that Python reads."""
    if isinstance(node, ast.BinOp):
        return (SIGNS[type(node.op)], read(node.left), read(node.right))
    if isinstance(node, ast.Call):
        return ("sin", *map(read, node.args))
    return ast.unparse(node)


@pytest.mark.parametrize("seed", range(300))
def test_a_formula_means_what_it_was_made_from(seed: int) -> None:
    tree = grown(random.Random(seed), 4)
    assert read(ast.parse(written(tree), mode="eval").body) == tree


@pytest.mark.parametrize(
    ("op", "parts", "words"),
    [
        ("subtract", ["h @ W2", "T"], "h @ W2 - T"),
        ("pow", ["x * (a + b)", "2.0"], "(x * (a + b)) ** 2.0"),
        ("divide", ["a * b", "c"], "a * b / c"),
        ("divide", ["a", "b * c"], "a / (b * c)"),
        ("multiply", ["my name", "x"], "(my name) * x"),
        ("greater", ["a + b", "c"], "a + b > c"),
    ],
)
def test_brackets_stand_where_they_are_needed(op: str, parts: list[str], words: str) -> None:
    assert applied(op, parts) == words


def test_short_formulas_are_written_out_however_deep_they_are() -> None:
    x, w = lab.constant([1.0, 2.0], name="x"), lab.Variable(0.5, name="w")
    with lab.record() as recording:
        lab.reduce_sum(lab.square(lab.tanh(w * x) - 1.0))
    assert [spoken(recording, a.outputs[0]) for a in recording.applications] == [
        "w * x", "tanh(w * x)", "tanh(w * x) - 1.0", "square(tanh(w * x) - 1.0)", "sum(square(tanh(w * x) - 1.0))",
    ]  # fmt: skip
