"""The cause, line and op that an explanation names for each way to lose a gradient."""

import inspect
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import autodiff_lab as lab
from autodiff_lab.errors import LabError
from tests.explain import lost_gradients, lost_in_functions, lost_on_the_way
from tests.explain.lost_gradients import Asked

CASES = [*lost_gradients.CASES, *lost_on_the_way.CASES, *lost_in_functions.CASES]


def cut_line(program: Callable[[], Asked]) -> int:
    lines, start = inspect.getsourcelines(program)
    return start + next(i for i, line in enumerate(lines) if "# CUT" in line)


@pytest.mark.parametrize(("program", "cause", "op"), CASES, ids=[case[0].__name__ for case in CASES])
def test_the_cause_is_named_with_its_op_and_line(program: Callable[[], Asked], cause: str, op: str | None) -> None:
    """The gradient is None (asserted in the program), and the explanation says why, at which op and line."""
    recording, target, source = program()
    found = recording.explain(target, source)
    assert (found.cause, found.result) == (cause, "None"), str(found)
    assert found.place is not None
    assert found.place[1] == cut_line(program), str(found)
    if op is not None:
        assert found.op == op
    text = str(found)
    assert "is None" in text
    assert "try" in text
    assert f"line {cut_line(program)}" in text
    assert "{" not in found.what + found.fix


@pytest.mark.parametrize("dtype", [lab.float16, lab.bfloat16, lab.float64, lab.complex64])
def test_the_cause_is_the_same_in_every_dtype(dtype: lab.DType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that an op or a Python function refuses in a dtype (the floor of a complex number) are left out."""
    monkeypatch.setattr(lost_gradients, "DTYPE", [dtype])
    told = 0
    for program, cause, _ in CASES:
        try:
            recording, target, source = program()
        except (LabError, TypeError, np.exceptions.ComplexWarning):
            continue
        found = recording.explain(target, source)
        assert (found.cause, found.result) == (cause, "None"), f"{program.__name__} {found}"
        told += 1
    assert told > 25


@pytest.mark.parametrize("program", [case[0] for case in CASES], ids=[case[0].__name__ for case in CASES])
def test_a_saved_recording_gives_the_same_answer(program: Callable[[], Asked], tmp_path: Path) -> None:
    """Nothing but the recording is asked: loaded from a file it explains itself in the same words."""
    recording, target, source = program()
    recording.save(tmp_path / "r.json")
    ids = [x._id for x in (target, source)]
    assert str(lab.load_recording(tmp_path / "r.json").explain(*ids)) == str(recording.explain(target, source))


@pytest.mark.parametrize(
    ("target", "kind"), [(2.0, "a float"), (np.float32(2.0), "a NumPy float32"), (np.ones(2), "a NumPy array")]
)
def test_a_target_outside_the_engine_is_named_with_its_article(target: object, kind: str) -> None:
    x = lab.Variable(1.0, name="x")
    with lab.record() as recording, lab.GradientTape():
        lab.sin(x)
    found = recording.explain(target, x)
    assert found.title == f"There is no gradient of {kind} with respect to x."
    assert found.what.startswith(f"The target is {kind}, not a tensor")
