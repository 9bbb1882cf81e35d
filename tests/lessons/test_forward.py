"""Forward mode of lesson 5: the figures of its rule, and what a class may do to a check."""

from __future__ import annotations

import inspect
import math
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab import lessons, teaching
from autodiff_lab.errors import InvalidArgumentError
from autodiff_lab.lessons import CheckResult, deadline
from autodiff_lab.lessons.duals import evaluate, fresh_pair
from autodiff_lab.lessons.loops import Loop, babylon
from autodiff_lab.lessons.sweeping import payment
from tests.lessons.answers.hostile import HOSTILE
from tests.lessons.answers.lesson_05 import SOLVED
from tests.lessons.play import play


@pytest.fixture(scope="module")
def solved() -> dict[str, Any]:
    return play("05", SOLVED)[""]


def test_babylon_and_its_derivative_converge_as_the_lesson_says(solved: dict[str, Any]) -> None:
    dual = solved["Dual"]
    found = [babylon(dual(2.0, 1.0), rounds) for rounds in range(1, 5)]
    assert [x.value for x in found[:3]] == pytest.approx([1.5, 1.41667, 1.4142157], abs=5e-6)
    assert [x.tangent for x in found[:3]] == pytest.approx([0.5, 0.36111, 0.3535659], abs=5e-6)
    assert found[3].value - math.sqrt(2) == pytest.approx(1.6e-12, rel=0.05)
    assert found[3].tangent - 0.5 / math.sqrt(2) == pytest.approx(1.8e-11, rel=0.05)


def test_the_sweeps_of_the_lesson_deliver_what_it_says(solved: dict[str, Any]) -> None:
    def at_f(**seeds: float) -> float:
        made = teaching.forward(solved["recording"], seeds)
        (result,) = made.sweeps[0].results
        return float(made.tensors[result].snapshot.array)

    assert at_f(x=1.0) == pytest.approx(3 + math.cos(2), rel=1e-6)
    assert at_f(y=1.0) == pytest.approx(2.0)
    assert at_f(x=1.0, y=1.0) == pytest.approx(at_f(x=1.0) + at_f(y=1.0))
    assert solved["arriving"]() == "4.58"
    assert solved["sweeps_needed"]() == {"forward sweeps": 2410, "backward sweeps": 1}


def test_the_mortgage_costs_what_the_lesson_says() -> None:
    here = payment(200_000.0, 0.04, 360)
    h = 1e-6
    by_point = (payment(200_000.0, 0.04 + h, 360) - payment(200_000.0, 0.04 - h, 360)) / (2 * h) / 100
    assert (round(here, 2), round(by_point, 2)) == (954.83, 115.30)
    assert round(payment(200_000.0, 0.05, 360) - here, 2) == 118.81


@pytest.mark.parametrize("seed", range(5))
def test_expressions_and_loops_agree_with_a_tape(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, _ = fresh_pair(rng)
    tree = ("+", ("*", 0, ("sin", ("*", 0, 0))), ("exp", ("*", 0.5, 0)))
    ops = {"+": lambda u, v: u + v, "*": lambda u, v: u * v, "sin": lab.sin, "exp": lab.exp}
    wanted = math.sin(a * a) + 2 * a * a * math.cos(a * a) + 0.5 * math.exp(0.5 * a)
    found = lab.gradient(lambda x: evaluate(tree, [x], ops))(lab.constant(a, dtype=lab.float64))
    assert float(found) == pytest.approx(wanted)
    loop = Loop(rounds=5, bound=2.0, more=1.0, factor=0.5)
    assert len(loop.branches(1.5)) == 5


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect.unwrap(deadline.share_seconds), "__defaults__", (0.1,))


