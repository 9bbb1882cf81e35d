"""The Jacobian map: the table is correct, the product computes the same, and everything shown has a text account."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons
from autodiff_lab.draw.jacobian import JacobianTable, svg
from autodiff_lab.errors import ConversionError, ShapeMismatch
from autodiff_lab.widgets.jacobian_map import JacobianMap, facts


def random_map(by: str, seed: int = 0) -> JacobianMap:
    rng = np.random.default_rng(seed)
    p, q, r = (int(n) for n in rng.choice(np.arange(1, 6), 3, replace=False))
    return lessons.matmul_map(rng.normal(size=(p, q)), rng.normal(size=(q, r)), rng.normal(size=(p, r)), by)


@pytest.mark.parametrize("by", ["A", "B"])
@pytest.mark.parametrize("seed", range(8))
def test_the_product_is_the_cotangent_times_the_table(by: str, seed: int) -> None:
    table = random_map(by, seed).table
    product = table.product
    assert product is not None
    cotangent = product.left if product.cotangent_first else product.right
    assert np.allclose(cotangent.ravel() @ table.matrix, product.result.ravel())


@pytest.mark.parametrize("by", ["A", "B"])
@pytest.mark.parametrize("seed", range(8))
def test_every_number_of_the_table_is_where_the_fixed_factor_is_said_to_hold_it(by: str, seed: int) -> None:
    table = random_map(by, seed).table
    product = table.product
    assert product is not None
    fixed = product.right if product.cotangent_first else product.left
    for row, column in np.ndindex(table.matrix.shape):
        place = table.fixed_at(row, column)
        assert table.matrix[row, column] == (0.0 if place is None else fixed[place])


def test_the_marked_number_stays_inside_the_table_and_is_said() -> None:
    shown = lessons.jacobian_map(lambda x: x * x, [1.0, -2.0, 3.0])
    shown.row, shown.column = 7, -3
    assert (shown.row, shown.column) == (2, 0)
    shown.row, shown.column = 1, 1
    assert "y[1] grows by −4 for each unit of x[1]" in shown.account()


def test_every_number_has_a_sentence_of_its_own() -> None:
    known = facts(random_map("A").table)
    assert len(set(known["sentences"])) == len(known["fixed"]) == known["size"][0] * known["size"][1]


def test_signs_are_written_and_zeros_are_marked() -> None:
    picture = svg(JacobianTable(np.array([[2.0, -3.0], [0.0, 123.456]]), (2,), (2,)))
    cells = re.findall(r'<text class="lab-value[^>]*text-anchor="middle">([^<]*)<', picture)
    assert cells == ["+2", "−3", "·", "+"]  # a number that is too long for a cell leaves its sign there


def test_names_are_escaped_and_the_picture_is_well_formed() -> None:
    table = JacobianTable(np.eye(2), (2,), (2,), "<script>y", "x&z")
    root = ElementTree.fromstring(svg(table))
    assert root.find("{http://www.w3.org/2000/svg}title") is not None
    assert "<script>" not in svg(table)
    for panel in facts(table)["panels"]:
        ElementTree.fromstring(f"<svg>{panel['markup']}</svg>")


def test_a_function_without_a_path_has_a_table_of_zeros() -> None:
    shown = lessons.jacobian_map(lambda x: x * 0.0, [1.0, 2.0])
    assert shown.table.zeros == 4
    assert "does not use" in shown.account()


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeMismatch, match="cotangent"):
        lessons.matmul_map(np.ones((3, 4)), np.ones((4, 2)), np.ones((2, 3)))


def test_a_function_that_leaves_for_numpy_is_told_so() -> None:
    """What a learner writes first, np.cumsum, is answered by a sentence and not from inside the package."""
    with pytest.raises(ConversionError, match=r"ndarray.*left the engine.*lab\.cumsum"):
        lessons.jacobian_map(np.cumsum, [1.0, 2.0])
    assert lessons.jacobian_map(lab.cumsum, [1.0, 2.0]).table.matrix.tolist() == [[1.0, 0.0], [1.0, 1.0]]
