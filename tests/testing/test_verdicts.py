"""Verdicts on functions with one thing wrong with them, made at random; `patients` makes them."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.testing import check_gradient, line
from tests.testing.patients import MAKERS

EACH = 25
"""Patients of each kind; 300 of each give the same verdicts but for one, which agrees by chance."""


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("kind", MAKERS)
def test_the_verdict_names_what_is_wrong(kind: str) -> None:
    wrong: list[str] = []
    for seed in range(EACH):
        function, inputs, verdict = MAKERS[kind](np.random.default_rng(seed))
        check = check_gradient(function, *inputs)
        assert bool(check) == (check.verdict == "agrees")
        if check.verdict != verdict:
            wrong.append(f"{seed}: {verdict} expected, {check}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("kind", MAKERS)
def test_the_verdict_needs_no_wider_floats(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where longdouble is float64 under another name, the measured noise decides; two in sixty are mistaken."""
    monkeypatch.setattr(line, "WIDER", False)
    checks = []
    for seed in range(12):
        function, inputs, verdict = MAKERS[kind](np.random.default_rng(seed))
        check = check_gradient(function, *inputs)
        checks.append(check.verdict == verdict)
        assert check.shadow in ("", "float64")
    assert sum(checks) >= 11


def _rule(derivative: Callable[[Any], Any], function: Callable[[Any], Any] = lab.square) -> Callable[..., Any]:
    return lab.custom_gradient(lambda x: (function(x), lambda upstream: upstream * derivative(x)))


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("function", "at", "verdict", "gradient"),
    [
        (_rule(lambda x: x), 3.0, "wrong rule", 3.0),
        (lab.nn.relu, 0.0, "kink", 0.0),
        (lambda x: (x + 1e8) ** 2 - 1e16, 1.0, "precision", 200000002.0),
        (lambda x: x * float(RNG.random()), 1.0, "not deterministic", None),
        (lambda x: lab.where(x < 1.0, x, lab.sqrt(x)), 0.0, "not finite", float("nan")),
        (_rule(lambda x: 2.0 * lab.reduce_sum(x), lambda x: lab.reduce_sum(x * x)), [1.0, 2.0], "wrong rule", 6.0),
        (lambda x: lab.floor(x) + x, 2.0, "jump", 1.0),
        (lambda x: lab.maximum(x, 0.0) + lab.minimum(x, 0.0), 0.0, "kink", 2.0),
        (lambda x: lab.nn.relu(x) - lab.nn.relu(-x), 0.0, "kink", 0.0),
    ],
)
def test_the_patients_of_the_lesson(
    function: Callable[..., Any], at: Any, verdict: str, gradient: float | None
) -> None:
    check = check_gradient(function, at)
    assert (check.verdict, bool(check)) == (verdict, False), str(check)
    assert str(check).startswith(f"{verdict}: ")
    if gradient is not None:
        np.testing.assert_equal(check.gradient, gradient)


def test_a_rule_that_is_right_for_one_input_is_found_by_another() -> None:
    """A check says nothing of inputs that it was not given."""
    planted = _rule(lambda x: 2.0 * lab.reduce_sum(x), lambda x: lab.reduce_sum(x * x))
    assert check_gradient(planted, [3.0])
    assert not check_gradient(planted, [3.0, 1.0])


def test_the_one_sided_slopes_and_the_curve_are_there() -> None:
    check = check_gradient(lambda x: lab.maximum(2.0 * x, 5.0 * x), 0.0)
    (entry,) = check.entries
    assert (entry.left, entry.right) == pytest.approx((2.0, 5.0))
    assert check.shadow in ("longdouble", "float64")
    smooth = check_gradient(lab.sin, 1.0)
    errors = {round(float(np.log10(point.step)), 1): point.error for point in smooth.curve}
    assert min(errors.values()) < 1e-10 < errors[-0.5]
    assert errors[min(errors)] > 1e-6


def test_the_worst_elements_are_listed_and_every_element_has_its_error() -> None:
    mask = np.zeros((4, 5))
    mask[1, 2], mask[3, 4] = 1.0, 0.1
    check = check_gradient(_rule(lambda x: 2.0 * x + mask), np.ones((4, 5)))
    assert [entry.index for entry in check.entries] == [(1, 2), (3, 4)]
    assert check.count == 2
    np.testing.assert_array_equal(check.errors[0] > 1, mask > 0)
    assert "2 elements disagree" in str(check)


def test_a_wrong_rule_beside_a_kink_is_the_verdict() -> None:
    """A hundred kinks do not hide one wrong rule."""
    wrong = _rule(lambda x: x)
    check = check_gradient(lambda x, y: [lab.nn.relu(x), wrong(y)], np.zeros(100), 1.0)
    assert (check.verdict, check.input) == ("wrong rule", 1)
    assert {entry.verdict for entry in check.entries} >= {"kink", "wrong rule"}