@pytest.mark.slow(keep=1)
@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("method", ["__init__", "__add__", "__mul__", "__truediv__", "__gt__", "value", "tangent"])
def test_whatever_a_class_does_the_check_answers(solved: dict[str, Any], method: str) -> None:
    for number, bad in enumerate(HOSTILE):
        kind = type("Bad", (solved["Dual"],), {method: property(bad) if method in ("value", "tangent") and callable(bad)
                                               else bad})  # fmt: skip
        for check in (lambda kind=kind: lessons.check_dual(kind, solved["sin"], solved["exp"]),
                      lambda kind=kind: lessons.check_loops(kind)):  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = check()
            assert isinstance(found, CheckResult), number
            assert found.message, number
            assert found.passed or found.next_hint, number


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("name", ["sin", "exp"])
def test_whatever_a_function_of_pairs_does_the_check_answers(solved: dict[str, Any], name: str) -> None:
    for number, bad in enumerate(HOSTILE):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = lessons.check_dual(solved["Dual"], **{"sin": solved["sin"], "exp": solved["exp"], name: bad})
        assert isinstance(found, CheckResult), number
        assert not found.passed, number
        assert found.next_hint, number


@pytest.mark.parametrize("ops", ["", "-", "+ tan", "sin, exp"])
def test_unknown_operations_are_refused(solved: dict[str, Any], ops: str) -> None:
    with pytest.raises(InvalidArgumentError, match="words out of"):
        lessons.check_dual(solved["Dual"], ops=ops)


def test_the_first_wrong_operation_is_the_one_that_is_named(solved: dict[str, Any]) -> None:
    dual, sin = solved["Dual"], solved["sin"]
    found = lessons.check_dual(dual, lambda u: dual(math.sin(u.value), math.cos(u.value)), lambda u: dual(1.0, 1.0))
    assert (found.code, found.message.startswith("Look at sin.")) == ("NO_CHAIN", True)
    found = lessons.check_dual(dual, sin, lambda u: dual(math.exp(u.value), u.value * u.tangent))
    assert (found.code, found.message.startswith("Look at exp.")) == ("EXP_INPUT", True)


def recorded() -> lab.Recording:
    x, y = lab.Variable(2.0, name="x"), lab.Variable([1.0, 3.0], name="y")
    with lab.record() as recording, lab.GradientTape() as tape:
        f = lab.reduce_sum(x * y * y)
        tape.gradient(f, [x, y])
    return recording


def test_by_default_the_slots_of_the_stepper_are_the_gradient() -> None:
    made = lessons.forward_stepper(recorded()).recording
    found = [float(made.tensors[sweep.results[0]].snapshot.array) for sweep in made.sweeps]
    assert found == pytest.approx([10.0, 4.0, 12.0])
    assert [moment.sweep for moment in made.order if moment.phase == "tangent"] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_what_is_locked_says_no_tangent_and_opens_when_it_is_solved() -> None:
    stepper = lessons.forward_stepper(recorded(), [{"x": 1.0}], locked=True)
    assert stepper.is_locked
    assert "tangent" not in stepper.account()
    assert stepper.picture() is None
    stepper.solved = 10**9
    assert not stepper.is_locked
    assert "tangent" in stepper.account()
    assert (stepper.picture() or "").startswith("<svg")
    backward = lessons.locked_stepper(recorded())
    assert "backward" not in backward.account()


@pytest.mark.parametrize("bad", [None, "f", 3.0, [], lab.constant(1.0)])
def test_only_recordings_can_be_stepped_through(bad: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="A recording was expected"):
        lessons.forward_stepper(bad)
    with pytest.raises(InvalidArgumentError, match="A recording was expected"):
        lessons.locked_stepper(bad)


@pytest.mark.parametrize("seeds", [[], [{"x": 1.0}] * 25, [1.0, 2.0], [{"x": 1.0}, None], [{"x": 1.0}, {"q": 1.0}]])
def test_seeds_that_make_no_sweeps_are_refused(seeds: Any) -> None:
    with pytest.raises((InvalidArgumentError, lab.errors.NotInRecording)):
        lessons.forward_stepper(recorded(), seeds)


def test_a_large_gradient_is_not_swept() -> None:
    v = lab.Variable(np.ones(25), name="v")
    with lab.record() as recording, lab.GradientTape():
        lab.reduce_sum(v * v)
    with pytest.raises(InvalidArgumentError, match="takes 25 forward sweeps"):
        lessons.forward_stepper(recording)
    assert lessons.forward_stepper(recording, {"v": np.ones(25)}).recording.sweeps
