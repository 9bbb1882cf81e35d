"""Tapes: what they watch, record and return, and every way to get None."""

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from tests.refusals import refused


def slope(function: Callable[[Any], Any], at: Any) -> Any:
    x = lab.constant(at)
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize(
    ("function", "at", "expected"),
    [
        (lambda x: x**2, 3.0, 6.0),
        (lambda x: 1 / x, 2.0, -0.25),
        (lambda x: x * x * x, 3.0, 27.0),
        (lambda x: x * x + 3 * x + x, 2.0, 8.0),
        (lab.nn.sigmoid, 0.0, 0.25),
        (lab.nn.softplus, 10.0, 0.9999546),
        (lambda x: lab.sin(lab.sin(lab.sin(x))), 2.0, -0.18009877),
        (lab.math.log, 30.0, 1 / 30),
        (lambda x: lab.cos(x) ** 2, 10.0, -0.9129453),
        (lambda x: x**0, 0.0, 0.0),
        (lambda x: x**1, 0.0, 1.0),
    ],
)
def test_slopes(function: Callable[[Any], Any], at: float, expected: float) -> None:
    found = slope(function, at)
    assert found.dtype == lab.float32
    assert float(found) == pytest.approx(expected, rel=1e-5)


# --- sources and targets --------------------------------------------------------------------------------------------


def test_sources_may_be_nested_and_the_result_mirrors_them() -> None:
    x, y = lab.Variable(2.0), lab.Variable(3.0)
    with lab.GradientTape() as tape:
        z = x * y * y
    found = tape.gradient(z, {"a": [x, (y, x)], "b": {"c": y}})
    assert [float(found["a"][0]), float(found["a"][1][0]), float(found["b"]["c"])] == [9.0, 12.0, 12.0]
    assert list(found) == ["a", "b"]


def test_several_targets_add_up_and_a_target_of_many_elements_is_summed() -> None:
    x = lab.Variable(2.0)
    with lab.GradientTape(persistent=True) as tape:
        a, b, c = x**2, 1 / x, x * [3.0, 4.0]
    assert float(tape.gradient({"a": a, "b": b}, x)) == 3.75
    assert float(tape.gradient([a, a], x)) == 8.0
    assert float(tape.gradient(c, x)) == 7.0
    assert float(tape.gradient(c, x, output_gradients=[1.0, 10.0])) == 43.0
    assert float(tape.gradient([a, b], x, output_gradients=[lab.constant(2.0), None])) == 7.75


def test_intermediate_results_and_variables_may_be_sources_and_targets() -> None:
    x = lab.constant(3.0)
    v = lab.Variable(5.0)
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y + v
    assert float(tape.gradient(z, y)) == 18.0
    assert float(tape.gradient(y, y)) == 1.0
    assert float(tape.gradient(v, v)) == 1.0


def test_a_gradient_has_the_shape_and_dtype_of_its_source() -> None:
    w, b = lab.Variable(lab.random.normal((3, 2))), lab.Variable(lab.zeros(2))
    with lab.GradientTape() as tape:
        y = [[1.0, 2.0, 3.0]] @ w + b
        loss = lab.reduce_mean(y**2)
    dw, db = tape.gradient(loss, [w, b])
    np.testing.assert_allclose(db, y.numpy()[0], 1e-6)
    np.testing.assert_allclose(dw, np.outer([1, 2, 3], y.numpy()[0]), 1e-6)
    wide = lab.constant(2.0, "float64")
    assert slope(lambda x: lab.cast(x, lab.float32) ** 2, wide).dtype == lab.float64


