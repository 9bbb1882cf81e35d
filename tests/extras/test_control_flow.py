"""Choices, loops, folds and tensor arrays: values, gradients and refusals."""

from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused

errors = lab.errors


@pytest.mark.parametrize("at", [-2.0, 3.0])
def test_only_the_branch_that_is_chosen_runs_and_has_a_gradient(at: float) -> None:
    x, ran = lab.Variable(at), []

    def square() -> Any:
        ran.append("square")
        return x * x

    def minus() -> Any:
        ran.append("minus")
        return -x

    with lab.GradientTape() as tape:
        y = lab.cond(x > 0.0, square, minus)
    assert ran == (["square"] if at > 0 else ["minus"])
    assert float(tape.gradient(y, x)) == (2 * at if at > 0 else -1.0)


def test_branches_may_give_structures() -> None:
    assert lab.cond(True, lambda: {"a": 1}, lambda: {"a": 2}) == {"a": 1}


def test_the_first_condition_that_holds_wins() -> None:
    x = lab.constant(5.0)
    pairs = [(x < 0.0, lambda: "negative"), (x > 1.0, lambda: "large"), (x > 2.0, lambda: "larger")]
    assert lab.case(pairs) == "large"
    assert lab.case([(x < 0.0, lambda: "negative")], default=lambda: "neither") == "neither"
    with pytest.raises(errors.InvalidArgumentError, match="2 conditions hold"):
        lab.case(pairs, exclusive=True)
    with pytest.raises(errors.InvalidArgumentError, match="no condition holds"):
        lab.case([(x < 0.0, lambda: 0)])


def test_a_branch_is_chosen_by_its_number_and_the_last_stands_in() -> None:
    branches = [lambda: "a", lambda: "b", lambda: "c"]
    assert [lab.switch_case(lab.constant(i), branches) for i in (0, 1, 2, 7, -1)] == ["a", "b", "c", "c", "c"]
    assert lab.switch_case(9, branches, default=lambda: "d") == "d"
    assert lab.switch_case(4, {0: lambda: "zero", 1: lambda: "one"}) == "one"
    assert lab.switch_case(1, [(1, lambda: "one"), (0, lambda: "zero")]) == "one"


def test_a_loop_gives_the_gradient_of_all_its_rounds() -> None:
    x = lab.Variable(1.5)
    with lab.GradientTape() as tape:
        _, y = lab.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), [0, lab.constant(1.0)])
    np.testing.assert_allclose(tape.gradient(y, x), 4 * 1.5**3, 1e-6)


def test_a_loop_keeps_the_structure_of_its_values() -> None:
    out = lab.while_loop(
        lambda s: s["i"] < 3,
        lambda s: {"i": s["i"] + 1, "pair": (s["pair"][1], s["pair"][0])},
        [{"i": 0, "pair": (1, 2)}],
    )
    assert isinstance(out, list)
    assert (int(out[0]["i"]), [int(v) for v in out[0]["pair"]]) == (3, [2, 1])
    assert int(lab.while_loop(lambda i: i < 100, lambda i: i + 1, [0], maximum_iterations=7)[0]) == 7


def test_a_loop_fills_an_array() -> None:
    x = lab.Variable([1.0, 2.0, 3.0])
    with lab.GradientTape() as tape:
        array = lab.TensorArray(lab.float32, size=3)
        _, array = lab.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x[int(i)] ** 2)), [0, array]
        )  # fmt: skip
        y = array.stack()
    np.testing.assert_array_equal(y, [1.0, 4.0, 9.0])
    np.testing.assert_array_equal(lab.convert_to_tensor(tape.gradient(y, x)), [2.0, 4.0, 6.0])


ROWS = np.arange(6.0).reshape(3, 2)


def test_a_function_is_mapped_over_rows_and_structures_of_rows() -> None:
    np.testing.assert_array_equal(lab.map_fn(lab.reduce_sum, ROWS), ROWS.sum(1))
    both = lab.map_fn(lambda e: {"sum": e[0] + e[1], "first": e[0]}, (ROWS, 2 * ROWS))
    np.testing.assert_array_equal(both["sum"], 3 * ROWS)
    np.testing.assert_array_equal(lab.vectorized_map(lambda r: r * 2, ROWS), 2 * ROWS)
    signed = lab.map_fn(lambda r: lab.reduce_sum(r) > 3.0, ROWS, fn_output_signature=lab.bool)
    np.testing.assert_array_equal(signed, [False, True, True])
    check = lab.testing.check_gradient(lambda x: lab.map_fn(lambda r: r * lab.reduce_sum(r), x), ROWS)
    assert check, str(check)


