"""`explore` and `plot_derivative`: every derivative is the tape's, for any function; errors explain bad input."""

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pytest
from matplotlib.colors import same_color

import autodiff_lab as lab
from autodiff_lab import style
from autodiff_lab.draw import theme
from autodiff_lab.draw.curves.axes import heights
from autodiff_lab.errors import BadInterval, ConversionError, InvalidArgumentError, NotCallable, ShapeMismatch
from autodiff_lab.exploring.curves import curves_of
from tests.refusals import refused

X = np.linspace(0.5, 2.0, 31)
CLOSED: list[tuple[Callable[[Any], Any], list[np.ndarray]]] = [
    (lab.sin, [np.sin(X), np.cos(X), -np.sin(X)]),
    (lambda x: x**3 + 6 * x, [X**3 + 6 * X, 3 * X**2 + 6, 6 * X]),
    (lambda x: lab.math.log(x) / x, [np.log(X) / X, (1 - np.log(X)) / X**2, (2 * np.log(X) - 3) / X**3]),
    (lambda x: 2.0 * x + 1.0, [2 * X + 1, 0 * X + 2, 0 * X]),
    (lambda x: lab.exp(-x * x), [np.exp(-X * X), -2 * X * np.exp(-X * X), (4 * X * X - 2) * np.exp(-X * X)]),
]


@pytest.mark.parametrize(("function", "rows"), CLOSED, ids=["sin", "cubic", "log x / x", "line", "bell"])
def test_values_and_both_derivatives_are_those_of_the_textbook(
    function: Callable[[Any], Any], rows: list[np.ndarray]
) -> None:
    curves, sampler = curves_of(function, 0.5, 2.0, 31, order=2)
    assert sampler.elementwise
    assert np.array_equal(curves.x, X)
    for found, known in zip(curves.rows, rows, strict=True):
        np.testing.assert_allclose(found, known, rtol=1e-12, atol=1e-12)


def test_a_function_with_an_if_is_called_for_one_x_at_a_time() -> None:
    def hinge(x: Any) -> Any:
        return 3.0 * x if x > 1.0 else x * x

    curves, sampler = curves_of(hinge, 0.5, 2.0, 31, order=2)
    assert not sampler.elementwise
    np.testing.assert_allclose(curves.rows[1], np.where(X > 1.0, 3.0, 2 * X))
    assert [mark.kind for mark in curves.marks] == ["jump"]


def test_a_function_that_mixes_its_elements_is_noticed() -> None:
    """With all x at once, the gradient of the sum would be wrong: f(x) is x² for one x, whatever the others are."""
    curves, sampler = curves_of(lambda x: x * lab.reduce_sum(x), 0.5, 2.0, 31, order=1)
    assert not sampler.elementwise
    np.testing.assert_allclose(curves.rows[1], 2 * X)


def test_points_where_the_function_raises_are_gaps_and_are_told() -> None:
    def picky(x: Any) -> Any:
        if float(x) < 1.0:
            raise ZeroDivisionError("too small")
        return x * x

    curves, _ = curves_of(picky, 0.5, 2.0, 31, order=1)
    assert np.array_equal(np.isnan(curves.rows[0]), X < 1.0)
    (note,) = curves.notes
    assert note == "picky raised at 10 of 31 points, first at x = 0.5: ZeroDivisionError: too small"


def test_a_function_that_leaves_the_tape_has_values_and_no_slope() -> None:
    curves, _ = curves_of(np.sin, 0.5, 2.0, 31, order=2)
    np.testing.assert_allclose(curves.rows[0], np.sin(X))
    assert np.isnan(curves.rows[1]).all()
    assert "does not depend on x through the tape" in curves.notes[0]
    assert "such as lab.sin, instead of those of math or NumPy" in curves.notes[0]


