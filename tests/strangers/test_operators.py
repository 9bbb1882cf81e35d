"""Operators compute or refuse: no result differs from Python's or TensorFlow's."""

from collections.abc import Callable

import numpy as np
import pytest

import autodiff_lab as lab

SIX, FLOAT, TRUE = lab.constant([6, 5]), lab.constant([6.0, 5.0]), lab.constant([True, False])


@pytest.mark.parametrize("kind", [lab.constant, lab.Variable])
def test_on_whole_numbers_the_operators_of_logic_work_on_bits(kind: Callable[..., lab.Tensor]) -> None:
    x = kind([6, 5])
    array = np.array([6, 5])
    for got, expected in [(x & 3, array & 3), (3 | x, 3 | array), (x ^ SIX, array ^ array), (~x, ~array)]:
        assert got.dtype == lab.int32
        assert got.numpy().tolist() == expected.tolist()


def test_on_bools_they_are_logic() -> None:
    assert (TRUE & True).numpy().tolist() == [True, False]
    assert (False ^ TRUE).numpy().tolist() == [True, False]
    assert (~TRUE).numpy().tolist() == [False, True]


@pytest.mark.parametrize("wrong", [lambda: FLOAT & FLOAT, lambda: ~FLOAT, lambda: lab.logical_or(SIX, SIX)])
def test_what_is_neither_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(lab.errors.DtypeMismatch, match=r"logical_\w+\([fi]32\[2\].*expected bool.*Try"):
        wrong()


@pytest.mark.parametrize(
    ("name", "divide"),
    [
        ("floordiv", lambda x: x // 0),
        ("floormod", lambda x: x % lab.constant([1, 0])),
        ("truncatediv", lambda x: lab.truncatediv(x, 0)),
        ("truncatemod", lambda x: lab.truncatemod(x, 0)),
    ],
)
def test_whole_numbers_are_not_divided_by_zero_and_floats_become_infinite(
    name: str, divide: Callable[[lab.Tensor], object]
) -> None:
    with pytest.raises(lab.errors.InvalidArgumentError, match=rf"{name}\(i32\[2\], i32\[2?\]\).*by zero.*Try"):
        divide(SIX)
    assert np.isinf((FLOAT // 0.0).numpy()).all()


def test_a_mask_in_brackets_keeps_what_is_true_and_passes_gradients_and_assignments() -> None:
    v = lab.Variable([1.0, 2.0, 3.0])
    with lab.GradientTape() as tape:
        y = v[v > 1.5] ** 2
    assert tape.gradient(y, v).numpy().tolist() == [0.0, 4.0, 6.0]
    assert v[np.array([True, False, True])].numpy().tolist() == [1.0, 3.0]
    v[v > 1.5].assign([5.0, 6.0])
    assert v.numpy().tolist() == [1.0, 5.0, 6.0]


def test_tensors_and_variables_are_keys_by_reference() -> None:
    x, v = lab.constant(1.0), lab.Variable(1.0)
    seen = {x.ref(): "x", v.ref(): "v"}
    assert seen[x.ref()] == "x"
    assert v.ref() != x.ref()
    assert v.ref().deref() is v


def test_indices_of_every_kind_agree_with_numpy_in_value_and_gradient() -> None:
    array = np.arange(120.0).reshape(2, 3, 4, 5)
    x = lab.constant(array)
    kinds = [
        np.s_[0], np.s_[..., 0], np.s_[:, ::-1], np.s_[..., ::2, 1:3], np.s_[:, None], np.s_[0, ..., -1],
        np.s_[:, :, 5:], np.s_[1:1], np.s_[:, 0:3:2, 3:0:-1, :], np.s_[:, :, :, None, 0], np.s_[-3:, -1:],
    ]  # fmt: skip
    for kind in kinds:
        with lab.GradientTape() as tape:
            tape.watch(x)
            part = x[kind]
        expected = np.zeros_like(array)
        expected[kind] = 1
        assert np.array_equal(part, array[kind])
        assert np.array_equal(tape.gradient(part, x), expected)


@pytest.mark.parametrize("kind", [lab.constant, lab.Variable])
def test_round_and_divmod_are_those_of_numpy(kind: Callable[..., lab.Tensor]) -> None:
    array = np.array([-2.5, -0.4, 0.5, 1.5, 7.25])
    x = kind(array)
    np.testing.assert_array_equal(round(x), np.round(array))
    for found, expected in ((divmod(x, 2), divmod(array, 2)), (divmod(5.0, x), divmod(5.0, array))):
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    quotient, rest = divmod(kind([7, -7]), 2)
    assert (quotient.numpy().tolist(), rest.numpy().tolist()) == ([3, -4], [1, 1])
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = divmod(x, 2.0)[1]
    np.testing.assert_array_equal(tape.gradient(y, x), np.ones(5))