def test_zeros_are_given_for_unconnected_sources_when_asked_for() -> None:
    x, y = lab.Variable([1.0, 2.0]), lab.Variable(3.0)
    with lab.GradientTape(persistent=True) as tape:
        z = y * y
    assert tape.gradient(z, x) is None
    zero, true = tape.gradient(z, [x, y], unconnected_gradients=lab.UnconnectedGradients.ZERO)
    assert (zero.numpy().tolist(), float(true)) == ([0.0, 0.0], 6.0)
    assert tape.gradient(z, x, unconnected_gradients="zero").shape == (2,)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nil'"):
        tape.gradient(z, x, unconnected_gradients="nil")


# --- watching -------------------------------------------------------------------------------------------------------


def test_trainable_variables_are_watched_by_being_read_and_nothing_else_is() -> None:
    x0, x1 = lab.Variable(3.0, name="x0"), lab.Variable(3.0, trainable=False)
    x2, x3 = lab.Variable(2.0) + 1.0, lab.constant(3.0)
    unused = lab.Variable(1.0)
    with lab.GradientTape() as tape:
        y = x0**2 + x1**2 + x2**2 + x3**2
    assert [v.name for v in tape.watched_variables()] == ["x0:0"]
    found = tape.gradient(y, [x0, x1, x2, x3, unused])
    assert float(found[0]) == 6.0
    assert found[1:] == [None] * 4
    assert [v.name for v in tape.watched_variables()] == ["x0:0"]


def test_watching_can_be_by_hand_only() -> None:
    x, y, frozen = lab.Variable(0.0), lab.Variable(10.0), lab.Variable(4.0, trainable=False)
    with lab.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([y, frozen])
        z = lab.sin(x) + lab.nn.softplus(y) + frozen * frozen
    dx, dy, df = tape.gradient(z, [x, y, frozen])
    assert dx is None
    assert (float(dy), float(df)) == (pytest.approx(0.9999546), 8.0)


def test_watching_acts_from_then_on() -> None:
    x, v = lab.constant(2.0), lab.Variable(3.0)
    outside = v.read()
    with lab.GradientTape() as tape:
        early = v * x
        tape.watch(x)
        y = early + x * x + outside
    dx, dv = tape.gradient(y, [x, v])
    assert (float(dx), float(dv)) == (4.0, 2.0)


def test_watching_a_number_is_refused() -> None:
    with lab.GradientTape() as tape, refused(lab.errors.ConversionError, r"tape.watch"):
        tape.watch(3.0)


def test_watching_an_integer_warns_once_and_gives_none(caplog: pytest.LogCaptureFixture) -> None:
    x, y = lab.constant(10), lab.constant(1.0)
    with caplog.at_level(logging.WARNING), lab.GradientTape() as tape:
        tape.watch(x)
        tape.watch(y)
        z = x * x
    assert tape.gradient(z, x) is None
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("autodiff_lab", "WARNING")
    assert "dtype of the watched tensor must be floating" in record.message
    assert "int32" in record.message


def test_every_read_of_a_variable_counts_whatever_is_assigned_between() -> None:
    v = lab.Variable(3.0)
    with lab.GradientTape() as tape:
        y = v * v
        v.assign(5.0)
        y = y + v * v * v
    assert float(tape.gradient(y, v)) == 6.0 + 75.0


# --- one-shot, persistent, several ----------------------------------------------------------------------------------


def test_a_one_shot_tape_is_spent_and_says_where() -> None:
    x = lab.Variable(3.0)
    with lab.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError) as caught:
        tape.gradient(y, x)
    words = str(caught.value)
    assert "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)" in words
    assert "test_tapes.py, line" in words
    assert "persistent=True" in words


def test_a_spent_tape_in_its_own_block_records_nothing_more() -> None:
    x = lab.Variable(3.0)
    with lab.GradientTape() as tape:
        y = x * x
        assert float(tape.gradient(y, x)) == 6.0
        z = x * x
        tape.watch(lab.constant(1.0))
    with pytest.raises(lab.errors.TapeSpent):
        tape.gradient(z, x)


