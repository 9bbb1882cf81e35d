"""Choosing between NumPy's kernel and Numba's: which one runs when, and that failures fall back to NumPy.

`test_measuring` has the measurements themselves.
"""

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from autodiff_lab.kernels.base import choose, compiler, elsewhere, measuring
from autodiff_lab.kernels.base.choose import Chosen, kernels_in_use, use_kernels
from autodiff_lab.kernels.base.likes import Like
from tests.cuda_report.report import methods
from tests.ops.samples.core import ops_of_the_catalogue

FLOAT = np.dtype("float32")
ON_THE_CPU_ALONE = {"ctc", "layouts", "optimizers", "recurrent", "resizing"}
"""Families without kernels for GPUs, where their references run on CuPy or the steps are taken one by one."""


def plainly(x: Any) -> str:
    """The reference."""
    return "numpy"


def quickly(x: Any) -> Any:
    """The override, which declines arrays of rank 2."""
    return NotImplemented if x.ndim == 2 else "numba"


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Chosen:
    """Return a kernel whose override needs no compiler."""
    made = Chosen("made up", plainly, "nowhere.nothing", lambda x: x.size)
    quickly.loops, quickly.chars = (), {"f"}  # type: ignore[attr-defined]
    made._faster = quickly
    monkeypatch.setitem(choose._state, "mode", "auto")
    monkeypatch.setattr(measuring, "pays", lambda name, reference, faster, arrays, params: arrays[0].shape[0] > 100)
    return made


def test_small_work_asks_for_nothing(kernel: Chosen) -> None:
    for _ in range(100):
        assert kernel(np.zeros(10, FLOAT)) == "numpy"
    compiler.wait()
    assert not kernel.pays
    assert not kernel._compiled


def test_large_work_is_answered_by_numpy_until_the_override_is_there(kernel: Chosen) -> None:
    large = np.zeros(choose.WORTH_ASKING, FLOAT)
    holding = threading.Event()
    compiler.ask(holding.wait)
    assert kernel(large) == "numpy"
    holding.set()
    compiler.wait()
    assert kernel(large) == "numba"


