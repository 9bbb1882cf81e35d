"""How many Python calls the fastest programs make: each costs a tenth of an op."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autodiff_lab as lab

PACKAGE = str(Path(lab.__file__).parent)


def calls(run: Callable[[], Any]) -> list[tuple[str, str]]:
    """Return the functions of the package that Python enters, as file and name."""
    seen: list[tuple[str, str]] = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            seen.append((frame.f_code.co_filename.removeprefix(PACKAGE), frame.f_code.co_name))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return seen


def test_a_product_of_two_tensors_is_one_call_in_one_file() -> None:
    x, y = lab.constant(3.0), lab.constant(2.0)
    _ = x * y
    assert [file for file, _ in calls(lambda: x * y)] == ["/engine/apply.py"]


def test_a_gradient_of_a_product_is_at_most_47_calls(figure: Callable[[str, str], None]) -> None:
    x, y = lab.Variable(3.0), lab.Variable(2.0)

    def tape_of_a_product() -> tuple[lab.GradientTape, lab.Tensor]:
        with lab.GradientTape() as tape:
            z = x * y
        return tape, z

    tape, z = tape_of_a_product()
    tape.gradient(z, x)
    tape, z = tape_of_a_product()
    found = calls(lambda: tape.gradient(z, x))
    figure("Python calls of tape.gradient of x * y", str(len(found)))
    assert len(found) <= 47
