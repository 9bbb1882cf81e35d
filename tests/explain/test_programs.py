"""Whole programs of the kind that users write: recorded unchanged, and explained afterwards.

`tests/data/` holds them: a classifier of digits, the fit of a pendulum, Newton's method with nested tapes.
"""

import runpy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.explain import remarks
from autodiff_lab.recording import Recording
from tests.tree import ROOT

PROGRAMS = ROOT / "tests" / "data"
Ran = tuple[Recording, dict[str, object]]


def ran(name: str) -> Ran:
    """Run a program under `record`; returns the recording and the program's names."""
    with lab.record(title=name) as recording:
        names = runpy.run_path(str(PROGRAMS / name), run_name="__main__")
    return recording, names


@pytest.fixture(scope="module")
def digits() -> Ran:
    pytest.importorskip("sklearn", reason="scikit-learn, which has the digits, is not installed")
    return ran("digits_logistic.py")


@pytest.fixture(scope="module")
def pendulum() -> Ran:
    return ran("pendulum.py")


@pytest.fixture(scope="module")
def newton() -> Ran:
    return ran("newton.py")


def test_digits_are_learned_and_every_weight_is_connected(digits: Ran) -> None:
    """The classifier gets better than chance by far, and nothing is missing or not finite."""
    recording, names = digits
    assert names["accuracy"](names["test_x"], names["test_y"]) > 0.6
    assert remarks(recording) == ()
    assert recording.first_nonfinite() is None
    assert recording.explain(names["loss"], names["weights"]).cause == "connected"
    labels = recording.explain(names["loss"], names["batch_y"])
    assert labels.result == "None"


def test_the_scopes_of_the_digits_are_its_steps(digits: Ran) -> None:
    """A page folds the program into its training steps, each of a model, a loss and an update."""
    recording, names = digits
    scopes = {application.scope for application in recording.forward}
    steps = names["STEPS"]
    assert scopes == {f"step {i}/{part}" for i in range(1, steps + 1) for part in ("model", "loss", "update")}


def test_the_pendulum_finds_the_length_of_its_string(pendulum: Ran) -> None:
    """1.5 m up to the noise of the measurement, and the misfit falls."""
    recording, names = pendulum
    assert float(names["length"]) == pytest.approx(1.5, abs=0.02)
    misfits = [float(r.snapshot.array) for r in recording.tensors.values() if r.name == "misfit"]
    assert len(misfits) == names["ATTEMPTS"]
    assert all(later <= earlier for earlier, later in pairwise(misfits))
    assert remarks(recording) == ()


def test_the_slope_of_the_pendulum_agrees_with_differences(pendulum: Ran) -> None:
    """The gradient through ten Euler steps against central differences in double precision."""
    _, names = pendulum
    measured = names["measured"].numpy().astype(np.float64)

    def misfit(length: float) -> float:
        angle, speed, angles = names["START"], 0.0, []
        for _ in range(names["STEPS"]):
            speed -= names["DT"] * names["G"] / length * np.sin(angle)
            angle += names["DT"] * speed
            angles.append(angle)
        return float(np.mean((np.array(angles) - measured) ** 2))

    length = lab.Variable(1.2)
    with lab.GradientTape() as tape:
        value = lab.reduce_mean((names["swing"](length) - names["measured"]) ** 2)
    assert float(tape.gradient(value, length)) == pytest.approx((misfit(1.2001) - misfit(1.1999)) / 2e-4, rel=1e-3)


def test_newton_ends_where_the_slope_is_zero(newton: Ran) -> None:
    """exp(x) - 3 + x is 0 there, in at most seven steps from 3."""
    recording, names = newton
    x = float(names["x"])
    assert np.exp(x) - 3 + x == pytest.approx(0, abs=1e-4)
    assert names["step"] <= 6
    assert remarks(recording) == ()


def test_the_ledger_of_newtons_curvature(newton: Ran) -> None:
    """The last second derivative, exp(x) + 1, is the sum over the paths from the slope back to x."""
    recording, names = newton
    ledger = recording.ledger(names["x"], names["slope"])
    assert ledger.total == pytest.approx(np.exp(float(names["x"])) + 1, rel=1e-5)
    assert sum(path.product for path in ledger.paths) == pytest.approx(ledger.total, rel=1e-5)


@pytest.mark.parametrize("name", ["digits", "pendulum", "newton"])
def test_a_program_makes_a_page(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """One file, with its lines in it and no address of another machine."""
    recording, _ = request.getfixturevalue(name)
    path = tmp_path / "page.html"
    recording.to_html(path)
    page = path.read_text(encoding="utf-8")
    assert "<html" in page
    assert "tape.gradient" in page or "inner.gradient" in page