def test_a_persistent_tape_answers_many_times() -> None:
    x = lab.constant([1.0, 3.0])
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    for _ in range(2):
        assert tape.gradient(z, x).numpy().tolist() == [4.0, 108.0]
        assert tape.gradient(y, x).numpy().tolist() == [2.0, 6.0]


def test_a_persistent_tape_records_its_own_sweep() -> None:
    x = lab.constant(3.0)
    with lab.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
        third = tape.gradient(second, x)
    assert [float(g) for g in (first, second, third)] == [27.0, 18.0, 6.0]


def test_several_tapes_hear_the_same_ops() -> None:
    x, y = lab.constant(3.0), lab.constant(4.0)
    with lab.GradientTape() as tx, lab.GradientTape() as ty:
        tx.watch(x)
        ty.watch(y)
        z = x * y
    assert (float(tx.gradient(z, x)), float(ty.gradient(z, y))) == (4.0, 3.0)


def test_tapes_may_end_in_any_order() -> None:
    x = lab.Variable(3.0)
    first, second = lab.GradientTape(), lab.GradientTape()
    first.__enter__()
    second.__enter__()
    y = x * x
    first.__exit__(None, None, None)
    z = y * y
    second.__exit__(None, None, None)
    assert first.gradient(z, x) is None
    assert float(second.gradient(z, x)) == 108.0


def test_a_tape_is_not_entered_twice_at_once_but_may_go_on_later() -> None:
    x = lab.Variable(3.0)
    tape = lab.GradientTape()
    with tape:
        y = x * x
        with pytest.raises(lab.errors.TapeMisused, match="already recording"):
            tape.__enter__()
    with tape:
        z = y * y
    assert float(tape.gradient(z, x)) == 108.0
    with pytest.raises(lab.errors.TapeMisused, match="inside the tape's block"), tape.stop_recording():
        pass


def test_recording_stops_and_resumes() -> None:
    x, y = lab.Variable(3.0), lab.Variable(4.0)
    with lab.GradientTape(persistent=True) as tape:
        z = x * y
        with tape.stop_recording():
            lost = x * x + y * y
        again = x * x
    assert [float(g) for g in tape.gradient(z, [x, y])] == [4.0, 3.0]
    assert (float(lost), tape.gradient(lost, x)) == (25.0, None)
    assert float(tape.gradient(again, x)) == 6.0


def test_reset_forgets_and_goes_on() -> None:
    x = lab.Variable(3.0)
    with lab.GradientTape() as tape:
        before = x * x
        tape.reset()
        after = x * x * x
        assert tape.operations == ("multiply", "multiply")
    assert [None if g is None else float(g) for g in [tape.gradient([before, after], x)]] == [27.0]


