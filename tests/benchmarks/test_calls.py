"""Every call that is compared with PyTorch's runs, and has gradients where its inputs do."""

import json

import numpy as np
import pytest

from tests.benchmarks import calls
from tests.benchmarks.calls import __main__ as comparison
from tests.benchmarks.calls.worker import Lab, Torch, summary

LAB = Lab()


@pytest.mark.parametrize("text", [ours for ours, _ in calls.CALLS])
def test_a_call_and_its_gradients_are_finite(text: str) -> None:
    call, gradients = LAB.runs(text)
    values = [call(), *(gradients(1) if gradients else ())]
    assert all(np.isfinite(LAB.numbers(value)).all() for value in values if value is not None)
    if gradients:
        assert any(value is not None for value in values[1:])


def test_inputs_are_the_same_each_time_and_names_say_where_channels_are() -> None:
    first, again = calls.inputs(), calls.inputs()
    for name, array in {**first.floats, **first.others}.items():
        np.testing.assert_array_equal(array, {**again.floats, **again.others}[name])
    np.testing.assert_array_equal(first.floats["imt"], np.moveaxis(first.floats["im"], -1, 1))


def test_results_and_gradients_are_those_of_torch() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed, so there is nothing to compare with")
    torch = Torch()
    sums = [[summary(one, *one.runs(pair[n])) for pair in calls.CALLS] for n, one in enumerate((LAB, torch))]
    assert comparison.disagreements(*json.loads(json.dumps(sums))) == []


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "CALLS", [("x", "x"), ("y", "y")])
    assert comparison.disagreements([[[1.0, 1.0]], [[2.0, 2.0]]], [[[1.0, 1.0]], [[2.0, 2.1]]]) == ["y"]
    assert comparison.disagreements([[[1.0, 1.0]], [[2.0, 2.0]]], [[[1.0, 1.0]], [[2.0, 2.0]] * 2]) == ["y"]


def test_the_report_puts_what_is_furthest_behind_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "CALLS", [("quick", ""), ("slow", ""), ("alone", "")])
    lines = comparison.report([[1e-6, 2e-6], [3e-6, 9e-6], [2e-6, None]], [[1e-6, 4e-6], [3e-6, 3e-6], [1e-6, 1e-6]])
    assert [line.split()[-1] for line in lines[1:4]] == ["slow", "alone", "quick"]
    assert lines[-1].startswith("1 of 3 calls")