def test_a_branch_without_a_path_is_a_gap_in_the_slope_alone() -> None:
    curves, _ = curves_of(lambda x: x if x > 1.0 else 0.0, 0.5, 2.0, 31, order=1)
    assert np.array_equal(np.isnan(curves.rows[1]), X <= 1.0)
    assert not np.isnan(curves.rows[0]).any()
    assert "at 11 of 31 points" in curves.notes[0]


def test_a_function_with_constants_of_its_own_works_in_their_dtype() -> None:
    curves, sampler = curves_of(lambda x: x * lab.constant(2.0), 0.5, 2.0, 31, order=1)
    assert sampler.dtype == lab.float32
    np.testing.assert_allclose(curves.rows[1], 2.0)
    assert "float32" in curves.notes[0]


def test_a_domain_edge_is_a_gap_without_a_mark() -> None:
    curves, _ = curves_of(lab.math.log, -1.0, 1.0, 401, order=1)
    assert np.array_equal(np.isnan(curves.rows[0]), curves.x < 0)


def test_a_slope_is_not_drawn_where_the_function_has_no_value() -> None:
    """The tape multiplies 1/x at -1 whether or not log(-1) is a number."""
    curves, _ = curves_of(lab.math.log, -1.0, 1.0, 41, order=2)
    for row in curves.rows[1:]:
        assert np.isnan(row[curves.x < 0]).all()
    np.testing.assert_allclose(curves.rows[1][curves.x > 0], 1 / curves.x[curves.x > 0])
    assert curves.notes == ("log is undefined at 20 of 41 points where its formula has a derivative: a gap there.",)


def test_a_single_point_can_be_sampled() -> None:
    _, sampler = curves_of(lab.sin, -1.0, 1.0, 41, order=1)
    assert [row.shape for row in sampler(np.array([0.5]))] == [(1,), (1,)]


def test_neither_a_recording_nor_a_tape_around_the_call_hears_the_samples() -> None:
    x = lab.Variable(2.0)
    with lab.record() as recording, lab.GradientTape() as tape:
        y = x * x
        lab.explore(lab.sin, -1.0, 1.0, n=11)
    assert len(tape.operations) == 1
    assert "sin" not in recording.to_text()
    assert tape.gradient(y, x).numpy() == 4.0


def test_the_points_asked_for_are_samples() -> None:
    widget = lab.explore(lab.sin, 0.0, 1.0, n=4, x=0.123, other=0.777)
    assert {0.123, 0.777} <= set(widget.curves.x.tolist())
    assert (widget.x, widget.other) == (0.123, 0.777)
    assert len(lab.explore(lab.sin, -5.0, 5.0, x=1.1, other=-1.2).curves.x) == 401  # both are on the grid already
    assert "at x = 0.123: sin(x) = 0.1227, sin′(x) = 0.9924" in widget.account()


def test_the_widget_asks_the_tape_for_finer_samples() -> None:
    widget = lab.explore(lambda x: x**3, -1.0, 1.0)
    sent: list[Any] = []
    widget.send = lambda content, buffers=None: sent.append((content, buffers))
    widget._answer(widget, {"kind": "sample", "id": 1, "lo": 0.5, "hi": 0.6, "n": 11}, [])
    x, f, slope, _ = np.frombuffer(sent[0][1][0]).reshape(4, 11)
    np.testing.assert_allclose(f, x**3, rtol=1e-12)
    np.testing.assert_allclose(slope, 3 * x**2, rtol=1e-12)


