"""Small programs that several tests record."""

import autodiff_lab as lab
from autodiff_lab.recording import Recording


def square_plus_sine() -> Recording:
    """``y = x * x + sin(x)`` at 3 and its gradient."""
    x = lab.Variable(3.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as tape:
            y = x * x + lab.sin(x)
        tape.gradient(y, x)
    return recording


def higher_order() -> Recording:
    """The second derivative of ``x * x * x`` at 2, by nested tapes."""
    x = lab.Variable(2.0, name="x")
    with lab.record() as recording:
        with lab.GradientTape() as outer:
            with lab.GradientTape() as inner:
                y = x * x * x
            slope = inner.gradient(y, x)
        outer.gradient(slope, x)
    return recording


def failing() -> Recording:
    """A program whose second op raises."""
    a, b = lab.constant([1.0, 2.0], name="a"), lab.constant([1.0, 2.0, 3.0], name="b")
    recording = None
    try:
        with lab.record() as recording:
            total = a + a
            _ = total * b
    except ValueError:
        pass
    assert recording is not None
    return recording
