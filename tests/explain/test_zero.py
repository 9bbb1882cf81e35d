"""None and zero are never confused: if a path exists and its value is 0, the op that made it 0 is named."""

from collections.abc import Callable

import pytest

import autodiff_lab as lab
from autodiff_lab.recording import Recording


def asked(function: Callable[[lab.Variable, lab.Variable], object], w: float = 2.0) -> tuple[Recording, object, object]:
    """Record the gradient of ``function(x, w)`` by x = 3; returns the recording, the target and x."""
    x, other = lab.Variable(3.0, name="x"), lab.Variable(w, name="w")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = function(x, other)
        slope = tape.gradient(y, x)
    assert slope is not None
    assert float(slope) == 0.0
    return recording, y, x


@pytest.mark.parametrize(
    ("function", "op", "words"),
    [
        (lambda x, w: lab.nn.relu(-x) * w, "relu", "dead"),
        (lambda x, w: x * (w - 2.0), "multiply", "which is 0"),
        (lambda x, w: x * 0.0, "multiply", "multiplied by 0"),
        (lambda x, w: lab.maximum(x, w * 10.0) * w, "maximum", "did not select x"),
        (lambda x, w: lab.reduce_max([x, w * 10.0]), "max", "did not select"),
        (lambda x, w: lab.where(w > 100.0, x, w), "where", "did not select x"),
        (lambda x, w: lab.gather([x, w], 1), "gather", "did not select"),
        (lambda x, w: lab.stack([x, w])[1] * 2.0, "slice", "did not select"),
        (lambda x, w: lab.clip_by_value(x, 5.0, 9.0) * w, "clip", "outside the limits"),
        (lambda x, w: (x - 3.0) ** 2, "pow", "is 0 at"),
        (lambda x, w: lab.cos(x * 0.0 + 0.0) + w, "cos", "is 0 at"),
    ],
    ids=[
        "relu",
        "zero weight",
        "times 0",
        "maximum",
        "reduce_max",
        "where",
        "gather",
        "slice",
        "clip",
        "minimum of a square",
        "cosine",
    ],
)
def test_the_op_where_it_became_zero_is_named(function: Callable[..., object], op: str, words: str) -> None:
    """The first op on the way back whose share is 0 though its incoming gradient is not."""
    recording, y, x = asked(function)
    found = recording.explain(y, x)
    assert (found.cause, found.result, found.op) == ("zero", "zero", op), str(found)
    assert words in found.what
    assert "zero, not None" in str(found)


def test_contributions_that_cancel_are_told_apart_from_a_dead_op() -> None:
    """``x - x`` has two paths whose shares are 1 and -1."""
    recording, y, x = asked(lambda x, w: x - x)
    found = recording.explain(y, x)
    assert (found.cause, found.op) == ("zero", None)
    assert "cancel" in found.what


def test_none_says_no_path_and_a_number_says_its_value() -> None:
    """The three answers: None, zero, a number."""
    x, w, z = (lab.Variable(v, name=n) for v, n in ((3.0, "x"), (0.0, "w"), (1.0, "z")))
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * w
        tape.gradient(y, [x, w, z])
    assert [recording.explain(y, s).result for s in (x, w, z)] == ["zero", "a number", "None"]
    assert "is 3:" in recording.explain(y, w).title


def test_a_path_without_a_backward_pass_is_called_connected() -> None:
    """Nothing is claimed of a value that nobody worked out."""
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording, lab.GradientTape():
        y = x * x
    found = recording.explain(y, x)
    assert found.cause == "connected"
    assert "unknown" in found.what


def test_half_dead_vectors_are_not_called_zero() -> None:
    """A gradient with one element that is not 0 is a number."""
    x = lab.Variable([-1.0, 2.0], name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = lab.nn.relu(x)
        tape.gradient(y, x)
    assert recording.explain(y, x).cause == "connected"