def test_each_class_of_calls_is_decided_by_itself(kernel: Chosen) -> None:
    for shape in ((choose.WORTH_ASKING,), (100, choose.WORTH_ASKING // 100), (1000, 1000)):
        assert kernel(np.zeros(shape, FLOAT)) == "numpy"
    compiler.wait()
    assert sorted(kernel.pays.values()) == [False, True, True]
    assert kernel(np.zeros(choose.WORTH_ASKING, FLOAT)) == "numba"
    assert kernel(np.zeros((100, choose.WORTH_ASKING // 100), FLOAT)) == "numpy"
    assert kernel(np.zeros((1000, 1000), FLOAT)) == "numpy", "the override declines rank 2"


def test_another_layout_is_another_class(kernel: Chosen) -> None:
    wide = np.zeros((400, 400), FLOAT)
    kernel(wide)
    kernel(wide.T)
    kernel(wide[:, ::2])
    compiler.wait()
    assert len(kernel.pays) == 3


def test_many_small_calls_ask_too(kernel: Chosen) -> None:
    small = np.zeros(200, FLOAT)
    for _ in range(choose.WORTH_ASKING // choose.LITTLE_COUNTS):
        assert kernel(small) == "numpy"
    compiler.wait()
    assert kernel(small) == "numba"


def test_small_calls_ask_sooner_once_the_override_is_compiled(kernel: Chosen) -> None:
    small = np.zeros(200, FLOAT)
    kernel.compile(FLOAT)
    for _ in range(choose.WORTH_ASKING // 200 + 1):
        kernel(small)
    compiler.wait()
    assert kernel(small) == "numba"


def test_a_class_that_was_compared_before_is_decided_at_its_first_call(
    kernel: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = np.zeros(200, FLOAT)
    monkeypatch.setitem(measuring.kept(), measuring.class_of("made up", quickly, [Like.of(small)], {}), 2.0)
    processes: list[Any] = []
    monkeypatch.setattr(elsewhere, "have_made", processes.append)
    choose.ask(lambda: None)
    assert kernel(small) == "numpy"
    compiler.wait()
    assert kernel(small) == "numba"
    assert not processes, "another process was started for what is there"


def test_what_cannot_be_measured_now_runs_on_the_override_if_it_is_large(
    kernel: Chosen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "pays", lambda *rest: None)
    kernel(np.zeros(choose.WORTH_ASKING, FLOAT))
    compiler.wait()
    assert list(kernel.pays.values()) == [True]


def test_a_kernel_remembers_a_limited_number_of_shapes(kernel: Chosen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "MOST_CLASSES", 5)
    for n in range(20):
        kernel(np.zeros(choose.WORTH_ASKING + n, FLOAT))
    compiler.wait()
    assert len(kernel.pays) <= 5


def test_parameters_that_are_lists_are_taken(kernel: Chosen) -> None:
    assert isinstance(choose.signature([np.zeros(3), None], {"axes": [0]}), tuple)
    work = Chosen("made up", lambda x, **how: "numpy", "nowhere.nothing", lambda x, **how: 1.0)
    assert work(np.zeros(3), axes=[0]) == "numpy"


def test_a_compiled_function_decides_when_it_is_traced(kernel: Chosen) -> None:
    value = choose.Like.in_rows(FLOAT, (200,))
    assert kernel.prepare(FLOAT, [value])
    assert kernel(np.zeros(200, FLOAT)) == "numba"
    assert kernel.prepare(FLOAT, [choose.Like.in_rows(FLOAT, (50,))])
    assert kernel(np.zeros(50, FLOAT)) == "numpy"


def test_other_dtypes_stay_with_numpy_and_say_why(kernel: Chosen) -> None:
    with use_kernels("numba"):
        assert kernel(np.zeros(10, np.float16)) == "numpy"
    assert "float16" in kernel.failures["e"]


def test_modes(kernel: Chosen) -> None:
    small = np.zeros(1, FLOAT)
    with use_kernels("numba"):
        assert kernel(small) == "numba"
        with use_kernels("numpy"):
            assert kernel(np.zeros(10**6, FLOAT)) == "numpy"
        assert kernel(small) == "numba"
    with pytest.raises(ValueError, match="unknown mode 'fast'"), use_kernels("fast"):
        pass


def test_an_override_that_cannot_be_had_is_a_reason_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Chosen("made up", plainly, "nowhere.nothing", lambda x: x.size)
    monkeypatch.setitem(choose.CHOSEN, "made up", made)
    with use_kernels("numba"):
        assert made(np.zeros(3, FLOAT)) == "numpy"
    assert "nowhere" in kernels_in_use()["made up"]


def test_without_numba_numpy_answers(kernel: Chosen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choose._state, "numba", False)
    assert not kernel.prepare(FLOAT)
    assert kernel(np.zeros(10**6, FLOAT)) == "numpy"
    assert kernel.failures == {"f": "Numba is not installed"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_asks_again(kernel: Chosen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choose.CHOSEN, "made up", kernel)
    holding = threading.Event()
    compiler.ask(holding.wait)
    large = np.zeros(choose.WORTH_ASKING, FLOAT)
    assert kernel(large) == "numpy"  # asked for, not there
    child = os.fork()
    if child == 0:
        first = kernel(large)
        compiler.wait()
        os._exit(0 if (first, kernel(large)) == ("numpy", "numba") else 1)
    holding.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_process_ends_while_something_is_compiled() -> None:
    program = "from autodiff_lab.kernels.base import compiler; compiler.ask(lambda: __import__('numba'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_unknown_mode_in_the_environment_is_told() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import autodiff_lab.kernels.base.choose"],
        env=os.environ | {"AUTODIFF_LAB_KERNELS": "fast"}, capture_output=True, check=False,
    )  # fmt: skip
    assert b"AUTODIFF_LAB_KERNELS='fast' is unknown. Try one of" in told.stderr


def test_an_empty_variable_of_the_environment_is_like_none() -> None:
    empty = dict.fromkeys(("KERNELS", "COMPILE", "BLAS", "CACHE", "MEMORY", "PROGRESS"), "")
    done = subprocess.run(
        [sys.executable, "-c", "import autodiff_lab as lab; print(lab.sin(0.0).numpy())"],
        env=os.environ | {f"AUTODIFF_LAB_{name}": value for name, value in empty.items()},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("0.0\n", "")


@pytest.mark.extras
def test_every_kernel_finds_its_overrides_in_the_folder_of_its_family() -> None:
    """Those on the CPU with the loops that they compile, those on a GPU with a kernel that the report compiles.

    Kernels of gradients are called so seldom that on a GPU their references run on CuPy; so do searches in sorted rows,
    choices by a condition and the order of rows, which CuPy has; rows change in place on the CPU alone.
    """
    pytest.importorskip("numba.cuda")
    assert ops_of_the_catalogue()
    served, by_reference = methods(), {
        "extreme_grad", "logsumexp_shares", "max_pool_pick", "change_rows", "search_rows", "choose_elements",
        "solve_stack", "top_positions", "solve_all", "inverse_all", "determinant_all", "exponentials",
        "exponential_derivatives",
    }  # fmt: skip
    for name, kernel in choose.CHOSEN.items():
        if kernel.family in {"", "nowhere"}:
            continue
        alone = name in by_reference or kernel.family in ON_THE_CPU_ALONE
        assert (kernel.cuda_override() is None) == alone, name
        assert (name in served) != alone, name
        if not isinstance(kernel, choose.OnGpu):
            assert kernel.override().loops, name  # type: ignore[attr-defined]
    others = {"", "nowhere", *ON_THE_CPU_ALONE}
    assert len(served) + len(by_reference) == sum(kernel.family not in others for kernel in choose.CHOSEN.values())


@pytest.mark.slow
def test_only_the_loops_that_a_call_needs_are_compiled(tmp_path: Any) -> None:
    program = """
import numpy as np
import autodiff_lab as lab
from autodiff_lab.kernels.base import choose, compiler
lab.nn.moments
kernel = choose.CHOSEN["moments"]
x = np.ones((400, 300), np.float32)
for _ in range(3):
    kernel(x, axes=(-1,))
    compiler.wait()
loops = kernel.override().loops
made = sum("f" in loop._compiled for loop in loops)
print(made, len(loops), len(kernel.pays), kernel.compile(x.dtype), all("f" in loop._compiled for loop in loops))
"""
    environment = {**os.environ, "AUTODIFF_LAB_CACHE": str(tmp_path), "AUTODIFF_LAB_KERNELS": "auto"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    made, loops, decided, *rest = done.stdout.split()
    assert 0 < int(made) < int(loops)
    assert int(decided) == 1
    assert rest == ["True", "True"]