@pytest.mark.parametrize(("order", "expected"), [(1, 32.0), (2, 48.0), (3, 48.0), (4, 24.0), (5, None)])
def test_nested_tapes_give_higher_orders(order: int, expected: float | None) -> None:
    def derivative(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def derived(x: Any) -> Any:
            with lab.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            return tape.gradient(y, x)

        return derived

    function: Callable[[Any], Any] = lambda x: x * x * x * x  # noqa: E731
    for _ in range(order):
        function = derivative(function)
    found = function(lab.constant(2.0))
    assert (found if found is None else float(found)) == expected


# --- what a tape holds ----------------------------------------------------------------------------------------------


def test_only_ops_on_what_is_watched_are_recorded() -> None:
    x, c = lab.Variable(3.0), lab.constant(2.0)
    with lab.GradientTape() as tape:
        _ = c * c
        assert tape.operations == ()
        y = x * c
        lab.sin(c)
        lab.sin(y)
        assert tape.operations == ("multiply", "sin")
    _ = y * y
    assert tape.operations == ("multiply", "sin")


def test_a_one_shot_tape_holds_little_and_lets_go_of_all_a_persistent_one_keeps() -> None:
    x = lab.Variable(np.ones(10_000, np.float32))

    def recorded(persistent: bool) -> tuple[Any, Any]:
        with lab.GradientTape(persistent=persistent) as tape:
            y = lab.nn.relu(lab.nn.relu(x + 1.0) + 1.0)
        return tape, y

    lean, y = recorded(False)
    full, z = recorded(True)
    assert 0 < lean.saved_bytes <= 80_000 < full.saved_bytes
    before = full.saved_bytes
    np.testing.assert_array_equal(lean.gradient(y, x), full.gradient(z, x))
    assert (lean.saved_bytes, full.saved_bytes) == (0, before)


def test_a_quotient_lets_go_of_its_numerator() -> None:
    x, y = (lab.constant(np.full(10_000, value, np.float32)) for value in (3.0, 2.0))
    with lab.GradientTape() as tape:
        tape.watch([x, y])
        z = (x * 1.0) / y
    assert tape.saved_bytes <= 2 * 40_000 + 100  # the quotient, and what it was divided by
    held = [tensor._array for tensor in tape._entries[-1][2]]  # type: ignore[index]
    assert not isinstance(held[0], np.ndarray)
    assert [g.numpy()[0] for g in tape.gradient(z, [x, y])] == [0.5, -0.75]


@pytest.mark.parametrize(
    ("op", "factor_first"),
    [(lab.multiply, False), (lab.multiply, True), (lab.matmul, False), (lab.matmul, True), (lab.divide, False)],
)
def test_of_two_inputs_only_what_rules_of_tracked_ones_read_is_held(op: Any, factor_first: bool) -> None:
    """The factor alone is read where it is constant; where both are tracked, so is the other input."""
    rng = np.random.default_rng(3)
    x, c = (lab.constant(rng.uniform(0.5, 1, (80, 80))) for _ in range(2))
    for tracked, most in ([x], 1), ([x, c], 2 * 5):
        with lab.GradientTape() as tape, lab.GradientTape(persistent=True) as full:
            for one in (tape, full):
                one.watch(tracked)
            y = x
            for _ in range(5):
                y = op(c, y) if factor_first else op(y, c)
        assert 80 * 80 * 8 <= tape.saved_bytes <= most * 80 * 80 * 8
        for g, wanted in zip(tape.gradient(y, tracked), full.gradient(y, tracked), strict=True):
            np.testing.assert_array_equal(g, wanted)


def test_a_sum_does_not_hold_what_it_summed() -> None:
    x = lab.constant(np.ones(10_000, np.float32))
    with lab.GradientTape() as tape:
        tape.watch(x)
        y = lab.reduce_sum(x)
    assert tape.saved_bytes < 100
    assert tape.gradient(y, x).shape == (10_000,)


# --- bad questions --------------------------------------------------------------------------------------------------


def test_a_source_must_be_a_tensor() -> None:
    x = lab.Variable(1.0)
    with lab.GradientTape() as tape:
        y = x * x
    for wrong in (3.0, "x", None):
        with pytest.raises(lab.errors.ConversionError, match="as source, got "):
            tape.gradient(y, wrong)
    assert float(tape.gradient(y, x)) == 2.0, "a refused question does not spend the tape"


def test_cotangents_must_fit_their_targets() -> None:
    x = lab.Variable([1.0, 2.0])
    with lab.GradientTape() as tape:
        y = x * x
    with pytest.raises(lab.errors.ShapeMismatch, match=r"shape \(3,\) and its target \(2,\)"):
        tape.gradient(y, x, output_gradients=lab.ones(3))
    with pytest.raises(lab.errors.DtypeMismatch, match="float64 and its target float32"):
        tape.gradient(y, x, output_gradients=lab.ones(2, "float64"))
    with pytest.raises(lab.errors.ShapeMismatch, match="1 cotangent for 2 targets"):
        tape.gradient([y, y], x, output_gradients=[lab.ones(2)])
    assert tape.gradient(y, x, output_gradients=[1.0, 10.0]).numpy().tolist() == [2.0, 40.0]