@pytest.mark.parametrize("call", [lab.explore, lab.plot_derivative])
@pytest.mark.parametrize(
    ("arguments", "ours", "builtin", "words"),
    [
        ((3.0, -1, 1), NotCallable, TypeError, "expected a function, got float"),
        ((lab.sin, 1, 1), BadInterval, ValueError, "got lo = 1 and hi = 1"),
        ((lab.sin, 2, 1), BadInterval, ValueError, r"Try \(1, 2\)"),
        ((lab.sin, 0, float("inf")), BadInterval, ValueError, "a finite interval"),
        ((lab.sin, float("nan"), 1), BadInterval, ValueError, "a finite interval"),
        ((lab.sin, "a", 1), ConversionError, ValueError, "expected numbers as ends"),
        ((lab.sin, 0, 1, 1), BadInterval, ValueError, "at least 2, got 1"),
        ((lab.sin, 0, 1, 10**9), BadInterval, ValueError, "got 1000000000"),
        ((lab.sin, 0, 1, 2.5), BadInterval, ValueError, "got 2.5"),
        ((lambda x: lab.stack([x, x]), 0, 1), ShapeMismatch, ValueError, r"shape \(2,\)"),
        ((lambda x: x / 0 if 1 / 0 else x, 0, 1), InvalidArgumentError, Exception, "at every one of the"),
    ],
)
def test_bad_input_is_explained(
    call: Callable[..., Any], arguments: tuple[Any, ...], ours: type, builtin: type, words: str
) -> None:
    with refused(ours, words) as caught:
        call(*arguments)
    assert isinstance(caught.value, builtin)


def test_the_figure_has_the_textbook_curves_with_their_names() -> None:
    ax = lab.plot_derivative(lab.nn.sigmoid, -10.0, 10.0, 201)
    value, slope = ax.get_lines()
    x = np.linspace(-10, 10, 201)
    known = 1 / (1 + np.exp(-x))
    assert ([value.get_label(), slope.get_label()], ax.get_xlabel()) == (["y", "dy/dx"], "x")
    np.testing.assert_allclose(value.get_xdata(), x)
    np.testing.assert_allclose(value.get_ydata(), known, rtol=1e-12)
    np.testing.assert_allclose(slope.get_ydata(), known * (1 - known), rtol=1e-9)
    assert max(slope.get_ydata()) == 0.25
    assert ax.get_legend() is None
    assert [text.get_text() for text in ax.texts] == ["y", "dy/dx"]


def test_the_figure_breaks_the_slope_at_a_kink_and_marks_it() -> None:
    ax = lab.plot_derivative(lab.abs, -1.0, 1.0, 41, order=2, labels=("f", "f'", "f''"))
    value, slope, _ = ax.get_lines()
    assert not np.isnan(value.get_ydata()).any()
    assert np.isnan(slope.get_ydata()).sum() == 1
    assert set(slope.get_ydata()[~np.isnan(slope.get_ydata())]) == {-1.0, 1.0}
    circles = [tuple(point) for collection in ax.collections for point in collection.get_offsets()]
    assert {(0.0, 0.0), (0.0, -1.0), (0.0, 1.0)} <= set(circles)


def test_the_figure_goes_where_it_is_asked_to_and_leaves_the_global_style_alone() -> None:
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    _, (left, right) = plt.subplots(1, 2)
    assert lab.plot_derivative(lab.sin, -1.0, 1.0, ax=right) is right
    assert left.get_lines() == []
    assert dict(mpl.rcParams) == before
    plt.close("all")


def test_labels_that_are_missing_and_orders_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="expected 2 labels, one for each line, got 1"):
        lab.plot_derivative(lab.sin, 0, 1, labels=("y",))
    for call in (lab.explore, lab.plot_derivative):
        with pytest.raises(InvalidArgumentError, match="order from 0 to 4, got 5"):
            call(lab.sin, 0, 1, order=5)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_style_has_the_colours_of_the_widgets(name: str) -> None:
    colours = theme.colours(name)
    with style.context(name):
        cycle = mpl.rcParams["axes.prop_cycle"].by_key()
        drawn = [mpl.rcParams[role] for role in ("text.color", "axes.facecolor", "axes.edgecolor")]
        assert list(cycle["color"][:2]) == [colours["forward"], colours["backward"]]
        assert cycle["linestyle"][0] != cycle["linestyle"][1]
        for colour, role in zip(drawn, ("ink", "paper", "muted"), strict=True):
            assert same_color(colour, colours[role])


