"""Tangents as users pass them: lists, too few of them, wrong shapes."""

import pytest

import autodiff_lab as lab


def test_a_tangent_may_be_a_list() -> None:
    """As a primal may."""
    value, tangent = lab.jvp(lambda x: x * x, [[1.0, 2.0]], [[3.0, 4.0]])
    assert value.numpy().tolist() == [1.0, 4.0]
    assert tangent.numpy().tolist() == [6.0, 16.0]


def test_one_tangent_for_each_primal() -> None:
    with pytest.raises(lab.errors.ShapeMismatch, match="1 tangents for 2 primals"):
        lab.jvp(lambda x, y: x * y, [1.0, 2.0], [1.0])
    with pytest.raises(lab.errors.ShapeMismatch, match=r"a primal has shape \(2,\) and its tangent \(3,\)"):
        lab.jvp(lambda x: x, [[1.0, 2.0]], [[1.0, 2.0, 3.0]])
