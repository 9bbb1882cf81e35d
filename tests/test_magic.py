"""The cell magic: in a separate shell, and once in a real kernel."""

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from autodiff_lab.recording import Recording

SETUP = "import autodiff_lab as lab\nx = lab.Variable(3.0, name='x')"
CELL = "with lab.GradientTape() as tape:\n    y = x * x\nslope = tape.gradient(y, x)\n"


@pytest.fixture
def shell() -> Iterator[Any]:
    """An IPython shell with the extension loaded."""
    made = InteractiveShell.instance()
    try:
        made.run_cell("%load_ext autodiff_lab").raise_error()
        made.run_cell(SETUP, store_history=True).raise_error()
        yield made
    finally:
        InteractiveShell.clear_instance()


def shown(shell: Any, cell: str) -> tuple[list[str], Any]:
    """What a cell displays, as text, and how it ended."""
    with capture_output() as captured:
        result = shell.run_cell(cell, store_history=True)
    return [output.data["text/plain"] for output in captured.outputs], result


def test_the_recording_is_shown_and_kept_under_the_name(shell: Any) -> None:
    """One display, and a variable that holds what was displayed."""
    outputs, result = shown(shell, f"%%record run\n{CELL}")
    result.raise_error()
    assert len(outputs) == 1
    assert isinstance(shell.user_ns["run"], Recording)
    assert repr(shell.user_ns["run"]) == "<Recording: 1 op, 1 backward pass>"


def test_lines_are_counted_as_in_the_cell_and_named_after_it(shell: Any) -> None:
    """``%%record`` is line 1, and the label is the cell's number."""
    shown(shell, f"%%record run\n{CELL}")
    recording = shell.user_ns["run"]
    place = recording.applications[0].place
    assert recording.where(place) == "cell 2, line 3"
    assert recording.line(place) == "y = x * x"
    assert recording.tensors[recording.applications[0].outputs[0]].name == "y"
    assert recording.tensors[recording.sweeps[0].results[0]].name == "slope"


def test_the_last_value_is_shown_before_the_recording_unless_a_semicolon_asks_not_to(shell: Any) -> None:
    """As in a cell without the magic."""
    assert shown(shell, "%%record\n6 * 7")[0][0] == "42"
    assert len(shown(shell, "%%record\n6 * 7;")[0]) == 1
    assert len(shown(shell, "%%record\nNone")[0]) == 1


def test_the_cell_runs_in_the_users_namespace_with_everything_that_cells_can_do(shell: Any) -> None:
    """Magics inside, functions, imports and ``__future__`` flags work, and names stay."""
    shown(shell, "%%record\ndef f(t):\n    return t * t\nz = f(x)\nfiles = %who_ls")[1].raise_error()
    assert float(shell.user_ns["z"]) == 9.0
    assert "f" in shell.user_ns["files"]


def test_quietly_nothing_is_shown(shell: Any) -> None:
    """``-q`` keeps the recording for later."""
    assert shown(shell, f"%%record -q run\n{CELL}")[0] == []
    assert len(shell.user_ns["run"]) == 1


@pytest.mark.parametrize("line", ["two names", "1st", "-q", "class", "--loud"])
def test_a_wrong_line_says_how_to_write_it(shell: Any, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The cell does not run then."""
    shell.run_cell(f"%%record {line}\nran = True")
    assert "Write %%record" in capsys.readouterr().err
    assert "ran" not in shell.user_ns


def test_a_cell_that_raises_shows_the_partial_recording_and_the_error(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exception is the user's own, the recording ends with what failed, and our frames are not in the traceback."""
    cell = "%%record run\ny = x * x\nlab.constant([1.0, 2.0]) + lab.constant([1.0, 2.0, 3.0])"
    outputs, result = shown(shell, cell)
    assert isinstance(result.error_in_exec, ValueError)
    assert len(outputs) == 1
    assert [a.op for a in shell.user_ns["run"].applications] == ["multiply", "add"]
    assert shell.user_ns["run"].error is not None
    with pytest.raises(SyntaxError):
        shown(shell, "%%record run\ny = = x")[1].raise_error()


def test_the_traceback_of_a_failing_cell_shows_no_line_of_the_magic(shell: Any) -> None:
    """A learner sees their own cell."""
    with capture_output() as captured:
        shell.run_cell("%%record\nlab.constant([1.0, 2.0]) + lab.constant([1.0, 2.0, 3.0])")
    assert "run_recorded" not in captured.stdout
    assert "lab.constant([1.0, 2.0])" in captured.stdout


FAILING = """try:
    lab.ones((2, 3)) @ lab.ones((2, 3))
except ValueError as error:
    print(str(error).splitlines()[1].split(":")[0].strip())
"""


def test_in_a_real_kernel_cells_are_called_by_their_numbers() -> None:
    """Kernels give cells file names that mean nothing; recordings and errors say ``cell 3``, with magic and without."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    printed: list[str] = []

    def listen(message: dict[str, Any]) -> None:
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])
        assert message["msg_type"] != "error", message["content"]

    try:
        for cell in (
            f"%load_ext autodiff_lab\n{SETUP}",
            f"%%record -q first\n{CELL}",
            "with lab.record() as second:\n    z = lab.sin(x)",
            "for r in (first, second):\n    a = r.forward[0]\n    print(r.where(a.place), '|', r.name_of(*a.outputs))",
            FAILING,
        ):
            client.execute_interactive(cell, timeout=60, output_hook=listen)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert "".join(printed).splitlines() == ["cell 2, line 3 | y", "cell 3, line 2 | z", "at cell 5, line 2"]