def test_a_rule_that_loses_digits_is_not_called_wrong() -> None:
    """(1 - cos x) / x² is smooth, and both its value and its gradient cancel near 0."""
    for x in (1e-5, 1e-4, 3e-3):
        check = check_gradient(lambda x: (1.0 - lab.cos(x)) / (x * x), x)
        assert check.verdict in ("agrees", "precision"), str(check)


def test_integers_alone_leave_nothing_to_check() -> None:
    """It passes, as it always did, and says that nothing was compared."""
    check = check_gradient(_rule(lambda x: x), 3)
    assert check
    assert check.verdict == "nothing to check"
    assert "3.0 instead of 3" in str(check)
    assert check_gradient(lambda x, n: x * lab.cast(n, "float64"), 1.5, [1, 2])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_program_that_computes_in_narrow_floats_is_imprecise_and_not_wrong(dtype: str) -> None:
    def narrow(factor: float) -> Callable[[Any], Any]:
        rule = _rule(lambda x: factor * lab.cos(x), lab.sin)
        return lambda x: lab.cast(rule(lab.cast(x, dtype)), "float64")

    assert check_gradient(narrow(1.0), 1.0).verdict == "precision"
    if dtype != "bfloat16":  # whose two digits leave too few steps to be sure
        assert check_gradient(narrow(3.0), 1.0).verdict == "wrong rule"


def test_the_second_order_has_its_verdict_too() -> None:
    @lab.custom_gradient
    def cube(x: Any) -> Any:
        @lab.custom_gradient
        def slope(x: Any) -> Any:
            return 3.0 * x * x, lambda upstream: upstream * x

        return x * x * x, lambda upstream: upstream * slope(x)

    assert check_gradient(cube, 2.0)
    assert check_gradient(cube, 2.0, order=2).verdict == "wrong rule"


def test_a_function_that_refuses_other_points_is_checked_where_it_can_be() -> None:
    """What it raises at the point itself is raised; what it raises when it is examined is not."""
    calls = []

    def picky(x: Any) -> Any:
        calls.append(1)
        if float(x) < 0.9:
            raise ValueError("below 0.9")
        return _rule(lambda x: x)(x)

    assert check_gradient(picky, 1.0).verdict == "wrong rule"
    with pytest.raises(ValueError, match=r"below 0\.9"):
        check_gradient(picky, 0.5)


def test_the_report_is_a_picture_and_a_text() -> None:
    hostile = {"<script>": np.zeros(3)}
    check = check_gradient(lambda p: lab.nn.relu(p["<script>"]), hostile)
    bundle = check._repr_mimebundle_()
    assert bundle["text/plain"] == str(check)
    page = bundle["text/html"]
    assert "<svg" in page
    assert page.count("lab-off") == 3 + page.count(".lab-off")
    assert "<script>" not in page
    assert "The same at every step" in page
    assert re.search(r"Best step \de-\d+: error", check_gradient(lab.sin, 1.0)._repr_mimebundle_()["text/html"])
    assert check_gradient(lab.sin, 1.0)._repr_mimebundle_()["text/html"].count("✓") == 1
    drawn = np.random.default_rng(0)
    assert "not deterministic" in check_gradient(lambda x: x * drawn.random(), 1.0)._repr_mimebundle_()["text/html"]


def test_slopes_that_differ_are_drawn_on_both_sides_of_the_point() -> None:
    page = check_gradient(lab.nn.relu, 0.0)._repr_mimebundle_()["text/html"]
    assert "Slopes: 0 on the left, 1 on the right, 0 by the tape." in page
    hidden = check_gradient(lambda x: lab.maximum(x, 0.0) + lab.minimum(x, 0.0), 0.0)
    assert "Slopes: 1 on the left, 1 on the right, 2 by the tape." in hidden._repr_mimebundle_()["text/html"]
    for same in (check_gradient(lambda x: (x + 1e8) ** 2 - 1e16, 1.0), check_gradient(lambda x: lab.sqrt(x * x), 0.0)):
        assert "Slopes" not in same._repr_mimebundle_()["text/html"]


def test_a_large_array_is_drawn_around_its_worst_element() -> None:
    mask = np.zeros((60, 70))
    mask[50, 60] = 1.0
    from autodiff_lab.draw.gradcheck import svg

    drawn = svg([2 * mask], [(1e-3, float("nan")), (1e-4, 1e-9)])
    assert "rows 36 to 59, columns 46 to 69" in drawn
    assert drawn.count("lab-cross") == 2  # the style, and one element


def test_the_report_breaks_no_number_and_writes_powers_as_plots_do() -> None:
    report = check_gradient(lab.nn.relu, lab.constant([1.0, 0.0, 2.0], lab.float64))._repr_mimebundle_()["text/html"]
    assert re.search(r'<span class="lab-whole">[\d.]+e-\d+</span>', report)
    assert ">10⁻⁸<" in report
    assert not re.search(r">1e-?\d+</text>", report)
