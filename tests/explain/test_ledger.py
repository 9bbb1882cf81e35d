"""The ledger: a gradient is the sum over its paths, and no path is lost."""

import math

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import NotInRecording
from autodiff_lab.recording import Recording
from tests.explain.test_remarks import detached
from tests.recording.programs import higher_order, square_plus_sine


def doubled(times: int) -> Recording:
    """``h = h * h * 0.25 + h`` again and again from 1: three ways through every round."""
    x = lab.Variable(1.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            h = x
            for _ in range(times):
                h = h * h * 0.25 + h
        tape.gradient(h, x)
    return recording


def test_why_this_number_is_five() -> None:
    """``d(x*x + sin x)/dx`` at 3 is 3 + 3 + cos 3."""
    ledger = square_plus_sine().ledger("x")
    assert sorted(path.product for path in ledger.paths) == pytest.approx([math.cos(3), 3, 3], rel=1e-6)
    assert ledger.total == pytest.approx(6 + math.cos(3), rel=1e-6)
    assert str(ledger).splitlines()[0] == "dy/dx = 5.01 = 3 + 3 - 0.99"
    assert {f.side for path in ledger.paths for f in path.factors if f.op == "multiply"} == {"left", "right"}


@pytest.mark.parametrize("times", [1, 3, 6])
def test_all_paths_are_counted_and_add_up(times: int) -> None:
    """Listed without a limit there are 3 to the power of the rounds, and their products sum to the gradient."""
    recording = doubled(times)
    ledger = recording.ledger("x", limit=10_000)
    assert ledger.count == len(ledger.paths) == 3**times
    np.testing.assert_allclose(sum(path.product for path in ledger.paths), ledger.total, rtol=1e-5)
    for path in ledger.paths:
        assert path.product == pytest.approx(math.prod(f.derivative for f in path.factors), rel=1e-6)


def test_the_largest_paths_are_listed_and_the_others_told_honestly() -> None:
    """Twenty rounds have more paths than anyone can list; the count and the rest are exact."""
    recording = doubled(20)
    ledger = recording.ledger("x", limit=5)
    assert ledger.count == 3**20
    assert len(ledger.paths) == 5
    sizes = [abs(path.product) for path in ledger.paths]
    assert sizes == sorted(sizes, reverse=True)
    assert f"and {3**20 - 5:,} smaller paths of {3**20:,}" in str(ledger)


def test_the_listed_paths_really_are_the_largest() -> None:
    """A short list is the head of the full one."""
    recording = doubled(5)
    every = sorted((abs(p.product) for p in recording.ledger("x", limit=10_000).paths), reverse=True)
    assert [abs(p.product) for p in recording.ledger("x", limit=7).paths] == pytest.approx(every[:7], rel=1e-9)


def test_second_derivatives_have_a_ledger_too() -> None:
    """The last backward pass that reached x is asked: d²(x³)/dx² = 6x = 12 at 2."""
    assert higher_order().ledger("x").total == pytest.approx(12.0)


def test_vectors_are_refused_with_their_shape() -> None:
    """A path of vectors has no single number."""
    x = lab.Variable([1.0, 2.0], name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.reduce_sum(x * x)
        tape.gradient(y, x)
    with pytest.raises(ValueError, match=r"shape \[2\].*scalar"):
        recording.ledger(x)


def test_a_source_that_no_pass_reached_is_refused() -> None:
    """There is nothing to add up, and the message says whom to ask why."""
    recording = square_plus_sine()
    assert recording.ledger("%2").total == 1.0  # an intermediate result is a source like any other
    with pytest.raises(NotInRecording, match="explain"):
        detached().ledger("w1")
    with pytest.raises(LookupError, match="is called 'nobody'"):
        recording.ledger("nobody")


def test_one_target_of_several_has_a_ledger_of_its_own() -> None:
    x = lab.Variable(0.7, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            a = lab.sin(x) * x
            b = 2.0 * lab.exp(x)
        tape.gradient([a, b], x)
    of_a, of_b, both = (recording.ledger(x, target) for target in (a, b, None))
    assert [of_a.total, of_a.added] == pytest.approx(2 * [math.sin(0.7) + 0.7 * math.cos(0.7)], rel=1e-5)
    assert of_b.total == pytest.approx(2.0 * math.exp(0.7), rel=1e-5)
    assert both.total == pytest.approx(of_a.total + of_b.total)
    assert of_a.balanced
    assert (of_a.count, of_b.count, both.count) == (2, 1, 3)