def test_matplotlib_finds_the_style_by_its_dotted_name_and_no_other_theme_exists() -> None:
    with matplotlib.style.context("autodiff_lab.style.dark"):
        assert same_color(mpl.rcParams["figure.facecolor"], theme.DARK["paper"])
    with pytest.raises(ValueError, match="'light' or 'dark'"):
        style.use("pink")


def test_without_matplotlib_or_anywidget_the_error_says_what_to_install() -> None:
    """In a fresh process where neither can be imported."""
    program = """
import sys
sys.modules["matplotlib"] = sys.modules["anywidget"] = None
import autodiff_lab as lab
for call in (lab.plot_derivative, lab.explore):
    try:
        call(lab.sin, 0.0, 1.0)
    except lab.errors.MissingPackage as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "matplotlib, which is not installed. Try: pip install 'autodiff-lab[lab]'" in run.stdout
    assert "anywidget, which is not installed. Try: pip install 'autodiff-lab[lab]'" in run.stdout


def test_a_forgotten_return_is_said_and_a_branch_without_one_is_marked_apart_from_nan() -> None:
    def forgotten(x: Any) -> Any:
        _ = x * x

    def half(x: Any) -> Any:
        if x > 0.0:
            return lab.math.log(x - 0.5)
        return None

    with pytest.raises(InvalidArgumentError, match=r"returned None at all 401 points.\nTry ending it with a return"):
        lab.explore(forgotten, -1.0, 1.0)
    shown = lab.explore(half, -1.0, 1.0, n=21, x=-0.5)
    assert "half returned None at 11 of 21 points, first at x = -1" in shown.account()
    assert "half(x) = None" in shown.account()
    shown.x = 0.2
    assert "half(x) = nan" in shown.account()
    assert shown.facts["nones"][0] == [[-1.0, 0.0]]


def test_a_function_of_lab_without_a_gradient_is_not_blamed_on_math() -> None:
    (note,) = curves_of(lab.floor, -1.0, 1.0, 21, order=1)[0].notes
    assert "as with floor" in note
    assert "instead of those of math" not in note


@pytest.mark.parametrize("order", range(5))
def test_up_to_four_derivatives_are_shown_or_none(order: int) -> None:
    shown = lab.explore(lambda x: x**5, -1.0, 1.0, n=21, order=order, x=0.5)
    assert shown.order == order
    values = [0.5**5, 5 * 0.5**4, 20 * 0.5**3, 60 * 0.5**2, 120 * 0.5][: max(order, 2) + 1]
    at = shown.curves.nearest(0.5)
    np.testing.assert_allclose([row[at] for row in shown.curves.rows], values, rtol=1e-12)
    assert shown.picture().count('class="lab-curve"') == order + 1


@pytest.mark.parametrize(("f", "x"), [(lab.sqrt, 0.01), (lambda x: 1 / x, 0.001), (lab.math.log, 1e-4)])
def test_the_heights_hold_the_point(f: Callable[[Any], Any], x: float) -> None:
    picture = lab.explore(f, -1.0, 4.0, x=x).picture()
    circles = re.findall(r'class="lab-point" cx="[-0-9.]+" cy="([-0-9.]+)"', picture)
    assert len(circles) == 2
    assert all(0 <= float(y) <= height for y, height in zip(circles, (260, 170), strict=True))


def test_a_slider_between_given_ends_starts_at_the_default_of_the_function() -> None:
    def wave(x: Any, a: float = 1.0, k: float = 9.0, *, lift: Any = None) -> Any:
        return a * lab.sin(k * x) + (lift or 0.0)

    widget = lab.explore(wave, -1.0, 1.0, n=5, a=(0.0, 3.0), k=(1.0, 6.0), lift=(0.0, 4.0))
    assert widget.parameters == {"a": [0.0, 3.0, 1.0], "k": [1.0, 6.0, 3.5], "lift": [0.0, 4.0, 2.0]}
    assert lab.explore(wave, -1.0, 1.0, n=5, a=2.0).parameters == {"a": [0.0, 4.0, 2.0]}


def test_parameters_become_sliders_and_are_passed_on() -> None:
    widget = lab.explore(lambda x, a, b=1.0: a * x * x + b, -1.0, 1.0, n=21, a=3.0, b=(0.0, 4.0))
    assert widget.parameters == {"a": [0.0, 6.0, 3.0], "b": [0.0, 4.0, 1.0]}
    sent: list[Any] = []
    widget.send = lambda content, buffers=None: sent.append(content)
    request = {"kind": "remake", "id": 1, "lo": -2.0, "hi": 2.0, "values": {"a": 5.0, "b": 1.0}}
    widget._answer(widget, request, [])
    assert sent == [{"kind": "remade", "id": 1}]
    np.testing.assert_allclose(widget.curves.rows[0], 5 * widget.curves.x**2 + 1)
    assert (widget.facts["lo"], widget.parameters["a"]) == (-2.0, [0.0, 6.0, 5.0])
    before = widget.samples
    for wrong in ({"values": {"a": 1.0}}, {"values": {"a": "x", "b": 1.0}}, {"lo": 3.0}, {"hi": float("inf")}):
        widget._answer(widget, {**request, **wrong}, [])
        assert sent[-1]["error"]
    assert widget.samples == before


def test_a_slider_starts_at_the_default_of_the_function() -> None:
    """If that is a number between its ends; else it starts in the middle."""

    def f(x: Any, a: float = 1.0, b: int = 9, c: Any = None, *, d: float = 0.0) -> Any:
        return (a + b + d) * x if c else x

    ends = {"a": (0.0, 4.0), "b": (0, 4), "c": (0.0, 1.0), "d": (0.0, 8.0)}
    starts = {"a": 1.0, "b": 2.0, "c": 0.5, "d": 0.0}
    found = lab.explore(f, -1.0, 1.0, n=5, **ends).parameters
    assert {name: start for name, (*_, start) in found.items()} == starts
    assert lab.explore(lambda x, **rest: rest["a"] * x, -1.0, 1.0, n=5, a=(0.0, 4.0)).parameters["a"][2] == 2.0


def test_a_function_too_fast_for_the_samples_has_a_note_and_heights_that_show_its_slope() -> None:
    shown = lab.explore(lambda x: lab.sin(1 / x), -1.0, 1.0)
    (note,) = shown.curves.notes
    assert note.startswith("f goes up and down faster than 401 samples can show between −0.065 and 0.065")
    assert shown.facts["clip"]
    low, high = heights(shown.curves.rows[1], zero=True, clip=shown.curves.clip)
    assert -100 < low < high < 100, "one spike of 20,000 would make a flat line of the rest"
    assert not lab.explore(lambda x: lab.sin(1 / x), 0.1, 1.0).curves.notes


@pytest.mark.parametrize("bad", ["two", None, float("nan"), (2.0, 1.0), (1.0, 2.0, 3.0), [], 1j])
def test_a_parameter_that_is_no_range_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="for the parameter a"):
        lab.explore(lambda x, a: a * x, -1.0, 1.0, a=bad)


@pytest.mark.parametrize(("lo", "hi"), [(-1e300, 1e300), (0.0, 1e-300), (1e15, 1e15 + 1)])
def test_huge_and_tiny_ranges_still_have_a_picture(lo: float, hi: float) -> None:
    shown = lab.explore(lambda x: x * 0.5 + 3.0, lo, hi, n=21)
    assert "nan" not in (shown.picture() or "nan").lower().replace("lab-", "")
    assert lab.explore(lambda x: x * 0.0 + 2.0, lo, hi, n=21).account()