def test_folds_and_scans_are_those_of_functools_and_itertools() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert float(lab.foldl(lambda a, r: a - 2 * r, x)) == ((1 - 4) - 6) - 8
    assert float(lab.foldr(lambda a, r: a - 2 * r, x)) == ((4 - 6) - 4) - 2
    assert float(lab.foldl(lambda a, r: a * r, x, initializer=lab.constant(10.0, lab.float64))) == 240.0
    np.testing.assert_array_equal(lab.scan(lambda a, r: a + r, x), np.cumsum(x))
    np.testing.assert_array_equal(lab.scan(lambda a, r: a + r, x, reverse=True), np.cumsum(x[::-1])[::-1])
    started = lab.scan(lambda a, r: a + r, x, initializer=lab.constant(5.0, lab.float64))
    np.testing.assert_array_equal(started, 5 + np.cumsum(x))
    pair = lab.scan(lambda a, r: (a[0] + r, a[1] * r), x, initializer=(np.float64(0), np.float64(1)))
    np.testing.assert_array_equal(pair[1], np.cumprod(x))
    check = lab.testing.check_gradient(lambda t: lab.scan(lambda a, r: a * r + lab.sin(a), t), x)
    assert check, str(check)


def test_an_array_is_written_read_once_gathered_joined_and_taken_apart() -> None:
    array = lab.TensorArray(lab.float32, size=0, dynamic_size=True, clear_after_read=False)
    for i in range(3):
        array = array.write(i, [float(i), float(i) + 0.5])
    assert int(array.size()) == len(array) == 3
    np.testing.assert_array_equal(array.read(1), [1.0, 1.5])
    np.testing.assert_array_equal(array.read(1), [1.0, 1.5])
    np.testing.assert_array_equal(array.gather([2, 0]), [[2.0, 2.5], [0.0, 0.5]])
    np.testing.assert_array_equal(array.concat(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    again = lab.TensorArray(lab.float64, size=3).unstack(ROWS)
    np.testing.assert_array_equal(again.stack(), ROWS)
    parts = lab.TensorArray(lab.float64, size=2).split(np.arange(5.0), [2, 3])
    np.testing.assert_array_equal(parts.read(1), [2.0, 3.0, 4.0])
    scattered = lab.TensorArray(lab.float64, size=3).scatter([2, 0], ROWS[:2].copy())
    np.testing.assert_array_equal(scattered.stack(), [[2.0, 3.0], [0.0, 0.0], [0.0, 1.0]])


def test_an_array_refuses_positions_dtypes_and_shapes_that_do_not_fit() -> None:
    array = lab.TensorArray(lab.float32, size=2, element_shape=[2])
    with pytest.raises(errors.OutOfRangeError, match=r"position 2 is not in \[0, 2\)"):
        array.write(2, [1.0, 2.0])
    with pytest.raises(errors.ShapeMismatch, match=r"\(2,\), got \(3,\)"):
        array.write(0, [1.0, 2.0, 3.0])
    with pytest.raises(errors.DtypeMismatch, match="float32, got int32"):
        array.write(0, lab.constant([1, 2]))
    array.write(0, [1.0, 2.0]).read(0)
    with pytest.raises(errors.InvalidArgumentError, match="already been read"):
        array.read(0)
    with pytest.raises(errors.InvalidArgumentError, match="was not written"):
        lab.TensorArray(lab.float32, size=1).read(0)


REFUSALS: dict[str, tuple[Any, type[Exception], str]] = {
    "a condition of two": (
        lambda: lab.cond(lab.constant([True, False]), int, int), errors.InvalidArgumentError, r"cond.*\(2,\)",
    ),
    "a condition that is a number": (lambda: lab.cond(1, int, int), errors.InvalidArgumentError, "cond.*int32"),
    "a branch that is a value": (lambda: lab.cond(True, int, 3), errors.NotCallable, "cond.*got int.*lambda"),
    "a branch number with a point": (lambda: lab.switch_case(1.0, [int]), errors.InvalidArgumentError, "float32"),
    "no branches": (lambda: lab.switch_case(0, []), errors.InvalidArgumentError, "at least one branch"),
    "pairs that are none": (lambda: lab.case([int]), errors.InvalidArgumentError, "pairs"),
    "a loop that loses a value": (
        lambda: lab.while_loop(lambda i, j: i < 2, lambda i, j: (i + 1,), [0, 0]), errors.ShapeMismatch, "while_loop",
    ),
    "a map over a number": (lambda: lab.map_fn(lambda r: r, 1.0), errors.ShapeMismatch, "map_fn.*first axes"),
    "a map over two lengths": (
        lambda: lab.map_fn(lambda r: r[0], (lab.ones(2), lab.ones(3))), errors.ShapeMismatch, r"\(2,\), \(3,\)",
    ),
    "a map of another dtype": (
        lambda: lab.map_fn(lambda r: r, ROWS, fn_output_signature=lab.int32), errors.DtypeMismatch, "int32.*float64",
    ),
    "a map of no function": (lambda: lab.map_fn(3, ROWS), errors.NotCallable, "map_fn"),
    "a map over nothing": (lambda: lab.map_fn(lambda r: r, lab.zeros((0, 2))), errors.ShapeMismatch, "no rows"),
    "a fold over nothing": (lambda: lab.foldl(lambda a, r: a, lab.zeros(0)), errors.ShapeMismatch, "foldl.*Try an"),
    "a fold that changes shape": (
        lambda: lab.foldl(lambda a, r: (a, r), ROWS), errors.ShapeMismatch, "foldl: result of fn",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_does_not_fit_is_refused_by_name(name: str) -> None:
    call, error, words = REFUSALS[name]
    with refused(error, words):
        call()
